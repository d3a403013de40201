//! Where a tag ends, and what kind of element it names.

/// What the text around an element's tags looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Part of a line: the tag leaves no trace.
    Inline,
    /// Starts a new line.
    Block,
    /// Its content is no text (script, style): skipped.
    Skipped,
    /// Its content is text in which `<` starts no tag (title, textarea).
    Literal,
}

/// Elements whose content is skipped or literal; the index identifies them.
pub(super) const RAW: [(&str, Kind); 7] = [
    ("script", Kind::Skipped),
    ("style", Kind::Skipped),
    ("iframe", Kind::Skipped),
    ("noembed", Kind::Skipped),
    ("noframes", Kind::Skipped),
    ("title", Kind::Literal),
    ("textarea", Kind::Literal),
];

/// Elements that browsers lay out on lines of their own, table cells and list items included.
const BLOCK: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "pre",
    "section",
    "select",
    "summary",
    "table",
    "tbody",
    "td",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];

/// Whether `tail`, the bytes after a `<`, makes it the beginning of markup.
pub(super) fn opens(tail: &[u8]) -> bool {
    match tail {
        [b'!', sign, ..] => sign.is_ascii_alphabetic() || matches!(sign, b'-' | b'['),
        [b'/' | b'?', letter, ..] | [letter, ..] => letter.is_ascii_alphabetic(),
        [] => false,
    }
}

/// The element name at the beginning of `tail`.
pub(super) fn name(tail: &[u8]) -> &[u8] {
    let end = tail.iter().position(|b| b.is_ascii_whitespace() || matches!(b, b'/' | b'>' | b'<'));
    &tail[..end.unwrap_or(tail.len())]
}

/// The kind of the element, and its place in [`RAW`] if it is there.
pub(super) fn kind(name: &[u8]) -> (Kind, Option<usize>) {
    // No name in the lists is longer; hostile names are not compared at all.
    if name.len() > 10 {
        return (Kind::Inline, None);
    }
    if let Some(at) = RAW.iter().position(|(raw, _)| raw.as_bytes().eq_ignore_ascii_case(name)) {
        return (RAW[at].1, Some(at));
    }
    let block = BLOCK.iter().any(|block| block.as_bytes().eq_ignore_ascii_case(name));
    (if block { Kind::Block } else { Kind::Inline }, None)
}

/// Which kinds of quotes occur no more in the rest of the text, so that nobody looks for them again.
#[derive(Default)]
pub(super) struct Quotes {
    exhausted: [bool; 2],
}

impl Quotes {
    fn closing(&mut self, bytes: &[u8], quote: u8, from: usize) -> Option<usize> {
        let exhausted = &mut self.exhausted[usize::from(quote == b'"')];
        if *exhausted {
            return None;
        }
        let found = bytes[from..].iter().position(|&byte| byte == quote);
        *exhausted = found.is_none();
        found.map(|at| from + at)
    }
}

/// End of the tag whose name begins at `at`: just after its `>`. `Err` holds the place where it turned out to be none:
/// a `<` outside quotes, or the end of the text. A quote that is never closed is an ordinary character.
pub(super) fn end(bytes: &[u8], mut at: usize, quotes: &mut Quotes) -> Result<usize, usize> {
    let mut value = false;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'>' => return Ok(at),
            b'<' => return Err(at - 1),
            b'"' | b'\'' if value => {
                at = quotes.closing(bytes, byte, at).map_or(at, |close| close + 1);
                value = false;
            }
            b'=' => value = true,
            _ if byte.is_ascii_whitespace() => {}
            _ => value = false,
        }
    }
    Err(at)
}
