//! Segmentation and keywords against jieba-rs on the same texts, in the same run.

use crate::corpus::Corpus;
use crate::memory::resident;
use crate::report::{Report, Row, Settings};
use jieba_rs::{Jieba, KeywordExtract, TfIdf};
use simhash_sketch::{Fingerprinter, Scratch};
use simhash_text::segment::{SegmentScratch, cut};
use std::hint::black_box;
use std::time::Instant;

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let corpus = Corpus::load("zh-news-eventmonitor")?;
    // 2.5 MB of news are enough for the slow side.
    let texts: Vec<&str> =
        corpus.texts.iter().take(settings.size.unwrap_or(600)).map(String::as_str).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
    // Before anything else of this process has touched the dictionary.
    let mut rows = load(&texts)?;
    let jieba = Jieba::new();
    let jieba_before = jieba_rs_before::Jieba::new();
    let mut scratch = SegmentScratch::default();
    for hmm in [true, false] {
        let with = if hmm { "HMM" } else { "no HMM" };
        let theirs = rate(settings.best(|| {
            for text in &texts {
                black_box(jieba.cut(text, hmm).len());
            }
        }));
        let ours = rate(settings.best(|| {
            for text in &texts {
                cut(text, hmm, &mut scratch, |word| {
                    black_box(word.text);
                });
            }
        }));
        let before = rate(settings.best(|| {
            for text in &texts {
                black_box(jieba_before.cut(text, hmm).len());
            }
        }));
        rows.push(Row::new(format!("jieba-rs 0.10.1 cut, {with}"), before, "MB/s"));
        rows.push(Row::new(format!("jieba-rs 0.11 cut, {with}"), theirs, "MB/s"));
        let row = || Row::new(format!("cut, {with}"), ours, "MB/s");
        rows.push(row().against("jieba-rs 0.10.1 cut", before, Some(">= 4")));
        rows.push(row().against("jieba-rs 0.11 cut", theirs, Some(">= 4")));
    }
    let keywords = TfIdf::default();
    let theirs = rate(settings.best(|| {
        for text in &texts {
            black_box(keywords.extract_keywords(&jieba, text, 30, Vec::new()).len());
        }
    }));
    let fingerprinter = Fingerprinter::preset("jieba-tfidf").map_err(|error| error.to_string())?;
    let mut scratch = Scratch::default();
    let ours = rate(settings.best(|| {
        for text in &texts {
            black_box(fingerprinter.sketch(text, &mut scratch).fingerprint);
        }
    }));
    rows.push(Row::new("jieba-rs TfIdf, top 30", theirs, "MB/s"));
    rows.push(Row::new("jieba-tfidf fingerprint, top 30", ours, "MB/s").against(
        "jieba-rs TfIdf",
        theirs,
        Some(">= 30 MB/s"),
    ));
    Ok(Report {
        bench: "segment",
        setup: format!("{}: {} documents, {bytes} bytes, one thread", corpus.name, texts.len()),
        rows,
    })
}

/// What a dictionary costs before its first word: time of the first call, and memory once all texts were cut. Both
/// are made of what is packed in the program; ours has the places of its words packed along.
fn load(texts: &[&str]) -> Result<Vec<Row>, String> {
    let fingerprinter = Fingerprinter::preset("jieba-tfidf").map_err(|error| error.to_string())?;
    let mut scratch = Scratch::default();
    let first = texts.first().ok_or("a corpus without texts")?;
    let mut call = || {
        let start = Instant::now();
        black_box(fingerprinter.sketch(first, &mut scratch).fingerprint);
        start.elapsed().as_secs_f64() * 1e3
    };
    let before = resident();
    let cold = call();
    let warm = (0..9).map(|_| call()).fold(f64::INFINITY, f64::min);
    for text in texts {
        black_box(fingerprinter.sketch(text, &mut scratch).fingerprint);
    }
    let ours = resident() - before;

    let before = resident();
    let start = Instant::now();
    let (jieba, keywords) = (Jieba::new(), TfIdf::default());
    let built = start.elapsed().as_secs_f64() * 1e3;
    for text in texts {
        black_box(keywords.extract_keywords(&jieba, text, 30, Vec::new()).len());
    }
    let theirs = resident() - before;

    let mut rows = vec![
        Row::new("jieba-rs, dictionary and idf built", built, "ms"),
        Row::new("first text of the process, cold", cold, "ms").against(
            "jieba-rs",
            built,
            Some("<= 10 ms"),
        ),
        Row::new("the same text again", warm, "ms"),
    ];
    if ours > 0.0 && theirs > 0.0 {
        rows.push(Row::new("jieba-rs, resident after all texts", theirs, "MB"));
        let row = Row::new("dictionary and idf, resident after all texts", ours, "MB");
        rows.push(row.against("jieba-rs", theirs, Some("<= 30 MB")));
    }
    Ok(rows)
}
