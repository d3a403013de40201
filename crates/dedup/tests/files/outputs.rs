//! Files in, files out: bytes, counts, ids, clusters, marks, rejects.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{corpus, oracle_keyed, simhash};
use proptest::prelude::*;
use serde_json::{Value, json};
use simhash_dedup::{
    Cluster, DedupError, DedupOptions, Duplicates, Fields, FileOptions, Input, Keep, Key, Outputs,
    Progress, Summary, Target, dedup_files,
};
use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn run(inputs: &[Input], outputs: &Outputs, options: &FileOptions) -> Result<Summary, DedupError> {
    dedup_files(inputs, outputs, options, &|_| {}, &AtomicBool::new(false))
}

fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> Input {
    fs::write(folder.join(name), content).unwrap();
    Input::File(folder.join(name))
}

/// All three outputs under fixed names.
fn outputs(folder: &Path) -> Outputs {
    let target = |name: &str| Some(Target::File(folder.join(name)));
    Outputs {
        records: target("kept"),
        clusters: target("clusters"),
        rejects: target("rejects"),
        ..Outputs::default()
    }
}

fn json_lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const A: &str = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
const B: &str = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况。";
const C: &str = "第一季度营业收入同比增长百分之十二净利润同比增长百分之八";

/// Wide enough to find B from A.
fn wide() -> FileOptions {
    FileOptions { dedup: simhash(16), ..FileOptions::default() }
}

#[test]
fn kept_lines_are_the_input_bytes_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let input = format!(
        "\u{feff}{{ \"text\" : \"{A}\",\"n\":1.0}}\r\n\n  \n{{\"id\":7,\"text\":\"{B}\"}}\n  {{\"text\":\"{C}\",\"text\":\"{C}\"}}\t"
    );
    let summary =
        run(&[file(folder.path(), "in", &input)], &outputs(folder.path()), &wide()).unwrap();
    assert_eq!((summary.read, summary.kept, summary.duplicates), (3, 2, 1));
    assert_eq!(summary.bytes, input.len() as u64);
    let expected =
        format!("{{ \"text\" : \"{A}\",\"n\":1.0}}\r\n  {{\"text\":\"{C}\",\"text\":\"{C}\"}}\t\n");
    assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), expected);
    let clusters = json_lines(&folder.path().join("clusters"));
    assert_eq!(clusters.len(), 1);
    assert_eq!(clusters[0]["representative"], 1, "the line number stands in for the id");
    assert_eq!(clusters[0]["members"][0], serde_json::json!({ "id": 1 }));
    assert_eq!(clusters[0]["members"][1]["id"], 7);
    assert!(clusters[0]["members"][1]["similarity"].as_f64().unwrap() >= 0.8);
    assert!(clusters[0]["members"][1]["distance"].as_u64().unwrap() <= 16);
}

#[test]
fn marks_are_spliced_into_the_original_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let input =
        format!("{{\"id\":\"甲\",\"text\":\"{A}\"}}\n{{\"text\":\"{A}\", \"x\": {{}} }} \r\n");
    let outputs = Outputs { duplicates: Duplicates::Mark, ..outputs(folder.path()) };
    run(&[file(folder.path(), "in", &input)], &outputs, &wide()).unwrap();
    let expected = format!(
        "{{\"id\":\"甲\",\"text\":\"{A}\"}}\n{{\"text\":\"{A}\", \"x\": {{}} ,\"duplicateOf\":\"甲\",\"similarity\":1.0,\"distance\":0}} \r\n"
    );
    assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), expected);
}

#[test]
fn marks_of_an_earlier_run_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let input = format!(
        "{{\"id\":1,\"duplicateOf\":9,\"text\":\"{A}\"}}\n{{\"distance\":1,\"id\":2,\"similarity\":0.5,\"text\":\"{A}\"}}\n"
    );
    let expected = format!(
        "{{\"id\":1,\"text\":\"{A}\"}}\n{{\"id\":2,\"text\":\"{A}\",\"duplicateOf\":1,\"similarity\":1.0,\"distance\":0}}\n"
    );
    let outputs = Outputs { duplicates: Duplicates::Mark, ..outputs(folder.path()) };
    for cluster in [Cluster::Representative, Cluster::Components] {
        let mut options = wide();
        options.dedup.cluster = cluster;
        run(&[file(folder.path(), "in", &input)], &outputs, &options).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), expected);
    }
}

#[test]
fn rejected_records_name_file_line_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    let mut input = format!("{{\"text\":\"{A}\"}}\n\nnot json\n{{\"text\":5}}\n").into_bytes();
    input.extend(b"{\"text\":\"\xff\"}\n[]\n{\"text\":\"unfinished");
    let source = file(folder.path(), "in", &input);
    let name = source.name().display().to_string();
    let summary = run(&[source], &outputs(folder.path()), &wide()).unwrap();
    assert_eq!((summary.read, summary.kept, summary.rejected), (6, 1, 5));
    let written = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let as_they_come = (written("kept"), written("rejects"));
    let mut at_the_end = wide();
    at_the_end.dedup.cluster = Cluster::Components;
    let again = file(folder.path(), "in", &input);
    let late = run(&[again], &outputs(folder.path()), &at_the_end).unwrap();
    assert_eq!(Summary { seconds: 0.0, ..late }, Summary { seconds: 0.0, ..summary.clone() });
    assert_eq!((written("kept"), written("rejects")), as_they_come);
    let rejects = json_lines(&folder.path().join("rejects"));
    let lines: Vec<_> = rejects.iter().map(|reject| reject["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [3, 4, 5, 6, 7]);
    assert!(rejects.iter().all(|reject| reject["file"] == name.as_str()));
    assert_eq!(rejects[0]["raw"], "not json");
    assert_eq!(rejects[1]["reason"], "field text is a number, not a string");
    assert_eq!(rejects[2].get("raw"), None);
    assert_eq!(rejects[2]["rawBase64"], "eyJ0ZXh0Ijoi/yJ9");
    assert_eq!(summary.first_rejected.len(), 5);
    assert_eq!(summary.first_rejected[3].line, 6);
}

#[test]
fn a_stream_of_gzip_is_decompressed_like_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(format!("{{\"text\":\"{A}\"}}\n{{\"text\":\"{A}\"}}\n").as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let stream = Input::stream("-", std::io::Cursor::new(packed));
    let summary = run(&[stream], &outputs(folder.path()), &wide()).unwrap();
    assert_eq!((summary.read, summary.kept, summary.duplicates), (2, 1, 1));
    for short in [&b""[..], b"\n", b"{"] {
        let good = Input::stream("good", std::io::Cursor::new(format!("{{\"text\":\"{A}\"}}\n")));
        let stream = Input::stream("-", std::io::Cursor::new(short.to_vec()));
        let summary = run(&[good, stream], &Outputs::default(), &wide()).unwrap();
        assert_eq!(summary.read, summary.rejected + 1, "{short:?}");
    }
}

#[test]
fn several_inputs_gzip_and_streams_are_one_sequence() {
    let folder = tempfile::tempdir().unwrap();
    let record = |text: &str| format!("{{\"text\":\"{text}\"}}\n");
    let mut members = Vec::new();
    for text in [A, C] {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(record(text).as_bytes()).unwrap();
        members.extend(encoder.finish().unwrap());
    }
    let gzip = file(folder.path(), "in.gz", &members);
    let stream = Input::stream("-", std::io::Cursor::new(record(B).into_bytes()));
    let plain = file(folder.path(), "plain", record(&format!("{C}。")));
    let first = format!("{}:1", gzip.name().display());
    let summary = run(&[gzip, stream, plain], &outputs(folder.path()), &wide()).unwrap();
    assert_eq!((summary.read, summary.kept, summary.clusters), (4, 2, 2));
    let clusters = json_lines(&folder.path().join("clusters"));
    assert_eq!(clusters[0]["representative"], first.as_str());
    assert_eq!(clusters[0]["members"][1]["id"], "-:1");
    assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), record(A) + &record(C));
}

#[test]
fn fields_are_found_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        |id: &str| format!("{{\"doc\":{{\"body\":\"{A}\",\"_id\":{{\"$oid\":\"{id}\"}}}}}}\n");
    let input = file(folder.path(), "in", line("5f") + &line("60"));
    let fields = Fields::new("doc.body", "doc._id.$oid").unwrap();
    run(&[input], &outputs(folder.path()), &FileOptions { fields, ..wide() }).unwrap();
    let clusters = json_lines(&folder.path().join("clusters"));
    assert_eq!(clusters[0]["representative"], "5f");
    assert_eq!(clusters[0]["members"][1]["id"], "60");
}

#[test]
fn dry_run_counts_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "in", format!("{{\"text\":\"{A}\"}}\n").repeat(3));
    let options = FileOptions { dry_run: true, ..wide() };
    let summary = run(&[input], &outputs(folder.path()), &options).unwrap();
    assert_eq!((summary.kept, summary.duplicates), (1, 2));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn progress_ends_with_everything_read() {
    let folder = tempfile::tempdir().unwrap();
    let content = format!("{{\"text\":\"{A}\"}}\n").repeat(40_000);
    let input = file(folder.path(), "in", &content);
    let seen = RefCell::new(Vec::<Progress>::new());
    let report = |progress: &Progress| seen.borrow_mut().push(progress.clone());
    let outputs = outputs(folder.path());
    let cancel = AtomicBool::new(false);
    dedup_files(&[input], &outputs, &wide(), &report, &cancel).unwrap();
    let seen = seen.into_inner();
    let last = seen.last().unwrap();
    let size = content.len() as u64;
    assert_eq!((last.documents, last.duplicates), (40_000, 39_999));
    assert_eq!((last.bytes, last.total_bytes), (size, Some(size)));
    assert!(seen.is_sorted_by_key(|progress| progress.documents));
    // One line for the cluster, one entry per member.
    let clusters = json_lines(&folder.path().join("clusters"));
    assert_eq!(clusters.len(), 1);
    assert_eq!(clusters[0]["members"].as_array().unwrap().len(), 40_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// The files door and the naive rule agree, and nothing is lost or rewritten.
    #[test]
    fn files_say_what_the_rule_says(
        texts in corpus(0..80),
        distance in 0u32..=16,
        cluster in prop_oneof![Just(Cluster::Representative), Just(Cluster::Components)],
        keep in prop_oneof![
            3 => Just(Keep::First),
            1 => Just(Keep::Last),
            1 => Just(Keep::Longest),
            2 => any::<bool>().prop_map(|largest| Keep::Field { path: "a.by".into(), largest }),
        ],
        limit in prop_oneof![Just(2usize), Just(1_000)],
        mode in 0..3,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let by = |row: usize| row * 7 % 5;
        let lines: Vec<String> = (0..)
            .zip(&texts)
            .map(|(row, text)| format!("{}\n", json!({ "text": text, "a": { "by": by(row) } })))
            .collect();
        let content = lines.concat();
        let input = match mode {
            0 => file(folder.path(), "in", &content),
            1 => Input::stream("-", std::io::Cursor::new(content.into_bytes())),
            _ => {
                let mut encoder =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(content.as_bytes()).unwrap();
                file(folder.path(), "in", encoder.finish().unwrap())
            }
        };
        let dedup = DedupOptions { cluster, keep, max_verifications: limit, ..simhash(distance) };
        let options = FileOptions { dedup, ..FileOptions::default() };
        let summary = run(&[input], &outputs(folder.path()), &options).unwrap();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let keys: Vec<Key> = (0..texts.len()).map(|row| Key::Number(by(row) as f64)).collect();
        let (expected, truncated) = oracle_keyed(&texts, &keys, &options.dedup);
        let kept: String = lines
            .iter()
            .zip(&expected)
            .filter(|(_, decision)| decision.duplicate_of.is_none())
            .map(|(line, _)| line.as_str())
            .collect();
        prop_assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), kept);
        prop_assert_eq!(summary.truncated, truncated);
        prop_assert_eq!(summary.read, summary.kept + summary.duplicates + summary.rejected);
        let mut members = Vec::new();
        for cluster in json_lines(&folder.path().join("clusters")) {
            for member in &cluster["members"].as_array().unwrap()[1..] {
                let number = |value: &Value| value.as_u64().unwrap() - 1;
                members.push((
                    number(&member["id"]),
                    number(&cluster["representative"]),
                    member["similarity"].to_string(),
                    member["distance"].as_u64().map(|distance| distance as u32),
                ));
            }
        }
        members.sort_by_key(|member| member.0);
        let expected: Vec<_> = expected
            .iter()
            .filter_map(|d| {
                // The parser of this test drops the last bit of some numbers; compared as it reads them.
                let similarity: Value = serde_json::from_str(&format!("{:?}", d.similarity?)).unwrap();
                Some((d.index, d.duplicate_of?, similarity.to_string(), d.distance))
            })
            .collect();
        prop_assert_eq!(members, expected);
    }

    /// Whatever the bytes: no panic, every line that is not blank is accounted for, and what is kept are
    /// lines of the input in order.
    #[test]
    fn arbitrary_bytes_are_accounted_for(
        bytes in proptest::collection::vec(
            prop_oneof![
                6 => any::<u8>().prop_map(|byte| vec![byte]),
                4 => Just(b"\n".to_vec()),
                6 => "[a-e一-丑]{0,6}".prop_map(|text| format!("{{\"text\":\"{text}\"}}\n").into_bytes()),
                1 => Just(b"\xef\xbb\xbf".to_vec()),
            ],
            0..60,
        ),
    ) {
        let folder = tempfile::tempdir().unwrap();
        // Not a gzip file or UTF-16 by accident, and not rejected whole.
        let bytes = [b"\n{\"text\":\"\"}\n".to_vec(), bytes.concat()].concat();
        let source = file(folder.path(), "in", &bytes);
        let summary = run(&[source], &outputs(folder.path()), &wide()).unwrap();
        let blank = |line: &&[u8]| line.iter().all(|byte| b" \t\r".contains(byte));
        let lines: Vec<&[u8]> =
            bytes.split(|&byte| byte == b'\n').filter(|line| !blank(line)).collect();
        prop_assert_eq!(summary.read, lines.len() as u64);
        prop_assert_eq!(summary.read, summary.kept + summary.duplicates + summary.rejected);
        prop_assert_eq!(json_lines(&folder.path().join("rejects")).len() as u64, summary.rejected);
        let kept = fs::read(folder.path().join("kept")).unwrap();
        let mut rest = lines.iter();
        let kept_lines = kept.split_inclusive(|&byte| byte == b'\n');
        for line in kept_lines {
            let line = line.strip_suffix(b"\n").unwrap();
            prop_assert!(rest.any(|input| *input == line));
        }
    }
}
