//! The golden vectors of docs/specification.md that no other language reaches: keys of bands, and default plans.
//!
//! `SIMHASH_WRITE_VECTORS=1 cargo test -p simhash-index --test specification` writes them.

#![allow(clippy::unwrap_used)] // helpers of tests

use serde_json::{Value, json};
use simhash_index::bands::{BandPlan, band_keys};
use std::path::PathBuf;

/// The plan of `dedup` finds a pair at the threshold with this probability, within so many positions.
const RECALL: (f64, usize) = (0.9999, 128);

/// Holds `lines` against the file, or writes it.
fn agree(name: &str, lines: &[Value]) {
    let folder = "../../__test__/specification/vectors/1";
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    if std::env::var_os("SIMHASH_WRITE_VECTORS").is_some() {
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(golden.lines().count(), lines.len(), "{name}");
    for (line, golden) in lines.iter().zip(golden.lines()) {
        assert_eq!(line, golden, "{name}");
    }
}

#[test]
fn keys_of_bands_are_those_of_the_vectors() {
    let mut lines = Vec::new();
    // The rows cross every length at which XXH3 changes its way: 4, 8, 16, 128, 240 and 1,024 bytes.
    for (bands, rows) in
        [(1, 1), (3, 2), (2, 4), (24, 5), (2, 32), (2, 33), (3, 60), (2, 61), (3, 280)]
    {
        let position = |at: usize| (at as u32 + 1).wrapping_mul(0x9e37_79b1);
        let signature: Vec<u32> = (0..bands * rows).map(position).collect();
        let mut keys = Vec::new();
        band_keys(BandPlan { bands, rows }, &signature, &mut keys);
        let keys: Vec<String> = keys.iter().map(|key| format!("{key:016x}")).collect();
        lines.push(json!({ "bands": bands, "rows": rows, "signature": signature, "keys": keys }));
    }
    agree("band-keys.jsonl", &lines);
}

#[test]
fn default_plans_are_those_of_the_vectors() {
    let lines: Vec<Value> = (10..=100)
        .step_by(5)
        .map(|percent| f64::from(percent) / 100.0)
        .chain([0.8_f64.next_up(), 0.8_f64.next_down(), 1.0 / 3.0])
        .map(|threshold| {
            let BandPlan { bands, rows } =
                BandPlan::for_recall(threshold, RECALL.0, RECALL.1).unwrap();
            json!({ "threshold": threshold, "bands": bands, "rows": rows })
        })
        .collect();
    agree("plan.jsonl", &lines);
}
