//! `MinHash` signatures of sets of features on one core, per scheme, with and without hashing the features' strings; and the
//! index by bands.

use crate::corpus::Corpus;
use crate::report::{Report, Row, Settings};
use simhash_index::bands::{BandIndex, BandItem, BandOptions, BandPlan, BandSearch};
use simhash_sketch::minhash::{MinHashOptions, MinHasher, Scheme};
use simhash_text::feature::hash;
use std::collections::BTreeSet;
use std::hint::black_box;

/// Documents of the index whose memory and speed are measured.
const INDEXED: usize = 200_000;

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let sets = sets(settings)?;
    let hashed: Vec<Vec<u64>> = sets
        .iter()
        .map(|set| set.iter().map(|feature| hash(feature.as_bytes())).collect())
        .collect();
    let features: usize = hashed.iter().map(Vec::len).sum();
    let per_feature = |seconds: f64| seconds * 1e9 / features as f64;
    let mut rows = Vec::new();
    for scheme in Scheme::ALL {
        let hasher = hasher(scheme)?;
        check(&hasher, &hashed)?;
        let (mut out, mut own) = (Vec::<u32>::new(), Vec::new());
        let time = settings.best(|| {
            for set in &hashed {
                hasher.signature(set, &mut out);
                black_box(&out);
            }
        });
        let name = scheme.name();
        rows.push(Row::new(format!("{name}, hashed"), per_feature(time), "ns/feature"));
        let time = settings.best(|| {
            for set in &sets {
                own.clear();
                own.extend(set.iter().map(|feature| hash(feature.as_bytes())));
                hasher.signature(&own, &mut out);
                black_box(&out);
            }
        });
        rows.push(Row::new(format!("{name}, strings"), per_feature(time), "ns/feature"));
    }
    rows.extend(index(settings)?);
    Ok(Report {
        bench: "minhash",
        setup: format!(
            "{} sets of {} features on average, 128 hashes of 32 bits, one core",
            sets.len(),
            features / sets.len().max(1)
        ),
        rows,
    })
}

fn hasher(scheme: Scheme) -> Result<MinHasher, String> {
    let options = MinHashOptions { scheme, ..MinHashOptions::default() };
    MinHasher::new(&options).map_err(|error| error.to_string())
}

/// The sets of `--file`, a JSON array of strings a line; else the 5-grams of the news.
fn sets(settings: &Settings) -> Result<Vec<Vec<String>>, String> {
    if let Some(path) = &settings.file {
        let lines = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let set = |line| serde_json::from_str(line).map_err(|error| format!("{path}: {error}"));
        return lines.lines().map(set).collect();
    }
    let corpus = Corpus::load("zh-news-eventmonitor")?;
    let grams = |text: &String| {
        let characters: Vec<char> = text.chars().collect();
        let set: BTreeSet<String> =
            characters.windows(5).map(|gram| gram.iter().collect()).collect();
        set.into_iter().collect()
    };
    Ok(corpus.texts.iter().take(settings.size.unwrap_or(500)).map(grams).collect())
}

/// Estimates of neighbouring documents are what their sets say, on average: within six standard errors.
fn check(hasher: &MinHasher, sets: &[Vec<u64>]) -> Result<(), String> {
    let (mut off, mut variance) = (0.0, 0.0);
    let (mut a, mut b) = (Vec::<u32>::new(), Vec::new());
    for pair in sets.windows(2) {
        let [one, other] =
            [&pair[0], &pair[1]].map(|set| set.iter().copied().collect::<BTreeSet<_>>());
        let both = one.intersection(&other).count() as f64;
        let exact = both / ((one.len() + other.len()) as f64 - both).max(1.0);
        hasher.signature(&pair[0], &mut a);
        hasher.signature(&pair[1], &mut b);
        let found = hasher.estimate(&a, &b);
        off += found.similarity - exact;
        variance += found.standard_error.powi(2);
    }
    if off.abs() <= 6.0 * variance.sqrt() {
        return Ok(());
    }
    Err(format!("{hasher}: estimates are off by {off} in all, {} expected", variance.sqrt()))
}

fn index(settings: &Settings) -> Result<Vec<Row>, String> {
    let wrong = |error: simhash_index::IndexError| error.to_string();
    let count = if settings.seconds < 0.1 { INDEXED / 20 } else { INDEXED };
    let mut random = crate::report::Random(1);
    let mut signature = || (0..128).map(|_| random.next() as u32).collect::<Vec<_>>();
    let signatures: Vec<BandItem> = (0..count).map(|_| signature().into()).collect();
    let plan = BandPlan::new(16, 8).map_err(wrong)?;
    let index = BandIndex::new(&BandOptions::new(plan)).map_err(wrong)?;
    let start = crate::clock::cpu_seconds();
    let mut taken = Vec::with_capacity(count);
    for signature in &signatures {
        taken.push(index.check_and_add(signature).map_err(wrong)?.id);
    }
    let adding = (crate::clock::cpu_seconds() - start) * 1e6 / count as f64;
    let start = crate::clock::cpu_seconds();
    for (id, signature) in taken.iter().zip(&signatures) {
        let found = index.search(signature, BandSearch::default()).map_err(wrong)?;
        if id.is_some() && found.matches.first().map(|found| found.id) != *id {
            return Err(format!("document {id:?} is not found"));
        }
    }
    let searching = (crate::clock::cpu_seconds() - start) * 1e6 / count as f64;
    // Half a collision of keys is expected (`n² b² / 2^44`).
    let collided = taken.iter().filter(|id| id.is_none()).count();
    if collided > 10 {
        return Err(format!("{collided} random signatures have duplicates"));
    }
    let stats = index.stats();
    let bytes = (stats.table_bytes + stats.id_bytes) as f64 / stats.live as f64;
    Ok(vec![
        Row::new(format!("check-and-add, 16 x 8, to {count} documents"), adding, "us"),
        Row::new("search, all found", searching, "us"),
        Row::new("bands alone", bytes, "bytes/document").against("limit", 150.0, Some("<= 1")),
    ])
}
