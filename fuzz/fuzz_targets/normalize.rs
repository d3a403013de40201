//! Normalising twice is normalising once, for every combination of switches.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_text::{NormalizeScratch, Normalizer, Punctuation, Whitespace};

fuzz_target!(|input: (u16, &str)| {
    let (switches, text) = input;
    let on = |bit: u16| switches >> bit & 1 == 1;
    let normalizer = Normalizer {
        html: on(0),
        noise: on(1),
        emoji: on(2),
        nfkc: on(3),
        case: on(4),
        simplified: on(5),
        invisible: on(6),
        runs: on(7),
        punctuation: [Punctuation::Keep, Punctuation::Fold, Punctuation::Drop]
            [usize::from(switches >> 8) % 3],
        whitespace: [Whitespace::Keep, Whitespace::Collapse, Whitespace::Remove, Whitespace::Auto]
            [usize::from(switches >> 12) % 4],
    };
    let mut scratch = NormalizeScratch::default();
    let once = normalizer.apply(text, &mut scratch).to_owned();
    assert_eq!(normalizer.apply(&once, &mut scratch), once);
});
