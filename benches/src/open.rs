//! Opening the folder of an index of fingerprints, as `Index.open` does: mapped, by the first answer, with its files in the system's
//! memory and without; and read as a whole. Then what answers cost from a mapped file beside memory, and how long opening takes
//! where changes were made since the checkpoint.
//!
//! With `--file PATH` the folder stays, and one that is there is opened instead of being made: so that the memory of the process
//! is that of an index which was only opened.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use simhash_dedup::live::{
    Document, LiveIndex, LiveMethod, LiveOptions, OpenOptions, Search, Stored, Texts,
};
use simhash_dedup::{DedupError, SavedIndex};
use simhash_index::{AddOptions, PlanChoice};
use simhash_sketch::ExtractorOptions;

use crate::clock::cpu_seconds;
use crate::memory::own;
use crate::report::{Random, Report, Row, Settings};

static NEVER: AtomicBool = AtomicBool::new(false);

/// Fingerprints added at once.
const BATCH: usize = 2_500_000;

/// Changes in the log that is made again at last, a quarter of what calls for a checkpoint.
const CHANGES: usize = 1_000_000;

/// Searches that are measured: of a mapped file most touch blocks that none before has touched.
const SEARCHES: usize = 100_000;

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let size = settings.size.unwrap_or(1_000_000);
    let file = settings.file.as_ref().map(PathBuf::from);
    let path = file.clone().unwrap_or_else(|| {
        std::env::temp_dir().join(format!("simhash-bench-{}.index", std::process::id()))
    });
    let mut report = measure(size, &path);
    if file.is_none() {
        if let Ok(report) = &mut report {
            report.rows.push(changed(size, &path)?);
        }
        // It may not be there.
        let _ = std::fs::remove_dir_all(&path);
    }
    report
}

fn measure(size: usize, path: &Path) -> Result<Report, String> {
    let said = |error: DedupError| error.to_string();
    let mut rows = Vec::new();
    if !path.exists() {
        let start = Instant::now();
        let seconds = make(size, path).map_err(said)?;
        rows.push(Row::new("add", start.elapsed().as_secs_f64() - seconds, "s"));
        rows.push(Row::new("snapshot", seconds, "s"));
    }
    let bytes =
        files(path)?.into_iter().filter_map(|file| file.metadata().ok()).map(|about| about.len());
    let bytes: u64 = bytes.sum();
    rows.push(Row::new("folder", bytes as f64 / size as f64, "bytes/fingerprint"));

    for (name, cold) in [("file not in memory", true), ("file in memory", false)] {
        if cold {
            files(path)?.iter().for_each(|file| forget(file));
        } else {
            files(path)?.iter().try_for_each(|file| warm(file))?;
        }
        let (start, before) = (Instant::now(), own());
        let index = open(path, size, true).map_err(said)?;
        let opened = start.elapsed().as_secs_f64();
        let mut random = Random(7);
        find(&index, random.next())?;
        let first = start.elapsed().as_secs_f64();
        rows.push(Row::new(format!("mapped, {name}: open"), opened, "s"));
        let goal = Row::new(format!("mapped, {name}: open and first answer"), first, "s");
        rows.push(goal.against("3 s", 3.0, Some("<= 1 at 50 M")));
        rows.push(Row::new(format!("mapped, {name}: memory of its own"), own() - before, "MB"));
        if cold {
            let mut times: Vec<f64> = Vec::new();
            for _ in 0..2000 {
                let start = Instant::now();
                find(&index, random.next())?;
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
            times.sort_by(f64::total_cmp);
            for (share, at) in [("p50", 1000), ("p99", 1980), ("p99.9", 1998)] {
                let what = format!("mapped, {name}: {share} of the next 2,000 searches");
                rows.push(Row::new(what, times[at], "us"));
            }
        } else {
            let mapped = answers(&index, size, &mut Random(8))?;
            let again = answers(&index, size, &mut Random(8))?;
            drop(index);
            let saved = SavedIndex { path: path.to_owned(), words: ExtractorOptions::default() };
            let start = Instant::now();
            saved.verify(&NEVER).map_err(said)?;
            rows.push(Row::new("verified", start.elapsed().as_secs_f64(), "s"));
            let (start, before) = (Instant::now(), own());
            let index = open(path, size, false).map_err(said)?;
            let read = Row::new("read: open, all checked", start.elapsed().as_secs_f64(), "s");
            rows.push(read.against("20 s", 20.0, Some("<= 1 at 50 M")));
            rows.push(Row::new("read: memory of its own", own() - before, "MB"));
            let memory = answers(&index, size, &mut Random(8))?;
            for (number, what) in
                ["search that finds nothing", "search that finds one", "check-and-add"]
                    .into_iter()
                    .enumerate()
            {
                let row =
                    |name: &str, value| Row::new(format!("{what}, k = 3, {name}"), value, "ns");
                rows.push(row("first touch of the map", mapped[number]).against(
                    "memory",
                    memory[number],
                    None,
                ));
                rows.push(row("mapped", again[number]).against("memory", memory[number], None));
            }
        }
    }
    Ok(Report { bench: "open", setup: format!("{size} uniform fingerprints"), rows })
}

/// The first answer of the folder, mapped, where a million of changes has come since its checkpoint.
fn changed(size: usize, path: &Path) -> Result<Row, String> {
    let said = |error: DedupError| error.to_string();
    let (index, mut random) = (open(path, size, true).map_err(said)?, Random(9));
    for _ in 0..CHANGES / 1000 {
        let all: Vec<_> = (0..1000).map(|_| Document::fingerprint(random.next())).collect();
        index.add_many(&all, &[], &[], &NEVER).map_err(said)?;
    }
    drop(index);
    let start = Instant::now();
    let index = open(path, size, true).map_err(said)?;
    find(&index, random.next())?;
    let seconds = start.elapsed().as_secs_f64();
    let stats = index.durable_stats().ok_or("it is not in a folder")?;
    if stats.log_bytes < 8 * CHANGES as u64 {
        return Err(format!("only {} bytes of changes are there", stats.log_bytes));
    }
    Ok(Row::new("mapped, 1 M additions in the log: open and first answer", seconds, "s"))
}

/// Fingerprints within 3 bits, and nothing beside them.
fn options(size: usize) -> LiveOptions {
    let capacity = Some(size as u64);
    let method =
        LiveMethod::SimHash { max_distance: Some(3), plan: PlanChoice::default(), capacity };
    LiveOptions { method, stored: Stored::NOTHING, verify: None, ..LiveOptions::default() }
}

/// Opened as its owner has it, who flushes every second.
fn open(path: &Path, size: usize, mmap: bool) -> Result<LiveIndex, DedupError> {
    let how = OpenOptions { mmap, ..OpenOptions::default() };
    LiveIndex::open_directory(path, &options(size), how, &NEVER)
}

/// The files of a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(path).map_err(|error| error.to_string())?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

/// Makes a folder of an index; the seconds that the snapshot took.
fn make(size: usize, path: &Path) -> Result<f64, DedupError> {
    let index = LiveIndex::new(&options(size))?;
    let mut random = Random(3);
    for from in (0..size).step_by(BATCH) {
        let count = from..(from + BATCH).min(size);
        let all: Vec<_> = count.map(|_| Document::fingerprint(random.next())).collect();
        index.add_many(&all, &[], &[], &NEVER)?;
    }
    index.compact(&NEVER)?;
    let start = Instant::now();
    index.snapshot().write_directory(path, &NEVER)?;
    Ok(start.elapsed().as_secs_f64())
}

fn find(index: &LiveIndex, value: u64) -> Result<usize, String> {
    let found = index.search(&Document::fingerprint(value), &Search::default());
    Ok(found.map_err(|error| error.to_string())?.matches.len())
}

/// Nanoseconds of a search that finds nothing, of one that finds a document, and of a check-and-add.
fn answers(index: &LiveIndex, size: usize, random: &mut Random) -> Result<[f64; 3], String> {
    let searches = SEARCHES.min(size);
    let count = searches as f64 / 1e9;
    let start = cpu_seconds();
    for _ in 0..searches {
        black_box(find(index, random.next())?);
    }
    let nothing = cpu_seconds() - start;
    // The first that were added.
    let mut added = Random(3);
    let start = cpu_seconds();
    for _ in 0..searches {
        if find(index, added.next() ^ 5)? == 0 {
            return Err("a fingerprint that was added is not found".to_owned());
        }
    }
    let one = cpu_seconds() - start;
    let start = cpu_seconds();
    for _ in 0..searches {
        let item = Document::fingerprint(random.next());
        let texts = |_| Texts::None;
        let added = index.check_and_add(&item, None, AddOptions::default(), texts);
        black_box(added.map_err(|error| error.to_string())?);
    }
    let add = cpu_seconds() - start;
    Ok([nothing, one, add].map(|seconds| seconds / count))
}

/// Has the system give up what it keeps of a file, where it can be asked to.
fn forget(path: &Path) {
    #[cfg(target_os = "linux")]
    if let Ok(file) = std::fs::File::open(path) {
        use std::os::fd::AsRawFd;
        // SAFETY: the call looks at an open file; the advice may be refused without harm.
        unsafe {
            libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = path;
}

/// Reads a file once.
fn warm(path: &Path) -> Result<(), String> {
    let read = |error: std::io::Error| error.to_string();
    let mut file = std::fs::File::open(path).map_err(read)?;
    std::io::copy(&mut file, &mut std::io::sink()).map_err(read)?;
    Ok(())
}
