//! Check-and-add into a directory that writes checkpoints meanwhile: how long a batch takes then, and how much is written
//! to the disk for each byte of change.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use simhash_dedup::live::{Document, LiveIndex, LiveMethod, LiveOptions, OpenOptions, Stored};
use simhash_index::durable::{Durability, DurableOptions};
use simhash_index::{OnDuplicate, PlanChoice};

use crate::durable::Folder;
use crate::report::{Random, Report, Row, Settings};

/// Documents of a batch.
const BATCH: usize = 1000;

static NEVER: AtomicBool = AtomicBool::new(false);

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let size = settings.size.unwrap_or(10_000_000);
    let mut rows = Vec::new();
    for (durability, words) in
        [(Durability::Interval(Duration::from_secs(1)), "interval"), (Durability::Commit, "commit")]
    {
        measure(size, durability, words, &mut rows)?;
    }
    let setup = format!("{size} random fingerprints, k = 3, in batches of {BATCH}");
    Ok(Report { bench: "merges", setup, rows })
}

fn measure(
    size: usize,
    durability: Durability,
    words: &str,
    rows: &mut Vec<Row>,
) -> Result<(), String> {
    let wrong = |error: simhash_dedup::DedupError| error.to_string();
    let method =
        LiveMethod::SimHash { max_distance: Some(3), plan: PlanChoice::default(), capacity: None };
    let options =
        LiveOptions { method, stored: Stored::NOTHING, verify: None, ..LiveOptions::default() };
    let mut durable = DurableOptions::default();
    durable.durability = durability;
    let how = OpenOptions { durable, ..OpenOptions::default() };
    let folder = Folder::new();
    let index = LiveIndex::open_directory(folder.path(), &options, how, &NEVER).map_err(wrong)?;
    let mut random = Random(3);
    let (before, start) = (written(), Instant::now());
    let mut times = Vec::with_capacity(size / BATCH + 1);
    let mut left = size;
    // The bytes of all logs: those that a checkpoint has replaced were counted before they went.
    let (mut logs, mut last, mut checkpoints) = (0_u64, 0_u64, 0_u32);
    while left > 0 {
        let count = left.min(BATCH);
        left -= count;
        let batch: Vec<_> = (0..count).map(|_| Document::fingerprint(random.next())).collect();
        let begin = Instant::now();
        index.check_and_add_many(&batch, &[], &[], OnDuplicate::Skip, 1, &NEVER).map_err(wrong)?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        let now = index.durable_stats().map_or(0, |stats| stats.log_bytes);
        if now < last {
            checkpoints += 1;
        }
        logs += now.saturating_sub(last);
        last = now;
    }
    let wall = start.elapsed().as_secs_f64();
    drop(index);
    let all = written() - before;
    rows.push(Row::new(format!("{words}: acknowledged"), size as f64 / wall, "documents/s"));
    times.sort_by(f64::total_cmp);
    for (name, of_1000) in [("p50", 500), ("p99", 990), ("p99.9", 999), ("longest", 1000)] {
        let at = (times.len() - 1) * of_1000 / 1000;
        rows.push(Row::new(format!("{words}: {name} of a batch"), times[at], "ms"));
    }
    rows.push(Row::new(format!("{words}: checkpoints meanwhile"), checkpoints.into(), ""));
    let disk = folder.bytes() as f64 / size as f64;
    let per_document = |bytes: f64| bytes / size as f64;
    let row = |what: &str, value| Row::new(format!("{words}: {what}"), value, "bytes/document");
    rows.push(row("changes in the log", per_document(logs as f64)));
    let all = row("written, log and checkpoints", per_document(all));
    rows.push(all.against("the folder at the end", disk, Some("<= 4")));
    Ok(())
}

/// Bytes that this process has handed to files so far; 0 where the system does not say.
fn written() -> f64 {
    let counters = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = counters.lines().find_map(|line| line.strip_prefix("wchar: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0.0)
}
