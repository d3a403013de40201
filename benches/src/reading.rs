//! Reading alone, beside what `dedup` does with the same files: every format, with two threads; and decompressing alone.

use crate::corpus::Corpus;
use crate::forms;
use crate::report::{Report, Row, Settings};
use rayon::prelude::*;
use simhash_corpus::{Block, Fields, Form, Input, spawn};
use simhash_dedup::{DedupOptions, FileOptions, Outputs, dedup_files};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Long texts and short ones.
const SETS: [(&str, &[&str]); 2] = [
    ("articles", &["zh-news-eventmonitor", "zh-docs-tidb", "zh-tech-lctt"]),
    ("titles", &["zh-hotsearch-titles"]),
];
const THREADS: usize = 2;
/// How much longer than other benches each row takes: two or three works are compared, and the machine is shared.
const TIMES: f64 = 6.0;
/// As the reader has it.
const BUFFER_BYTES: usize = 128 << 10;

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build();
    pool.map_err(|error| error.to_string())?.install(|| measured(settings))
}

fn measured(settings: &Settings) -> Result<Report, String> {
    let settings = &Settings { seconds: TIMES * settings.seconds, ..settings.clone() };
    let mut rows = Vec::new();
    let mut setup = Vec::new();
    for (set, names) in SETS {
        let mut texts: Vec<String> = Vec::new();
        for name in names {
            let corpus = Corpus::load(name)?;
            let some = corpus.texts.iter().take(settings.size.unwrap_or(usize::MAX));
            // Lines of text hold no line ends.
            texts.extend(some.map(|text| text.replace(['\n', '\r'], " ")));
            setup.push(corpus.name);
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        setup.push(format!("{} documents, {bytes} bytes of text", texts.len()));
        let folder = std::env::temp_dir().join(format!("simhash-reading-{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let each = forms::all(&texts, &folder)?.into_iter().try_for_each(|(name, path, texts)| {
            let bytes: usize = texts.iter().map(|text| text.len()).sum();
            let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
            let read = |path: &Path| {
                let documents = read(path)?;
                (documents == texts.len()).then_some(()).ok_or(format!("{documents} documents"))
            };
            let named = |error: String| format!("{}: {error}", path.display());
            read(&path).and_then(|()| dedup(&path)).map_err(named)?;
            let what = format!("{set}: {name}");
            let is_slow = ["gzip", "bzip2", "xz"].iter().any(|slow| name.ends_with(slow));
            let (mut reads, mut dedups) = (|| drop(read(&path)), || drop(dedup(&path)));
            if is_slow {
                // Not in turns with `dedup`, which takes several times as long.
                let mut unpacks = || drop(unpacked(&path));
                let [reading, alone] = settings.best_walls([&mut reads, &mut unpacks]);
                let row = || Row::new(&*what, rate(reading), "MB/s");
                rows.push(row().against("dedup", rate(settings.best_wall(dedups)), None));
                rows.push(row().against("its decompressor alone", rate(alone), Some(">= 0.9")));
                return Ok(());
            }
            let files = if path.is_dir() { Input::File(path.clone()).files() } else { Vec::new() };
            let mut opens = || drop(contents(&files));
            let [reading, dedup, alone] =
                settings.best_walls([&mut reads, &mut dedups, &mut opens]);
            let row = || Row::new(&*what, rate(reading), "MB/s");
            rows.push(row().against("dedup", rate(dedup), Some(">= 3")));
            if !files.is_empty() {
                let opening = "opening and reading its files alone";
                rows.push(row().against(opening, rate(alone), None));
            }
            Ok(())
        });
        std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
        each.map_err(|error: String| error)?;
    }
    let setup = format!("{}; {THREADS} threads, wall time", setup.join("; "));
    Ok(Report { bench: "reading", setup, rows })
}

/// Every record of a file, as `dedup` reads it: a block is gone through by one thread, and none waits for another; their number.
fn read(path: &Path) -> Result<usize, String> {
    let input = Input::File(path.to_owned());
    let fields = Fields::default();
    let opened = input.open(&fields, &Form::default()).map_err(|error| error.to_string())?;
    let blocks = spawn(vec![opened], 2, THREADS);
    let has_end = AtomicBool::new(false);
    let work = |_| {
        let mut documents = 0;
        // Nobody sends any more: another thread was told of the end, or why there is none.
        while let Ok(block) = blocks.recv() {
            match block.map_err(|error| error.to_string())? {
                Some(block) => documents += records(&block)?,
                None => has_end.store(true, Ordering::Relaxed),
            }
        }
        Ok(documents)
    };
    let documents = (0..THREADS).into_par_iter().map(work).sum::<Result<usize, String>>()?;
    if has_end.into_inner() { Ok(documents) } else { Err("reading came to no end".into()) }
}

/// The records of a block that have a text.
fn records(block: &Block) -> Result<usize, String> {
    let checked = block.checked();
    let records = block.lines.iter().map(|line| {
        if let Some(fault) = &line.fault {
            return Err(fault.to_string());
        }
        checked.record(line).map(|record| usize::from(!record.text.is_empty()))
    });
    records.sum()
}

fn dedup(path: &Path) -> Result<(), String> {
    let dedup = DedupOptions { threads: THREADS, ..DedupOptions::default() };
    let options = FileOptions { dedup, dry_run: true, ..FileOptions::default() };
    let inputs = [Input::File(path.to_owned())];
    let never = AtomicBool::new(false);
    dedup_files(&inputs, &Outputs::default(), &options, &|_| {}, &never)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Opens and reads files, as many at a time as there are threads; their bytes.
fn contents(files: &[PathBuf]) -> io::Result<u64> {
    files.par_iter().map(|file| Ok(std::fs::read(file)?.len() as u64)).sum()
}

/// Decompresses a file with the libraries that the reader uses, and throws the bytes away.
fn unpacked(path: &Path) -> io::Result<u64> {
    let file = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let mut reader: Box<dyn Read> = match path.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Some("bz2") => Box::new(bzip2::bufread::MultiBzDecoder::new(file)),
        _ => Box::new(lzma_rust2::XzReader::new(file, true)),
    };
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(bytes),
            read => bytes += read as u64,
        }
    }
}
