//! Any input gives a sketch, and always the same one: whatever scratch held before, in any thread, at every SIMD level.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use simhash_sketch::simd::Level;
use simhash_sketch::{
    ExtractorOptions, Fingerprinter, FingerprinterOptions, Normalizer, Scratch, Sketch, Unit,
    Weighting,
};
use simhash_text::intake;
use std::process::Command;

/// One fingerprinter of every kind.
fn all() -> Vec<Fingerprinter> {
    let mut all = vec![
        Fingerprinter::preset("auto").unwrap(),
        Fingerprinter::preset("chars").unwrap(),
        Fingerprinter::preset("jieba-tfidf").unwrap(),
    ];
    for unit in [Unit::Chars, Unit::Words, Unit::Jieba, Unit::Tokens] {
        for weighting in [Weighting::Count, Weighting::Binary] {
            let extract = ExtractorOptions {
                unit,
                weighting: Some(weighting),
                ngram: Some(3),
                ..ExtractorOptions::default()
            };
            let options = FingerprinterOptions {
                normalize: Normalizer::default(),
                extract,
                min_features: Some(1),
            };
            all.push(Fingerprinter::new(&options).unwrap());
        }
    }
    all
}

fn sketches(texts: &[String]) -> Vec<Sketch> {
    let mut scratch = Scratch::default();
    all()
        .iter()
        .flat_map(|f| texts.iter().map(|text| f.sketch(text, &mut scratch)).collect::<Vec<_>>())
        .collect()
}

/// UTF-16 in which surrogates, ideographs, spaces and letters are frequent.
fn units() -> impl Strategy<Value = Vec<u16>> {
    let unit = prop_oneof![
        any::<u16>(),
        0x4E00..0x9FFF_u16,
        0xD800..0xE000_u16,
        0x20..0x7F_u16,
        0xFF00..0xFFFF_u16
    ];
    prop::collection::vec(unit, 0..80)
}

#[test]
fn threads_do_not_matter() {
    let texts: Vec<String> = include_str!("golden/chars.tsv").lines().map(str::to_owned).collect();
    let alone = sketches(&texts);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| sketches(&texts))).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}

/// The level is fixed once per process, so every level gets a process of its own: this test again, with the variable set.
#[test]
fn levels_do_not_matter() {
    const CHILD: &str = "SIMHASH_TEST_DIGEST";
    let texts: Vec<String> = include_str!("golden/chars.tsv").lines().map(str::to_owned).collect();
    let digest = format!("{:?}", sketches(&texts));
    if let Ok(expected) = std::env::var(CHILD) {
        assert_eq!(digest, expected);
        return;
    }
    for level in Level::available() {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "levels_do_not_matter"])
            .env("SIMHASH_SIMD", level.name())
            .env(CHILD, &digest)
            .output();
        assert!(child.unwrap().status.success(), "{}", level.name());
    }
}

proptest! {
    #[test]
    fn any_input_has_one_sketch(units in units(), bytes in any::<Vec<u8>>()) {
        let (mut from_units, mut lossy) = (String::new(), String::new());
        intake::utf16(&units, &mut from_units);
        let texts = [from_units, intake::utf8(&bytes, &mut lossy).to_owned()];
        let mut used = Scratch::default();
        for fingerprinter in all() {
            for text in &texts {
                let fresh = fingerprinter.sketch(text, &mut Scratch::default());
                prop_assert_eq!(fingerprinter.sketch(text, &mut used), fresh);
                prop_assert!(fresh.fingerprint.is_none() || !fresh.empty);
            }
        }
    }
}
