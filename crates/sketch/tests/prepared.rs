//! A text that is prepared in one pass is what the passes one by one make of it.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use proptest::prelude::*;
use simhash_sketch::minhash::{MinHashOptions, MinHasher, band_keys};
use simhash_sketch::sentences::{SentenceSketch, SentenceSketcher, SketchScratch};
use simhash_sketch::{
    Fingerprinter, FingerprinterOptions, Kept, MethodSketch, Normalizer, Outline, Preparer,
    Scratch, Sketcher, TopK, Unit, Weighting,
};
use simhash_text::sentence::SentenceOptions;

fn fingerprinters() -> Vec<FingerprinterOptions> {
    let preset = |name| FingerprinterOptions::preset(name).unwrap();
    let mut binary = preset("chars");
    binary.extract.weighting = Some(Weighting::Binary);
    let mut words = preset("auto");
    words.extract.unit = Unit::Words;
    let mut few = preset("jieba-tfidf");
    (few.extract.top_k, few.min_features) = (Some(TopK::Count(3)), Some(2));
    let plain = FingerprinterOptions { normalize: Normalizer::OFF, ..preset("auto") };
    vec![preset("auto"), preset("jieba-tfidf"), binary, words, few, plain]
}

fn sketchers() -> Vec<Sketcher> {
    let hasher = MinHasher::new(&MinHashOptions { hashes: 20, ..Default::default() }).unwrap();
    let sentences = SentenceOptions { count: 2, min_length: 4, ..Default::default() };
    vec![
        Sketcher::None,
        Sketcher::Fingerprint,
        Sketcher::Signature { hasher, bands: 4, rows: 5 },
        Sketcher::Sentences(SentenceSketcher::new(&sentences)),
        Sketcher::Set,
    ]
}

fn set_of(by: &Fingerprinter, text: &str) -> Vec<u64> {
    let mut set = Vec::new();
    by.shingles(text, &mut Scratch::default(), &mut set);
    set
}

/// What the method remembers, made by itself.
fn by_itself(by: &Fingerprinter, sketcher: &Sketcher, text: &str) -> MethodSketch {
    let (mut scratch, set) = (Scratch::default(), set_of(by, text));
    match sketcher {
        Sketcher::None => MethodSketch::None,
        Sketcher::Fingerprint => by
            .sketch(text, &mut scratch)
            .fingerprint
            .map_or(MethodSketch::None, MethodSketch::Fingerprint),
        Sketcher::Signature { hasher, bands, rows } => {
            let (mut positions, mut keys) = (Vec::new(), Vec::new());
            hasher.signature::<u32>(&set, &mut positions);
            band_keys(*bands, *rows, &positions, &mut keys);
            if keys.is_empty() {
                return MethodSketch::None;
            }
            MethodSketch::Signature { positions: positions.into(), keys: keys.into() }
        }
        Sketcher::Sentences(sketcher) => {
            match sketcher.sketch(text, &mut SketchScratch::default()) {
                SentenceSketch::Sentences(hashes) => MethodSketch::Sentences(hashes.into()),
                SentenceSketch::Exact(_) | SentenceSketch::Empty => MethodSketch::None,
            }
        }
        Sketcher::Set if set.is_empty() => MethodSketch::None,
        Sketcher::Set => MethodSketch::Set(set.into()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn one_pass_makes_what_many_make(
        texts in prop::collection::vec("[北京市中心Ａa 。1]{0,30}|[\u{4e00}-\u{4e40}。]{300,500}|.{0,20}", 1..4),
    ) {
        let mut scratch = Scratch::default();
        for options in fingerprinters() {
            let by = Fingerprinter::new(&options).unwrap();
            for sketcher in sketchers() {
                let preparer = Preparer::new(by.clone(), sketcher.clone());
                for text in &texts {
                    let all = preparer.prepare(text, Kept::Features, &mut scratch);
                    let expected = by_itself(&by, &sketcher, text);
                    prop_assert_eq!(&all.sketch, &expected);
                    let sketch = by.sketch(text, &mut Scratch::default());
                    prop_assert_eq!((all.exact, all.is_empty), (sketch.exact, sketch.empty));
                    let says_nothing = sketch.empty || matches!(sketcher, Sketcher::None);
                    prop_assert_eq!(all.is_short, expected.is_none() && !says_nothing);

                    let mut other = Scratch::default();
                    let normalized = by.normalize(text, &mut other);
                    prop_assert_eq!(all.material.text(text), Some(normalized));
                    let characters = normalized.chars().count();
                    let is_long = normalized.len() > 3 * 64;
                    let of_features = matches!(
                        sketcher,
                        Sketcher::Fingerprint | Sketcher::Signature { .. } | Sketcher::Set
                    );
                    prop_assert_eq!(all.material.features.is_some(), of_features);
                    if let Some(features) = all.material.features {
                        let mut vector = Vec::new();
                        by.vector(text, &mut Scratch::default(), &mut vector);
                        prop_assert_eq!(features.clone().into_set(), set_of(&by, text));
                        prop_assert_eq!(features.into_vector(), vector);
                    }

                    let some = preparer.prepare(text, Kept::Text, &mut scratch);
                    prop_assert_eq!(&some.sketch, &expected);
                    prop_assert_eq!(some.material.text(text), Some(by.normalize(text, &mut other)));
                    prop_assert!(some.material.features.is_none());
                    let none = preparer.prepare(text, Kept::Nothing, &mut scratch);
                    prop_assert_eq!((&none.sketch, none.exact), (&expected, sketch.exact));
                    prop_assert!(none.material.text(text).is_none());
                    prop_assert!(none.material.features.is_none());

                    let outlined = preparer.prepare(text, Kept::Outline, &mut scratch);
                    prop_assert_eq!((outlined.exact, outlined.is_short), (all.exact, all.is_short));
                    match (&outlined.sketch, &expected) {
                        // Of a signature its keys alone.
                        (
                            MethodSketch::Signature { keys: own, .. },
                            MethodSketch::Signature { keys, .. },
                        ) => prop_assert_eq!(own, keys),
                        (own, expected) => prop_assert_eq!(own, expected),
                    }
                    // Repeated features are counted, and set their bits once.
                    let set = set_of(&by, text);
                    // For its outline alone no long text is cut.
                    let alone = matches!(sketcher, Sketcher::None);
                    let is_outlined = of_features || alone && !is_long;
                    if outlined.outline == Outline::default() {
                        let few = set.len() <= 200 || characters <= 500;
                        prop_assert!(!is_outlined || set.is_empty() || !few);
                    } else {
                        prop_assert!(is_outlined);
                        let [own, bits] = [outlined.outline, Outline::of(&set)].map(|outline| {
                            outline.to_bytes()[..32].to_vec()
                        });
                        prop_assert_eq!(own, bits);
                        // A count that is too small would exclude what is similar.
                        let count = &outlined.outline.to_bytes()[32..];
                        let count = u32::from_le_bytes(count.try_into().unwrap());
                        prop_assert!(count as usize >= set.len());
                    }

                    let alone = preparer.prepare(text, Kept::Sketch, &mut scratch);
                    prop_assert_eq!(&alone.sketch, &expected);
                    if expected.is_none() {
                        let of_text = (alone.exact, alone.is_empty, alone.is_short);
                        prop_assert_eq!(of_text, (all.exact, all.is_empty, all.is_short));
                    }
                }
            }
        }
    }
}

/// Above a megabyte no features are kept, and above 65,536 of them a signature is made of distinct ones.
#[test]
fn long_texts_have_the_same_sketches_and_keep_no_more_than_their_text() {
    let by = Fingerprinter::new(&FingerprinterOptions::default()).unwrap();
    for (repeated, times, is_kept) in
        [("天地玄黄宇宙洪荒", 9000, true), ("白日依山尽黄河入海流", 40_000, false)]
    {
        let text: String = (0..times)
            .flat_map(|number: usize| [repeated.to_owned(), (number % 700).to_string()])
            .collect();
        for sketcher in sketchers() {
            let preparer = Preparer::new(by.clone(), sketcher.clone());
            let prepared = preparer.prepare(&text, Kept::Features, &mut Scratch::default());
            assert_eq!(prepared.sketch, by_itself(&by, &sketcher, &text));
            if matches!(sketcher, Sketcher::Fingerprint) {
                assert_eq!(prepared.material.features.is_some(), is_kept, "{}", text.len());
            }
        }
    }
}

/// What has too many features for an outline has none, and the same fingerprint.
#[test]
fn long_texts_have_no_outline_and_the_same_fingerprint() {
    let by = Fingerprinter::new(&FingerprinterOptions::default()).unwrap();
    let preparer = Preparer::new(by.clone(), Sketcher::Fingerprint);
    for (length, has_outline) in [(400, true), (900, false), (10_000, false)] {
        let text: String = (0..length)
            .filter_map(|number: u32| char::from_u32(0x4e00 + number.wrapping_mul(7919) % 20_000))
            .collect();
        let prepared = preparer.prepare(&text, Kept::Outline, &mut Scratch::default());
        assert_eq!(prepared.sketch, by_itself(&by, &Sketcher::Fingerprint, &text));
        assert_eq!(prepared.outline != Outline::default(), has_outline, "{length}");
    }
}
