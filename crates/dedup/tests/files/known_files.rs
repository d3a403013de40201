//! Files deduplicated beside documents that were there already: what a stream of both decides of the second.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::corpus;
use proptest::prelude::*;
use serde_json::{Value, json};
use simhash_dedup::{
    Cluster, Decision, DedupError, DedupOptions, Deduper, Duplicates, FileOptions, Input, Keep,
    Method, Outputs, Summary, Target, dedup_files, dedup_new_files,
};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn options() -> impl Strategy<Value = DedupOptions> {
    let method = prop_oneof![
        Just(Method::default()),
        Just(Method::SimHash { max_distance: Method::MAX_DISTANCE }),
        Just(Method::Sentences { count: 2 }),
        Just(Method::BruteForce),
        Just(Method::Exact),
    ];
    let limits = prop_oneof![Just((256, 1_000)), Just((3, 1_000)), Just((9, 4))];
    let similarity = prop_oneof![Just(Some(0.8)), Just(Some(0.3)), Just(None)];
    (method, limits, similarity).prop_map(
        |(method, (max_bucket, max_verifications), min_similarity)| DedupOptions {
            method,
            max_bucket,
            max_verifications,
            min_similarity,
            ..DedupOptions::default()
        },
    )
}

fn files(dedup: &DedupOptions) -> FileOptions {
    FileOptions { dedup: dedup.clone(), ..FileOptions::default() }
}

/// A record: the side in the id.
fn record(side: &str, place: usize, text: &str) -> Value {
    json!({ "text": text, "id": format!("{side}{place}") })
}

fn write(folder: &Path, side: &str, texts: &[String]) -> [Input; 1] {
    let line = |(place, text): (usize, &String)| format!("{}\n", record(side, place, text));
    let content: String = texts.iter().enumerate().map(line).collect();
    fs::write(folder.join(side), content).unwrap();
    [Input::File(folder.join(side))]
}

fn outputs(folder: &Path, duplicates: Duplicates) -> Outputs {
    let target = |name: &str| Some(Target::File(folder.join(name)));
    Outputs {
        records: target("out"),
        duplicates,
        clusters: target("clusters"),
        rejects: target("rejects"),
        ..Outputs::default()
    }
}

fn told(folder: &Path, name: &str) -> Vec<Value> {
    let content = fs::read_to_string(folder.join(name)).unwrap();
    content.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A number as this parser reads what is written of it: the last bit may differ.
fn as_read(number: f64) -> Value {
    serde_json::from_str(&json!(number).to_string()).unwrap()
}

/// What the stream says: the decisions about the new documents, and the figures.
fn decided(known: &[String], new: &[String], options: &DedupOptions) -> (Vec<Decision>, Summary) {
    let given = |texts: &[String]| texts.to_vec();
    let (known, new, cancel) = (given(known), given(new), AtomicBool::new(false));
    let mut deduper = Deduper::new(options).unwrap();
    let texts = |texts: &[String], deduper: &mut Deduper| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        deduper.push(&texts, &cancel).unwrap()
    };
    texts(&known, &mut deduper);
    deduper.end_known().unwrap();
    let decisions = texts(&new, &mut deduper);
    (decisions, deduper.summary())
}

fn assert_as_stream(known: &[String], new: &[String], options: &DedupOptions) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (decisions, expected) = decided(known, new, options);
    let inputs = write(folder, "n", new);
    let before = write(folder, "k", known);
    let cancel = AtomicBool::new(false);
    let id = |of: u64| match (of as usize).checked_sub(known.len()) {
        None => format!("k{of}"),
        Some(place) => format!("n{place}"),
    };
    // Records, with and without their duplicates.
    let mut summaries = Vec::new();
    for duplicates in [Duplicates::Remove, Duplicates::Mark] {
        let target = outputs(folder, duplicates);
        let run = dedup_new_files(&inputs, &before, &target, &files(options), &|_| {}, &cancel);
        summaries.push(run.unwrap());
        let mut records = Vec::new();
        for (place, (text, decision)) in new.iter().zip(&decisions).enumerate() {
            let mut record = record("n", place, text);
            match (decision.duplicate_of, duplicates) {
                (None, _) => {}
                (Some(_), Duplicates::Remove) => continue,
                (Some(of), Duplicates::Mark) => {
                    record["duplicateOf"] = id(of).into();
                    if let Some(similarity) = decision.similarity {
                        record["similarity"] = as_read(similarity);
                    }
                    if let Some(distance) = decision.distance {
                        record["distance"] = distance.into();
                    }
                }
            }
            records.push(record);
        }
        assert_eq!(told(folder, "out"), records, "{options:?}");
    }
    // Clusters: those in which a new document is a duplicate, known ones first.
    let mut originals: Vec<u64> = decisions.iter().filter_map(|one| one.duplicate_of).collect();
    originals.sort_unstable();
    originals.dedup();
    let clusters: Vec<Value> = originals
        .iter()
        .map(|&of| {
            let mut members = vec![json!({ "id": id(of) })];
            for decision in decisions.iter().filter(|one| one.duplicate_of == Some(of)) {
                let mut member = json!({ "id": id(decision.index) });
                if let Some(similarity) = decision.similarity {
                    member["similarity"] = as_read(similarity);
                }
                if let Some(distance) = decision.distance {
                    member["distance"] = distance.into();
                }
                members.push(member);
            }
            json!({ "representative": id(of), "members": members })
        })
        .collect();
    assert_eq!(told(folder, "clusters"), clusters, "{options:?}");
    for summary in summaries {
        let figures =
            |s: &Summary| (s.read, s.kept, s.duplicates, s.clusters, s.truncated, s.empty, s.short);
        assert_eq!(figures(&summary), figures(&expected), "{options:?}");
        assert_eq!(summary.known, known.len() as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn known_documents_are_columns_in_front_that_are_never_written(
        (known, new) in (corpus(0..50), corpus(0..50)), options in options(),
    ) {
        assert_as_stream(&known, &new, &options);
    }
}

#[test]
fn streams_are_read_to_their_end_beside_known_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let texts: Vec<String> =
        (0..40).map(|n| format!("第{n}号公告：城市交通建设的最新进展")).collect();
    let (inputs, before) = (write(folder, "n", &texts[10..]), write(folder, "k", &texts[..20]));
    let stream = |name: &str| {
        [Input::stream(name, std::io::Cursor::new(fs::read(folder.join(name)).unwrap()))]
    };
    let (target, options) = (outputs(folder, Duplicates::Mark), FileOptions::default());
    let cancel = AtomicBool::new(false);
    let run = |inputs: &[Input], known: &[Input]| {
        dedup_new_files(inputs, known, &target, &options, &|_| {}, &cancel).unwrap();
        (told(folder, "out"), told(folder, "clusters"))
    };
    let expected = run(&inputs, &before);
    assert_eq!(expected.0.len(), 30);
    assert_eq!(run(&stream("n"), &before), expected);
    assert_eq!(run(&inputs, &stream("k")), expected);
}

#[test]
fn rejected_records_of_both_sides_are_named_and_a_side_of_them_alone_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let good = |name: &str| write(folder, name, &["今天上午北京市召开新闻发布会".to_owned()]);
    let (options, cancel) = (FileOptions::default(), AtomicBool::new(false));
    let target = outputs(folder, Duplicates::Remove);
    let run = |inputs: &[Input], known: &[Input]| {
        dedup_new_files(inputs, known, &target, &options, &|_| {}, &cancel)
    };
    let (new, known) = (good("n"), good("k"));
    fs::write(folder.join("bad"), "oops\n").unwrap();
    let bad = [Input::File(folder.join("bad"))];
    let both = [Input::File(folder.join("bad")), Input::File(folder.join("k"))];
    let summary = run(&new, &both).unwrap();
    let counts = (summary.read, summary.kept, summary.duplicates, summary.rejected, summary.known);
    assert_eq!(counts, (2, 0, 1, 1, 1));
    assert_eq!(told(folder, "rejects").len(), 1);
    // Without new documents there is nothing to write, and nothing wrong.
    fs::write(folder.join("none"), "").unwrap();
    let summary = run(&[Input::File(folder.join("none"))], &both).unwrap();
    assert_eq!((summary.read, summary.rejected, summary.known), (1, 1, 1));
    for (inputs, known) in [(&new, &bad), (&bad, &known)] {
        fs::write(folder.join("out"), "old").unwrap();
        let error = run(inputs, known).unwrap_err();
        assert!(matches!(error, DedupError::NoRecords { rejected: 1, .. }), "{error:?}");
        assert_eq!(fs::read_to_string(folder.join("out")).unwrap(), "old");
        assert_eq!(told(folder, "rejects").len(), 1);
    }
}

#[test]
fn known_files_go_with_the_first_of_a_representatives_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (new, known) = (write(folder, "n", &[]), write(folder, "k", &[]));
    let cancel = AtomicBool::new(false);
    let refused = [
        DedupOptions { keep: Keep::Last, ..DedupOptions::default() },
        DedupOptions { cluster: Cluster::Components, ..DedupOptions::default() },
    ];
    for dedup in refused {
        let outputs = outputs(folder, Duplicates::Remove);
        let run = dedup_new_files(&new, &known, &outputs, &files(&dedup), &|_| {}, &cancel);
        assert!(run.unwrap_err().to_string().starts_with("known"));
    }
    let options = FileOptions::default();
    let none = dedup_new_files(&new, &[], &Outputs::default(), &options, &|_| {}, &cancel);
    assert!(none.unwrap_err().to_string().starts_with("known"));
    // What is known is no place to write to.
    let over = Outputs { records: Some(Target::File(folder.join("k"))), ..Outputs::default() };
    let run = dedup_new_files(&new, &known, &over, &options, &|_| {}, &cancel);
    assert!(matches!(run, Err(DedupError::SameFile { .. })), "{run:?}");
    // Without known documents it is what it was.
    let summary = dedup_files(&new, &Outputs::default(), &options, &|_| {}, &cancel).unwrap();
    assert_eq!(summary.known, 0);
}
