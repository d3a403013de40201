//! The vectors of the specification come out of the program.
#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use common::{documents, documents_stream, rows_of, rows_stream, worker};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use simhash_sketch::minhash::band_keys;
use simhash_worker::Recipe;
use simhash_worker::blob::{Blob, entries, pack_texts, put, put_list};
use simhash_worker::rows::Row;
use std::collections::BTreeMap;

fn lines(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../__test__/specification/vectors/1");
    std::fs::read_to_string(format!("{folder}/{name}.jsonl")).unwrap()
}

fn vectors(name: &str) -> Vec<Value> {
    lines(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Signatures of the vectors, cut into bands, are the buckets that the program sends texts to.
#[test]
fn golden_signatures_lead_to_the_buckets_of_the_program() {
    let mut looked_at = 0;
    for vector in vectors("signature") {
        let signature: Vec<u32> = serde_json::from_value(vector["signature"].clone()).unwrap();
        let rows = 4;
        let bands = signature.len() / rows;
        if bands == 0 {
            continue;
        }
        looked_at += 1;
        let recipe = json!({ "bands": bands, "rows": rows }).to_string();
        let text = vector["text"].as_str().unwrap();
        let ended = worker("sketch", &recipe, 1, &documents_stream(&documents(&[text])));
        let (words, mut found) = (Recipe::new(&recipe).unwrap(), Vec::new());
        for row in rows_of(&ended.stdout, &recipe).iter().filter(|row| row.kind == "key") {
            entries(row.blob.as_ref().unwrap(), &words, |bucket, _| found.push(bucket)).unwrap();
        }
        let mut keys = Vec::new();
        band_keys(bands, rows, &signature, &mut keys);
        let mut expected: Vec<u64> = keys.iter().map(|key| key >> 21 << 21).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{text}");
    }
    assert!(looked_at >= 9, "{looked_at}");
}

/// Similarities of the vectors are those of the program's comparisons.
#[test]
fn golden_similarities_come_out_of_the_program() {
    let (mut looked_at, names) = (0, ["auto", "jaccard", "containment", "cosine"]);
    for name in names {
        let recipe = json!({ "verify": name, "minSimilarity": 1e-9 }).to_string();
        let words = Recipe::new(&recipe).unwrap();
        let (mut rows, mut expected) = (Vec::new(), Vec::new());
        for (pos, line) in (0i64..).step_by(2).zip(lines("similarity").lines()) {
            // By its digits: a `Value` may be off by the last bit.
            let exactly: BTreeMap<String, &RawValue> = serde_json::from_str(line).unwrap();
            let similarity: f64 = exactly[name].get().parse().unwrap();
            // Equal texts are one text to a run, and never compared.
            if similarity <= 0.0 || similarity >= 1.0 {
                continue;
            }
            let vector: Value = serde_json::from_str(line).unwrap();
            let text = |side: &str| vector[side].as_str().unwrap().to_owned();
            let both = [(pos.cast_unsigned(), text("a")), (pos.cast_unsigned() + 1, text("b"))];
            let blob = Some(pack_texts(&both, &words));
            rows.push(Row { kind: "text".into(), blob, ..Row::default() });
            let (mut list, mut blob) = (Vec::new(), words.digest().to_vec());
            put_list([&pos.to_be_bytes()[..]].into_iter(), &mut list);
            put(&(pos + 1).to_be_bytes(), &mut blob);
            put(&list, &mut blob);
            put(&[0], &mut blob);
            rows.push(Row { kind: "list".into(), blob: Some(blob), ..Row::default() });
            expected.push((pos + 1, similarity));
        }
        let ended = worker("verify", &recipe, 1, &rows_stream(&rows, &recipe));
        let mut found = Vec::new();
        for row in rows_of(&ended.stdout, &recipe).iter().filter(|row| row.kind == "link") {
            let mut blob = Blob::new(row.blob.as_ref().unwrap(), &words).unwrap();
            while !blob.is_empty() {
                let later = i64::from_be_bytes(blob.array().unwrap());
                let (_, _) = (blob.field().unwrap(), blob.field().unwrap());
                found.push((later, f64::from_le_bytes(blob.array().unwrap())));
            }
        }
        found.sort_unstable_by_key(|&(later, _)| later);
        assert_eq!(found, expected, "{name}");
        looked_at += found.len();
    }
    assert!(looked_at >= 30, "{looked_at}");
}
