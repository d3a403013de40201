//! An index made of files answers with the edges that `match_files` finds, and loses no id.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::corpus;
use proptest::prelude::*;
use serde_json::{Value, json};
use simhash_dedup::live::{LiveMethod, LiveOptions, Search, Verify};
use simhash_dedup::{
    DedupError, DedupOptions, FileOptions, IndexFile, Input, LineOutputs, MatchOptions, Method,
    ReadOptions, Summary, Target, match_files,
};
use simhash_index::bands::BandPlan;
use simhash_sketch::{ExtractorOptions, Fingerprinter, FingerprinterOptions, Scratch};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

static CANCEL: AtomicBool = AtomicBool::new(false);

/// The same method for a batch and for an index.
fn methods() -> [(Method, LiveMethod); 4] {
    let mut bands = LiveMethod::minhash();
    let few = BandPlan { bands: 20, rows: 4 };
    if let LiveMethod::MinHash { plan, .. } = &mut bands {
        *plan = Some(few);
    }
    let mut longest = LiveMethod::sentences();
    if let LiveMethod::Sentences { count, .. } = &mut longest {
        *count = 2;
    }
    let mut near = LiveMethod::simhash();
    if let LiveMethod::SimHash { max_distance, .. } = &mut near {
        *max_distance = Some(Method::MAX_DISTANCE);
    }
    [
        (Method::MinHash { plan: Some(few) }, bands),
        (Method::SimHash { max_distance: Method::MAX_DISTANCE }, near),
        (Method::Sentences { count: 2 }, longest),
        (Method::Exact, LiveMethod::Exact),
    ]
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> [Input; 1] {
    fs::write(folder.join(name), content).unwrap();
    [Input::File(folder.join(name))]
}

/// Records whose ids are in turn strings, numbers, digits, and absent.
fn records(texts: &[String], prefix: &str) -> String {
    let line = |(row, text): (usize, &String)| {
        let record = match row % 4 {
            0 => json!({ "id": format!("{prefix}{row}"), "text": text }),
            1 => json!({ "id": row, "text": text }),
            2 => json!({ "id": row.to_string(), "text": text }),
            _ => json!({ "text": text }),
        };
        format!("{record}\n")
    };
    texts.iter().enumerate().map(line).collect::<Vec<_>>().concat()
}

/// The id that a row has there.
fn id(row: usize, prefix: &str) -> Value {
    match row % 4 {
        0 => json!(format!("{prefix}{row}")),
        1 => json!(row),
        2 => json!(row.to_string()),
        _ => json!(row + 1),
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn file(folder: &Path) -> IndexFile {
    IndexFile { path: folder.join("index"), words: ExtractorOptions::default() }
}

fn build(folder: &Path, made: &LiveOptions, inputs: &[Input]) -> Result<Summary, DedupError> {
    let options = ReadOptions::default();
    let built = file(folder).build(made, inputs, None, &options, &|_| {}, &CANCEL);
    built.map(|(summary, _)| summary)
}

fn query(folder: &Path, inputs: &[Input], search: &Search) -> Vec<Value> {
    let lines_to = Some(Target::File(folder.join("found")));
    let outputs = LineOutputs { lines: lines_to, rejects: None };
    let options = ReadOptions::default();
    file(folder).query(inputs, &outputs, search, &options, &|_| {}, &CANCEL).unwrap();
    lines(&folder.join("found"))
}

/// Of what an index answers what is left where the first of equal texts stands for all.
fn firsts(mut line: Value, text: &str, old: &[String], first: &BTreeMap<String, usize>) -> Value {
    let normal = |text: &str| {
        let by = Fingerprinter::new(&FingerprinterOptions::default()).unwrap();
        by.normalize(text, &mut Scratch::default()).to_owned()
    };
    let copies: BTreeSet<String> = (0..old.len())
        .filter(|&row| first.get(&normal(&old[row])).is_some_and(|&first| first != row))
        .map(|row| id(row, "o").to_string())
        .collect();
    let found = line["matches"].as_array_mut().unwrap();
    found.retain(|found| !copies.contains(&found["id"].to_string()));
    if let Some(&row) = first.get(&normal(text)) {
        found.retain(|found| found["id"] == id(row, "o"));
    }
    line
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_query_of_an_index_finds_the_edges_that_matching_files_finds(
        texts in corpus(60),
        least in prop::option::of(prop::sample::select(vec![0.3, 0.8, 0.95])),
        split in 20..40usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (old, new) = texts.split_at(split);
        let against = write(folder, "old", records(old, "o"));
        let news = write(folder, "new", records(new, "n"));
        let by = Fingerprinter::new(&FingerprinterOptions::default()).unwrap();
        let mut first = BTreeMap::new();
        for (row, text) in old.iter().enumerate() {
            first.entry(by.normalize(text, &mut Scratch::default()).to_owned()).or_insert(row);
        }
        first.remove("");
        for (batch, live) in methods() {
            let dedup = DedupOptions { method: batch, min_similarity: least, ..DedupOptions::default() };
            let files = FileOptions { dedup, ..FileOptions::default() };
            let outputs = LineOutputs { lines: Some(Target::File(folder.join("out"))), rejects: None };
            let how = MatchOptions { files, limit: None };
            match_files(&news, &against, &outputs, &how, &|_| {}, &CANCEL).unwrap();
            let expected = lines(&folder.join("out"));
            let verify = least.map(|least| Verify { least, ..Verify::default() });
            let made = LiveOptions { method: live, verify, ..LiveOptions::default() };
            let summary = build(folder, &made, &against).unwrap();
            prop_assert_eq!((summary.read, summary.kept), (split as u64, split as u64));
            let found = query(folder, &news, &Search::default());
            prop_assert_eq!(found.len(), expected.len());
            for ((found, expected), text) in found.into_iter().zip(expected).zip(new) {
                if by.normalize(text, &mut Scratch::default()).is_empty() {
                    prop_assert_eq!(found, expected);
                    continue;
                }
                let mut found = firsts(found, text, old, &first);
                let mut expected = expected;
                if least.is_none() {
                    // Nobody has compared the texts: equal ones are told by the files alone, and the order is that of the method.
                    for line in [&mut found, &mut expected] {
                        let matches = line["matches"].as_array_mut().unwrap();
                        for found in matches.iter_mut() {
                            found.as_object_mut().unwrap().remove("similarity");
                        }
                        matches.sort_by_key(Value::to_string);
                    }
                }
                prop_assert_eq!(found, expected, "{:?} {:?}", batch, text);
            }
        }
    }
}

#[test]
fn adding_is_building_with_both_and_ids_stay_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let texts: Vec<String> = (0..12)
        .map(|row| format!("第{row}季度营业收入同比增长百分之十二净利润同比增长{row}"))
        .collect();
    let (first, second) = texts.split_at(5);
    let one = write(folder, "one", records(first, "x"));
    let two = write(folder, "two", records(second, "y"));
    let both = [&one[..], &two[..]].concat_names();
    let made = LiveOptions::default();
    build(folder, &made, &both).unwrap();
    let whole = query(folder, &both, &Search::default());
    build(folder, &made, &one).unwrap();
    let options = ReadOptions::default();
    let (summary, live) = file(folder).add(&two, None, &options, &|_| {}, &CANCEL).unwrap();
    assert_eq!((summary.read, live.len()), (7, 12));
    assert!(live.options().stored.keys);
    let found = query(folder, &two, &Search::default());
    // Ids made of positions name the file where there are several.
    let same = |line: &Value| line["id"].as_str().is_none_or(|id| !id.contains(':'));
    let expected: Vec<&Value> = whole[5..].iter().filter(|line| same(line)).collect();
    assert!(expected.len() > 4);
    for line in expected {
        let again = found.iter().find(|found| found["id"] == line["id"]).unwrap();
        assert_eq!(
            again["matches"].as_array().map(Vec::len),
            line["matches"].as_array().map(Vec::len)
        );
    }
}

/// Inputs again, by their names.
trait Named {
    fn concat_names(&self) -> Vec<Input>;
}

impl Named for [&[Input]; 2] {
    fn concat_names(&self) -> Vec<Input> {
        self.iter()
            .flat_map(|inputs| inputs.iter())
            .map(|input| Input::File(input.name()))
            .collect()
    }
}

#[test]
fn an_index_is_replaced_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let good = write(folder, "good", records(&["今天多云转小雨".to_owned()], "a"));
    let bad = write(folder, "bad", "x\ny\n");
    let made = LiveOptions::default();
    build(folder, &made, &good).unwrap();
    let before = fs::read(folder.join("index")).unwrap();
    let rejects = || Some(Target::File(folder.join("rejects")));
    let options = ReadOptions::default();
    let none = |_: &simhash_dedup::Progress| {};
    let refused = [
        build(folder, &made, &bad).map(|_| ()),
        file(folder).add(&bad, rejects().as_ref(), &options, &none, &CANCEL).map(|_| ()),
    ];
    for error in refused {
        assert!(matches!(error, Err(DedupError::NoRecords { rejected: 2, .. })), "{error:?}");
        assert_eq!(fs::read(folder.join("index")).unwrap(), before);
    }
    assert_eq!(lines(&folder.join("rejects")).len(), 2);
    let cancelled = AtomicBool::new(true);
    let error = file(folder).build(&made, &good, None, &options, &none, &cancelled).unwrap_err();
    assert!(matches!(error, DedupError::Cancelled), "{error:?}");
    // One file in two roles.
    let own = Some(Target::File(folder.join("index")));
    for error in [
        file(folder).build(&made, &good, own.as_ref(), &options, &none, &CANCEL).map(|_| ()),
        build(folder, &made, &[Input::File(folder.join("index"))]).map(|_| ()),
        file(folder)
            .query(
                &good,
                &LineOutputs { lines: Some(Target::File(folder.join("index"))), rejects: None },
                &Search::default(),
                &options,
                &none,
                &CANCEL,
            )
            .map(|_| ()),
    ] {
        assert!(matches!(error, Err(DedupError::SameFile { .. })), "{error:?}");
    }
    assert_eq!(fs::read(folder.join("index")).unwrap(), before);
    let left = fs::read_dir(folder).unwrap().count();
    assert_eq!(left, 4);
}

#[test]
fn a_search_that_the_method_cannot_do_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let inputs = write(folder, "in", records(&["今天多云转小雨".to_owned()], "a"));
    let ask = |search: Search| {
        let (options, outputs) = (ReadOptions::default(), LineOutputs::default());
        file(folder).query(&inputs, &outputs, &search, &options, &|_| {}, &CANCEL).unwrap_err()
    };
    build(folder, &LiveOptions::default(), &inputs).unwrap();
    let error = ask(Search { max_distance: Some(3), ..Search::default() });
    assert!(matches!(error, DedupError::Option { argument: "max_distance", .. }), "{error}");
    let error = ask(Search { limit: Some(0), ..Search::default() });
    assert!(matches!(error, DedupError::OutOfRange { argument: "limit", .. }), "{error}");
    let made = LiveOptions { verify: None, ..LiveOptions::default() };
    build(folder, &made, &inputs).unwrap();
    let error = ask(Search { min_similarity: Some(0.9), ..Search::default() });
    assert!(matches!(error, DedupError::Option { argument: "min_similarity", .. }), "{error}");
}
