//! Documents of one input that are not compared with each other: against the rule written down naively, on documents.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{Pair, corpus, methods, on_threads, oracle_pairs};
use proptest::prelude::*;
use serde_json::{Value, json};
use simhash_dedup::{
    Cluster, DedupError, DedupOptions, FileOptions, Input, Keep, LineOutputs, MatchOptions,
    Measure, Method, Outputs, Summary, Target, dedup_files, dedup_into_index, dedup_new_files,
    match_files, pairs_files,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const TEXT: &str = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";

/// Documents, what a keep rule may compare, and the input of each, ascending.
fn given() -> impl Strategy<Value = (Vec<String>, Vec<usize>, Vec<usize>)> {
    // Few texts, so that many are equal.
    let texts = (corpus(1..12), prop::collection::vec(any::<prop::sample::Index>(), 0..60));
    let texts = texts.prop_map(|(few, drawn)| {
        drawn.iter().map(|at| at.get(&few).clone()).collect::<Vec<String>>()
    });
    texts.prop_flat_map(|texts| {
        let keys = prop::collection::vec(0usize..20, texts.len());
        let inputs = prop::collection::vec(0usize..4, texts.len()).prop_map(|mut inputs| {
            inputs.sort_unstable();
            inputs
        });
        (Just(texts), keys, inputs)
    })
}

/// By the first document of a pair of texts and the second: how similar they are.
struct Edges {
    /// By document: the first of its text; `None`: it is empty.
    first: Vec<Option<usize>>,
    near: BTreeMap<(usize, usize), f64>,
}

impl Edges {
    fn new(texts: &[String], options: &DedupOptions) -> Self {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let empty = |text: &str| text.trim().is_empty();
        let mut first: Vec<Option<usize>> =
            (0..texts.len()).map(|place| (!empty(texts[place])).then_some(place)).collect();
        let mut near = BTreeMap::new();
        for Pair { a, b, similarity, .. } in oracle_pairs(&texts, options) {
            if similarity == Some(1.0) {
                first[b] = Some(a);
            } else {
                near.insert((a, b), similarity.unwrap());
                near.insert((b, a), similarity.unwrap());
            }
        }
        Self { first, near }
    }

    fn between(&self, a: usize, b: usize) -> Option<f64> {
        let (a, b) = (self.first[a]?, self.first[b]?);
        if a == b { Some(1.0) } else { self.near.get(&(a, b)).copied() }
    }
}

/// By document: whom it duplicates.
fn by_rule(
    edges: &Edges,
    inputs: &[usize],
    order: &[usize],
    cluster: Cluster,
) -> Vec<Option<usize>> {
    let across = |a: usize, b: usize| {
        if inputs[a] == inputs[b] { None } else { edges.between(a, b) }
    };
    let mut originals = vec![None; inputs.len()];
    if cluster == Cluster::Representative {
        let mut kept: Vec<usize> = Vec::new();
        for &document in order {
            let mut best: Option<(f64, usize)> = None;
            for &other in &kept {
                if let Some(similarity) = across(document, other)
                    && best.is_none_or(|(most, _)| similarity > most)
                {
                    best = Some((similarity, other));
                }
            }
            originals[document] = best.map(|(_, other)| other);
            if best.is_none() {
                kept.push(document);
            }
        }
        return originals;
    }
    let mut label: Vec<usize> = (0..inputs.len()).collect();
    for a in 0..inputs.len() {
        for b in 0..a {
            if across(a, b).is_some() {
                let (from, to) = (label[a], label[b]);
                label.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
            }
        }
    }
    for document in 0..inputs.len() {
        let best = *order.iter().find(|&&other| label[other] == label[document]).unwrap();
        originals[document] = Some(best).filter(|&best| inputs[best] != inputs[document]);
    }
    originals
}

/// So many files of the documents; where there are no keys each has that of its place.
fn files(
    folder: &Path,
    texts: &[String],
    keys: &[usize],
    inputs: &[usize],
    count: usize,
) -> Vec<Input> {
    let mut all = vec![String::new(); count];
    for (id, (text, &input)) in texts.iter().zip(inputs).enumerate() {
        let by = keys.get(id).copied().unwrap_or(id);
        all[input].push_str(&json!({ "id": id, "text": text, "by": by }).to_string());
        all[input].push('\n');
    }
    let mut named = Vec::new();
    for (input, content) in all.iter().enumerate() {
        let path = folder.join(format!("{input}.jsonl"));
        fs::write(&path, content).unwrap();
        named.push(Input::File(path));
    }
    named
}

fn outputs(folder: &Path) -> Outputs {
    let target = |name: &str| Some(Target::File(folder.join(name)));
    Outputs { records: target("out"), clusters: target("clusters"), ..Outputs::default() }
}

fn across(dedup: DedupOptions) -> FileOptions {
    FileOptions { dedup, across_files_only: true, ..FileOptions::default() }
}

fn run(inputs: &[Input], folder: &Path, options: &FileOptions) -> Summary {
    dedup_files(inputs, &outputs(folder), options, &|_| {}, &AtomicBool::new(false)).unwrap()
}

/// By document: whom it duplicates, and how similar they are.
fn told(folder: &Path, count: usize) -> Vec<Option<(usize, f64)>> {
    let mut told = vec![None; count];
    let number = |value: &Value| value.as_u64().unwrap() as usize;
    for line in fs::read_to_string(folder.join("clusters")).unwrap().lines() {
        let cluster: Value = serde_json::from_str(line).unwrap();
        for member in cluster["members"].as_array().unwrap().iter().skip(1) {
            let similarity = member["similarity"].as_f64().unwrap();
            told[number(&member["id"])] = Some((number(&cluster["representative"]), similarity));
        }
    }
    let kept = fs::read_to_string(folder.join("out")).unwrap();
    let kept = kept.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let kept: Vec<usize> = kept.map(|record| number(&record["id"])).collect();
    let left: Vec<usize> = (0..count).filter(|&document| told[document].is_none()).collect();
    assert_eq!(kept, left);
    told
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_kept_is_what_the_rule_on_documents_says(
        (texts, keys, inputs) in given(),
        method in prop::sample::select(methods().to_vec()),
        cluster in prop::sample::select(vec![Cluster::Representative, Cluster::Components]),
        keep in prop::sample::select(vec![
            Keep::First,
            Keep::Last,
            Keep::Longest,
            Keep::Field { path: "by".into(), largest: false },
        ]),
        least in prop::sample::select(vec![0.8, 0.3]),
        threads in 1usize..3,
    ) {
        let mut order: Vec<usize> = (0..texts.len()).collect();
        match keep {
            Keep::Last => order.reverse(),
            Keep::Longest => order.sort_by_key(|&place| std::cmp::Reverse(texts[place].chars().count())),
            Keep::Field { .. } => order.sort_by_key(|&place| keys[place]),
            _ => {}
        }
        let dedup = DedupOptions {
            method,
            cluster,
            keep,
            min_similarity: Some(least),
            ..DedupOptions::default()
        };
        let edges = Edges::new(&texts, &dedup);
        let expected = by_rule(&edges, &inputs, &order, cluster);
        let folder = tempfile::tempdir().unwrap();
        let named = files(folder.path(), &texts, &keys, &inputs, 4);
        let summary = on_threads(threads, || run(&named, folder.path(), &across(dedup)));
        let told = told(folder.path(), texts.len());
        let originals: Vec<Option<usize>> = told.iter().map(|told| told.map(|(of, _)| of)).collect();
        prop_assert_eq!(&originals, &expected);
        for (document, told) in told.iter().enumerate() {
            if let Some((of, similarity)) = *told
                && let Some(expected) = edges.between(document, of)
            {
                prop_assert!((similarity - expected).abs() < 1e-12, "{} and {}", document, of);
            }
        }
        let duplicates = expected.iter().flatten().count() as u64;
        prop_assert_eq!((summary.duplicates, summary.kept), (duplicates, texts.len() as u64 - duplicates));
    }
}

/// Copies within and between three inputs, of long and short texts.
fn some() -> (Vec<String>, Vec<usize>) {
    let texts = [
        ["短", TEXT, TEXT, "短", ""].map(String::from),
        ["短", "一", TEXT, "", "短"].map(String::from),
        ["一", "一", "另", &TEXT.replace("北京", "上海"), "短"].map(String::from),
    ];
    (texts.concat(), (0..15).map(|document| document / 5).collect())
}

#[test]
fn copies_within_an_input_stay() {
    let (texts, inputs) = some();
    let folder = tempfile::tempdir().unwrap();
    let named = files(folder.path(), &texts, &[], &inputs, 3);
    let dedup = DedupOptions { min_similarity: Some(0.6), ..DedupOptions::default() };
    run(&named, folder.path(), &across(dedup));
    let kept = |told: &[Option<(usize, f64)>]| -> Vec<usize> {
        (0..told.len()).filter(|&document| told[document].is_none()).collect()
    };
    let told = told(folder.path(), texts.len());
    assert_eq!(kept(&told), [0, 1, 2, 3, 4, 6, 8, 12]);
    assert_eq!(told[5], Some((0, 1.0)));
    assert_eq!(told[10], Some((6, 1.0)));
}

#[test]
fn a_later_copy_goes_with_the_equal_text_that_was_kept_in_between() {
    let near = TEXT.replace("北京", "北平");
    let texts = [TEXT, TEXT, &near, TEXT].map(String::from);
    let folder = tempfile::tempdir().unwrap();
    // Taken are the near one, a copy, the equal text of the other input, the other copy.
    let named = files(folder.path(), &texts, &[1, 3, 0, 2], &[0, 0, 1, 1], 2);
    let keep = Keep::Field { path: "by".into(), largest: false };
    run(&named, folder.path(), &across(DedupOptions { keep, ..DedupOptions::default() }));
    let told = told(folder.path(), 4);
    assert_eq!(told[0].map(|(of, _)| of), Some(2));
    assert_eq!(told[1..], [Some((3, 1.0)), None, None]);
}

#[test]
fn an_equal_text_is_nearer_than_any_other() {
    // The near one contains the others whole.
    let near = format!("{TEXT}甲");
    let texts = [TEXT, TEXT, &near, TEXT].map(String::from);
    let folder = tempfile::tempdir().unwrap();
    let named = files(folder.path(), &texts, &[1, 3, 0, 2], &[0, 0, 1, 1], 2);
    let keep = Keep::Field { path: "by".into(), largest: false };
    for (method, measure, min_similarity) in [
        (Method::BruteForce, Measure::Containment, Some(0.8)),
        (Method::SimHash { max_distance: 16 }, Measure::Auto, None),
        (Method::default(), Measure::Auto, None),
    ] {
        let keep = keep.clone();
        let dedup =
            DedupOptions { method, keep, measure, min_similarity, ..DedupOptions::default() };
        run(&named, folder.path(), &across(dedup));
        let clusters = fs::read_to_string(folder.path().join("clusters")).unwrap();
        let members = |line: &str| -> Vec<u64> {
            let cluster: Value = serde_json::from_str(line).unwrap();
            let members = cluster["members"].as_array().unwrap();
            members.iter().map(|member| member["id"].as_u64().unwrap()).collect()
        };
        let found: Vec<Vec<u64>> = clusters.lines().map(members).collect();
        assert_eq!(found, [[2, 0], [3, 1]], "{method:?}");
    }
}

#[test]
fn streams_change_nothing() {
    let (texts, inputs) = some();
    let folder = tempfile::tempdir().unwrap();
    let named = files(folder.path(), &texts, &[], &inputs, 3);
    for cluster in [Cluster::Representative, Cluster::Components] {
        let options = across(DedupOptions { cluster, ..DedupOptions::default() });
        run(&named, folder.path(), &options);
        let said = || ["out", "clusters"].map(|name| fs::read(folder.path().join(name)).unwrap());
        let expected = said();
        let stream = |input: &Input| {
            let Input::File(path) = input else { panic!("a file") };
            Input::stream(path.display().to_string(), fs::File::open(path).unwrap())
        };
        let streams: Vec<Input> = named.iter().map(stream).collect();
        run(&streams, folder.path(), &options);
        assert_eq!(said(), expected);
    }
}

#[test]
fn known_files_are_inputs_too() {
    let (texts, inputs) = some();
    let folder = tempfile::tempdir().unwrap();
    let named = files(folder.path(), &texts, &[], &inputs, 3);
    let (outputs, never) = (outputs(folder.path()), AtomicBool::new(false));
    let options = across(DedupOptions { min_similarity: Some(0.6), ..DedupOptions::default() });
    let (known, new) = named.split_at(1);
    let summary = dedup_new_files(new, known, &outputs, &options, &|_| {}, &never).unwrap();
    assert_eq!((summary.known, summary.kept), (5, 3));
    let one = dedup_new_files(&new[..1], known, &outputs, &options, &|_| {}, &never).unwrap();
    assert_eq!((one.known, one.kept), (5, 2));
}

#[test]
fn what_has_no_other_input_is_refused() {
    let (texts, inputs) = some();
    let folder = tempfile::tempdir().unwrap();
    let named = files(folder.path(), &texts, &[], &inputs, 3);
    let (own, never) = (outputs(folder.path()), AtomicBool::new(false));
    let options = across(DedupOptions::default());
    let refused = |error: DedupError| {
        assert!(
            matches!(error, DedupError::Option { argument: "across_files_only", .. }),
            "{error}"
        );
        error.to_string()
    };
    let one = dedup_files(&named[..1], &own, &options, &|_| {}, &never).unwrap_err();
    assert!(refused(one).contains("0.jsonl alone"));
    let lines = LineOutputs { lines: outputs(folder.path()).records, rejects: None };
    refused(pairs_files(&named, &lines, &options, &|_| {}, &never).unwrap_err());
    let (new, old) = named.split_at(1);
    let matching = MatchOptions { files: options.clone(), limit: None };
    refused(match_files(new, old, &lines, &matching, &|_| {}, &never).unwrap_err());
    let index = folder.path().join("index");
    refused(dedup_into_index(&index, &named, &own, &options, &|_| {}, &never).unwrap_err());
    assert!(!index.exists() && !folder.path().join("out").exists());
}
