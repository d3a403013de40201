//! What platforms add to a text: addresses, mentions, forwarding marks, topics, emoticons in brackets.
//!
//! | pattern | what goes |
//! |---|---|
//! | URL | `http://`, `https://`, `ftp://`, `www.` and Weibo's `t.cn/` with all URL characters that follow, without closing punctuation |
//! | mail | `name@host.tld` |
//! | mention | `@name`: up to 30 letters, digits, `_`, `-`; with `回复` in front of it or `//` (a forwarding chain) and the colon behind |
//! | topic | `#…#`, up to 60 characters on one line, not beginning or ending with a space, with a letter in it |
//! | emoticon | `[doge]`, `[哈哈]`: up to six letters or digits, one of them a letter; not `[text](link)` |
//! | forwarding | `转发微博`, standing alone |
//!
//! What others said along a forwarding chain stays: `好文//@甲:同意//@乙:原文` becomes `好文同意原文`. A space takes the place of
//! a pattern where two words would join. A text in which nothing but noise is left (no letter, no digit) keeps it: two
//! bare links are not copies of each other.
//!
//! Linear: every pattern has a bounded length except URLs, which are consumed, and none looks back over consumed text.

use super::cut::Cutter;
use super::scan::Class;

/// A byte of every pattern but the forwarding marks.
const SIGNS: Class = Class::of(b":.@#[");
/// And E8, which begins 转 and 轉, and one ideograph in six: only for texts that hold a mark.
const SIGNS_AND_MARKS: Class = Class::of(b":.@#[\xE8");
const MARKS: [&str; 2] = ["转发微博", "轉發微博"];

/// Limits of the platforms, in characters: Weibo names have 30 at most; topics, which Weibo limits to 32, may carry
/// more elsewhere; the longest of its emoticon names have 6.
const NAME: usize = 30;
const TOPIC: usize = 60;
const EMOTICON: usize = 6;
/// Longest local part and longest host name of a mail address (RFC 5321, 4.5.3.1), in bytes.
const LOCAL: usize = 64;
const HOST: usize = 255;

/// Writes `text` without platform noise to `out`; false, and `out` undefined, if there is none or nothing else.
pub(super) fn apply(text: &str, out: &mut String) -> bool {
    let bytes = text.as_bytes();
    let mut cutter = Cutter::new(text, out);
    let marked = MARKS.iter().any(|mark| text.contains(mark));
    let signs = if marked { &SIGNS_AND_MARKS } else { &SIGNS };
    let mut at = 0;
    loop {
        at = signs.next(bytes, at);
        if at == bytes.len() {
            return cutter.finish() && super::says_something(out);
        }
        let done = cutter.done();
        let (before, tail) = (&text[done..at], &text[at..]);
        let found = match bytes[at] {
            b':' => scheme(before, tail),
            b'.' => bare_host(before, tail),
            b'@' => mail(before, tail).or_else(|| mention(before, tail)),
            b'#' => topic(before, tail),
            b'[' => emoticon(tail),
            _ => forwarding(before, tail),
        };
        match found {
            Some((back, ahead)) => {
                cutter.cut(at - back, at + ahead);
                at += ahead;
            }
            None => at += tail.chars().next().map_or(1, char::len_utf8),
        }
    }
}

/// How far a pattern reaches back from its sign and ahead of it, in bytes.
type Reach = Option<(usize, usize)>;

fn ends_with_word_byte(text: &str) -> bool {
    text.as_bytes().last().is_some_and(u8::is_ascii_alphanumeric)
}

/// `text` without `suffix`, whatever the case of ASCII letters.
fn strip_end<'a>(text: &'a str, suffix: &str) -> Option<&'a str> {
    let start = text.len().checked_sub(suffix.len())?;
    let end = text.as_bytes()[start..].eq_ignore_ascii_case(suffix.as_bytes());
    end.then(|| &text[..start])
}

/// Length of the URL characters (RFC 3986) that `tail` begins with, without closing punctuation.
fn url_len(tail: &str) -> usize {
    let is_url = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    let end = tail.find(|c| !is_url(c)).unwrap_or(tail.len());
    tail[..end]
        .trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', ')', ']', '(', '[', '#'])
        .len()
}

fn scheme(before: &str, tail: &str) -> Reach {
    let rest = tail.strip_prefix("://")?;
    let front = ["https", "http", "ftp"].iter().find_map(|scheme| strip_end(before, scheme))?;
    let len = url_len(rest);
    (len > 0).then_some((before.len() - front.len(), "://".len() + len))
}

fn bare_host(before: &str, tail: &str) -> Reach {
    let front = strip_end(before, "www")
        .or_else(|| tail.starts_with(".cn/").then(|| strip_end(before, "t")).flatten())?;
    let named = tail[1..].starts_with(|c: char| c.is_ascii_alphanumeric());
    (named && !ends_with_word_byte(front))
        .then(|| (before.len() - front.len(), 1 + url_len(&tail[1..])))
}

fn mail(before: &str, tail: &str) -> Reach {
    let is_local = |b: &u8| b.is_ascii_alphanumeric() || b"._%+-".contains(b);
    let back = before.bytes().rev().take(LOCAL).take_while(is_local).count();
    let is_host = |b: &u8| b.is_ascii_alphanumeric() || b".-".contains(b);
    let ahead = tail.bytes().skip(1).take(HOST).take_while(is_host).count();
    let host = tail[1..=ahead].trim_end_matches(['.', '-']);
    let (name, domain) = host.rsplit_once('.')?;
    let named =
        back > 0 && !name.is_empty() && domain.starts_with(|c: char| c.is_ascii_alphabetic());
    named.then_some((back, 1 + host.len()))
}

fn mention(before: &str, tail: &str) -> Reach {
    if ends_with_word_byte(before) {
        return None;
    }
    let is_name = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name: usize = tail[1..].chars().take(NAME).take_while(is_name).map(char::len_utf8).sum();
    if name == 0 {
        return None;
    }
    let end = 1 + name;
    let Some(front) =
        ["//", "回复", "回覆", "回復"].iter().find_map(|mark| strip_end(before, mark))
    else {
        return Some((0, end));
    };
    let colon = tail[end..].chars().next().filter(|c| matches!(c, ':' | '：'));
    Some((before.len() - front.len(), end + colon.map_or(0, char::len_utf8)))
}

fn topic(before: &str, tail: &str) -> Reach {
    // C#, F#, &#: not the beginning of a topic.
    if ends_with_word_byte(before) || before.ends_with('&') {
        return None;
    }
    let (len, _) = tail[1..]
        .char_indices()
        .take(TOPIC + 1)
        .take_while(|&(_, c)| c != '\n')
        .find(|&(_, c)| c == '#')?;
    let name = &tail[1..=len];
    let spaced = name.starts_with(char::is_whitespace) || name.ends_with(char::is_whitespace);
    (name.contains(char::is_alphabetic) && !spaced).then_some((0, len + 2))
}

fn emoticon(tail: &str) -> Reach {
    let name: usize = tail[1..]
        .chars()
        .take(EMOTICON)
        .take_while(|c| c.is_alphanumeric())
        .map(char::len_utf8)
        .sum();
    let after = tail[1 + name..].strip_prefix(']')?;
    let named = tail[1..=name].contains(char::is_alphabetic) && !after.starts_with('(');
    named.then_some((0, name + 2))
}

fn forwarding(before: &str, tail: &str) -> Reach {
    let mark = MARKS.into_iter().find(|mark| tail.starts_with(mark))?;
    let alone = !before.ends_with(char::is_alphanumeric)
        && !tail[mark.len()..].starts_with(char::is_alphanumeric);
    alone.then_some((0, mark.len()))
}
