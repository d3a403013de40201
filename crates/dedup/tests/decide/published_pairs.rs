//! The exact joins against published lists of all pairs, on corpora beside the repository; where they are absent, a
//! notice says so.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says what it left out"
)]

use ahash::{AHashMap, AHashSet};
use flate2::read::MultiGzDecoder;
use simhash_index::overlap::{OverlapIndex, Sets, pairs_at_least};
use simhash_sketch::{
    ExtractorOptions, Fingerprinter, FingerprinterOptions, Normalizer, Scratch, Whitespace,
};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// A file of a corpus as text; `None` where the corpora are absent.
fn read(set: &str, file: &str) -> Option<String> {
    let data = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let Ok(file) = File::open(data.join(set).join(file)) else {
        eprintln!("left out: {} is absent", data.join(set).join(file).display());
        return None;
    };
    let mut text = String::new();
    MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    Some(text)
}

/// The representatives of equal texts by id, and their shingles, normalised as the lists are.
fn shingled(set: &str, ngram: usize) -> Option<(Vec<String>, Sets)> {
    let fingerprinter = Fingerprinter::new(&FingerprinterOptions {
        normalize: Normalizer { whitespace: Whitespace::Remove, ..Normalizer::default() },
        extract: ExtractorOptions { ngram: Some(ngram), ..ExtractorOptions::default() },
        min_features: None,
    });
    let fingerprinter = fingerprinter.unwrap();
    let (mut ids, mut sets, mut seen) = (Vec::new(), Sets::new(), AHashSet::new());
    let (mut scratch, mut shingles) = (Scratch::default(), Vec::new());
    for line in read(set, "docs.jsonl.gz")?.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = fingerprinter.normalize(record["text"].as_str().unwrap(), &mut scratch);
        if seen.insert(text.to_owned()) {
            fingerprinter.shingles(record["text"].as_str().unwrap(), &mut scratch, &mut shingles);
            ids.push(record["id"].as_str().unwrap().to_owned());
            sets.push(&shingles);
        }
    }
    Some((ids, sets))
}

type Named<'a> = AHashMap<(&'a str, &'a str), f64>;

/// Pairs by name, in either order of names the same.
fn named<'a>(pairs: impl Iterator<Item = (&'a str, &'a str, f64)>) -> Named<'a> {
    let mut by_name = Named::new();
    for (a, b, similarity) in pairs {
        let pair = if a < b { (a, b) } else { (b, a) };
        assert_eq!(by_name.insert(pair, similarity), None, "{pair:?} comes twice");
    }
    by_name
}

/// Pairs of ordinals from a join that pairs copies with the first of them only: with every member of both groups.
fn expanded(sets: &Sets, pairs: &[(u32, u32, f64)]) -> Vec<(u32, u32, f64)> {
    let mut copies: AHashMap<&[u64], Vec<u32>> = AHashMap::new();
    for (ordinal, set) in (0..).zip(sets.iter()) {
        copies.entry(set).or_default().push(ordinal);
    }
    let group = |ordinal: u32| &copies[sets.get(ordinal as usize)];
    let within = copies.values().flat_map(|group| {
        let pairs = group.iter().enumerate();
        pairs.flat_map(|(at, &a)| group[at + 1..].iter().map(move |&b| (a, b, 1.0)))
    });
    let mut all: Vec<(u32, u32, f64)> = within.collect();
    for &(a, b, similarity) in pairs.iter().filter(|&&(a, b, _)| group(a) != group(b)) {
        all.extend(
            group(a).iter().flat_map(|&a| group(b).iter().map(move |&b| (a, b, similarity))),
        );
    }
    all
}

fn check(set: &str, ngram: usize) {
    let Some((ids, sets)) = shingled(set, ngram) else { return };
    let list = read(set, &format!("pairs_char{ngram}.tsv.gz")).unwrap();
    let published = named(list.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        let similarity = number(4) / (number(5) + number(6) - number(4));
        (similarity >= 0.8).then_some((fields[0], fields[1], similarity))
    }));
    let name = |ordinal: u32| ids[ordinal as usize].as_str();

    let mut joined = Vec::new();
    let collect = |pairs: &[simhash_index::overlap::SetPair]| {
        joined.extend(pairs.iter().map(|pair| (pair.a, pair.b, pair.similarity)));
    };
    pairs_at_least(&sets, 0.8, 0, &AtomicBool::new(false), collect).unwrap();
    let all = expanded(&sets, &joined);
    let joined = named(all.iter().map(|&(a, b, similarity)| (name(a), name(b), similarity)));
    assert!(joined == published, "{set}: {} pairs, {} published", joined.len(), published.len());
    assert!(published.len() > 100);

    // One after the other: each set against those before it.
    let mut index = OverlapIndex::new(0.8).unwrap();
    let mut found = Vec::new();
    for set in sets.iter() {
        let near = index.search(set, usize::MAX).matches;
        let own = index.add(set).unwrap();
        found.extend(near.iter().map(|near| (near.ordinal, own, near.similarity)));
    }
    let found = named(found.iter().map(|&(a, b, similarity)| (name(a), name(b), similarity)));
    assert!(found == published, "{set}: {} pairs, {} published", found.len(), published.len());
}

#[test]
fn joins_find_the_published_pairs_of_titles() {
    check("zh-hotsearch-titles", 2);
}

#[test]
fn joins_find_the_published_pairs_of_poems() {
    check("zh-poetry-tang", 3);
    check("zh-poetry-tang", 5);
}

#[test]
fn joins_find_the_published_pairs_of_news() {
    check("zh-news-eventmonitor", 5);
}
