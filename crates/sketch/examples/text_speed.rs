//! How fast text becomes fingerprints, on one core, beside the baselines that the figures are measured against.
//!
//! ```sh
//! cargo run --release --example text_speed -- docs.jsonl.gz [docs.jsonl.gz …]
//! ```
//!
//! Each file holds records with a `text`, gzipped. Every line of the table is the best of several passes, in MB of UTF-8 (or of memory) per second.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people at a terminal")]

use flate2::read::GzDecoder;
use jieba_rs::Jieba;
use simhash_sketch::accumulate::Sums;
use simhash_sketch::simd::Level;
use simhash_sketch::{
    ExtractorOptions, Fingerprinter, FingerprinterOptions, Normalizer, Scratch, Unit, Weighting,
    hamming,
};
use simhash_text::segment::{SegmentScratch, cut};
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::time::{Duration, Instant};

/// Passes go on for this long, and there are at least three.
const ENOUGH: Duration = Duration::from_millis(1500);

fn main() {
    println!("level {}", Level::current().name());
    for path in std::env::args().skip(1) {
        let texts = read(&path);
        let bytes: usize = texts.iter().map(String::len).sum();
        println!("\n{path}: {} texts, {:.1} MB", texts.len(), bytes as f64 / 1e6);
        fingerprints(&texts);
        segmentation(&texts);
    }
    accumulation();
    scan();
}

fn read(path: &str) -> Vec<String> {
    let mut lines = String::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut lines).unwrap();
    let text = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["text"].as_str().unwrap().to_owned()
    };
    lines.split('\n').filter(|line| !line.is_empty()).map(text).collect()
}

/// Prints and returns the rate of `pass`, which goes over `bytes` bytes.
fn rate(what: &str, bytes: usize, mut pass: impl FnMut()) -> f64 {
    let (begin, mut best, mut passes) = (Instant::now(), Duration::MAX, 0);
    while passes < 3 || begin.elapsed() < ENOUGH {
        let start = Instant::now();
        pass();
        best = best.min(start.elapsed());
        passes += 1;
    }
    let rate = bytes as f64 / 1e6 / best.as_secs_f64();
    println!("{what:<44} {rate:>9.1} MB/s");
    rate
}

/// As [`rate`] over texts, group by group: a group's best pass counts, so that a busy machine disturbs less.
fn each(what: &str, texts: &[String], mut work: impl FnMut(&str)) -> f64 {
    /// About 200 kB of news: a pass of it is shorter than a scheduler's time slice.
    const GROUP: usize = 50;
    let bytes: usize = texts.iter().map(String::len).sum();
    let mut best = vec![Duration::MAX; texts.len().div_ceil(GROUP)];
    let (begin, mut passes) = (Instant::now(), 0);
    while passes < 5 || begin.elapsed() < ENOUGH {
        for (group, best) in texts.chunks(GROUP).zip(&mut best) {
            let start = Instant::now();
            for text in group {
                work(text);
            }
            *best = start.elapsed().min(*best);
        }
        passes += 1;
    }
    let rate = bytes as f64 / 1e6 / best.iter().sum::<Duration>().as_secs_f64();
    println!("{what:<44} {rate:>9.1} MB/s");
    rate
}

fn fingerprinter(normalize: Normalizer, extract: ExtractorOptions) -> Fingerprinter {
    let options = FingerprinterOptions { normalize, extract, min_features: None };
    Fingerprinter::new(&options).unwrap()
}

fn fingerprints(texts: &[String]) {
    let mut scratch = Scratch::default();
    let chars = fingerprinter(Normalizer::OFF, ExtractorOptions::default());
    let usual = fingerprinter(Normalizer::default(), ExtractorOptions::default());
    let normal: Vec<String> =
        texts.iter().map(|text| usual.normalize(text, &mut scratch).to_owned()).collect();

    each("UTF-8 decoding", texts, |text| {
        black_box(text.chars().fold(0_u32, |sum, c| sum.wrapping_add(u32::from(c))));
    });
    let plain = each("chars fingerprint, no normalisation", &normal, |text| {
        black_box(chars.sketch(text, &mut scratch));
    });
    each("chars fingerprint, default, as found", texts, |text| {
        black_box(usual.sketch(text, &mut scratch));
    });
    each("normalise, as found", texts, |text| {
        black_box(usual.normalize(text, &mut scratch));
    });
    let check = each("normalise, nothing to change", &normal, |text| {
        black_box(usual.normalize(text, &mut scratch));
    });
    println!("{:<44} {:>8.1} %", "  of the chars fingerprint's time", 100.0 * plain / check);
    each("naive chars fingerprint", &normal, |text| {
        black_box(naive(text));
    });
    for (what, weighting) in [("words", None), ("words, binary", Some(Weighting::Binary))] {
        let extract =
            ExtractorOptions { unit: Unit::Words, weighting, ..ExtractorOptions::default() };
        let words = fingerprinter(Normalizer::OFF, extract);
        each(what, texts, |text| {
            black_box(words.sketch(text, &mut scratch));
        });
    }
    let keywords = Fingerprinter::preset("jieba-tfidf").unwrap();
    each("jieba-tfidf fingerprint", texts, |text| {
        black_box(keywords.sketch(text, &mut scratch));
    });
}

/// Bigrams as strings, 64 counters, one bit at a time.
fn naive(text: &str) -> u64 {
    let chars: Vec<char> = text.chars().collect();
    let mut counters = [0_i32; 64];
    for bigram in chars.windows(2) {
        let hash = simhash_text::feature::hash(bigram.iter().collect::<String>().as_bytes());
        for (bit, counter) in counters.iter_mut().enumerate() {
            *counter += if black_box(hash) >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    (0..64).fold(0, |fingerprint, bit| fingerprint | u64::from(counters[bit] > 0) << bit)
}

fn segmentation(texts: &[String]) {
    let mut scratch = SegmentScratch::default();
    let jieba = Jieba::new();
    for hmm in [true, false] {
        let with = if hmm { "HMM" } else { "no HMM" };
        let theirs = each(&format!("jieba-rs cut, {with}"), texts, |text| {
            black_box(jieba.cut(text, hmm));
        });
        let ours = each(&format!("cut, {with}"), texts, |text| {
            cut(text, hmm, &mut scratch, |word| {
                black_box(word.text);
            });
        });
        println!("{:<44} {:>8.1} ×", "  of jieba-rs", ours / theirs);
    }
}

fn accumulation() {
    println!();
    let hashes: Vec<u64> =
        (0..3000_u64).map(|i| simhash_text::feature::hash(&i.to_le_bytes())).collect();
    for count in [30, 300, 3000] {
        let hashes = &hashes[..count];
        let naive = rate(&format!("naive 64 counters, {count} features"), 8 * count, || {
            let mut counters = [0_i32; 64];
            for &hash in hashes {
                for (bit, counter) in counters.iter_mut().enumerate() {
                    *counter += if black_box(hash) >> bit & 1 == 1 { 1 } else { -1 };
                }
            }
            black_box(counters);
        });
        for level in Level::available() {
            let ours = rate(&format!("accumulate, {}", level.name()), 8 * count, || {
                let mut sums = Sums::at(level);
                sums.add_hashes(black_box(hashes));
                black_box(sums.fingerprint());
            });
            println!("{:<44} {:>8.1} ×", "  of the naive loop", ours / naive);
        }
    }
}

fn scan() {
    println!();
    let haystack: Vec<u64> =
        (0..16_000_000_u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let bytes = 8 * haystack.len();
    let read = rate("reading an array", bytes, || {
        black_box(black_box(&haystack).iter().fold(0, |sum, &x| sum ^ x));
    });
    for level in Level::available() {
        let mut hits = 0_u64;
        let ours = rate(&format!("Hamming scan, {}", level.name()), bytes, || {
            hamming::within_at(level, &haystack, 0x0123_4567_89AB_CDEF, 3, |_, _| hits += 1);
        });
        black_box(hits);
        println!("{:<44} {:>8.2} ×", "  time of reading", read / ours);
    }
}
