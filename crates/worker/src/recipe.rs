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
const ROWS: u32 = 1;

/// Options as a driver gives them: JSON, all optional, by the names of the command line.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    /// Must be [`SPECIFICATION`].
    specification: Option<u32>,
    /// `minhash`, `exact`.
    method: Option<String>,
    bands: Option<usize>,
    rows: Option<usize>,
    /// `representative`, `components`.
    cluster: Option<String>,
    /// `first`, `last`, `longest`, `largest`, `smallest`, `newest`.
    keep: Option<String>,
    /// `auto`, `jaccard`, `containment`, `edit`, `cosine`, `off`.
    verify: Option<String>,
    min_similarity: Option<f64>,
    max_verifications: Option<usize>,
    max_bucket: Option<usize>,
    /// As an index states it: `features auto, weighting count, normalize nfkc + case + whitespace auto`.
    features: Option<String>,
}

/// A recipe.
pub struct Recipe {
    rules: Rules,
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
        let words = words(&options, &by);
        let digest = xxh3_64(words.as_bytes()).to_le_bytes();
        Ok(Self { rules: Rules::new(&options)?, words, digest })
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

fn options(given: &Given) -> Result<DedupOptions, Failure> {
    let refuse = |name: &str, value: &str, expected: &str| {
        Failure(format!("--recipe: {name} must be {expected}, got {value}"))
    };
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
    options.method = match (given.method.as_deref().unwrap_or("minhash"), given.bands, given.rows) {
        ("minhash", None, None) => Method::MinHash { plan: None },
        ("minhash", Some(bands), Some(rows)) => {
            let plan = BandPlan::new(bands, rows);
            let plan = plan.map_err(|error| Failure(format!("--recipe: {error}")))?;
            Method::MinHash { plan: Some(plan) }
        }
        ("minhash", ..) => return Err(refuse("bands", "one of the two", "given with rows")),
        ("exact", None, None) => Method::Exact,
        ("exact", ..) => return Err(refuse("bands", "exact", "given for minhash")),
        (other @ ("simhash" | "sentences" | "brute-force"), ..) => {
            let why = "minhash or exact: the candidates of the others are looked up in an index, which no engine spreads";
            return Err(refuse("method", other, why));
        }
        (other, ..) => return Err(refuse("method", other, "minhash or exact")),
    };
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
