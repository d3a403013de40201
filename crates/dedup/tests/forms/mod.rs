//! A corpus, and files of it in many forms.
#![allow(dead_code, clippy::unwrap_used, reason = "helpers of tests, each of which uses some")]

use serde_json::{Value, json};
use simhash_dedup::{
    DedupError, Encoding, FileOptions, Form, Input, Outputs, Summary, Target, dedup_files,
};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A document of the sample.
pub(crate) struct Doc {
    pub(crate) id: String,
    pub(crate) text: String,
}

pub(crate) fn run(
    inputs: &[Input],
    outputs: &Outputs,
    options: &FileOptions,
) -> Result<Summary, DedupError> {
    dedup_files(inputs, outputs, options, &|_| {}, &AtomicBool::new(false))
}

pub(crate) fn to(path: PathBuf) -> Outputs {
    Outputs { records: Some(Target::File(path)), ..Outputs::default() }
}

/// News with near-duplicates, quotes, commas and newlines.
pub(crate) fn sample() -> Vec<Doc> {
    let words =
        ["城市", "交通", "建设", "发布会", "营业收入", "增长", "记者", "获悉", "最新", "进展"];
    let sentence = |seed: usize| -> String {
        let word = |n: usize| words[(seed * 7 + n * n + seed * n) % words.len()];
        let part = |n| [word(n), if n % 5 == 4 { "，" } else { "" }];
        (0..14).flat_map(part).collect()
    };
    (0..60)
        .map(|n| {
            let about = sentence(n / 3);
            let tail = if n % 3 == 1 { "。" } else { "" };
            let text =
                format!("{about}\"引用{}\", 第{}条\n{}{tail}", n / 3, n / 3, sentence(n / 3 + 100));
            Doc { id: format!("d{n:03}"), text }
        })
        .collect()
}

pub(crate) fn encoding(name: &str) -> Encoding {
    Encoding::named(name).unwrap()
}

pub(crate) fn json_lines(docs: &[Doc]) -> String {
    let line = |doc: &Doc| json!({ "id": doc.id, "text": doc.text }).to_string();
    docs.iter().flat_map(|doc| [line(doc), "\n".into()]).collect()
}

pub(crate) fn array(docs: &[Doc]) -> String {
    let all: Vec<Value> =
        docs.iter().map(|doc| json!({ "id": doc.id, "text": doc.text })).collect();
    serde_json::to_string_pretty(&all).unwrap()
}

pub(crate) fn rows(docs: &[Doc], delimiter: char) -> String {
    let row = |a: &str, b: &str| format!("{a}{delimiter}\"{}\"\r\n", b.replace('"', "\"\""));
    docs.iter().fold(format!("id{delimiter}text\r\n"), |all, doc| all + &row(&doc.id, &doc.text))
}

pub(crate) fn packed(bytes: &[u8], ending: &str) -> Vec<u8> {
    match ending {
        "gz" => {
            let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            to.write_all(bytes).unwrap();
            to.finish().unwrap()
        }
        "zst" => zstd::encode_all(bytes, 3).unwrap(),
        "bz2" => {
            let mut to = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            to.write_all(bytes).unwrap();
            to.finish().unwrap()
        }
        "xz" => {
            let options = lzma_rust2::XzOptions::with_preset(0);
            let mut to = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
            to.write_all(bytes).unwrap();
            to.finish().unwrap()
        }
        _ => bytes.to_vec(),
    }
}

/// What an output of this ending has in it.
pub(crate) fn unpacked(bytes: &[u8], ending: &str) -> Vec<u8> {
    match ending {
        "gz" => {
            let mut all = Vec::new();
            flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut all).unwrap();
            all
        }
        "zst" => zstd::decode_all(bytes).unwrap(),
        _ => bytes.to_vec(),
    }
}

/// The ids of what is kept, in order.
pub(crate) fn kept(input: &Path, form: Form) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("clusters");
    let outputs = Outputs { clusters: Some(Target::File(out.clone())), ..Outputs::default() };
    let options = FileOptions { form, ..FileOptions::default() };
    let summary = run(&[Input::File(input.to_owned())], &outputs, &options).unwrap();
    assert_eq!((summary.read, summary.rejected), (60, 0), "{}", input.display());
    assert!(summary.duplicates >= 20, "{summary:?}");
    let clusters = fs::read_to_string(out).unwrap();
    let name = |id: &Value| {
        id.as_str().unwrap().rsplit(['/', '.']).find(|part| *part != "txt").unwrap().to_owned()
    };
    clusters
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|cluster| {
            let members = cluster["members"].as_array().unwrap();
            members.iter().map(|member| name(&member["id"])).collect::<Vec<_>>().join(" ")
        })
        .collect()
}
