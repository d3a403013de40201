//! The program that `npm run bench` calls: what it is asked for by name. Its measurements run, tiny, by `npm run bench -- smoke`.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::{Command, Output};

fn bench(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_simhash-bench")).args(words).output().unwrap()
}

#[test]
fn an_unknown_bench_is_refused_and_the_known_ones_are_named() {
    for words in [&[][..], &["nonsense"]] {
        let output = bench(words);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("unknown bench") && said.contains("scan, search"), "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_size_that_is_none_is_refused() {
    for words in [&["scan", "--size", "many"][..], &["scan", "--size"], &["scan", "--sizes", "1"]] {
        let output = bench(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(!output.stderr.is_empty() && output.stdout.is_empty());
    }
}
