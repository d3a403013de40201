//! Pairs and matches of files are the edges of the graph that decisions rest on.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{Pair, corpus, methods, on_threads, oracle, oracle_pairs};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use simhash_dedup::{
    Cluster, DedupError, DedupOptions, EdgeSummary, FileOptions, Input, LineOutputs, MatchOptions,
    Method, Outputs, Target, dedup_files, match_files, pairs_files,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const TEXT: &str = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";

/// Every method, with limits that cut and without, verified or not.
fn every() -> impl Iterator<Item = DedupOptions> {
    let limits = [(256, 1_000), (3, 1_000), (256, 5), (9, 4)];
    methods().into_iter().flat_map(move |method| {
        limits.into_iter().flat_map(move |(max_bucket, max_verifications)| {
            [Some(0.8), Some(0.3), None].map(|min_similarity| DedupOptions {
                method,
                max_bucket,
                max_verifications,
                min_similarity,
                ..DedupOptions::default()
            })
        })
    })
}

fn options() -> impl Strategy<Value = DedupOptions> {
    let all: Vec<DedupOptions> = every().collect();
    (0..all.len()).prop_map(move |row| all[row].clone())
}

fn some_texts(count: usize) -> Vec<String> {
    corpus(count).new_tree(&mut TestRunner::deterministic()).unwrap().current()
}

fn lines(texts: &[String]) -> String {
    let line = |text: &String| format!("{}\n", json!({ "text": text }));
    texts.iter().map(line).collect::<Vec<_>>().concat()
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> [Input; 1] {
    fs::write(folder.join(name), content).unwrap();
    [Input::File(folder.join(name))]
}

/// Into the files `out` and `rejects`.
fn outputs(folder: &Path) -> LineOutputs {
    let target = |name: &str| Some(Target::File(folder.join(name)));
    LineOutputs { lines: target("out"), rejects: target("rejects") }
}

fn of(dedup: &DedupOptions) -> FileOptions {
    FileOptions { dedup: dedup.clone(), ..FileOptions::default() }
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn pairs(inputs: &[Input], folder: &Path, options: &DedupOptions) -> (String, EdgeSummary) {
    let cancel = AtomicBool::new(false);
    let summary = pairs_files(inputs, &outputs(folder), &of(options), &|_| {}, &cancel).unwrap();
    (fs::read_to_string(folder.join("out")).unwrap(), EdgeSummary { seconds: 0.0, ..summary })
}

/// The pairs of texts, as a file says them; the ids are line numbers.
fn pairs_of(texts: &[String], options: &DedupOptions) -> (Vec<Pair>, EdgeSummary) {
    let folder = tempfile::tempdir().unwrap();
    let inputs = write(folder.path(), "in", lines(texts));
    let (told, summary) = pairs(&inputs, folder.path(), options);
    (read_pairs(&told), summary)
}

fn read_pairs(told: &str) -> Vec<Pair> {
    let row = |value: &Value| value.as_u64().unwrap() as usize - 1;
    let pairs = told.lines().map(|line| {
        let pair: Value = serde_json::from_str(line).unwrap();
        let truncated = pair.get("truncated").is_some_and(|told| told.as_bool().unwrap());
        let distance = pair["distance"].as_u64().map(|distance| distance as u32);
        let similarity = pair["similarity"].as_f64();
        Pair { a: row(&pair["a"]), b: row(&pair["b"]), similarity, distance, truncated }
    });
    pairs.collect()
}

fn found(old: &[String], new: &[String], options: &MatchOptions) -> (String, EdgeSummary) {
    let folder = tempfile::tempdir().unwrap();
    let against = write(folder.path(), "old", lines(old));
    let news = write(folder.path(), "new", lines(new));
    let (outputs, cancel) = (outputs(folder.path()), AtomicBool::new(false));
    let summary = match_files(&news, &against, &outputs, options, &|_| {}, &cancel).unwrap();
    (
        fs::read_to_string(folder.path().join("out")).unwrap(),
        EdgeSummary { seconds: 0.0, ..summary },
    )
}

/// By document, whom it duplicates: points 5 and 6 of the rule, of pairs alone.
fn by_rule(count: usize, pairs: &[Pair], options: &DedupOptions) -> Vec<usize> {
    // By document: the first of its text.
    let mut first: Vec<usize> = (0..count).collect();
    let mut near: BTreeMap<usize, Vec<(usize, &Pair)>> = BTreeMap::new();
    for pair in pairs {
        if pair.similarity == Some(1.0) {
            first[pair.b] = pair.a;
        } else {
            near.entry(pair.a).or_default().push((pair.b, pair));
            near.entry(pair.b).or_default().push((pair.a, pair));
        }
    }
    let mut originals: Vec<usize> = (0..count).collect();
    if options.cluster == Cluster::Components {
        for pair in pairs {
            let (from, to) = (
                originals[pair.a].max(originals[pair.b]),
                originals[pair.a].min(originals[pair.b]),
            );
            originals.iter_mut().filter(|own| **own == from).for_each(|own| *own = to);
        }
        return originals;
    }
    let mut kept = BTreeSet::new();
    for document in 0..count {
        let text = first[document];
        if kept.contains(&text) {
            originals[document] = text;
            continue;
        }
        let none = Vec::new();
        let better = |(a, one): &(usize, &Pair), (b, other): &(usize, &Pair)| {
            let nearer = match options.min_similarity {
                Some(_) => other.similarity.partial_cmp(&one.similarity).unwrap(),
                None => one.distance.cmp(&other.distance),
            };
            nearer.then(a.cmp(b))
        };
        let near = near.get(&text).unwrap_or(&none).iter();
        match near.copied().filter(|(other, _)| kept.contains(other)).min_by(better) {
            Some((other, _)) => originals[document] = other,
            None => {
                kept.insert(text);
            }
        }
    }
    originals
}

/// By document, whom it duplicates: what the clusters file of `dedup_files` says.
fn by_clusters(texts: &[String], options: &DedupOptions) -> Vec<usize> {
    let folder = tempfile::tempdir().unwrap();
    let inputs = write(folder.path(), "in", lines(texts));
    let clusters = Some(Target::File(folder.path().join("clusters")));
    let outputs = Outputs { clusters, ..Outputs::default() };
    let cancel = AtomicBool::new(false);
    dedup_files(&inputs, &outputs, &of(options), &|_| {}, &cancel).unwrap();
    let mut originals: Vec<usize> = (0..texts.len()).collect();
    for line in fs::read_to_string(folder.path().join("clusters")).unwrap().lines() {
        let cluster: Value = serde_json::from_str(line).unwrap();
        let row = |id: &Value| id.as_u64().unwrap() as usize - 1;
        for member in cluster["members"].as_array().unwrap() {
            originals[row(&member["id"])] = row(&cluster["representative"]);
        }
    }
    originals
}

/// Whether pairs say by what the best of several is chosen: without verification only methods with a distance do.
fn is_ranked(options: &DedupOptions) -> bool {
    options.min_similarity.is_some()
        || matches!(options.method, Method::SimHash { .. } | Method::Exact)
}

/// What the rule and a clusters file have in common.
fn comparable(originals: &[usize], options: &DedupOptions) -> Vec<usize> {
    let kept = |(place, &original): (usize, &usize)| usize::from(original == place);
    if is_ranked(options) || options.cluster == Cluster::Components {
        originals.to_vec()
    } else {
        originals.iter().enumerate().map(kept).collect()
    }
}

fn assert_clusters(texts: &[String], pairs: &[Pair], options: &DedupOptions) {
    for cluster in [Cluster::Representative, Cluster::Components] {
        let options = DedupOptions { cluster, ..options.clone() };
        let expected = comparable(&by_clusters(texts, &options), &options);
        let got = comparable(&by_rule(texts.len(), pairs, &options), &options);
        assert_eq!(got, expected, "{options:?}");
    }
}

/// A number as this parser reads what is written of it: the last bit may differ.
fn as_read(number: f64) -> f64 {
    serde_json::from_str(&json!(number).to_string()).unwrap()
}

fn expected_pairs(texts: &[&str], options: &DedupOptions) -> Vec<Pair> {
    let mut pairs = oracle_pairs(texts, options);
    for pair in &mut pairs {
        pair.similarity = pair.similarity.map(as_read);
    }
    pairs
}

/// By new document its line: what pairs of old and then new documents say.
fn matches_of(old: usize, texts: &[&str], options: &MatchOptions) -> Vec<Value> {
    let dedup = &options.files.dedup;
    let (pairs, decisions) = (expected_pairs(texts, dedup), oracle(texts, dedup).0);
    let mut first: Vec<usize> = (0..texts.len()).collect();
    let copies = pairs.iter().filter(|pair| pair.similarity == Some(1.0));
    copies.for_each(|pair| first[pair.b] = pair.a);
    let line = |document: usize| {
        // A copy of a new document has the matches of that one.
        let of = if first[document] < old { document } else { first[document] };
        let own = pairs.iter().filter(|pair| pair.b == of && pair.a < old);
        let mut own: Vec<&Pair> = own.collect();
        own.sort_by(|one, other| {
            let nearer = if dedup.min_similarity.is_some() {
                other.similarity.partial_cmp(&one.similarity).unwrap()
            } else {
                one.distance.cmp(&other.distance)
            };
            nearer.then(one.a.cmp(&other.a))
        });
        let most = options.limit.unwrap_or(usize::MAX);
        let mut line = json!({ "id": document - old + 1, "matches": [] });
        for pair in own.iter().take(most) {
            let mut said = json!({ "id": pair.a + 1 });
            if let Some(similarity) = pair.similarity {
                said["similarity"] = similarity.into();
            }
            if let Some(distance) = pair.distance {
                said["distance"] = distance.into();
            }
            line["matches"].as_array_mut().unwrap().push(said);
        }
        if own.len() > most || decisions[document].truncated {
            line["truncated"] = true.into();
        }
        line
    };
    (old..texts.len()).map(line).collect()
}

/// Matches in an order that pairs tell: of unverified ones by a method without distances that is the order of ids.
fn comparable_lines(mut lines: Vec<Value>, options: &DedupOptions) -> Vec<Value> {
    if !is_ranked(options) {
        for line in &mut lines {
            let matches = line["matches"].as_array_mut().unwrap();
            matches.sort_by_key(|found| found["id"].as_u64());
        }
    }
    lines
}

fn assert_matches(old: &[String], new: &[String], options: &MatchOptions) {
    let texts: Vec<&str> = old.iter().chain(new).map(String::as_str).collect();
    let expected = matches_of(old.len(), &texts, options);
    let (told, summary) = found(old, new, options);
    let got = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let dedup = &options.files.dedup;
    let got = comparable_lines(got, dedup);
    assert_eq!(got, comparable_lines(expected, dedup), "{options:?}");
    let count = |line: &Value| line["matches"].as_array().unwrap().len() as u64;
    assert_eq!(summary.edges, got.iter().map(count).sum::<u64>());
    assert_eq!(summary.matched, got.iter().filter(|line| count(line) > 0).count() as u64);
    let truncated = got.iter().filter(|line| line["truncated"] == true).count();
    assert_eq!(summary.truncated, truncated as u64);
    assert_eq!((summary.documents, summary.against), (new.len() as u64, old.len() as u64));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn pairs_are_the_edges_of_the_rule_and_decide_as_dedup_does(
        texts in corpus(0..50), options in options(),
    ) {
        let (got, summary) = pairs_of(&texts, &options);
        let given: Vec<&str> = texts.iter().map(String::as_str).collect();
        prop_assert_eq!(&got, &expected_pairs(&given, &options));
        prop_assert_eq!(summary.edges, got.len() as u64);
        prop_assert_eq!(summary.truncated, oracle(&given, &options).1);
        prop_assert_eq!((summary.read, summary.documents), (texts.len() as u64, texts.len() as u64));
        assert_clusters(&texts, &got, &options);
    }

    #[test]
    fn matches_are_the_edges_between_old_and_new(
        old in corpus(0..30), new in corpus(0..30), dedup in options(), limit in 1usize..5,
    ) {
        let limit = (is_ranked(&dedup) && limit < 4).then_some(limit);
        assert_matches(&old, &new, &MatchOptions { files: of(&dedup), limit });
    }

    /// Of streams edges go out as documents come: the one engine is the oracle of the other.
    #[test]
    fn files_and_streams_give_the_same_bytes(
        (old, new) in (corpus(0..60), corpus(0..60)),
        dedup in options(), limit in proptest::option::of(1usize..5),
    ) {
        assert_streams(&old, &new, &MatchOptions { files: of(&dedup), limit });
    }
}

/// Pairs of `old`, and matches of `new` with it: the same of files and of streams.
fn assert_streams(old: &[String], new: &[String], options: &MatchOptions) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let [a, b] = [("old", old), ("new", new)].map(|(name, texts)| {
        // With lines that are no records, and empty ones.
        let content = format!(
            "\n{}oops\n{}",
            lines(&texts[..texts.len() / 2]),
            lines(&texts[texts.len() / 2..])
        );
        (write(folder, name, &content), [Input::stream(name, std::io::Cursor::new(content))])
    });
    let dedup = &options.files.dedup;
    // What an engine holds is its own.
    let told = |result: Result<EdgeSummary, DedupError>| {
        let read = |name: &str| fs::read(folder.join(name)).ok();
        let said = result.map(|summary| EdgeSummary { seconds: 0.0, index_bytes: 0, ..summary });
        // A stream has the name of the file, without the folder.
        let said = format!("{said:?}").replace(&format!("{}/", folder.display()), "");
        let rejects = read("rejects").map(|rejects| String::from_utf8(rejects).unwrap());
        let rejects = rejects.map(|told| told.replace(&format!("{}/", folder.display()), ""));
        let out = read("out");
        for name in ["out", "rejects"] {
            let _ = fs::remove_file(folder.join(name));
        }
        (said, out, rejects)
    };
    let (target, cancel) = (outputs(folder), AtomicBool::new(false));
    let pairs =
        |inputs: &[Input]| told(pairs_files(inputs, &target, &options.files, &|_| {}, &cancel));
    let matches = |news: &[Input], against: &[Input]| {
        told(match_files(news, against, &target, options, &|_| {}, &cancel))
    };
    let (streams, again) = (
        pairs(&a.1),
        [Input::stream("old", std::io::Cursor::new(fs::read(folder.join("old")).unwrap()))],
    );
    assert_eq!(pairs(&a.0), streams, "{dedup:?}");
    assert_eq!(matches(&b.0, &a.0), matches(&b.1, &again), "{options:?}");
}

#[test]
fn every_method_finds_pairs_and_matches_beyond_one_batch_with_the_same_bytes_on_any_threads() {
    // More than two batches of 2,048 documents, most of which resemble no other.
    let mut texts = some_texts(300);
    let mut state = 1u64;
    let mut ideograph = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        char::from_u32(0x4e00 + (state >> 40) as u32 % 20_000).unwrap()
    };
    texts.extend((0..4_500).map(|_| (0..12).map(|_| ideograph()).collect::<String>()));
    texts.extend(some_texts(300));
    let folder = tempfile::tempdir().unwrap();
    let inputs = write(folder.path(), "in", lines(&texts));
    for options in every().filter(|options| options.min_similarity == Some(0.8)).step_by(2) {
        let (one, summary) = on_threads(1, || pairs(&inputs, folder.path(), &options));
        let threads = DedupOptions { threads: 3, ..options.clone() };
        let (many, again) = on_threads(4, || pairs(&inputs, folder.path(), &threads));
        assert!(one == many && summary == again, "{options:?}");
        assert!(summary.edges > 200, "{options:?}: {summary:?}");
        assert_clusters(&texts, &read_pairs(&one), &options);
        let (old, new) = texts.split_at(150);
        let options = MatchOptions { files: of(&options), limit: None };
        let (one, summary) = on_threads(1, || found(old, new, &options));
        let (many, again) = on_threads(4, || found(old, new, &options));
        assert!(one == many && summary == again, "{options:?}");
        // The last three hundred are copies of the first, half of which are new themselves: their lines are said again.
        let matches = |line: &str| serde_json::from_str::<Value>(line).unwrap()["matches"].clone();
        let lines: Vec<&str> = one.lines().collect();
        for (place, early) in lines[..150].iter().enumerate() {
            let late = lines[lines.len() - 150 + place];
            assert_eq!(matches(early), matches(late), "{options:?}: {early}");
        }
        assert_streams(old, new, &options);
    }
}

#[test]
fn ids_are_those_of_the_records_and_positions_name_the_file_among_several() {
    let folder = tempfile::tempdir().unwrap();
    let line = |id: &str| format!("{{\"text\":\"{TEXT}\"{id}}}\n");
    let [a] = write(folder.path(), "a", line(",\"id\":\"\\u7532\"") + &line(",\"id\":1.50"));
    let [b] = write(folder.path(), "b", line(""));
    let name =
        |file: &str| json!(folder.path().join(file).display().to_string() + ":1").to_string();
    let options = DedupOptions::default();
    let (told, _) = pairs(&[a, b], folder.path(), &options);
    let first = r#"{"a":"\u7532","b":"#;
    let expected =
        format!("{first}1.50,\"similarity\":1.0}}\n{first}{},\"similarity\":1.0}}\n", name("b"));
    assert_eq!(told, expected);
    // Each side of a match is a collection of its own.
    let [a, b, c] = ["a", "b", "c"].map(|name| write(folder.path(), name, line("")));
    let cancel = AtomicBool::new(false);
    let (outputs, options) = (outputs(folder.path()), MatchOptions::default());
    let [[a], [b]] = [a, b];
    match_files(&[a, b], &c, &outputs, &options, &|_| {}, &cancel).unwrap();
    let told = fs::read_to_string(folder.path().join("out")).unwrap();
    let rest = r#","matches":[{"id":1,"similarity":1.0}]}"#;
    assert_eq!(told, format!("{{\"id\":{}{rest}\n{{\"id\":{}{rest}\n", name("a"), name("b")));
}

#[test]
fn rejected_lines_are_counted_written_and_named() {
    let folder = tempfile::tempdir().unwrap();

    let good = lines(&[TEXT.to_owned()]);
    let inputs = write(folder.path(), "in", format!("{good}oops\n{good}{{\"text\":5}}\n"));
    let (told, summary) = pairs(&inputs, folder.path(), &DedupOptions::default());
    assert_eq!((summary.read, summary.documents, summary.rejected), (4, 2, 2));
    assert_eq!(told, "{\"a\":1,\"b\":3,\"similarity\":1.0}\n");
    assert_eq!(summary.first_rejected.iter().map(|one| one.line).collect::<Vec<_>>(), [2, 4]);
    let rejects = || fs::read_to_string(folder.path().join("rejects")).unwrap();
    assert_eq!(rejects().lines().count(), 2);
    // Of a match both sides are counted, the old one first.
    let new = write(folder.path(), "new", format!("{{}}\n{good}"));
    let (outputs, cancel) = (outputs(folder.path()), AtomicBool::new(false));
    let options = MatchOptions::default();
    let summary = match_files(&new, &inputs, &outputs, &options, &|_| {}, &cancel).unwrap();
    let counts = (summary.read, summary.documents, summary.against, summary.rejected);
    assert_eq!(counts, (6, 1, 2, 3));
    assert_eq!(summary.first_rejected.iter().map(|one| one.line).collect::<Vec<_>>(), [2, 4, 1]);
    assert_eq!(rejects().lines().count(), 3);
}

#[test]
fn where_all_records_of_a_side_are_rejected_only_the_rejects_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let good = write(folder.path(), "good", lines(&some_texts(3)));
    let bad = write(folder.path(), "bad", "x\n");
    let (options, cancel) = (MatchOptions::default(), AtomicBool::new(false));
    for (news, against) in [(&good, &bad), (&bad, &good)] {
        fs::write(folder.path().join("out"), "old").unwrap();
        let outputs = outputs(folder.path());
        let error = match_files(news, against, &outputs, &options, &|_| {}, &cancel).unwrap_err();
        assert!(matches!(error, DedupError::NoRecords { rejected: 1, .. }), "{error:?}");
        assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "old");
        assert_eq!(names(folder.path()), ["bad", "good", "out", "rejects"]);
        fs::remove_file(folder.path().join("rejects")).unwrap();
    }
    let error = pairs_files(&bad, &outputs(folder.path()), &options.files, &|_| {}, &cancel);
    assert!(matches!(error, Err(DedupError::NoRecords { .. })));
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "old");
    // No record at all is no error.
    let none = write(folder.path(), "none", "\n");
    let summary =
        match_files(&none, &none, &outputs(folder.path()), &options, &|_| {}, &cancel).unwrap();
    assert_eq!((summary.read, summary.edges), (0, 0));
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "");
}

#[test]
fn a_run_that_fails_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = write(folder.path(), "in", lines(&some_texts(3)));
    fs::write(folder.path().join("out"), "old").unwrap();
    let missing = [Input::File(folder.path().join("missing"))];
    let (options, cancel) = (MatchOptions::default(), AtomicBool::new(false));
    let out = || outputs(folder.path());
    let all = [
        pairs_files(&missing, &out(), &options.files, &|_| {}, &cancel),
        match_files(&inputs, &missing, &out(), &options, &|_| {}, &cancel),
        match_files(&missing, &inputs, &out(), &options, &|_| {}, &cancel),
    ];
    for result in all {
        assert!(matches!(result, Err(DedupError::Input { .. })), "{result:?}");
    }
    let same = || LineOutputs {
        lines: Some(Target::File(folder.path().join("in"))),
        ..LineOutputs::default()
    };
    let other = write(folder.path(), "other", "");
    let all = [
        pairs_files(&inputs, &same(), &options.files, &|_| {}, &cancel),
        match_files(&other, &inputs, &same(), &options, &|_| {}, &cancel),
        match_files(&inputs, &other, &same(), &options, &|_| {}, &cancel),
    ];
    for result in all {
        assert!(matches!(result, Err(DedupError::SameFile { .. })), "{result:?}");
    }
    let none = MatchOptions { limit: Some(0), ..MatchOptions::default() };
    let all = [
        pairs_files(&[], &out(), &options.files, &|_| {}, &cancel),
        match_files(&[], &inputs, &out(), &options, &|_| {}, &cancel),
        match_files(&inputs, &[], &out(), &options, &|_| {}, &cancel),
        match_files(&inputs, &inputs, &out(), &none, &|_| {}, &cancel),
    ];
    for (result, argument) in all.into_iter().zip(["inputs", "inputs", "against", "limit"]) {
        assert!(result.unwrap_err().to_string().starts_with(argument));
    }
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "old");
    assert_eq!(names(folder.path()), ["in", "other", "out"]);
    let dry = MatchOptions { files: FileOptions { dry_run: true, ..options.files }, limit: None };
    let summary = match_files(&inputs, &inputs, &out(), &dry, &|_| {}, &cancel).unwrap();
    assert_eq!((summary.documents, summary.against), (3, 3));
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "old");
}

#[test]
fn a_run_can_be_cancelled_at_each_report_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let texts: Vec<String> =
        (0..40_000).map(|n| format!("第{n}号公告于{}发布", n * 7919)).collect();
    let inputs = write(folder.path(), "in", lines(&texts));
    let options = MatchOptions::default();
    let mut cancelled = 0;
    for at in 0..8 {
        let (cancel, calls) = (AtomicBool::new(false), std::cell::Cell::new(0));
        let report = |_: &simhash_dedup::Progress| {
            if calls.replace(calls.get() + 1) == at {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let outputs = outputs(folder.path());
        let result = if at % 2 == 0 {
            pairs_files(&inputs, &outputs, &options.files, &report, &cancel)
        } else {
            match_files(&inputs, &inputs, &outputs, &options, &report, &cancel)
        };
        if calls.get() <= at {
            // A fast machine made fewer reports: the run finished.
            assert_eq!(names(folder.path()), ["in", "out", "rejects"]);
            break;
        }
        assert!(matches!(result, Err(DedupError::Cancelled)));
        assert_eq!(names(folder.path()), ["in"]);
        cancelled += 1;
    }
    assert!(cancelled > 1, "{cancelled}");
}
