//! Golden fingerprints and the laws of the fingerprinter.

#![expect(clippy::unwrap_used, clippy::cast_sign_loss, reason = "a test fails by panicking")]

use proptest::prelude::*;
use simhash_sketch::hex::to_hex;
use simhash_sketch::{
    ExtractorOptions, Fingerprinter, FingerprinterOptions, Normalizer, OptionsError, Scratch, TopK,
    Unit, Weighting, simhash,
};
use simhash_text::Whitespace;

fn chars() -> Fingerprinter {
    Fingerprinter::preset("chars").unwrap()
}

fn with(extract: ExtractorOptions) -> Fingerprinter {
    Fingerprinter::new(&FingerprinterOptions { extract, ..FingerprinterOptions::default() })
        .unwrap()
}

/// Lines: text with \n and \t escaped, fingerprint or `-`, exact hash.
fn assert_golden(fingerprinter: &Fingerprinter, golden: &str) {
    let (mut scratch, mut lines) = (Scratch::default(), 0);
    for line in golden.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let text = fields[0].replace("\\n", "\n").replace("\\t", "\t");
        let sketch = fingerprinter.sketch(&text, &mut scratch);
        let fingerprint = sketch.fingerprint.map_or_else(|| "-".to_owned(), to_hex);
        assert_eq!(
            (fingerprint.as_str(), format!("{:032x}", sketch.exact).as_str()),
            (fields[1], fields[2]),
            "{text}"
        );
        lines += 1;
    }
    assert!(lines >= 12);
}

#[test]
fn default_fingerprints_are_frozen() {
    let golden = include_str!("golden/auto.tsv");
    assert_golden(&Fingerprinter::preset("auto").unwrap(), golden);
    assert_golden(&Fingerprinter::new(&FingerprinterOptions::default()).unwrap(), golden);
}

#[test]
fn chars_fingerprints_are_frozen() {
    assert_golden(&chars(), include_str!("golden/chars.tsv"));
}

/// Lines of `golden/jieba_tfidf.tsv`: text (no line breaks), fingerprint or `-`; made from the keywords of Python jieba.
#[test]
fn jieba_tfidf_fingerprints_are_frozen() {
    let fingerprinter = Fingerprinter::preset("jieba-tfidf").unwrap();
    let (mut scratch, mut fingerprints) = (Scratch::default(), 0);
    for line in include_str!("golden/jieba_tfidf.tsv").lines() {
        let (text, expected) = line.split_once('\t').unwrap();
        let fingerprint = fingerprinter.sketch(text, &mut scratch).fingerprint;
        assert_eq!(fingerprint.map_or_else(|| "-".to_owned(), to_hex), expected, "{text}");
        fingerprints += usize::from(fingerprint.is_some());
    }
    assert!(fingerprints >= 5);
}

/// All texts of `golden/jieba_tfidf.tsv` as one, which has more than twice the thirty keywords that are kept of any.
#[test]
fn the_fingerprint_of_half_of_the_keywords_is_frozen() {
    let preset = FingerprinterOptions::preset("jieba-tfidf").unwrap();
    let with = |top_k| {
        let extract = ExtractorOptions { top_k: Some(top_k), ..preset.extract.clone() };
        Fingerprinter::new(&FingerprinterOptions { extract, ..preset.clone() }).unwrap()
    };
    let lines = include_str!("golden/jieba_tfidf.tsv").lines();
    let text: Vec<&str> = lines.filter_map(|line| line.split('\t').next()).collect();
    let (text, half) = (text.join("\n"), with(TopK::Half));
    let kept = half.tokens(&text).len();
    let fingerprint = half.sketch(&text, &mut Scratch::default()).fingerprint.unwrap();
    assert_eq!((kept, to_hex(fingerprint).as_str()), (103, "89ad0700c81f37cf"));
    assert_eq!(
        with(TopK::Count(kept)).sketch(&text, &mut Scratch::default()).fingerprint,
        Some(fingerprint)
    );
}

#[test]
fn fewer_than_eight_distinct_bigrams_have_no_fingerprint() {
    let (fingerprinter, mut scratch) = (chars(), Scratch::default());
    let mut fingerprint = |text: &str| fingerprinter.sketch(text, &mut scratch).fingerprint;
    assert_eq!(fingerprint("一二三四五六七八"), None); // seven bigrams
    assert!(fingerprint("一二三四五六七八九").is_some()); // eight
    assert_eq!(fingerprint(&"哈".repeat(5000)), None); // one, 4,999 times
    assert_eq!(fingerprint(&"哈哈呵".repeat(1000)), None);
    assert_eq!(fingerprint(""), None);
}

#[test]
fn only_an_empty_normalised_text_is_empty() {
    let (fingerprinter, mut scratch) = (chars(), Scratch::default());
    assert!(fingerprinter.sketch("", &mut scratch).empty);
    assert!(fingerprinter.sketch(" \u{3000}\n", &mut scratch).empty);
    assert!(!fingerprinter.sketch("。", &mut scratch).empty);
}

#[test]
fn episodes_stay_different() {
    let (fingerprinter, mut scratch) = (chars(), Scratch::default());
    let mut sketch = |text: &str| fingerprinter.sketch(text, &mut scratch);
    let [a, b] =
        ["电视剧人民的名义EP01高清在线观看", "电视剧人民的名义EP02高清在线观看"].map(&mut sketch);
    assert_ne!(a.exact, b.exact);
    assert_ne!(a.fingerprint, b.fingerprint);
}

#[test]
fn unknown_presets_are_named() {
    let error = Fingerprinter::preset("jieba").unwrap_err();
    assert!(
        matches!(&error, OptionsError::Invalid { argument: "preset", value, .. } if value == "jieba")
    );
}

fn any_options() -> impl Strategy<Value = FingerprinterOptions> {
    let unit = prop_oneof![
        Just(Unit::Auto),
        Just(Unit::Chars),
        Just(Unit::Words),
        Just(Unit::Jieba),
        Just(Unit::Tokens),
    ];
    let weighting = prop_oneof![Just(Weighting::Count), Just(Weighting::Binary)];
    (unit, 1..=8_usize, weighting, any::<bool>()).prop_map(|(unit, n, weighting, normalize)| {
        FingerprinterOptions {
            normalize: if normalize { Normalizer::default() } else { Normalizer::OFF },
            extract: ExtractorOptions {
                unit,
                ngram: (unit != Unit::Auto).then_some(n),
                weighting: Some(weighting),
                ..ExtractorOptions::default()
            },
            min_features: Some(0),
        }
    })
}

proptest! {
    #[test]
    fn the_fingerprint_is_the_simhash_of_the_features(options in any_options(), text in "[a-d中文 ，]{0,40}|.*") {
        let fingerprinter = Fingerprinter::new(&options).unwrap();
        let mut scratch = Scratch::default();
        let sketch = fingerprinter.sketch(&text, &mut scratch);
        let features: Vec<_> = fingerprinter
            .tokens(&text)
            .iter()
            .map(|token| simhash_sketch::Feature { hash: token.hash, weight: token.weight as u32 })
            .collect();
        prop_assert_eq!(sketch.fingerprint, (!features.is_empty()).then(|| simhash(&features)));
    }

    #[test]
    fn normalising_first_changes_nothing(text in any::<String>()) {
        let (fingerprinter, mut scratch) = (chars(), Scratch::default());
        let normal = fingerprinter.normalize(&text, &mut scratch).to_owned();
        prop_assert_eq!(fingerprinter.sketch(&text, &mut scratch), fingerprinter.sketch(&normal, &mut Scratch::default()));
    }

    #[test]
    fn below_min_features_there_is_no_fingerprint(text in "[ab]{0,20}", n in 1..=3_usize) {
        let fingerprinter = with(ExtractorOptions { ngram: Some(n), ..ExtractorOptions::default() });
        let (mut scratch, mut shingles) = (Scratch::default(), Vec::new());
        fingerprinter.shingles(&text, &mut scratch, &mut shingles);
        let reached = shingles.len() >= fingerprinter.min_features();
        prop_assert_eq!(fingerprinter.sketch(&text, &mut scratch).fingerprint.is_some(), reached);
    }
}

#[test]
fn words_that_are_cut_already_keep_their_white_space() {
    let options = |whitespace| FingerprinterOptions {
        extract: ExtractorOptions {
            unit: Unit::Tokens,
            ngram: Some(1),
            ..ExtractorOptions::default()
        },
        normalize: Normalizer { whitespace, ..Normalizer::default() },
        ..FingerprinterOptions::default()
    };
    let by = Fingerprinter::new(&options(Whitespace::Auto)).unwrap();
    let tokens = |text: &str| {
        let tokens = by.tokens(text).into_iter();
        tokens.map(|token| token.token).collect::<Vec<_>>()
    };
    assert_eq!(tokens("今天　天气\n很 ＯＫ 。"), ["今天", "天气", "很", "ok", "。"]);
    // What a recipe says is what it was made with.
    let recipe = by.to_string();
    let again = FingerprinterOptions::of_recipe(&recipe, &ExtractorOptions::default()).unwrap();
    assert_eq!(Fingerprinter::new(&again).unwrap().to_string(), recipe);
    let error = Fingerprinter::new(&options(Whitespace::Remove)).unwrap_err();
    assert_eq!(error.argument(), "normalize");
}
