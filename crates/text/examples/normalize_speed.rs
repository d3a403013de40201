//! Speed of every normalisation step, in MB/s of UTF-8 on one thread, best of several passes, next to UTF-8 decoding.
//!
//!     cargo run --release -p simhash-text --example normalize_speed [-- DIRECTORY [PASSES]]
//!
//! DIRECTORY holds `docs.jsonl.gz` (records with a `text`); by default the news set beside the repository. Each step is
//! measured on the texts as they are and on texts that it has already been through, where it has nothing to do.
#![expect(clippy::print_stdout, reason = "a measuring program prints its figures")]

use simhash_text::normalize::Punctuation;
use simhash_text::sentence::{Longest, SentenceOptions, SentenceScratch};
use simhash_text::{
    ExtractScratch, Extractor, ExtractorOptions, NormalizeScratch, Normalizer, Whitespace,
};
use std::error::Error;
use std::hint::black_box;
use std::io::Read;
use std::time::Instant;

const NEWS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/zh-news-eventmonitor");

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| NEWS.to_owned());
    let passes = arguments.next().map_or(Ok(7), |passes| passes.parse())?;
    let texts = read(&format!("{directory}/docs.jsonl.gz"))?;
    println!("{} texts, {} bytes, best of {passes}\n", texts.len(), total(&texts));
    println!("{:<34} {:>12} {:>12}", "MB/s", "as they are", "done before");

    let decode = |text: &str| {
        black_box(std::str::from_utf8(text.as_bytes()).is_ok());
        black_box(text.chars().fold(0u32, |sum, c| sum.wrapping_add(c as u32)));
    };
    println!("{:<34} {:>12.0}", "validate and decode UTF-8", best(&texts, passes, decode));
    for (name, normalizer) in steps() {
        let mut scratch = NormalizeScratch::default();
        let normal: Vec<String> =
            texts.iter().map(|text| normalizer.apply(text, &mut scratch).to_owned()).collect();
        let mut run = |text: &str| {
            black_box(normalizer.apply(text, &mut scratch));
        };
        let (fresh, done) = (best(&texts, passes, &mut run), best(&normal, passes, &mut run));
        println!("{name:<34} {fresh:>12.0} {done:>12.0}");
    }
    let finder = Longest::new(&SentenceOptions::default());
    let mut scratch = SentenceScratch::default();
    let sentences = best(&texts, passes, |text| {
        black_box(finder.of(text, &mut scratch));
    });
    println!("{:<34} {sentences:>12.0}", "5 longest sentences, default steps");
    let extractor = Extractor::new(&ExtractorOptions::default())?;
    let mut scratch = ExtractScratch::default();
    let bigrams = best(&texts, passes, |text| {
        black_box(extractor.features(text, &mut scratch));
    });
    println!("{:<34} {bigrams:>12.0}", "character bigram features");
    Ok(())
}

fn steps() -> Vec<(&'static str, Normalizer)> {
    let off = || Normalizer::OFF;
    vec![
        ("html", Normalizer { html: true, ..off() }),
        ("noise", Normalizer { noise: true, ..off() }),
        ("emoji", Normalizer { emoji: true, ..off() }),
        ("nfkc and case", Normalizer { nfkc: true, case: true, ..off() }),
        ("simplified", Normalizer { simplified: true, ..off() }),
        ("invisible", Normalizer { invisible: true, ..off() }),
        ("punctuation, fold", Normalizer { punctuation: Punctuation::Fold, ..off() }),
        ("punctuation, drop", Normalizer { punctuation: Punctuation::Drop, ..off() }),
        ("whitespace, auto", Normalizer { whitespace: Whitespace::Auto, ..off() }),
        ("runs", Normalizer { runs: true, ..off() }),
        ("default", Normalizer::default()),
        ("web", Normalizer::web()),
        ("microblog", Normalizer::microblog()),
    ]
}

fn total(texts: &[String]) -> usize {
    texts.iter().map(String::len).sum()
}

/// Megabytes per second of the fastest pass over all texts.
fn best(texts: &[String], passes: usize, mut work: impl FnMut(&str)) -> f64 {
    let fastest = (0..passes)
        .map(|_| {
            let start = Instant::now();
            for text in texts {
                work(text);
            }
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    total(texts) as f64 / fastest / 1e6
}

fn read(path: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let file = std::fs::File::open(path).map_err(|error| format!("{path}: {error}"))?;
    let mut lines = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut lines)?;
    let mut texts = Vec::new();
    for line in lines.lines() {
        let record: serde_json::Value = serde_json::from_str(line)?;
        texts.push(record["text"].as_str().unwrap_or_default().to_owned());
    }
    Ok(texts)
}
