//! Every format of text in every encoding and compression, in and out: what is kept is what was there, byte for byte, of arrays value for
//! value. Folders: `folders`; Parquet and Arrow: `columnar`; outputs in another encoding: `formats`.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::forms::{Doc, array, encoding, json_lines, packed, rows, run, sample, to, unpacked};
use serde_json::Value;
use simhash_dedup::{FileOptions, Form, Input};
use std::fs;

const FORMATS: [&str; 5] = ["a.jsonl", "a.json", "a.csv", "a.tsv", "a.txt"];

/// Encodings and whether a mark comes first.
const ENCODINGS: [(&str, bool); 9] = [
    ("utf-8", false),
    ("utf-8", true),
    ("gb18030", false),
    ("gb18030", true),
    ("big5", false),
    ("utf-16le", false),
    ("utf-16le", true),
    ("utf-16be", false),
    ("utf-16be", true),
];

fn written(name: &str, docs: &[&Doc]) -> String {
    let docs: Vec<Doc> =
        docs.iter().map(|doc| Doc { id: doc.id.clone(), text: doc.text.clone() }).collect();
    match name {
        "a.jsonl" => json_lines(&docs),
        "a.json" => array(&docs),
        "a.csv" => rows(&docs, ','),
        "a.tsv" => rows(&docs, '\t'),
        _ => docs.iter().map(|doc| doc.text.replace('\n', " ") + "\n").collect(),
    }
}

/// The same words in traditional characters, which Big5 has.
fn traditional() -> Vec<Doc> {
    let pairs = ["设設", "发發", "会會", "营營", "业業", "长長", "记記", "获獲", "进進", "条條"];
    let change = |text: &str| {
        let turn = |c: char| {
            let pair = pairs.iter().find(|pair| pair.starts_with(c));
            pair.map_or(c, |pair| pair.chars().nth(1).unwrap())
        };
        text.chars().map(turn).collect()
    };
    sample().into_iter().map(|Doc { id, text }| Doc { id, text: change(&text) }).collect()
}

#[test]
fn what_is_kept_of_every_form_is_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, ending: &str| {
        folder.path().join(format!("{name}.{ending}").trim_end_matches('.'))
    };
    let mut runs = 0;
    for name in FORMATS {
        for (which, marked) in ENCODINGS {
            let docs = if which == "big5" { traditional() } else { sample() };
            let all: Vec<&Doc> = docs.iter().collect();
            let first: Vec<&Doc> = docs.iter().step_by(3).collect();
            let encoded = |text: &str| encoding(which).encode(text).unwrap();
            let mark = if marked { encoded("\u{feff}") } else { Vec::new() };
            let bytes = [mark.clone(), encoded(&written(name, &all))].concat();
            for ending in ["", "gz", "zst", "bz2", "xz"] {
                let from = path(name, ending);
                fs::write(&from, packed(&bytes, ending)).unwrap();
                for named in [false, true] {
                    let form = Form { encoding: named.then(|| encoding(which)), ..Form::default() };
                    for out in ["", "gz", "zst"] {
                        let told =
                            format!("{name}.{ending} in {which} {marked} {named} to {out:?}");
                        let target = path(&format!("out-{name}"), out);
                        let outputs = to(target.clone());
                        let options = FileOptions { form: form.clone(), ..FileOptions::default() };
                        let summary =
                            run(&[Input::File(from.clone())], &outputs, &options).unwrap();
                        let figures = (summary.read, summary.kept, summary.rejected);
                        assert_eq!(figures, (60, 20, 0), "{told}");
                        let mut left = unpacked(&fs::read(&target).unwrap(), out);
                        if name == "a.json" {
                            // Between its elements an array has what is written here.
                            let by = encoding_rs::Encoding::for_label(which.as_bytes()).unwrap();
                            let (left, _, wrong) = by.decode(&left);
                            let left: Value = serde_json::from_str(&left).unwrap();
                            let expected = written(name, &first);
                            let expected: Value = serde_json::from_str(&expected).unwrap();
                            assert!(!wrong && left == expected, "{told}");
                        } else {
                            let expected = encoded(&written(name, &first));
                            // UTF-16 begins with a mark, and so does a table that came with one.
                            let is_table = name.ends_with("sv");
                            if which.starts_with("utf-16") || marked && is_table {
                                let mark = encoded("\u{feff}");
                                assert!(left.starts_with(&mark), "{told}");
                                left.drain(..mark.len());
                            }
                            assert!(left == expected, "{told}");
                        }
                        runs += 1;
                    }
                }
                fs::remove_file(from).unwrap();
            }
        }
    }
    assert_eq!(runs, FORMATS.len() * ENCODINGS.len() * 5 * 2 * 3);
}
