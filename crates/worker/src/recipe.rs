//! Everything that decides an answer, in words. Rows that were made by another recipe are refused.

use crate::Failure;
use serde::{Deserialize, Serialize};
use simhash_dedup::stages::Rules;
use simhash_dedup::{Cluster, DedupOptions, Keep, Measure, Method, SPECIFICATION};
use simhash_index::bands::BandPlan;
use simhash_sketch::{Fingerprinter, FingerprinterOptions};
use simhash_text::ExtractorOptions;
use xxhash_rust::xxh3::xxh3_64;

/// The version of what the rows hold; those of another one are refused.
const ROWS: u32 = 3;

/// Options as a driver gives them: JSON, all optional, by the names of the command line.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    /// Must be [`SPECIFICATION`].
    specification: Option<u32>,
    /// `minhash`, `simhash`, `sentences`, `exact`.
    method: Option<String>,
    bands: Option<usize>,
    rows: Option<usize>,
    max_distance: Option<u32>,
    sentences: Option<usize>,
    /// `representative`, `components`.
    cluster: Option<String>,
    /// `first`, `last`, `longest`, `largest`, `smallest`, `newest`.
    keep: Option<String>,
    /// `auto`, `jaccard`, `containment`, `edit`, `cosine`, `off`.
    verify: Option<String>,
    min_similarity: Option<f64>,
    max_verifications: Option<usize>,
    max_bucket: Option<usize>,
    /// Documents before this position are another side: those behind it are compared with them alone, and all matches are wanted.
    against: Option<u64>,
    /// With `against`: most matches of a document.
    limit: Option<usize>,
    /// As an index states it: `features auto, weighting count, normalize nfkc + case + whitespace auto`.
    features: Option<String>,
}

/// A recipe.
pub struct Recipe {
    rules: Rules,
    against: Option<u64>,
    limit: Option<usize>,
    words: String,
    digest: [u8; 8],
}

impl Recipe {
    /// The recipe of these options in JSON.
    ///
    /// # Errors
    /// Options that are not known, have no meaning, or cannot be spread over machines.
    pub fn new(json: &str) -> Result<Self, Failure> {
        let given: Given =
            serde_json::from_str(json).map_err(|error| Failure(format!("--recipe: {error}")))?;
        let mut options = options(&given)?;
        options.threads = 1;
        let by = Fingerprinter::new(&options.fingerprinter)
            .map_err(|error| Failure(format!("--recipe: {error}")))?;
        let mut words = words(&options, &by);
        if let Some(against) = given.against {
            if given.cluster.is_some() || given.keep.is_some() {
                let why = "left out beside against: matches are neither clustered nor kept";
                let name = if given.cluster.is_some() { "cluster" } else { "keep" };
                return Err(Failure(format!("--recipe: {name} must be {why}")));
            }
            // Places are positions, as those of components are.
            options.cluster = Cluster::Components;
            let limit = given.limit.map_or_else(String::new, |limit| format!(" limit {limit}"));
            words = format!("{words}; against {against}{limit}");
        }
        if let Some(limit) = given.limit.filter(|&limit| limit == 0 || given.against.is_none()) {
            return Err(refuse("limit", &limit.to_string(), "at least 1, and beside against"));
        }
        let digest = xxh3_64(words.as_bytes()).to_le_bytes();
        Ok(Self {
            rules: Rules::new(&options)?,
            against: given.against,
            limit: given.limit,
            words,
            digest,
        })
    }

    /// The position before which documents are another side, where there is one.
    pub fn against(&self) -> Option<u64> {
        self.against
    }

    /// Most matches of a document, where there is a limit.
    pub fn limit(&self) -> Option<usize> {
        self.limit
    }

    /// Whether it is enough that documents are connected: not where all matches are wanted.
    pub fn connects(&self) -> bool {
        self.against.is_none() && self.rules.options().cluster == Cluster::Components
    }

    /// What it decides.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// All of it, every default spelled out: equal words mean equal answers.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// A number of it, which stands before every packed blob.
    pub fn digest(&self) -> [u8; 8] {
        self.digest
    }
}

fn words(options: &DedupOptions, by: &Fingerprinter) -> String {
    let DedupOptions { method, cluster, keep, measure, min_similarity, .. } = options;
    let method = match method {
        Method::MinHash { plan: Some(plan) } => format!("minhash {} x {}", plan.bands, plan.rows),
        Method::SimHash { max_distance } => format!("simhash <= {max_distance}"),
        Method::Sentences { count } => format!("sentences {count}"),
        method => method.name().into(),
    };
    let keep = match keep {
        Keep::Field { largest, .. } => if *largest { "largest" } else { "smallest" }.into(),
        keep => format!("{keep:?}").to_lowercase(),
    };
    let cluster = format!("{cluster:?}").to_lowercase();
    let verify = min_similarity.map_or_else(
        || "verify off".into(),
        |least| format!("{} >= {least}", format!("{measure:?}").to_lowercase()),
    );
    let (verifications, bucket) = (options.max_verifications, options.max_bucket);
    format!(
        "rows {ROWS}; specification {SPECIFICATION}; {method}; {cluster}; keep {keep}; {verify}; \
         maxVerifications {verifications}; maxBucket {bucket}; {by}"
    )
}

fn refuse(name: &str, value: &str, expected: &str) -> Failure {
    Failure(format!("--recipe: {name} must be {expected}, got {value}"))
}

fn method(given: &Given, compares: bool) -> Result<Method, Failure> {
    let name = given.method.as_deref().unwrap_or("minhash");
    let of = [
        ("bands", "minhash", given.bands.is_some()),
        ("rows", "minhash", given.rows.is_some()),
        ("maxDistance", "simhash", given.max_distance.is_some()),
        ("sentences", "sentences", given.sentences.is_some()),
    ];
    if let Some((option, own, _)) = of.iter().find(|(_, own, is_given)| *is_given && *own != name) {
        return Err(refuse(option, name, &format!("given for {own}")));
    }
    match (name, given.bands, given.rows) {
        ("minhash", None, None) => Ok(Method::MinHash { plan: None }),
        ("minhash", Some(bands), Some(rows)) => {
            let plan = BandPlan::new(bands, rows);
            let plan = plan.map_err(|error| Failure(format!("--recipe: {error}")))?;
            Ok(Method::MinHash { plan: Some(plan) })
        }
        ("minhash", ..) => Err(refuse("bands", "one of the two", "given with rows")),
        ("exact", ..) => Ok(Method::Exact),
        ("sentences", ..) => {
            Ok(Method::Sentences { count: given.sentences.unwrap_or(Method::SENTENCES) })
        }
        ("simhash", ..) => {
            let max_distance = given.max_distance;
            let max_distance = max_distance.unwrap_or(Method::default_distance(compares));
            if max_distance > 4 {
                let why = "0 to 4 here: of a larger distance texts would be in too many buckets to be spread, and minhash finds more";
                return Err(refuse("maxDistance", &max_distance.to_string(), why));
            }
            Ok(Method::SimHash { max_distance })
        }
        ("brute-force", ..) => {
            let why = "minhash, simhash, sentences or exact: brute-force compares all with all, which no engine spreads";
            Err(refuse("method", name, why))
        }
        _ => Err(refuse("method", name, "minhash, simhash, sentences or exact")),
    }
}

fn options(given: &Given) -> Result<DedupOptions, Failure> {
    let own = SPECIFICATION.to_string();
    if let Some(other) = given.specification.filter(|&other| other != SPECIFICATION) {
        let expected = format!("{own}, which is what this worker follows");
        return Err(refuse("specification", &other.to_string(), &expected));
    }
    let mut options = DedupOptions::default();
    match given.verify.as_deref().unwrap_or("auto") {
        "auto" => {}
        "jaccard" => options.measure = Measure::Jaccard,
        "containment" => options.measure = Measure::Containment,
        "edit" => options.measure = Measure::Edit,
        "cosine" => options.measure = Measure::Cosine,
        "off" => options.min_similarity = None,
        other => {
            let known = "auto, jaccard, containment, edit, cosine or off";
            return Err(refuse("verify", other, known));
        }
    }
    if let (Some(least), Some(_)) = (given.min_similarity, options.min_similarity) {
        // A threshold of 0 verifies nothing.
        options.min_similarity = (least != 0.0).then_some(least);
    }
    options.method = method(given, options.min_similarity.is_some())?;
    options.cluster = match given.cluster.as_deref().unwrap_or("representative") {
        "representative" => Cluster::Representative,
        "components" => Cluster::Components,
        other => return Err(refuse("cluster", other, "representative or components")),
    };
    let field = |largest| Keep::Field { path: String::new(), largest };
    options.keep = match given.keep.as_deref().unwrap_or("first") {
        "first" => Keep::First,
        "last" => Keep::Last,
        "longest" => Keep::Longest,
        "largest" | "newest" => field(true),
        "smallest" => field(false),
        other => {
            let known = "first, last, longest, largest, smallest or newest";
            return Err(refuse("keep", other, known));
        }
    };
    options.max_verifications = given.max_verifications.unwrap_or(options.max_verifications);
    options.max_bucket = given.max_bucket.unwrap_or(options.max_bucket);
    if let Some(features) = &given.features {
        let made = FingerprinterOptions::of_recipe(features, &ExtractorOptions::default());
        let expected = "what an index states, as in: features auto, weighting count, normalize nfkc + case + whitespace auto";
        options.fingerprinter = made.ok_or_else(|| refuse("features", features, expected))?;
    }
    Ok(options)
}
