//! Signatures are written down in indexes: no release may change them.

#![allow(clippy::unwrap_used)] // helpers of tests

use simhash_sketch::minhash::{MinHashOptions, MinHasher, Scheme, Value};
use std::fmt::{LowerHex, Write};

/// Features that are plain numbers, hashes of nothing.
fn features(count: u64) -> Vec<u64> {
    (0..count).map(|number| number * 0x0101_0101).collect()
}

fn line<V: Value + LowerHex>(scheme: Scheme, hashes: usize, seed: u64, count: u64) -> String {
    let hasher = MinHasher::new(&MinHashOptions { scheme, hashes, seed }).unwrap();
    let mut signature = Vec::<V>::new();
    hasher.signature(&features(count), &mut signature);
    let digits = size_of::<V>() * 2;
    let mut line =
        format!("{}\t{hashes}\t{seed}\t{}\t{count}\t", scheme.name(), 8 * size_of::<V>());
    for value in signature {
        write!(line, "{value:0digits$x}").unwrap();
    }
    line
}

#[test]
fn signatures_are_frozen() {
    let mut lines = String::new();
    for scheme in Scheme::ALL {
        for (hashes, seed) in [(4, 0), (19, u64::MAX), (128, 0)] {
            for count in [0, 1, 7, 1000] {
                // Long signatures of few features show the borrowing, those of many features the bins.
                if hashes < 128 || count == 7 {
                    writeln!(lines, "{}", line::<u32>(scheme, hashes, seed, count)).unwrap();
                    writeln!(lines, "{}", line::<u64>(scheme, hashes, seed, count)).unwrap();
                }
            }
        }
    }
    let golden = include_str!("golden/minhash.tsv");
    assert_eq!(lines.lines().count(), golden.lines().count());
    for (line, golden) in lines.lines().zip(golden.lines()) {
        assert_eq!(line, golden);
    }
}
