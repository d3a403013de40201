//! One corpus in nine forms keeps the same documents in each: the sample of the repository, and 2,934 news from `../shared/data`,
//! where they are there.
#![cfg(feature = "columnar")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_wrap,
    reason = "helpers of tests"
)]

use crate::tables::{self, Doc, Texts, Written};
use serde_json::{Value, json};
use simhash_dedup::{Encoding, FileOptions, Form, Input, Outputs, Target, dedup_files};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The texts of JSON lines, each on one line, so that lines of text can hold them.
fn texts(lines: &str) -> Vec<String> {
    let text = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["text"].as_str().unwrap().split(['\n', '\r']).collect::<Vec<_>>().join(" ")
    };
    lines.lines().map(text).collect()
}

/// Places of the documents that are kept, by what they are called, a number in the line or in the name of a file; that of the first is `first`.
fn kept(input: &Path, form: Form, first: usize, count: usize) -> Vec<usize> {
    let folder = tempfile::tempdir().unwrap();
    let clusters = folder.path().join("clusters");
    let outputs = Outputs { clusters: Some(Target::File(clusters.clone())), ..Outputs::default() };
    let options = FileOptions { form, ..FileOptions::default() };
    let inputs = [Input::File(input.to_owned())];
    let summary =
        dedup_files(&inputs, &outputs, &options, &|_| {}, &AtomicBool::new(false)).unwrap();
    assert_eq!((summary.read, summary.rejected), (count as u64, 0), "{}", input.display());
    let mut is_kept = vec![true; count];
    for line in fs::read_to_string(clusters).unwrap().lines() {
        let cluster: Value = serde_json::from_str(line).unwrap();
        for member in &cluster["members"].as_array().unwrap()[1..] {
            let id = member["id"].to_string();
            let name = id.rsplit('/').next().unwrap();
            let digits: String = name.chars().filter(char::is_ascii_digit).collect();
            is_kept[digits.parse::<usize>().unwrap() - first] = false;
        }
    }
    assert_eq!(summary.kept, is_kept.iter().filter(|&&kept| kept).count() as u64);
    (0..count).filter(|&place| is_kept[place]).collect()
}

fn same_in_nine_forms(texts: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let encoded = |name: &str, text: &str| Encoding::named(name).unwrap().encode(text).unwrap();
    let docs = || texts.iter().enumerate();
    let lines: String =
        docs().map(|(id, text)| json!({ "id": id, "text": text }).to_string() + "\n").collect();
    let all: Vec<Value> = docs().map(|(id, text)| json!({ "id": id, "text": text })).collect();
    let rows = |between: char| -> String {
        let row = |(id, text): (usize, &String)| {
            format!("{id}{between}\"{}\"\r\n", text.replace('"', "\"\""))
        };
        format!("id{between}text\r\n") + &docs().map(row).collect::<String>()
    };
    let plain: String = texts.iter().flat_map(|text| [text.as_str(), "\n"]).collect();
    let columns: Vec<Doc<'_>> = docs().map(|(id, text)| (id as i64, Some(text.as_str()))).collect();

    fs::write(path("a.jsonl"), &lines).unwrap();
    let expected = kept(&path("a.jsonl"), Form::default(), 0, texts.len());
    assert!(expected.len() < texts.len(), "there are duplicates");
    fs::write(path("a.json"), json!(all).to_string()).unwrap();
    fs::write(path("a.csv"), encoded("gb18030", &rows(','))).unwrap();
    fs::write(path("a.tsv"), rows('\t')).unwrap();
    fs::write(path("a.txt"), encoded("utf-16le", &plain)).unwrap();
    let mut packer = simhash_corpus::Packer::of(Path::new("a.zst")).unwrap().unwrap();
    packer.write(lines.as_bytes()).unwrap();
    fs::write(path("a.jsonl.zst"), packer.finish().unwrap()).unwrap();
    tables::parquet(&path("a.parquet"), &columns, Written::default());
    tables::arrow(&path("a.arrow"), &[tables::batch(&columns, Texts::Utf8)], false, None);
    let below = path("texts");
    fs::create_dir(&below).unwrap();
    for (id, text) in docs() {
        fs::write(below.join(format!("{id:06}.txt")), encoded("gbk", text)).unwrap();
    }
    for name in ["a.json", "a.csv", "a.tsv", "a.jsonl.zst", "a.arrow"] {
        assert_eq!(kept(&path(name), Form::default(), 0, texts.len()), expected, "{name}");
    }
    // Lines have no ids but their numbers, from 1.
    assert_eq!(kept(&path("a.txt"), Form::default(), 1, texts.len()), expected, "lines");
    let named = Form { encoding: Encoding::named("gbk"), ..Form::default() };
    assert_eq!(kept(&below, named, 0, texts.len()), expected, "a folder");
    // Its text is in the column name.
    let outputs =
        Outputs { records: Some(Target::File(path("out.parquet"))), ..Outputs::default() };
    let options = FileOptions {
        fields: simhash_dedup::Fields::new("name", "id").unwrap(),
        ..FileOptions::default()
    };
    let inputs = [Input::File(path("a.parquet"))];
    dedup_files(&inputs, &outputs, &options, &|_| {}, &AtomicBool::new(false)).unwrap();
    let rows = tables::parquet_says(&path("out.parquet")).3;
    let ids: Vec<usize> = rows
        .iter()
        .map(|row| {
            let rest = row.strip_prefix("{id: ").unwrap();
            rest[..rest.find(',').unwrap()].parse().unwrap()
        })
        .collect();
    assert_eq!(ids, expected, "Parquet");
}

#[test]
fn the_sample_keeps_the_same_documents_in_nine_forms() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sample.jsonl");
    same_in_nine_forms(&texts(&fs::read_to_string(sample).unwrap()));
}

#[test]
fn the_news_keep_the_same_documents_in_nine_forms() {
    let news = "../../../shared/data/zh-news-eventmonitor/docs.jsonl.gz";
    let news: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(news);
    let Ok(file) = File::open(&news) else {
        println!("skipped: {} is absent", news.display());
        return;
    };
    let mut lines = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut lines).unwrap();
    let texts = texts(&lines);
    assert_eq!(texts.len(), 2934);
    same_in_nine_forms(&texts);
}
