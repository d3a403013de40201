//! Segmentation drops nothing: the words joined are the text, with and without the hidden Markov model.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_text::segment::{SegmentScratch, cut};

fuzz_target!(|text: &str| {
    let mut scratch = SegmentScratch::default();
    for hmm in [true, false] {
        let mut joined = String::new();
        cut(text, hmm, &mut scratch, |word| {
            assert!(!word.text.is_empty());
            joined.push_str(word.text);
        });
        assert_eq!(joined, text);
    }
});
