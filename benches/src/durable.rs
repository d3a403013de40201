//! An index in a directory beside one in memory: check-and-add in batches of 1,000 and one by one, by durability, the sketches made
//! within the time; how often the disk flushes; then opening what was written.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use simhash_dedup::live::{Document, LiveIndex, LiveMethod, LiveOptions, OpenOptions, Stored};
use simhash_index::durable::{Durability, DurableOptions};
use simhash_index::{OnDuplicate, PlanChoice};
use simhash_sketch::Scratch;

use crate::clock::cpu_seconds;
use crate::corpus::Corpus;
use crate::report::{Random, Report, Row, Settings};

/// Documents of a batch, and so of a commit.
const BATCH: usize = 1000;

/// Rounds, of which the median counts; memory and directory take turns.
const ROUNDS: usize = 5;

/// Texts that are checked and added: what they are, their corpus, and at most how many of it.
const TEXTS: [(&str, &str, usize); 2] =
    [("news", "zh-news-eventmonitor", 2_934), ("titles", "zh-hotsearch-titles", 200_000)];

/// What the rows of a comparison are held against.
#[derive(Clone, Copy)]
struct Goals {
    /// The time under `interval` by that in memory.
    interval: &'static str,
    /// Whether 50,000 documents a second are asked for under `commit`. Not of news, of which an index in memory takes fewer: one of
    /// 4,400 bytes costs it some 40 us.
    commit: bool,
}

static NEVER: AtomicBool = AtomicBool::new(false);

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let rounds = if settings.size.is_some() { 1 } else { ROUNDS };
    let mut rows = Vec::new();
    let mut setup = Vec::new();
    for (name, corpus, most) in TEXTS {
        let mut corpus = Corpus::load(corpus)?;
        corpus.texts.truncate(settings.size.unwrap_or(most));
        let documents = |index: &LiveIndex, rows: Range<usize>| {
            let mut scratch = Scratch::default();
            corpus.texts[rows].iter().map(|text| index.document(text, &mut scratch)).collect()
        };
        let what = format!("{name}, minhash, with their texts");
        let options = LiveOptions::default();
        let goals = Goals { interval: "<= 1.3", commit: name == "titles" };
        compare(&what, &options, goals, (rounds, corpus.texts.len()), documents, &mut rows)?;
        setup.push(format!("{} {name} of {}", corpus.texts.len(), corpus.name));
    }
    let count = settings.size.map_or(1_000_000, |size| size * 10);
    let method =
        LiveMethod::SimHash { max_distance: Some(3), plan: PlanChoice::default(), capacity: None };
    let bare =
        LiveOptions { method, stored: Stored::NOTHING, verify: None, ..LiveOptions::default() };
    let documents = |_: &LiveIndex, rows: Range<usize>| {
        let mut random = Random(3 + rows.start as u64);
        rows.map(|_| Document::fingerprint(random.next())).collect()
    };
    let goals = Goals { interval: "<= 2", commit: true };
    compare("fingerprints", &bare, goals, (rounds, count), documents, &mut rows)?;
    rows.push(Row::new("a file: 4 KiB appended and flushed", flushes()?, "/s"));
    setup.push(format!("{count} fingerprints"));
    Ok(Report { bench: "durable", setup: setup.join("; "), rows })
}

/// Where an index lies, and goes with this.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(std::env::temp_dir().join(format!("simhash-bench-durable-{}", std::process::id())))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Bytes of its files.
    pub(crate) fn bytes(&self) -> u64 {
        let files = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|about| about.len()).sum()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn compare(
    name: &str,
    options: &LiveOptions,
    goals: Goals,
    (rounds, count): (usize, usize),
    documents: impl Fn(&LiveIndex, Range<usize>) -> Vec<Document>,
    rows: &mut Vec<Row>,
) -> Result<(), String> {
    let wrong = |error: simhash_dedup::DedupError| error.to_string();
    let open = |folder: &Folder, durability| {
        let mut durable = DurableOptions::default();
        durable.durability = durability;
        let how = OpenOptions { durable, ..OpenOptions::default() };
        LiveIndex::open_directory(&folder.0, options, how, &NEVER).map_err(wrong)
    };
    for (durability, words) in [
        (Durability::Interval(Duration::from_secs(1)), "interval"),
        (Durability::None, "none"),
        (Durability::Commit, "commit"),
    ] {
        let mut ratios = Vec::new();
        for _ in 0..rounds {
            let in_memory = LiveIndex::new(options).map_err(wrong)?;
            let (memory, _) = check(&in_memory, 0..count, BATCH, &documents)?;
            let folder = Folder::new();
            let index = open(&folder, durability)?;
            let (own, wall) = check(&index, 0..count, BATCH, &documents)?;
            ratios.push((own / memory, own, memory, count as f64 / wall));
        }
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (_, own, memory, rate) = ratios[ratios.len() / 2];
        let what = format!("{name}: {words}, CPU");
        let goal = (words == "interval").then_some(goals.interval);
        rows.push(Row::new(what, own, "s").against("in memory", memory, goal));
        let row = Row::new(format!("{name}: {words}, acknowledged"), rate, "documents/s");
        let least = 50_000.0;
        let held = words == "commit" && goals.commit;
        rows.push(if held { row.against("50,000", least, Some(">= 1")) } else { row });
        let folder = Folder::new();
        let index = open(&folder, durability)?;
        // Where each waits for the disk a few thousand say enough.
        let some = count.min(if words == "commit" { 2_000 } else { 50_000 });
        let (_, wall) = check(&index, 0..some, 1, &documents)?;
        let what = format!("{name}: {words}, one by one, acknowledged");
        rows.push(Row::new(what, some as f64 / wall, "documents/s"));
    }
    let folder = Folder::new();
    let index = open(&folder, Durability::None)?;
    check(&index, 0..count, BATCH, &documents)?;
    let stats = index.durable_stats();
    let log = stats.map_or(0, |stats| stats.log_bytes + stats.checkpoint_bytes);
    rows.push(Row::new(format!("{name}: log"), log as f64 / count as f64, "bytes/document"));
    drop(index);
    let start = Instant::now();
    let index = open(&folder, Durability::None)?;
    rows.push(Row::new(format!("{name}: open, log"), start.elapsed().as_secs_f64(), "s"));
    index.checkpoint(&NEVER).map_err(wrong)?;
    drop(index);
    let start = Instant::now();
    open(&folder, Durability::None)?;
    rows.push(Row::new(format!("{name}: open, checkpoint"), start.elapsed().as_secs_f64(), "s"));
    Ok(())
}

/// CPU seconds and seconds of sketching, checking and adding some documents, in batches of so many.
fn check(
    index: &LiveIndex,
    rows: Range<usize>,
    batch: usize,
    documents: &impl Fn(&LiveIndex, Range<usize>) -> Vec<Document>,
) -> Result<(f64, f64), String> {
    let (start, wall) = (cpu_seconds(), Instant::now());
    for from in rows.clone().step_by(batch) {
        let documents = documents(index, from..(from + batch).min(rows.end));
        index
            .check_and_add_many(&documents, &[], &[], OnDuplicate::Skip, 1, &NEVER)
            .map_err(|error| error.to_string())?;
    }
    Ok((cpu_seconds() - start, wall.elapsed().as_secs_f64()))
}

/// How often a second the disk takes a page that is appended to a file.
fn flushes() -> Result<f64, String> {
    let folder = Folder::new();
    let run = || -> std::io::Result<f64> {
        std::fs::create_dir(folder.path())?;
        let mut file = std::fs::File::create(folder.path().join("file"))?;
        let (start, mut count) = (Instant::now(), 0);
        while count < 10 || start.elapsed() < Duration::from_secs(1) {
            file.write_all(&[7; 4096])?;
            file.sync_data()?;
            count += 1;
        }
        Ok(f64::from(count) / start.elapsed().as_secs_f64())
    };
    run().map_err(|error| error.to_string())
}
