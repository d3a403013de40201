//! The live index decides as deduplication does: the same documents, the same duplicates, the same similarity, by every method
//! and measure. `__test__/doors.test.ts` has every door of the package, and the real corpora.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common;
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
use std::collections::BTreeMap;
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

/// Outcomes by place in the input.
fn places(checked: impl Iterator<Item = Checked>) -> Vec<Decided> {
    let (mut kept, mut decided) = (Vec::new(), Vec::new());
    for (place, checked) in checked.enumerate() {
        assert!(!checked.truncated);
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
    decided
}

/// Deduplication of the same.
fn batch(method: Method, verify: Verify, texts: &[&str]) -> Vec<Decided> {
    let Verify { measure, least } = verify;
    let options =
        DedupOptions { method, measure, min_similarity: Some(least), ..DedupOptions::default() };
    let (decisions, _) = common::decisions(texts, &options, 500);
    assert!(decisions.iter().all(|one| !one.truncated));
    decisions.iter().map(|one| (one.duplicate_of, one.similarity)).collect()
}

/// The same decisions through every door of the live index.
fn doors(method: &LiveMethod, verify: Verify, texts: &[&str]) -> Vec<Vec<Decided>> {
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

/// The edges that `pairs_files` writes.
fn edges_of_files(method: Method, verify: Option<Verify>, texts: &[&str]) -> Edges {
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
    let mut edges = Edges::new();
    for line in std::fs::read_to_string(output).unwrap().lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let [a, b] = ["a", "b"].map(|end| pair[end].as_u64().unwrap() - 1);
        let distance = pair["distance"].as_u64().map(|distance| distance as u32);
        assert_eq!(pair.get("truncated"), None);
        // As Rust reads it: serde_json rounds the last bit.
        let similarity = line.split("\"similarity\":").nth(1);
        let digits = similarity.and_then(|rest| rest.split([',', '}']).next());
        edges.insert((a, b), (digits.map(|digits| digits.parse().unwrap()), distance));
    }
    edges
}

/// The pairs of a live index that has them all.
fn edges_of_live(method: &LiveMethod, verify: Option<Verify>, texts: &[&str]) -> Edges {
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
    assert!(pairs.truncated().is_empty());
    edges
}

/// The graph of one door is that of the other. No limit touches so few documents.
fn compare_edges(method: Method, kind: &LiveMethod, verify: Option<Verify>, texts: &[&str]) {
    let (expected, found) =
        (edges_of_files(method, verify, texts), edges_of_live(kind, verify, texts));
    assert_eq!(found, expected, "{method:?} {verify:?}");
}

fn compare(method: Method, kind: &LiveMethod, verify: Verify, texts: &[&str]) {
    let expected = batch(method, verify, texts);
    for decided in doors(kind, verify, texts) {
        assert_eq!(decided, expected, "{method:?} {verify:?}");
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
        let expected = batch(method, Verify::default(), &[one, other]);
        assert_eq!(expected[1], (Some(0), Some(1.0)), "{method:?}");
        compare(method, &kind, Verify::default(), &[one, other]);
        compare_edges(method, &kind, Some(Verify::default()), &[one, other]);
    }
}
