//! The text of a page: without tags, scripts, styles and comments, entities as characters, a line for each block.

use memchr::memmem;

/// Elements whose content is no text.
const SKIPPED: [&str; 5] = ["script", "style", "noscript", "template", "svg"];
/// Elements within a line.
const INLINE: [&str; 18] = [
    "a", "abbr", "b", "bdi", "code", "em", "font", "i", "kbd", "mark", "q", "s", "small", "span",
    "strong", "sub", "sup", "u",
];
/// Entities that pages of news use; others stay as they are written.
const ENTITIES: [(&str, &str); 16] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("ensp", " "),
    ("emsp", " "),
    ("middot", "·"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("hellip", "…"),
    ("mdash", "—"),
    ("ndash", "–"),
];

/// What a reader of the page sees.
pub(crate) fn text(page: &str) -> String {
    let mut text = String::with_capacity(page.len() / 2);
    let mut rest = page;
    while let Some(open) = memchr::memchr(b'<', rest.as_bytes()) {
        push_words(&mut text, &rest[..open]);
        rest = &rest[open..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = memmem::find(comment.as_bytes(), b"-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let behind = rest[1..].trim_start_matches('/');
        if !behind.starts_with(|first: char| first.is_ascii_alphabetic() || "!?".contains(first)) {
            // A sign, no tag.
            text.push('<');
            rest = &rest[1..];
            continue;
        }
        let closes = rest.as_bytes()[1] == b'/';
        let end = behind.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(behind.len());
        let name = behind[..end].to_ascii_lowercase();
        let tag;
        (tag, rest) = rest.split_at(end_of_tag(rest));
        // `<svg/>` has no content; of the others the slash means nothing.
        let is_empty = name == "svg" && tag.ends_with("/>");
        if !closes && !is_empty && SKIPPED.contains(&&*name) {
            rest = behind_closing(rest, &name);
        }
        if !INLINE.contains(&&*name) && !text.is_empty() && !text.ends_with('\n') {
            while text.ends_with(' ') {
                text.pop();
            }
            text.push('\n');
        }
    }
    push_words(&mut text, rest);
    text.truncate(text.trim_end().len());
    text
}

/// Where a tag ends, behind its `>`: one in a quoted value is none. Where the quote stays open, the first `>` of all ends it.
fn end_of_tag(tag: &str) -> usize {
    let bytes = tag.as_bytes();
    let first = memchr::memchr(b'>', bytes).map_or(bytes.len(), |end| end + 1);
    let mut at = 0;
    while let Some(next) = memchr::memchr2(b'>', b'=', &bytes[at..]) {
        at += next + 1;
        if bytes[at - 1] == b'>' {
            return at;
        }
        at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if let Some(&quote @ (b'"' | b'\'')) = bytes.get(at) {
            let Some(end) = memchr::memchr(quote, &bytes[at + 1..]) else { return first };
            at += end + 2;
        }
    }
    first
}

/// What follows the closing tag of an element.
fn behind_closing<'a>(mut rest: &'a str, name: &str) -> &'a str {
    while let Some(open) = memmem::find(rest.as_bytes(), b"</") {
        rest = &rest[open + 2..];
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return memchr::memchr(b'>', rest.as_bytes()).map_or("", |end| &rest[end + 1..]);
        }
    }
    ""
}

/// Appends text between tags: each run of white space as one space.
fn push_words(text: &mut String, between: &str) {
    let mut rest = between;
    while let Some(next) = rest.chars().next() {
        if next.is_ascii_whitespace() {
            if !text.is_empty() && !text.ends_with([' ', '\n']) {
                text.push(' ');
            }
            rest = rest.trim_start_matches(|it: char| it.is_ascii_whitespace());
            continue;
        }
        if next == '&'
            && let Some((entity, length)) = entity(rest)
        {
            text.push_str(&entity);
            rest = &rest[length..];
            continue;
        }
        text.push(next);
        rest = &rest[next.len_utf8()..];
    }
}

/// The character of an entity, and the length of its name.
fn entity(from: &str) -> Option<(String, usize)> {
    const LONGEST: usize = 12;
    let end = from.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let name = from.get(1..end)?;
    let text = match name.strip_prefix('#') {
        Some(number) => {
            let number = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(number)?.to_string()
        }
        None => ENTITIES.iter().find(|(known, _)| *known == name)?.1.to_owned(),
    };
    Some((text, end + 1))
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn a_page_is_what_is_read_of_it() {
        let page = "<!DOCTYPE html><html><head><title>新闻</title><style>p { a: '<b>' }</style>\n\
            <SCRIPT>if (a < b) document.write('</p>')</script></head><body><!-- no -- text -->\n\
            <p class='a>'>第一段，<b>重</b>要&nbsp;&amp; 1 < 2&#12290;</p>\n<p>第二段<br/>第三行 &unknown;</p></body>";
        assert_eq!(text(page), "新闻\n第一段，重要 & 1 < 2。\n第二段\n第三行 &unknown;");
        for odd in ["", "<", "</", "<p", "a<b", "<script>x", "<!--", "&#x110000;", "&;", "中&"] {
            let _ = text(odd);
        }
        assert_eq!(text("a &lt;b&gt; c"), "a <b> c");
        assert_eq!(text("前文<svg class=\"i\"/>正文<svg><p>x</p></svg>尾"), "前文\n正文\n尾");
        assert_eq!(text("<p title = \"a>b\" id='>'>正文"), "正文");
        // A quote that stays open.
        assert_eq!(text("<a href=\"x>正文</a>。"), "正文。");
    }
}
