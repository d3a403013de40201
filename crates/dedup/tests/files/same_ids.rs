//! Documents that have the id of an earlier one are counted, and the first of them named, where outputs name documents.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use proptest::prelude::*;
use serde_json::json;
use simhash_dedup::{
    Duplicates, FileOptions, Input, LineOutputs, MatchOptions, Outputs, SameId, SameIds, Target,
    decontaminate_files, dedup_files, match_files, pairs_files,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn outputs(folder: &Path, way: usize) -> Outputs {
    let target = |name: &str| Some(Target::File(folder.join(name)));
    match way {
        0 => Outputs { clusters: target("clusters"), ..Outputs::default() },
        1 => Outputs {
            records: target("marked"),
            duplicates: Duplicates::Mark,
            ..Outputs::default()
        },
        _ => Outputs { records: target("records"), ..Outputs::default() },
    }
}

fn run(inputs: &[Input], outputs: &Outputs, options: &FileOptions) -> SameIds {
    dedup_files(inputs, outputs, options, &|_| {}, &AtomicBool::new(false)).unwrap().same_ids
}

/// A line, of which some have no id.
fn line(id: Option<u32>) -> String {
    let text = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    match id {
        None => json!({ "text": text }),
        // A number and a string are two.
        Some(id) if id % 2 == 0 => json!({ "id": id, "text": format!("{text}{id}") }),
        Some(id) => json!({ "id": (id - 1).to_string(), "text": text }),
    }
    .to_string()
        + "\n"
}

/// What is said of the ids of these lines, of files of these names.
fn expected(folder: &Path, parts: &[(&str, &[Option<u32>])]) -> SameIds {
    let mut expected = SameIds::default();
    let mut seen = BTreeMap::new();
    for (name, part) in parts {
        for (row, id) in part.iter().enumerate() {
            let Some(id) = id else { continue };
            let file = folder.join(name).display().to_string();
            let place = (file.clone(), row as u64 + 1);
            let Some((first_file, first_line)) = seen.get(id).cloned() else {
                seen.insert(*id, place);
                continue;
            };
            expected.documents += 1;
            if expected.first.len() < 10 {
                expected.first.push(SameId { file, line: place.1, first_file, first_line });
            }
        }
    }
    expected
}

/// The lines of files, as streams.
fn streams(folder: &Path) -> [Input; 2] {
    ["a", "b"].map(|name| {
        let name = folder.join(name);
        let bytes = fs::read(&name).unwrap();
        Input::stream(name.display().to_string(), std::io::Cursor::new(bytes))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn each_is_counted_and_the_first_ten_are_named(
        ids in proptest::collection::vec(proptest::option::of(0..40u32), 1..120),
        split in 0..120usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (a, b) = ids.split_at(split.min(ids.len()));
        for (name, part) in [("a", a), ("b", b)] {
            let lines: String = part.iter().copied().map(line).collect();
            fs::write(folder.join(name), lines).unwrap();
        }
        let expected_of = |parts: &[(&str, &[Option<u32>])]| expected(folder, parts);
        let expected = expected_of(&[("a", a), ("b", b)]);
        let inputs = ["a", "b"].map(|name| Input::File(folder.join(name)));
        for threads in [1, 3] {
            let mut options = FileOptions::default();
            options.dedup.threads = threads;
            for way in 0..2 {
                prop_assert_eq!(&run(&inputs, &outputs(folder, way), &options), &expected);
            }
            prop_assert_eq!(run(&inputs, &outputs(folder, 2), &options), SameIds::default());
        }
        // The same of streams, which are decided as they come.
        for way in 0..2 {
            let found = run(&streams(folder), &outputs(folder, way), &FileOptions::default());
            prop_assert_eq!(&found, &expected);
        }
        // Pairs name both of their documents; of matches ids of one side have nothing to do with those of the other.
        let lines = LineOutputs { lines: Some(Target::File(folder.join("lines"))), rejects: None };
        let (files, never) = (FileOptions::default(), AtomicBool::new(false));
        let (of_a, of_b) = (expected_of(&[("a", a)]), expected_of(&[("b", b)]));
        let first = of_a.first.iter().chain(&of_b.first).take(10).cloned().collect();
        let apart = SameIds { documents: of_a.documents + of_b.documents, first };
        let matching = MatchOptions { files: files.clone(), limit: None };
        for inputs in [&inputs, &streams(folder)] {
            let found = pairs_files(inputs, &lines, &files, &|_| {}, &never).unwrap();
            prop_assert_eq!(&found.same_ids, &expected);
        }
        if a.is_empty() || b.is_empty() {
            return Ok(());
        }
        for [old, new] in [inputs.clone(), streams(folder)] {
            let found = match_files(&[new], &[old], &lines, &matching, &|_| {}, &never).unwrap();
            prop_assert_eq!(&found.same_ids, &apart);
        }
        for (way, named) in [(1, &apart), (2, &SameIds::default())] {
            let ([old, new], outputs) = (inputs.clone(), outputs(folder, way));
            let found = decontaminate_files(&[new], &[old], &outputs, &files, &|_| {}, &never);
            prop_assert_eq!(&found.unwrap().same_ids, named);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_is_bounded_finds_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines: String = (0..5_000).map(|row| line(Some(row % 4_000))).collect();
    fs::write(folder.join("in"), lines).unwrap();
    let inputs = [Input::File(folder.join("in"))];
    let options = |memory| FileOptions { memory, ..FileOptions::default() };
    let whole = run(&inputs, &outputs(folder, 0), &options(None));
    assert_eq!((whole.documents, whole.first.len()), (1_000, 10));
    assert_eq!(whole.first[0].first_line, 1);
    assert_eq!(whole.first[0].line, 4_001);
    // More than any test process holds: no bound of it, but in files.
    let most = Some(64 << 30);
    assert_eq!(run(&inputs, &outputs(folder, 0), &options(most)), whole);
}
