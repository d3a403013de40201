//! Documents one by one: what a live index costs beside deduplication of the same stream, and the bytes of a document, by method.

use std::sync::atomic::AtomicBool;

use simhash_dedup::live::{LiveIndex, LiveMethod, LiveOptions, Step, Stored, Texts};
use simhash_dedup::{DedupOptions, Deduper, Method};
use simhash_index::AddOptions;
use simhash_sketch::Scratch;

use crate::clock::cpu_seconds;
use crate::corpus::Corpus;
use crate::report::{Report, Row, Settings};

/// Rounds, of which the median counts; the two doors take turns.
const ROUNDS: usize = 7;

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let sets = [("news", "zh-news-eventmonitor", 2_934), ("titles", "zh-hotsearch-titles", 20_000)];
    let rounds = if settings.size.is_some() { 1 } else { ROUNDS };
    let (mut rows, mut setup) = (Vec::new(), Vec::new());
    for (name, set, most) in sets {
        let mut corpus = Corpus::load(set)?;
        corpus.texts.truncate(settings.size.unwrap_or(most));
        setup.push(format!("{} {name} of {}", corpus.texts.len(), corpus.name));
        for (method, kind) in [
            (Method::MinHash { plan: None }, LiveMethod::minhash()),
            (Method::SimHash { max_distance: Method::MAX_DISTANCE }, LiveMethod::simhash()),
            (Method::Sentences { count: Method::SENTENCES }, LiveMethod::sentences()),
            (Method::Exact, LiveMethod::Exact),
        ] {
            rows.extend(compare(name, method, &kind, &corpus.texts, rounds)?);
        }
    }
    Ok(Report { bench: "live", setup: setup.join("; "), rows })
}

fn compare(
    name: &str,
    method: Method,
    kind: &LiveMethod,
    texts: &[String],
    rounds: usize,
) -> Result<Vec<Row>, String> {
    let mut ratios = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let (batch, expected) = deduplicate(method, texts)?;
        let (live, found, _) = one_by_one(kind, Stored::default(), texts)?;
        if expected != found {
            return Err(format!("{name}, {method:?}: {found} duplicates, dedup has {expected}"));
        }
        ratios.push((live / batch, live, batch));
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, live, batch) = ratios[ratios.len() / 2];
    let each = |seconds: f64| seconds * 1e6 / texts.len() as f64;
    let what = format!("{name}, {}: check-and-add of a text", kind.name());
    let mut rows = vec![Row::new(what, each(live), "us").against("dedup", each(batch), None)];
    for (stored, texts_are) in [(Stored::default(), "stored"), (Stored::NOTHING, "not")] {
        let (_, found, bytes) = one_by_one(kind, stored, texts)?;
        let kept = (texts.len() - found).max(1) as f64;
        let what = format!("{name}, {}: a document, texts {texts_are}", kind.name());
        rows.push(Row::new(what, bytes as f64 / kept, "bytes"));
    }
    Ok(rows)
}

/// CPU seconds and duplicates.
fn deduplicate(method: Method, texts: &[String]) -> Result<(f64, usize), String> {
    let wrong = |error: simhash_dedup::DedupError| error.to_string();
    let start = cpu_seconds();
    let options = DedupOptions { method, threads: 1, ..DedupOptions::default() };
    let mut deduper = Deduper::new(&options).map_err(wrong)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let decisions = deduper.push(&texts, &AtomicBool::new(false)).map_err(wrong)?;
    let found = decisions.iter().filter(|decision| decision.duplicate_of.is_some()).count();
    Ok((cpu_seconds() - start, found))
}

/// CPU seconds, duplicates, and bytes held.
fn one_by_one(
    method: &LiveMethod,
    stored: Stored,
    texts: &[String],
) -> Result<(f64, usize, usize), String> {
    let wrong = |error: simhash_dedup::DedupError| error.to_string();
    let start = cpu_seconds();
    let method = method.clone();
    let options = LiveOptions { method, stored, ..LiveOptions::default() };
    let index = LiveIndex::new(&options).map_err(wrong)?;
    let (mut scratch, mut found) = (Scratch::default(), 0);
    for text in texts {
        let document = index.document(text, &mut scratch);
        let none = |_| Texts::None;
        let step = index.check_and_add(&document, None, AddOptions::default(), none);
        if let Step::Done(checked) = step.map_err(wrong)? {
            found += usize::from(checked.duplicate_of.is_some());
        }
    }
    Ok((cpu_seconds() - start, found, index.bytes()))
}
