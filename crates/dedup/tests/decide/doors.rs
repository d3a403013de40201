//! The live index decides as deduplication does: the same documents, the same duplicates, the same similarity, by every method.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common;
use flate2::read::GzDecoder;
use proptest::prelude::*;
use serde_json::Value;
use simhash_dedup::live::{
    Checked, Document, LiveIndex, LiveMethod, LiveOptions, OpenOptions, Pair, Search, Step, Stored,
    Texts, Verify,
};
use simhash_dedup::{
    DedupOptions, FileOptions, Input, LineOutputs, Measure, Method, Target, pairs_files,
};
use simhash_index::{AddOptions, OnDuplicate};
use simhash_sketch::Scratch;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Whom a document duplicates, and how much it resembles it.
type Decided = (Option<u64>, Option<f64>);

fn methods() -> Vec<(Method, LiveMethod)> {
    vec![
        (Method::MinHash { plan: None }, LiveMethod::minhash()),
        (Method::SimHash { max_distance: Method::MAX_DISTANCE }, LiveMethod::simhash()),
        (Method::Sentences { count: Method::SENTENCES }, LiveMethod::sentences()),
        (Method::Exact, LiveMethod::Exact),
    ]
}

fn live(method: &LiveMethod, verify: Option<Verify>) -> LiveIndex {
    let stored = Stored { keys: false, longest_text: Some(1 << 24) };
    let method = method.clone();
    LiveIndex::new(&LiveOptions { method, verify, stored, ..LiveOptions::default() }).unwrap()
}

fn document(index: &LiveIndex, text: &str) -> Document {
    index.document(text, &mut Scratch::default())
}

/// Outcomes by place in the input; and the places of those whose candidates a limit cut.
fn places(checked: impl Iterator<Item = Checked>) -> (Vec<Decided>, BTreeSet<usize>) {
    let (mut kept, mut decided, mut cut) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (place, checked) in checked.enumerate() {
        if checked.truncated {
            cut.insert(place);
        }
        decided.push(match (checked.id, checked.duplicate_of) {
            (Some(id), None) => {
                assert_eq!(id, kept.len() as u64);
                kept.push(place as u64);
                (None, None)
            }
            (None, Some(near)) => {
                assert!(near.verified);
                (Some(kept[near.id as usize]), near.similarity)
            }
            other => panic!("{other:?}"),
        });
    }
    (decided, cut)
}

/// Deduplication of the same.
fn batch(method: Method, verify: Verify, texts: &[&str]) -> (Vec<Decided>, BTreeSet<usize>) {
    let Verify { measure, least } = verify;
    let options =
        DedupOptions { method, measure, min_similarity: Some(least), ..DedupOptions::default() };
    let (decisions, _) = common::decisions(texts, &options, 500);
    let cut = decisions.iter().filter(|one| one.truncated).map(|one| one.index as usize).collect();
    (decisions.iter().map(|one| (one.duplicate_of, one.similarity)).collect(), cut)
}

/// The same decisions through every door of the live index.
fn doors(
    method: &LiveMethod,
    verify: Verify,
    texts: &[&str],
) -> Vec<(Vec<Decided>, BTreeSet<usize>)> {
    let one_by_one = live(method, Some(verify));
    let check = |index: &LiveIndex, text: &str| {
        let none = |_| Texts::None;
        let how = AddOptions::default();
        match index.check_and_add(&document(index, text), None, how, none).unwrap() {
            Step::Done(checked) => checked,
            Step::Texts(_) => panic!("texts are stored"),
        }
    };
    let first = places(texts.iter().map(|text| check(&one_by_one, text)));
    let many = live(method, Some(verify));
    let mut all = Vec::new();
    for some in texts.chunks(97) {
        let documents: Vec<Document> = some.iter().map(|text| document(&many, text)).collect();
        let skip = OnDuplicate::Skip;
        all.extend(many.check_and_add_many(&documents, &[], &[], skip, 0, &NEVER).unwrap());
    }
    // Saved and opened between any two halves.
    let halves = live(method, Some(verify));
    let (before, after) = texts.split_at(texts.len() / 2);
    let mut halved: Vec<Checked> = before.iter().map(|text| check(&halves, text)).collect();
    let mut bytes = Vec::new();
    halves.snapshot().write(&mut bytes, &NEVER).unwrap();
    let given = LiveOptions { method: method.clone(), ..LiveOptions::default() };
    let opened = LiveIndex::open(&mut bytes.as_slice(), &given).unwrap();
    halved.extend(after.iter().map(|text| check(&opened, text)));
    // In a directory, closed and opened between any two thirds, after the second behind a checkpoint.
    let folder = tempfile::tempdir().unwrap();
    let mut durable = Vec::new();
    for (turn, some) in texts.chunks(texts.len().div_ceil(3).max(1)).enumerate() {
        let stored = Stored { keys: false, longest_text: Some(1 << 24) };
        let how = LiveOptions { verify: Some(verify), stored, ..given.clone() };
        let index =
            LiveIndex::open_directory(folder.path(), &how, OpenOptions::default(), &NEVER).unwrap();
        durable.extend(some.iter().map(|text| check(&index, text)));
        if turn > 0 {
            index.checkpoint(&NEVER).unwrap();
        }
        index.close().unwrap();
    }
    // A search finds whom a check would name.
    for text in texts.iter().take(300) {
        let how = Search { limit: Some(1), ..Search::default() };
        let found = one_by_one.search(&document(&one_by_one, text), &how).unwrap();
        let checked = check(&one_by_one, text);
        if let Some(near) = checked.duplicate_of {
            assert_eq!(found.matches, [near]);
        }
    }
    vec![first, places(all.into_iter()), places(halved.into_iter()), places(durable.into_iter())]
}

/// Of two documents: the similarity, and for simhash the distance.
type Edges = BTreeMap<(u64, u64), (Option<f64>, Option<u32>)>;

/// The edges that `pairs_files` writes, and the documents that are truncated, as far as they have one.
fn edges_of_files(
    method: Method,
    verify: Option<Verify>,
    texts: &[&str],
) -> (Edges, BTreeSet<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    let line = |text: &&str| format!("{}\n", serde_json::json!({ "text": text }));
    std::fs::write(&input, texts.iter().map(line).collect::<String>()).unwrap();
    let min_similarity = verify.map(|verify| verify.least);
    let measure = verify.unwrap_or_default().measure;
    let dedup = DedupOptions { method, measure, min_similarity, ..DedupOptions::default() };
    let options = FileOptions { dedup, ..FileOptions::default() };
    let outputs = LineOutputs { lines: Some(Target::File(output.clone())), rejects: None };
    pairs_files(&[Input::File(input)], &outputs, &options, &|_| {}, &NEVER).unwrap();
    let (mut edges, mut cut) = (Edges::new(), BTreeSet::new());
    for line in std::fs::read_to_string(output).unwrap().lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let [a, b] = ["a", "b"].map(|end| pair[end].as_u64().unwrap() - 1);
        let distance = pair["distance"].as_u64().map(|distance| distance as u32);
        if pair.get("truncated").is_some() {
            cut.insert(b as usize);
        }
        // As Rust reads it: serde_json rounds the last bit.
        let similarity = line.split("\"similarity\":").nth(1);
        let digits = similarity.and_then(|rest| rest.split([',', '}']).next());
        edges.insert((a, b), (digits.map(|digits| digits.parse().unwrap()), distance));
    }
    (edges, cut)
}

/// The pairs of a live index that has them all, and the documents that are truncated.
fn edges_of_live(
    method: &LiveMethod,
    verify: Option<Verify>,
    texts: &[&str],
) -> (Edges, BTreeSet<usize>) {
    let index = live(method, verify);
    for text in texts {
        index.add(&document(&index, text), None, None).unwrap();
    }
    let (mut pairs, mut edges) = (index.pairs(&Search::default()).unwrap(), Edges::new());
    while let Some(found) = index.next_pairs(&mut pairs, 2, &NEVER).unwrap() {
        for Pair { a, b, .. } in found {
            let has_distance = matches!(method, LiveMethod::SimHash { .. });
            let told = (b.similarity, has_distance.then_some(b.measure));
            assert!(edges.insert((a, b.id), told).is_none(), "{a}, {} twice", b.id);
        }
    }
    (edges, pairs.truncated().iter().map(|&id| id as usize).collect())
}

/// The graph of one door is that of the other, but for what is connected with a document that a limit touched.
fn compare_edges(method: Method, kind: &LiveMethod, verify: Option<Verify>, texts: &[&str]) {
    let (expected, cut) = edges_of_files(method, verify, texts);
    let (found, also_cut) = edges_of_live(kind, verify, texts);
    let mut group: Vec<usize> = (0..texts.len()).collect();
    for &(a, b) in expected.keys().chain(found.keys()) {
        let (a, b) = (root(&mut group, a as usize), root(&mut group, b as usize));
        group[a.max(b)] = a.min(b);
    }
    let touched: BTreeSet<usize> =
        cut.iter().chain(&also_cut).map(|&place| root(&mut group, place)).collect();
    let mut untouched = |edges: Edges| -> Edges {
        let is_free = |pair: &(u64, u64)| !touched.contains(&root(&mut group, pair.0 as usize));
        let mut is_free = is_free;
        edges.into_iter().filter(|(pair, _)| is_free(pair)).collect()
    };
    assert_eq!(untouched(found), untouched(expected), "{method:?} {verify:?}");
    assert!(touched.len() * 2 <= texts.len());
}

/// The first of what a place is connected with.
fn root(group: &mut [usize], mut place: usize) -> usize {
    while group[place] != place {
        group[place] = group[group[place]];
        place = group[place];
    }
    place
}

fn compare(method: Method, kind: &LiveMethod, verify: Verify, texts: &[&str]) {
    let (expected, cut) = batch(method, verify, texts);
    for (decided, also_cut) in doors(kind, verify, texts) {
        if cut.is_empty() && also_cut.is_empty() {
            assert_eq!(decided, expected, "{method:?} {verify:?}");
            continue;
        }
        // Documents that a limit touched, and all that either answer connects with them, may differ.
        let mut group: Vec<usize> = (0..texts.len()).collect();
        for (place, (a, b)) in decided.iter().zip(&expected).enumerate() {
            for of in [a.0, b.0].into_iter().flatten() {
                let (a, b) = (root(&mut group, place), root(&mut group, of as usize));
                group[a.max(b)] = a.min(b);
            }
        }
        let touched: BTreeSet<usize> =
            cut.iter().chain(&also_cut).map(|&place| root(&mut group, place)).collect();
        let mut left = 0;
        for place in 0..texts.len() {
            if !touched.contains(&root(&mut group, place)) {
                assert_eq!(decided[place], expected[place], "{method:?} {verify:?} {place}");
                left += 1;
            }
        }
        // Hundreds have a sentence in common where a page ends with the same one.
        assert!(left * 2 > texts.len(), "{method:?}: {left} of {} are not cut", texts.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn every_door_of_the_live_index_decides_as_deduplication(
        texts in common::corpus(0..120),
        measure in prop::sample::select(vec![
            Measure::Auto, Measure::Jaccard, Measure::Containment, Measure::Edit, Measure::Cosine,
        ]),
        least in prop::sample::select(vec![0.3, 0.6, 0.8, 0.95, 1.0]),
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (method, kind) in methods() {
            compare(method, &kind, Verify { measure, least }, &texts);
            compare_edges(method, &kind, Some(Verify { measure, least }), &texts);
        }
    }
}

#[test]
fn texts_that_differ_in_line_ends_only_are_equal_for_every_method() {
    // No line of one is a line of the other.
    let text: Vec<char> =
        "春眠不觉晓处处闻啼鸟夜来风雨声花落知多少白日依山尽黄河入海流".chars().collect();
    let cut = |at: usize| {
        let [before, after] =
            [&text[..at], &text[at..]].map(|part| part.iter().collect::<String>());
        format!("{before}\n{after}")
    };
    let (one, other) = (cut(12), cut(18));
    let (one, other) = (one.as_str(), other.as_str());
    for (method, kind) in methods() {
        let (expected, _) = batch(method, Verify::default(), &[one, other]);
        assert_eq!(expected[1], (Some(0), Some(1.0)), "{method:?}");
        compare(method, &kind, Verify::default(), &[one, other]);
        compare_edges(method, &kind, Some(Verify::default()), &[one, other]);
    }
}

/// Real corpora: a sample of each set of `../shared/data`; says so and passes where it is absent.
#[test]
fn real_corpora_are_decided_alike() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let Ok(sets) = std::fs::read_dir(&data) else {
        #[allow(clippy::print_stdout, reason = "what a test skips is said")]
        {
            println!("skipped: {} is absent", data.display());
        }
        return;
    };
    let most = std::env::var("SIMHASH_LONG").map_or(300, |_| usize::MAX);
    let mut seen = BTreeMap::new();
    for set in sets {
        let path = set.unwrap().path();
        let Ok(file) = File::open(path.join("docs.jsonl.gz")) else { continue };
        let lines = BufReader::new(GzDecoder::new(file)).lines().take(most);
        let texts: Vec<String> = lines
            .filter_map(|line| {
                let record: Value = serde_json::from_str(&line.unwrap()).unwrap();
                record["text"].as_str().map(str::to_owned)
            })
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let some = if most == 300 { texts.len().min(100) } else { texts.len() };
        for (method, kind) in methods() {
            compare(method, &kind, Verify::default(), &texts);
            compare_edges(method, &kind, Some(Verify::default()), &texts[..some]);
        }
        seen.insert(path, texts.len());
    }
    assert!(!seen.is_empty());
}
