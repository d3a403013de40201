//! The segmenter against a plain second implementation of the same definition, on random text.

use super::dictionary::{self, ln_total};
use super::{SegmentScratch, cut, hmm};
use proptest::prelude::*;

fn tokens(text: &str, hmm: bool) -> Vec<String> {
    let mut all = Vec::new();
    cut(text, hmm, &mut SegmentScratch::default(), |word| {
        assert_eq!(word.len, word.text.chars().count());
        assert_eq!(word.utf16_len(), word.text.encode_utf16().count());
        all.push(word.text.to_owned());
    });
    all
}

/// The definition as jieba states it: a graph of all words, a table of routes, strings cut out of strings.
#[expect(clippy::unreadable_literal, reason = "parameters as jieba's files have them")]
mod plain {
    use super::*;

    fn is_han(c: char) -> bool {
        ('\u{4E00}'..='\u{9FD5}').contains(&c)
    }

    fn frequency(word: &[char]) -> u32 {
        dictionary::frequency(&String::from_iter(word)).unwrap_or(0)
    }

    pub(super) fn cut(text: &str, hmm: bool) -> Vec<String> {
        let class = |c: char| is_han(c) || c.is_ascii_alphanumeric() || "+#&._%-".contains(c);
        let chars: Vec<char> = text.chars().collect();
        let (mut out, mut at) = (Vec::new(), 0);
        while at < chars.len() {
            let block = chars[at..].iter().take_while(|&&c| class(c)).count();
            if block > 0 {
                cut_block(&chars[at..at + block], hmm, &mut out);
                at += block;
            } else {
                let len = if chars[at..].starts_with(&['\r', '\n']) { 2 } else { 1 };
                out.push(String::from_iter(&chars[at..at + len]));
                at += len;
            }
        }
        out
    }

    fn cut_block(chars: &[char], hmm: bool, out: &mut Vec<String>) {
        let n = chars.len();
        let mut route = vec![(0.0, 0); n + 1];
        for start in (0..n).rev() {
            let words =
                (start + 1..=n.min(start + 16)).filter(|&end| frequency(&chars[start..end]) > 0);
            let mut ends: Vec<usize> = words.collect();
            if ends.is_empty() {
                ends.push(start + 1);
            }
            let score = |end: usize| {
                let f = f64::from(frequency(&chars[start..end]).max(1));
                (f.ln() - ln_total() + route[end].0, end)
            };
            let best =
                ends.into_iter().map(score).max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            route[start] = best.unwrap();
        }
        let mut singles: Vec<char> = Vec::new();
        let mut at = 0;
        while at < n {
            let word = &chars[at..route[at].1];
            at = route[at].1;
            let keep = word.len() == 1 && (hmm || word[0].is_ascii_alphanumeric());
            if keep {
                singles.push(word[0]);
            } else {
                flush(&mut singles, hmm, out);
                out.push(String::from_iter(word));
            }
        }
        flush(&mut singles, hmm, out);
    }

    fn flush(singles: &mut Vec<char>, hmm: bool, out: &mut Vec<String>) {
        let run = std::mem::take(singles);
        if run.is_empty() {
            return;
        }
        if !hmm {
            out.push(String::from_iter(run));
        } else if run.len() == 1 || frequency(&run) > 0 {
            out.extend(run.iter().map(char::to_string));
        } else {
            let mut at = 0;
            while at < run.len() {
                let han = run[at..].iter().take_while(|&&c| is_han(c)).count();
                let len = if han > 0 { han } else { ascii(&run[at..]) };
                let piece = &run[at..at + len];
                if han > 0 {
                    viterbi(piece, out);
                } else {
                    out.push(String::from_iter(piece));
                }
                at += len;
            }
        }
    }

    fn ascii(run: &[char]) -> usize {
        let word = run.iter().take_while(|c| c.is_ascii_alphanumeric()).count();
        if word == 0 {
            return run.iter().take_while(|&&c| !is_han(c) && !c.is_ascii_alphanumeric()).count();
        }
        let mut end = word;
        if run.get(end) == Some(&'.') {
            let digits = run[end + 1..].iter().take_while(|c| c.is_ascii_digit()).count();
            end += if digits > 0 { 1 + digits } else { 0 };
        }
        end + usize::from(run.get(end) == Some(&'%'))
    }

    const MIN: f64 = -3.14e100;

    fn transition(from: char, to: char) -> Option<f64> {
        Some(match (from, to) {
            ('B', 'E') => -0.510825623765990,
            ('B', 'M') => -0.916290731874155,
            ('E', 'B') => -0.5897149736854513,
            ('E', 'S') => -0.8085250474669937,
            ('M', 'E') => -0.33344856811948514,
            ('M', 'M') => -1.2603623820268226,
            ('S', 'B') => -0.7211965654669841,
            ('S', 'S') => -0.6658631448798212,
            _ => return None,
        })
    }

    fn viterbi(piece: &[char], out: &mut Vec<String>) {
        const STATES: [char; 4] = ['B', 'E', 'M', 'S'];
        let emission =
            |c: char, state: usize| hmm::emissions()[usize::from(dictionary::code(c))][state];
        let start = [-0.26268660809250016, MIN, MIN, -1.4652633398537678];
        let mut values: Vec<(f64, String)> =
            (0..4).map(|s| (start[s] + emission(piece[0], s), STATES[s].to_string())).collect();
        for &c in &piece[1..] {
            values = (0..4)
                .map(|to| {
                    let from = (0..4).filter_map(|from| {
                        let step = transition(STATES[from], STATES[to])?;
                        Some((values[from].0 + step + emission(c, to), from))
                    });
                    let best = from.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).unwrap();
                    (best.0, format!("{}{}", values[best.1].1, STATES[to]))
                })
                .collect();
        }
        let tags = if values[3].0 >= values[1].0 { &values[3].1 } else { &values[1].1 };
        let mut word = String::new();
        for (&c, tag) in piece.iter().zip(tags.chars()) {
            word.push(c);
            if tag == 'E' || tag == 'S' {
                out.push(std::mem::take(&mut word));
            }
        }
        if !word.is_empty() {
            out.push(word);
        }
    }
}

/// Text in which dictionary words, their pieces, rare characters and ASCII of the class meet.
fn mixed_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[的一是了我不人在他有这上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开北京清华东西南]{1,12}",
        2 => "[\u{4E00}-\u{9FD5}]{1,6}",
        1 => "[a-cA-C0-3+#&._%\\-]{1,6}",
        1 => "[\u{3400}\u{9FD6}，。 \r\n\u{3007}é😀a1]{1,4}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

#[test]
fn single_letters_are_joined_without_the_hmm_only() {
    assert_eq!(tokens("v7.5.1; 100%", true).join("/"), "v7.5/./1/;/ /100%");
    assert_eq!(tokens("v7.5.1; 100%", false).join("/"), "v7/./5/./1/;/ /100/%");
}

#[test]
fn a_block_longer_than_any_buffer_is_one_block() {
    let long = "龘".repeat(100_000);
    assert_eq!(tokens(&long, true).concat(), long);
    assert_eq!(tokens(&"哈".repeat(501), true), plain::cut(&"哈".repeat(501), true));
}

#[test]
fn single_characters_that_are_together_a_word_stay_single() {
    // All words of three characters and more in dict.txt that lose against their own characters.
    let words = ["还都不", "那不就", "都还不", "说不说", "上不去"];
    for word in words {
        assert_eq!(tokens(word, true), word.chars().map(String::from).collect::<Vec<_>>());
        // The run is longer than the word: cut again, as all others.
        let many = format!("{word}中国{word}龘中国").repeat(100);
        for text in [format!("{word}龘"), format!("龘{word}"), words.concat() + word, many] {
            assert_eq!(tokens(&text, true), plain::cut(&text, true));
        }
    }
}

#[test]
fn letters_beyond_what_one_entry_may_hold_are_not_dropped() {
    let text = format!("中文{}。", "a1".repeat((1 << 20) + 1));
    assert_eq!(tokens(&text, true).concat(), text);
    let alone = &text["中文".len()..];
    let cut = tokens(alone, false);
    assert_eq!(cut.concat(), alone);
    // Offsets of 32 bits hold so long entries, as many as a chunk has.
    assert!(cut.iter().all(|token| token.len() <= 1 << 21));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn texts_of_many_chunks_are_cut_as_a_whole(
        pieces in prop::collection::vec(mixed_text(), 100..300),
        stop in "[，\r\n]{1,2}",
        hmm in any::<bool>(),
    ) {
        let text = pieces.join(&stop);
        prop_assert_eq!(tokens(&text, hmm), plain::cut(&text, hmm));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_fast_segmenter_is_the_plain_one(text in mixed_text(), hmm in any::<bool>()) {
        prop_assert_eq!(tokens(&text, hmm), plain::cut(&text, hmm));
    }

    #[test]
    fn nothing_is_dropped(text in any::<String>(), hmm in any::<bool>()) {
        prop_assert_eq!(tokens(&text, hmm).concat(), text);
    }

    #[test]
    fn scratch_carries_nothing_over(first in mixed_text(), second in mixed_text(), hmm in any::<bool>()) {
        let mut scratch = SegmentScratch::default();
        cut(&first, hmm, &mut scratch, |_| ());
        let mut all = Vec::new();
        cut(&second, hmm, &mut scratch, |word| all.push(word.text.to_owned()));
        prop_assert_eq!(all, tokens(&second, hmm));
    }
}
