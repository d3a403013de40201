//! Where sentences end.
//!
//! After 。 ！ ？ ! ? ； ; (any number of them), at a line break, and after a full stop `.` that white space and an upper-case
//! letter follow, or nothing. Closing quotation marks and brackets stay with the sentence they close. A full stop ends
//! nothing after an abbreviation (Mr., e.g., U.S.), an initial (J. Smith), or inside a number, a version or a host name.

use crate::normalize::scan::Class;

/// Every end is ASCII or begins with E3 (。), EF (！？；), E2 (the separators U+2028 and U+2029) or C2 (U+0085).
const SUSPECT: Class = Class::of(b"\n\r!?;.\xC2\xE2\xE3\xEF");

/// Abbreviations, in lower case, after which English goes on with an upper-case letter.
const ABBREVIATIONS: [&str; 24] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "etc", "inc", "ltd", "co", "corp",
    "no", "fig", "vol", "dept", "gen", "gov", "sen", "rep", "mt", "approx",
];

/// The sentences of a text in order, without white space around them and without empty ones. Concatenated they hold
/// every character of the text but white space.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        (!rest.is_empty()).then(|| {
            let (sentence, after) = rest.split_at(first_end(rest));
            rest = after;
            sentence.trim()
        })
    })
    .filter(|sentence| !sentence.is_empty())
}

/// Byte length of the first sentence of a text that is not empty, with what closes it.
fn first_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at = SUSPECT.next(bytes, at);
        let Some(&byte) = bytes.get(at) else { return bytes.len() };
        match byte {
            b'\n' | b'\r' => return at + 1,
            b'!' | b'?' | b';' => return closed(text, at),
            b'.' => {
                let end = closed(text, at);
                if ends_sentence(&text[..at], &text[end..]) {
                    return end;
                }
                at = end;
            }
            _ => {
                let Some(c) = text[at..].chars().next() else { return bytes.len() };
                match c {
                    '\u{85}' | '\u{2028}' | '\u{2029}' => return at + c.len_utf8(),
                    _ if is_terminator(c) => return closed(text, at),
                    _ => at += c.len_utf8(),
                }
            }
        }
    }
}

fn is_terminator(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '；' | '!' | '?' | ';' | '｡')
}

/// End of the terminators, full stops and closing marks that begin at `at`.
fn closed(text: &str, at: usize) -> usize {
    let tail = &text[at..];
    let marks = tail.find(|c| !(is_terminator(c) || matches!(c, '.' | '…'))).unwrap_or(tail.len());
    let closing = tail[marks..].find(|c| !is_closing(c)).unwrap_or(tail.len() - marks);
    at + marks + closing
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        '”' | '’'
            | '"'
            | '\''
            | ')'
            | ']'
            | '}'
            | '）'
            | '］'
            | '】'
            | '〕'
            | '』'
            | '」'
            | '》'
            | '〉'
            | '»'
    )
}

/// Whether a full stop between `before` and `after` ends a sentence.
fn ends_sentence(before: &str, after: &str) -> bool {
    let next = after.trim_start();
    if next.is_empty() {
        return true;
    }
    let opening = |c| matches!(c, '“' | '‘' | '"' | '\'' | '(' | '[');
    let spaced = next.len() < after.len();
    spaced
        && next.trim_start_matches(opening).starts_with(char::is_uppercase)
        && !is_abbreviation(before)
}

/// Whether `before`, the text in front of a full stop, ends in an abbreviation or an initial.
fn is_abbreviation(before: &str) -> bool {
    // No abbreviation is longer; looking further back would cost the square of the length on a text of full stops.
    const LONGEST: usize = 12;
    let part = |c: char| c.is_ascii_alphabetic() || c == '.';
    let len = before.chars().rev().take(LONGEST).take_while(|&c| part(c)).count();
    let word = &before[before.len() - len..];
    let short = word.contains('.')
        || (word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase()));
    short || ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(word))
}
