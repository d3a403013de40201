//! Any text and options make a sketch, the same from a fresh scratch as from a used one, and every form of features agrees;
//! sentences are found in any text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_sketch::{Fingerprinter, FingerprinterOptions, Scratch};
use simhash_text::extract::Segmenter;
use simhash_text::sentence::longest;
use simhash_text::{ExtractorOptions, Normalizer, TopK, Unit, Weighting};

fuzz_target!(|input: (u8, u8, u8, &str, &str)| {
    let (form, ngram, bits, text, other) = input;
    let on = |bit: u8| bits >> bit & 1 == 1;
    let unit = [Unit::Auto, Unit::Chars, Unit::Words, Unit::Jieba][usize::from(form) % 4];
    let weighting =
        [Weighting::Count, Weighting::Binary, Weighting::TfIdf][usize::from(form / 4) % 3];
    let keywords = weighting == Weighting::TfIdf;
    let options = FingerprinterOptions {
        normalize: if on(0) { Normalizer::default() } else { Normalizer::OFF },
        extract: ExtractorOptions {
            unit,
            ngram: (!keywords && unit != Unit::Auto).then_some(usize::from(ngram) % 8 + 1),
            weighting: Some(weighting),
            top_k: [None, Some(TopK::Half), Some(TopK::Count(usize::from(ngram) + 1))]
                [if keywords { usize::from(bits >> 5) % 3 } else { 0 }],
            segmenter: if on(2) && unit == Unit::Jieba && !keywords {
                Segmenter::JiebaRs
            } else {
                Segmenter::Own
            },
            hmm: (unit == Unit::Jieba).then_some(on(3)),
            ..ExtractorOptions::default()
        },
        min_features: on(4).then_some(1),
    };
    // Options that do not go together are refused.
    let Ok(fingerprinter) = Fingerprinter::new(&options) else { return };
    let mut used = Scratch::default();
    let _ = fingerprinter.sketch(other, &mut used);
    let sketch = fingerprinter.sketch(text, &mut Scratch::default());
    assert_eq!(fingerprinter.sketch(text, &mut used), sketch);

    let tokens = fingerprinter.tokens(text);
    let mut shingles = Vec::new();
    fingerprinter.shingles(text, &mut used, &mut shingles);
    assert!(shingles.is_sorted());
    assert!(tokens.iter().all(|token| shingles.binary_search(&token.hash).is_ok()));
    assert_eq!(
        sketch.fingerprint.is_some(),
        !tokens.is_empty() && tokens.len() >= fingerprinter.min_features()
    );

    let sentences = longest(text, 5);
    assert!(sentences.len() <= 5);
    assert!(sentences.is_sorted_by(|a, b| a.length >= b.length));
});
