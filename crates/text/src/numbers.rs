//! The numbers of a text: what tells short texts of one template apart.
//!
//! Sets of features forget how often: `EP100` and `EP1000` have the same pairs of characters. The numbers of a text, in
//! order, do not forget. Two kinds count, and all else is left to the features:
//!
//! - runs of ASCII digits. Commas between groups of three and leading zeros are dropped, so `1,000` is `1000` and `EP01` is
//!   `EP1`; a minus sign belongs to the number, but not a hyphen between two words or numbers: `-5°C` is not `5°C`, and
//!   `2026-11` is 2026 and 11. A point separates two runs, and what stands behind it is taken as it is: `6.97` is 6 and 97,
//!   which is not `69.7`, and `3.05` is 3 and 05, which is not `3.5`.
//! - runs of Chinese numerals that name a place in an order, a date, an age or a number of people: after 第 (第三), before a
//!   unit (十月, 三名), or right after digits (5万). Elsewhere they are as often parts of words and names (一个, 万科, 四号线) or
//!   amounts that somebody who retells a story changes (三百米), and do not count.
//!
//! The text is normalised before: full-width digits have become ASCII.

/// What makes a number of the numeral before it. 号, 个, 点 and units of money and measure are not among them: on the labelled
/// pairs they would tell no more apart, and they would take posts for two whose teller changed 三百米 to 两百米.
#[rustfmt::skip]
fn is_unit(character: char) -> bool {
    matches!(
        character,
        '年' | '月' | '日' | '季' | '届' | '屆' | '集' | '期' | '章' | '次' | '名' | '岁' | '歲'
    )
}

/// The numbers of `text` in order, each followed by a line feed: equal for texts with the same numbers.
///
/// Cost: one pass, one allocation if there is a number.
///
/// ```
/// use simhash_text::numbers::numbers;
/// assert_eq!(numbers("ep007, 第十二集: -1,024 of 2026-01-05"), "7\n十二\n-1024\n2026\n1\n5\n");
/// assert_eq!(numbers("一个百年老店"), "");
/// ```
pub fn numbers(text: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(found) = next(text.as_bytes(), at) {
        let (seen, rest) = text.split_at(found);
        let mut back = seen.chars().rev();
        let (last, earlier) = (back.next(), back.next());
        at = found
            + if rest.as_bytes()[0].is_ascii_digit() {
                if is_minus(last) && !earlier.is_some_and(|c: char| c.is_ascii_alphanumeric()) {
                    out.push('-');
                }
                let fraction =
                    last == Some('.') && earlier.is_some_and(|c: char| c.is_ascii_digit());
                push_digits(rest, fraction, &mut out)
            } else {
                push_numerals(rest, last, &mut out)
            };
    }
    out
}

/// Where the next digit or numeral starts. Nearly all of a text is neither.
fn next(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let lead = *bytes.get(at)?;
        if lead.is_ascii_digit() {
            return Some(at);
        }
        if lead < NUMERALS_FROM {
            // Whatever it is, a byte of a character that is neither.
            at += 1;
            continue;
        }
        if let Some(&[_, second, third]) = bytes[at..].first_chunk() {
            let code = u32::from(lead & 0xF) << 12
                | u32::from(second & 0x3F) << 6
                | u32::from(third & 0x3F);
            if lead < 0xF0 && char::from_u32(code).is_some_and(is_numeral) {
                return Some(at);
            }
        }
        // The last bytes of four, if it has four, are below.
        at += 3;
    }
}

/// The first byte of 〇, before which all numerals' are: below it are the bytes of other characters.
const NUMERALS_FROM: u8 = 0xE3;

fn is_minus(character: Option<char>) -> bool {
    matches!(character, Some('-' | '\u{2212}'))
}

/// Numerals below ten, and ten.
const SMALL: [char; 14] =
    ['零', '〇', '一', '二', '两', '兩', '三', '四', '五', '六', '七', '八', '九', '十'];
/// Multipliers, which are no number by themselves.
const MULTIPLIERS: [char; 6] = ['百', '千', '万', '萬', '亿', '億'];

/// A bit for each code point of three bytes and fewer: every character of a text is asked for, and a comparison with each numeral would
/// be a toss of a coin for nearly each of them.
static NUMERALS: [u64; 1024] = {
    let mut bits = [0; 1024];
    let mut at = 0;
    while at < SMALL.len() + MULTIPLIERS.len() {
        let numeral = if at < SMALL.len() { SMALL[at] } else { MULTIPLIERS[at - SMALL.len()] };
        bits[numeral as usize / 64] |= 1 << (numeral as usize % 64);
        at += 1;
    }
    bits
};

fn is_numeral(character: char) -> bool {
    NUMERALS
        .get(character as usize / 64)
        .is_some_and(|bits| bits >> (character as usize % 64) & 1 == 1)
}

/// Appends the digits at the start of `rest`; returns the bytes that they take.
fn push_digits(rest: &str, fraction: bool, out: &mut String) -> usize {
    let run = |at: usize| rest.as_bytes()[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = run(0);
    if fraction {
        out.push_str(&rest[..end]);
        out.push('\n');
        return end;
    }
    let digits = rest[..end].trim_start_matches('0');
    out.push_str(if digits.is_empty() { "0" } else { digits });
    // A group of three goes on with a number that began with one to three digits, the first not 0.
    if digits.len() == end && end <= 3 {
        while rest.as_bytes().get(end) == Some(&b',') && run(end + 1) == 3 {
            out.push_str(&rest[end + 1..end + 4]);
            end += 4;
        }
    }
    out.push('\n');
    end
}

/// Appends the numerals at the start of `rest` if they count; returns the bytes that they take.
fn push_numerals(rest: &str, before: Option<char>, out: &mut String) -> usize {
    let end = rest.find(|c| !is_numeral(c)).unwrap_or(rest.len());
    let (run, after) = (&rest[..end], rest[end..].chars().next());
    let small = run.contains(SMALL);
    let counts = before.is_some_and(|c| c == '第' || c.is_ascii_digit())
        || small && after.is_some_and(is_unit);
    if counts {
        out.push_str(run);
        out.push('\n');
    }
    end
}

#[cfg(test)]
mod tests {
    use super::{is_numeral, numbers};
    use proptest::prelude::*;

    fn list(text: &str) -> Vec<String> {
        numbers(text).lines().map(str::to_owned).collect()
    }

    #[test]
    fn digits_are_runs_without_leading_zeros_and_group_commas() {
        for (text, expected) in [
            ("ep1 ep01 ep001", vec!["1", "1", "1"]),
            ("0 00 000", vec!["0", "0", "0"]),
            ("1,000 12,345,678", vec!["1000", "12345678"]),
            (
                "1,00 2026,100 0,100 1,0000 1,2,3",
                vec!["1", "0", "2026", "100", "0", "100", "1", "0", "1", "2", "3"],
            ),
            ("6.97 69.7", vec!["6", "97", "69", "7"]),
            ("3.05 3.5 .05 2026.01.05", vec!["3", "05", "3", "5", "5", "2026", "01", "05"]),
            ("2026-11-01", vec!["2026", "11", "1"]),
            ("-5°c 至 -10°c", vec!["-5", "-10"]),
            ("气温\u{2212}5度", vec!["-5"]),
            ("b-2 f16-5", vec!["2", "16", "5"]),
            ("no numbers", vec![]),
        ] {
            assert_eq!(list(text), expected, "{text}");
        }
    }

    #[test]
    fn chinese_numerals_count_where_they_name_a_place_or_a_date() {
        for (text, expected) in [
            ("第三次会议", vec!["三"]),
            ("第一", vec!["一"]),
            ("十月的最后一天", vec!["十"]),
            ("二十三日, 三十岁, 三百米", vec!["二十三", "三十"]),
            ("早高峰的四号线, 二十三号卫星", vec![]),
            ("前三季度", vec!["三"]),
            ("票房破5亿", vec!["5", "亿"]),
            ("千万不要太快", vec![]),
            ("万科和三星在四川开了一个会", vec![]),
            ("三千名", vec!["三千"]),
            ("710多万名党员", vec!["710"]),
        ] {
            assert_eq!(list(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_no_number_changes_nothing(words in prop::collection::vec("[a-z，。天气好]{0,4}", 3), a in 0..100_000_u32, b in 0..100_000_u32) {
            let text = format!("{}x{a} {}y{b} {}", words[0], words[1], words[2]);
            prop_assert_eq!(numbers(&text), format!("{a}\n{b}\n"));
        }

        /// Every character looked at, instead of those that [`next`] stops at.
        #[test]
        fn nothing_is_passed_over(text in prop_oneof![any::<String>(), "[0-9,.\\-−第零〇一二两兩三四五六七八九十百千万萬亿億月年 aé天𠀀😀]{0,30}"]) {
            let found = |at: &usize| {
                let here = text[*at..].chars().next();
                here.is_some_and(|c| c.is_ascii_digit() || is_numeral(c))
            };
            let expected: Vec<usize> = text.char_indices().map(|(at, _)| at).filter(found).collect();
            for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
                let next = super::next(text.as_bytes(), at);
                prop_assert_eq!(next, expected.iter().copied().find(|&found| found >= at));
            }
        }

        #[test]
        fn any_text_is_taken(text in any::<String>(), mixed in "[0-9,.\\-第一十万月 a]{0,20}") {
            prop_assert!(numbers(&text).lines().all(|number| !number.is_empty()));
            prop_assert!(numbers(&mixed).lines().all(|number| !number.is_empty()));
        }
    }
}
