//! Text to fingerprint: MB/s of UTF-8 Chinese news on one core, against decoding the same bytes.

use crate::corpus::Corpus;
use crate::report::{Report, Row, Settings};
use simhash_sketch::accumulate::Sums;
use simhash_sketch::{Fingerprinter, FingerprinterOptions, Scratch, simhash};
use simhash_text::extract::{ExtractorOptions, Unit};
use simhash_text::feature::Feature;
use simhash_text::normalize::{NormalizeScratch, Normalizer};
use std::hint::black_box;

const NEWS: &str = "zh-news-eventmonitor";

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let corpus = Corpus::load(NEWS)?;
    let texts: Vec<&str> =
        corpus.texts.iter().take(settings.size.unwrap_or(usize::MAX)).map(String::as_str).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
    let decode = rate(settings.best(|| {
        // What every consumer of UTF-8 pays: each code point once.
        black_box(
            texts
                .iter()
                .flat_map(|text| text.chars())
                .fold(0u32, |sum, c| sum.wrapping_add(c as u32)),
        );
    }));
    let normalizer = Normalizer::default();
    let mut normal = NormalizeScratch::default();
    let normalize = rate(settings.best(|| {
        for text in &texts {
            black_box(normalizer.apply(text, &mut normal).len());
        }
    }));
    let mut rows = vec![
        Row::new("UTF-8 decode", decode, "MB/s"),
        Row::new("normalise (default)", normalize, "MB/s").against("decode", decode, None),
        unchanged(settings, &texts)?,
    ];
    for (name, unit, goal) in [
        ("characters by script, not normalised", Unit::Auto, ">= 300 MB/s"),
        ("character bigrams, not normalised", Unit::Chars, ">= 300 MB/s"),
        ("Unicode words, not normalised", Unit::Words, ""),
        ("jieba words, not normalised", Unit::Jieba, ">= 30 MB/s"),
    ] {
        let extract = ExtractorOptions { unit, ..ExtractorOptions::default() };
        let options = FingerprinterOptions {
            normalize: Normalizer::OFF,
            extract,
            ..FingerprinterOptions::default()
        };
        let fingerprinter = Fingerprinter::new(&options).map_err(|error| error.to_string())?;
        let mut scratch = Scratch::default();
        let time = settings.best(|| {
            for text in &texts {
                black_box(fingerprinter.sketch(text, &mut scratch).fingerprint);
            }
        });
        rows.push(Row::new(name, rate(time), "MB/s").against(
            "decode",
            decode,
            (!goal.is_empty()).then_some(goal),
        ));
    }
    rows.extend(accumulate(settings));
    Ok(Report {
        bench: "fingerprint",
        setup: format!("{}: {} documents, {bytes} bytes, one thread", corpus.name, texts.len()),
        rows,
    })
}

/// What normalisation costs where it has nothing to do, as a share of the fingerprint that it is part of.
fn unchanged(settings: &Settings, texts: &[&str]) -> Result<Row, String> {
    let (normalizer, mut normal) = (Normalizer::default(), NormalizeScratch::default());
    let texts: Vec<String> =
        texts.iter().map(|text| normalizer.apply(text, &mut normal).to_owned()).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let per_byte = |seconds: f64| seconds * 1e9 / bytes as f64;
    let normalize = settings.best(|| {
        for text in &texts {
            black_box(normalizer.apply(text, &mut normal).len());
        }
    });
    let mut options = FingerprinterOptions::preset("chars").map_err(|error| error.to_string())?;
    options.normalize = Normalizer::OFF;
    let fingerprinter = Fingerprinter::new(&options).map_err(|error| error.to_string())?;
    let mut scratch = Scratch::default();
    let fingerprint = settings.best(|| {
        for text in &texts {
            black_box(fingerprinter.sketch(text, &mut scratch).fingerprint);
        }
    });
    Ok(Row::new("normalise text that needs no change", per_byte(normalize), "ns/byte").against(
        "character bigrams of it",
        per_byte(fingerprint),
        Some("<= 0.3"),
    ))
}

/// Titles and long technical text beside the news, and all cores beside one.
pub(crate) fn corpora(settings: &Settings) -> Result<Report, String> {
    use rayon::prelude::*;
    let mut rows = Vec::new();
    let mut setup = Vec::new();
    for (set, most) in
        [(NEWS, usize::MAX), ("zh-tech-lctt", 1000), ("zh-hotsearch-titles", 100_000)]
    {
        let corpus = Corpus::load(set)?;
        let texts: Vec<&str> = corpus
            .texts
            .iter()
            .take(settings.size.unwrap_or(most).min(most))
            .map(String::as_str)
            .collect();
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
        for preset in ["auto", "chars", "jieba-tfidf"] {
            let fingerprinter = Fingerprinter::preset(preset).map_err(|error| error.to_string())?;
            let one = rate(settings.best_wall(|| {
                let mut scratch = Scratch::default();
                for text in &texts {
                    black_box(fingerprinter.sketch(text, &mut scratch).fingerprint);
                }
            }));
            let all = rate(settings.best_wall(|| {
                texts.par_chunks(32).for_each_init(Scratch::default, |scratch, texts| {
                    for text in texts {
                        black_box(fingerprinter.sketch(text, scratch).fingerprint);
                    }
                });
            }));
            rows.push(Row::new(format!("{set}: {preset}, one core"), one, "MB/s"));
            rows.push(Row::new(format!("{set}: {preset}, all cores"), all, "MB/s").against(
                "one core",
                one,
                Some(">= 1.8 on two"),
            ));
        }
        setup.push(format!("{} {} documents", corpus.name, texts.len()));
    }
    let threads = rayon::current_num_threads();
    Ok(Report {
        bench: "corpora",
        setup: format!("{}; {threads} threads, wall time", setup.join(", ")),
        rows,
    })
}

/// The accumulation kernel against the loop of the literature: for each feature, for each of 64 counters, +weight where the
/// bit is set and −weight where it is not. It is there twice: as written, with a branch per bit, which is what interpreters and
/// compilers without vectors run; and as this compiler makes it, without branches and eight counters at a time.
fn accumulate(settings: &Settings) -> Vec<Row> {
    let mut random = crate::report::Random(4);
    let features: Vec<Feature> = (0..300)
        .map(|_| Feature { hash: random.next(), weight: 1 + (random.next() % 1000) as u32 })
        .collect();
    let hashes: Vec<u64> = features.iter().map(|feature| feature.hash).collect();
    let rounds = 1000;
    let per_feature = |work: &dyn Fn() -> u64| {
        let seconds = settings.best(|| {
            for _ in 0..rounds {
                black_box(work());
            }
        });
        seconds * 1e9 / f64::from(rounds) / features.len() as f64
    };
    let branches = per_feature(&|| naive_simhash::<true>(black_box(&features)));
    let vectors = per_feature(&|| naive_simhash::<false>(black_box(&features)));
    let weighted = per_feature(&|| simhash(black_box(&features)));
    let counted = per_feature(&|| {
        let mut sums = Sums::default();
        sums.add_hashes(black_box(&hashes));
        sums.fingerprint()
    });
    let against = |what: &str, value: f64| {
        let row = || Row::new(format!("accumulate, {what}, 300 features"), value, "ns/feature");
        [
            row().against("64-counter loop, a branch per bit", branches, Some("<= 1/40")),
            row().against("64-counter loop, vectors", vectors, None),
        ]
    };
    let mut rows = vec![
        Row::new("64-counter loop, a branch per bit", branches, "ns/feature"),
        Row::new("64-counter loop, vectors", vectors, "ns/feature"),
    ];
    rows.extend(against("weighted", weighted));
    rows.extend(against("weight 1", counted));
    rows
}

#[inline(never)]
fn naive_simhash<const BRANCHES: bool>(features: &[Feature]) -> u64 {
    let mut counters = [0i64; 64];
    for feature in features {
        for (bit, counter) in counters.iter_mut().enumerate() {
            if (feature.hash >> bit) & 1 == 1 {
                if BRANCHES {
                    // Nothing, but the compiler must not know: it keeps the branch.
                    black_box(());
                }
                *counter += i64::from(feature.weight);
            } else {
                *counter -= i64::from(feature.weight);
            }
        }
    }
    counters
        .iter()
        .enumerate()
        .fold(0, |bits, (bit, &counter)| bits | (u64::from(counter > 0) << bit))
}

/// The batch that `benches/batch.mjs` also runs from JavaScript: default fingerprints of the news, on all cores.
pub(crate) fn batch(settings: &Settings) -> Result<Report, String> {
    use rayon::prelude::*;
    let corpus = Corpus::load(NEWS)?;
    let fingerprinter =
        Fingerprinter::new(&FingerprinterOptions::default()).map_err(|error| error.to_string())?;
    let time = settings.best_wall(|| {
        let some = corpus
            .texts
            .par_chunks(32) // about 100 kB of news: small enough to balance, large enough to hide the hand-over
            .map_init(Scratch::default, |scratch, texts| {
                texts
                    .iter()
                    .filter(|text| fingerprinter.sketch(text, scratch).fingerprint.is_some())
                    .count()
            })
            .sum::<usize>();
        black_box(some);
    });
    let rate = corpus.bytes() as f64 / 1e6 / time;
    Ok(Report {
        bench: "batch",
        setup: format!(
            "{}: {} documents, default options, all cores",
            corpus.name,
            corpus.texts.len()
        ),
        rows: vec![Row::new("Rust batch", rate, "MB/s")],
    })
}
