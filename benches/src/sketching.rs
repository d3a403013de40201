//! Reading and sketching alone: what a run of `dedup` does at least, with nothing looked up, compared or written.

use crate::corpus::Corpus;
use crate::report::{Report, Row, Settings};
use rayon::prelude::*;
use simhash_corpus::{Fields, Form, Input, spawn};
use simhash_dedup::DedupOptions;
use simhash_dedup::stages::Rules;
use simhash_sketch::Scratch;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Those of `dedup` in the benches of whole runs.
const SETS: [&str; 3] = ["zh-news-eventmonitor", "zh-hotsearch-titles", "zh-docs-tidb"];
const THREADS: [usize; 2] = [1, 2];

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let (path, setup, own) = if let Some(file) = &settings.file {
        (PathBuf::from(file), file.clone(), None)
    } else {
        let (path, setup) = written(settings.size.unwrap_or(usize::MAX))?;
        (path.clone(), setup, Some(path))
    };
    let rows = measured(settings, &path);
    if let Some(own) = own {
        std::fs::remove_file(&own).map_err(|error| format!("{}: {error}", own.display()))?;
    }
    let setup = format!("{setup}; minhash with the defaults, wall time");
    Ok(Report { bench: "sketching", setup, rows: rows? })
}

fn measured(settings: &Settings, path: &Path) -> Result<Vec<Row>, String> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bytes = path.metadata().map_err(|error| named(&error))?.len() as f64;
    let rules = Rules::new(&DedupOptions::default()).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for threads in THREADS {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| error.to_string())?;
        let rate = |work: &(dyn Fn(&str, &mut Scratch) -> usize + Sync)| {
            let once = || pool.install(|| each(path, threads, work));
            once()?;
            Ok::<_, String>(bytes / 1e6 / settings.best_wall(|| drop(once())))
        };
        let reading = rate(&|text, _| usize::from(!text.is_empty()))?;
        let sketching = rate(&|text, scratch| rules.sketch(text, scratch).buckets.len())?;
        let threads = if threads == 1 { "one thread" } else { "two threads" };
        let what = format!("reading and sketching, {threads}");
        rows.push(Row::new(what, sketching, "MB/s").against("reading alone", reading, None));
    }
    Ok(rows)
}

/// Calls `work` with every text, as `dedup` reads it: a block for each task.
fn each(
    path: &Path,
    threads: usize,
    work: &(dyn Fn(&str, &mut Scratch) -> usize + Sync),
) -> Result<usize, String> {
    let fields = Fields::default();
    let input = Input::File(path.to_owned());
    let opened = input.open(&fields, &Form::default()).map_err(|error| error.to_string())?;
    let blocks = spawn(vec![opened], 2, threads);
    let blocks = std::iter::from_fn(|| match blocks.recv() {
        Ok(Ok(block)) => block.map(Ok),
        Ok(Err(error)) => Some(Err(error.to_string())),
        Err(error) => Some(Err(error.to_string())),
    });
    let made = blocks.par_bridge().map(|block| {
        let (block, mut scratch, mut sum) = (block?, Scratch::default(), 0);
        let checked = block.checked();
        for line in &block.lines {
            if let Ok(record) = checked.record(line) {
                sum += work(&record.text, &mut scratch);
            }
        }
        Ok(sum)
    });
    made.sum()
}

/// The documents as one file of JSON lines.
fn written(size: usize) -> Result<(PathBuf, String), String> {
    let path = std::env::temp_dir().join(format!("simhash-sketching-{}", std::process::id()));
    let named = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).map_err(named)?);
    let (mut count, mut names) = (0, Vec::new());
    for name in SETS {
        let corpus = Corpus::load(name)?;
        for text in corpus.texts.iter().take(size - count) {
            let line = serde_json::json!({ "text": text });
            writeln!(file, "{line}").map_err(named)?;
            count += 1;
        }
        names.push(corpus.name);
    }
    file.flush().map_err(named)?;
    Ok((path, format!("{count} documents: {}", names.join(", "))))
}
