//! Laws of normalisation: idempotent, fast path equal to the definition, examples people would expect.

use super::{NormalizeScratch, Normalizer, Whitespace, slow};
use proptest::prelude::*;

fn normal(normalizer: &Normalizer, text: &str) -> String {
    normalizer.apply(text, &mut NormalizeScratch::default()).to_owned()
}

fn default(text: &str) -> String {
    normal(&Normalizer::default(), text)
}

/// Every combination of the switches.
fn any_normalizer() -> impl Strategy<Value = Normalizer> {
    let whitespace = prop_oneof![
        Just(Whitespace::Keep),
        Just(Whitespace::Collapse),
        Just(Whitespace::Remove),
        Just(Whitespace::Auto)
    ];
    (any::<bool>(), any::<bool>(), whitespace).prop_map(|(nfkc, case, whitespace)| Normalizer {
        nfkc,
        case,
        whitespace,
        ..Normalizer::OFF
    })
}

/// Text dense in what normalisation touches: spaces, marks, kana, jamo, wide forms, case, beside any characters.
fn hard_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z ,.，。　\u{3099}\u{FF9E}か゛ハﾊ\u{1100}\u{1161}\u{11A8}가é\u{301}\u{323}ÅǅßΣς\u{345}İıﬀ①Ａａ中文\t\r\n\u{A0}\u{85}\u{200B}]{0,6}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

#[test]
fn wide_case_and_space_are_folded() {
    assert_eq!(default("　Ｈｅｌｌｏ，  世界 ＥＰ０１\r\n"), "hello,世界ep01");
    assert_eq!(default("Deep  Learning 入门 GPT-4"), "deep learning入门gpt-4");
    assert_eq!(default("Straße"), default("STRASSE"));
    assert_eq!(default("ﾊﾟｿｺﾝ"), "パソコン");
    assert_eq!(default("한국 어"), "한국 어");
    assert_eq!(default(" \t\u{3000}"), "");
}

#[test]
fn different_numbers_stay_different() {
    assert_ne!(default("EP01"), default("EP02"));
    assert_ne!(default("第3集"), default("第4集"));
}

#[test]
fn off_changes_nothing_and_borrows() {
    let text = " Ａ\u{301}  b ";
    let mut scratch = NormalizeScratch::default();
    assert!(std::ptr::eq(Normalizer::OFF.apply(text, &mut scratch), text));
}

#[test]
fn normal_text_is_borrowed() {
    let text = "人工智能改变世界,the quick brown fox";
    let mut scratch = NormalizeScratch::default();
    assert!(std::ptr::eq(Normalizer::default().apply(text, &mut scratch), text));
}

#[test]
fn every_character_alone_is_idempotent_and_follows_the_definition() {
    let normalizer = Normalizer::default();
    for c in '\0'..=char::MAX {
        let once = default(c.encode_utf8(&mut [0; 4]));
        assert_eq!(once, slow::normalize(&normalizer, c.encode_utf8(&mut [0; 4])), "{c:?}");
        assert_eq!(default(&once), once, "{c:?}");
    }
}

/// The digest of all characters, each between two letters: a change of the Unicode tables shows here.
#[test]
fn default_normalisation_of_every_character_is_frozen() {
    let mut all = String::new();
    for c in '\0'..=char::MAX {
        all.push_str(&default(&format!("a{c}b\n")));
        all.push('\n');
    }
    assert_eq!(format!("{:032x}", crate::feature::exact(&all)), GOLDEN_DIGEST);
}

const GOLDEN_DIGEST: &str = "19a37c58eb99916ef1d12c07fbb60a69";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn normalisation_is_idempotent(normalizer in any_normalizer(), text in hard_text()) {
        let once = normal(&normalizer, &text);
        prop_assert_eq!(normal(&normalizer, &once), once);
    }

    #[test]
    fn the_fast_path_follows_the_definition(normalizer in any_normalizer(), text in hard_text()) {
        prop_assert_eq!(normal(&normalizer, &text), slow::normalize(&normalizer, &text));
    }

    #[test]
    fn scratch_carries_nothing_over(first in hard_text(), second in hard_text()) {
        let mut scratch = NormalizeScratch::default();
        Normalizer::default().apply(&first, &mut scratch);
        let reused = Normalizer::default().apply(&second, &mut scratch).to_owned();
        prop_assert_eq!(reused, default(&second));
    }
}
