//! Results, labels and samples that come from files.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use proptest::prelude::*;
use serde_json::{Value, json};
use simhash_dedup::evaluate::{LabelledPair, Labels, Reported, evaluate};
use simhash_dedup::{
    DedupError, EvaluateOptions, Input, SampleOptions, Scored, evaluate_files, find_texts,
    sample_files,
};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

static CANCEL: AtomicBool = AtomicBool::new(false);

fn write(folder: &Path, name: &str, lines: &[Value]) -> [Input; 1] {
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
    fs::write(folder.join(name), text).unwrap();
    [Input::File(folder.join(name))]
}

fn scored(
    result: &[Value],
    labels: &[Value],
    documents: Option<&[Value]>,
) -> Result<Scored, DedupError> {
    let folder = tempfile::tempdir().unwrap();
    let result = write(folder.path(), "result", result);
    let labels = write(folder.path(), "labels", labels);
    let documents = documents.map(|documents| write(folder.path(), "docs", documents));
    let documents = documents.as_ref().map(<[Input; 1]>::as_slice);
    evaluate_files(&result, &labels, documents, &EvaluateOptions::default(), &CANCEL)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn scores_of_files_are_those_of_their_statements(
        links in prop::collection::vec((0..12u32, 0..12u32), 0..8),
        clusters in prop::collection::vec(prop::collection::vec(0..12u32, 0..5), 0..4),
        groups in prop::collection::vec(prop::collection::vec(0..12u32, 2..5), 1..4),
        pairs in prop::collection::vec((0..12u32, 0..12u32, 0..5u32), 0..6),
    ) {
        let documents: Vec<Value> = (0..12).map(|id| json!({ "id": id, "text": "" })).collect();
        // A number and a string of its digits are the same id.
        let id = |id: u32| if id.is_multiple_of(2) { json!(id) } else { json!(id.to_string()) };
        let result: Vec<Value> = links
            .iter()
            .map(|&(kept, removed)| json!({ "id": id(removed), "duplicateOf": kept, "text": "x" }))
            .chain(clusters.iter().map(|members| json!({ "members": members })))
            .collect();
        let similarity = |fifths: u32| f64::from(fifths) / 4.0;
        let truth: Vec<Value> = groups
            .iter()
            .map(|members| json!(members))
            .chain(pairs.iter().map(|&(a, b, fifths)| {
                json!({ "a": id(a), "b": b, "similarity": similarity(fifths) })
            }))
            .collect();
        let found = scored(&result, &truth, Some(&documents)).unwrap();
        let pairs: Vec<_> = pairs
            .iter()
            .map(|&(a, b, fifths)| LabelledPair { a, b, similarity: similarity(fifths) })
            .collect();
        let labels = Labels::new(12, &groups, &pairs, 0.8).unwrap();
        let reported = Reported::new(12, &links, &clusters).unwrap();
        let mut expected = evaluate(&labels, &reported, None, &CANCEL).unwrap();
        // Texts of nothing resemble nothing.
        expected.verified = found.evaluation.verified;
        prop_assert!(found.evaluation.verified.is_none_or(|verified| verified.precision < f64::EPSILON));
        prop_assert_eq!(found.evaluation, expected);
        prop_assert_eq!((found.unknown_decisions, found.unknown_labels, found.rejected), (0, 0, 0));
    }
}

#[test]
fn ids_of_no_document_are_counted_and_left_out() {
    let documents = [json!({ "id": "a", "text": "一" }), json!({ "id": "b", "text": "一" })];
    let result = [json!(["a", "b", "x"]), json!({ "id": "y" }), json!({ "id": "b" })];
    let labels = [json!(["a", "b"]), json!({ "a": "z", "b": "a", "label": 0 })];
    let found = scored(&result, &labels, Some(&documents)).unwrap();
    assert_eq!((found.unknown_decisions, found.unknown_labels), (2, 1));
    assert_eq!((found.evaluation.documents, found.evaluation.removed), (2, 1));
    let verified = found.evaluation.verified.unwrap();
    assert!((verified.precision - 1.0).abs() < f64::EPSILON);
    // Without documents those that are named.
    let found = scored(&result, &labels, None).unwrap();
    assert_eq!((found.unknown_decisions, found.evaluation.documents), (0, 5));
    assert_eq!(found.evaluation.verified, None);
}

#[test]
fn labels_that_say_nothing_are_an_error() {
    let some = [json!(["a", "b"])];
    let error = scored(&some, &[], None).unwrap_err();
    assert!(matches!(error, DedupError::Option { argument: "labels", .. }), "{error}");
    let error = scored(&some, &[json!(7), json!({ "members": 1 })], None).unwrap_err();
    assert!(error.to_string().contains("labels:1: 7 is no statement"), "{error}");
    let error = scored(&[json!("x")], &some, None).unwrap_err();
    assert!(error.to_string().contains("result:1: \"x\" is no statement"), "{error}");
    // A result without clusters is an empty file.
    assert_eq!(scored(&[], &some, None).unwrap().evaluation.removed, 0);
}

fn corpus(count: usize) -> Vec<Value> {
    // Fifty families that share no character.
    let text = |row: usize| {
        let first = 0x4e00 + (row % 50) as u32 * 40;
        (0..30).filter_map(|at| char::from_u32(first + at)).collect::<String>()
    };
    (0..count)
        .map(|row| json!({ "id": row, "text": format!("{}{}", text(row), row / 50) }))
        .collect()
}

fn sampled(options: &SampleOptions, count: usize, labels: Option<&[Value]>) -> Vec<u64> {
    let folder = tempfile::tempdir().unwrap();
    let inputs = write(folder.path(), "in", &corpus(count));
    let labels = labels.map(|labels| write(folder.path(), "labels", labels));
    let labels = labels.as_ref().map(<[Input; 1]>::as_slice);
    let sample = sample_files(&inputs, labels, options, &CANCEL).unwrap();
    assert_eq!(sample.summary.read, count as u64);
    sample.documents.iter().map(|(id, _)| id.parse().unwrap()).collect()
}

#[test]
fn a_sample_is_random_documents_and_those_near_them() {
    let options = SampleOptions { size: 20, ..SampleOptions::default() };
    let first = sampled(&options, 200, None);
    assert!(first.len() > 20 && first.len() <= 40, "{first:?}");
    assert!(first.is_sorted());
    assert_eq!(first, sampled(&options, 200, None));
    assert_ne!(first, sampled(&SampleOptions { seed: 2, ..options.clone() }, 200, None));
    // What was added is near what was drawn: the same text but for a number behind it.
    let far =
        first.iter().filter(|&&one| first.iter().filter(|&&two| one % 50 == two % 50).count() < 2);
    assert!(far.count() <= 20);
    assert_eq!(sampled(&options, 15, None), (0..15).collect::<Vec<_>>());
}

#[test]
fn labelled_documents_are_taken_in_place_of_near_ones() {
    let options = SampleOptions { size: 5, ..SampleOptions::default() };
    let labels = [json!([7, "9"]), json!({ "a": 180, "b": 181, "label": 0 })];
    let found = sampled(&options, 200, Some(&labels));
    assert!([7, 9, 180, 181].iter().all(|id| found.contains(id)), "{found:?}");
    assert!(found.len() <= 9);
}

#[test]
fn every_document_is_as_likely_to_be_drawn() {
    let mut drawn = [0u32; 40];
    for seed in 1..=600 {
        let options = SampleOptions { size: 10, seed, least: 1.0, ..SampleOptions::default() };
        for id in sampled(&options, 40, Some(&[])) {
            drawn[id as usize] += 1;
        }
    }
    // 150 expected, with a standard deviation of 10.6.
    assert!(drawn.iter().all(|count| (95..=205).contains(count)), "{drawn:?}");
}

#[test]
fn texts_are_found_by_id_and_files_are_read_until_then() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [json!({ "id": "a", "text": "甲" }), json!({ "id": 7, "text": "乙" }), json!(1)];
    let inputs = write(folder.path(), "in", &lines);
    let options = simhash_dedup::ReadOptions::default();
    let (found, summary) = find_texts(&inputs, &["7", "a", "x"], &options, &CANCEL).unwrap();
    assert_eq!(found, [Some("乙".to_owned()), Some("甲".to_owned()), None]);
    assert_eq!((summary.read, summary.kept, summary.rejected), (3, 2, 1));
}
