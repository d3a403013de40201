//! HTML to text: tags out, references decoded, block elements on lines of their own.
//!
//! A tokenizer in one pass over the bytes, forgiving in the way of the WHATWG standard but with one preference of its own:
//! **text is never lost to broken markup**. A `<` that begins nothing stays; a tag, comment, script or title that never ends
//! takes only its opening with it, not the rest of the document. Content of script and style elements, comments, doctypes and
//! processing instructions go; a CDATA section is read like any other text (feeds hide HTML in it).
//!
//! References are decoded after the tags are gone, so `&lt;br&gt;` is text. Doubly escaped text (`&amp;lt;`, common in feeds)
//! is decoded down to the last level. Both could make the result look like markup once more, and a second pass would then
//! eat it. Hence the invariant that makes the step idempotent: **its result holds no `<` that could open markup and no `&`
//! that begins a reference**: those single signs are dropped ([`neutralize`]). `&lt;br&gt;` becomes `br>`: the words stay.
//!
//! Linear on any input: a failed tag is not tried again inside the span it failed on, and an end that was searched for in
//! vain (`-->`, a quote, `</script`) is remembered as absent.

mod entity;
mod tag;

use super::scan::Class;
use tag::{Kind, Quotes, RAW};

const MARKUP: Class = Class::of(b"<&]");
const SIGNS: Class = Class::of(b"<&");
const OPEN: Class = Class::of(b"<");

/// Writes the text of the HTML in `text` to `out`; false, and `out` undefined, if it holds none.
pub(super) fn apply(text: &str, out: &mut String) -> bool {
    if SIGNS.next(text.as_bytes(), 0) == text.len() {
        return false;
    }
    out.clear();
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        out,
        literal_until: 0,
        in_cdata: false,
        quotes: Quotes::default(),
        no_comment_end: false,
        no_angle: false,
        no_end_tag: [false; RAW.len()],
    };
    reader.run();
    if let Some(neutral) = neutral(out) {
        *out = neutral;
    }
    text != out.as_str()
}

/// Drops each `<` that could open markup and each `&` that begins a reference; false, and `out` undefined, if there are
/// none. Text that has been through [`apply`] once needs no more than this.
pub(super) fn neutralize(text: &str, out: &mut String) -> bool {
    neutral(text).is_some_and(|neutral| {
        *out = neutral;
        true
    })
}

fn neutral(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut at = SIGNS.next(bytes, 0);
    while at < bytes.len() && !is_active(bytes[at], &bytes[at + 1..]) {
        at = SIGNS.next(bytes, at + 1);
    }
    if at == bytes.len() {
        return None;
    }
    // From the end, so that each sign is judged by what remains behind it: dropping one cannot arm another.
    let mut kept = bytes.to_vec();
    let mut start = kept.len();
    for &byte in bytes.iter().rev() {
        if !is_active(byte, &kept[start..]) {
            start -= 1;
            kept[start] = byte;
        }
    }
    kept.drain(..start);
    Some(String::from_utf8_lossy(&kept).into_owned())
}

fn is_active(sign: u8, tail: &[u8]) -> bool {
    match sign {
        b'<' => tag::opens(tail),
        b'&' => entity::decode(tail).is_some(),
        _ => false,
    }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    out: &'a mut String,
    /// No `<` before this byte opens anything: the span of a broken tag, the content of a title.
    literal_until: usize,
    in_cdata: bool,
    quotes: Quotes,
    /// Ends that are known not to occur in the rest of the text.
    no_comment_end: bool,
    no_angle: bool,
    no_end_tag: [bool; RAW.len()],
}

impl Reader<'_> {
    fn run(&mut self) {
        let mut at = 0;
        loop {
            let next = MARKUP.next(self.bytes, at);
            self.out.push_str(&self.text[at..next]);
            at = match self.bytes.get(next) {
                None => return,
                Some(b'<') => self.angle(next),
                Some(b'&') => self.reference(next),
                Some(_) => self.bracket(next),
            };
        }
    }

    /// Reads the reference at `at`, through every level of escaping; where to go on.
    fn reference(&mut self, mut at: usize) -> usize {
        at += 1;
        let mut found = '&';
        while found == '&'
            && let Some((character, len)) = entity::decode(&self.bytes[at..])
        {
            found = character;
            at += len;
        }
        self.out.push(found);
        at
    }

    /// Reads what may be the end of a CDATA section.
    fn bracket(&mut self, at: usize) -> usize {
        if self.in_cdata && self.bytes[at..].starts_with(b"]]>") {
            self.in_cdata = false;
            return at + 3;
        }
        self.out.push(']');
        at + 1
    }

    /// Reads what begins with `<`.
    fn angle(&mut self, at: usize) -> usize {
        let tail = &self.bytes[at + 1..];
        if at < self.literal_until || !tag::opens(tail) {
            self.out.push('<');
            return at + 1;
        }
        match tail[0] {
            b'!' if tail.starts_with(b"!--") => self.comment(at),
            b'!' if tail.starts_with(b"![CDATA[") => {
                self.in_cdata = true;
                at + "<![CDATA[".len()
            }
            b'!' | b'?' => self.declaration(at),
            b'/' => self.tag(at + 2, true),
            _ => self.tag(at + 1, false),
        }
    }

    /// Skips a comment; one without an end loses only its opening.
    fn comment(&mut self, at: usize) -> usize {
        // `<!-->` is a whole comment: the end may share the dashes of the opening.
        let from = at + 2;
        if !self.no_comment_end {
            if let Some(end) = self.bytes[from..].windows(3).position(|three| three == b"-->") {
                return from + end + 3;
            }
            self.no_comment_end = true;
        }
        at + 4
    }

    /// Skips a doctype or processing instruction.
    fn declaration(&mut self, at: usize) -> usize {
        if !self.no_angle {
            if let Some(end) = self.bytes[at..].iter().position(|&byte| byte == b'>') {
                return at + end + 1;
            }
            self.no_angle = true;
        }
        at + 1
    }

    /// Reads the tag whose name begins at `at`.
    fn tag(&mut self, at: usize, closing: bool) -> usize {
        let end = match tag::end(self.bytes, at, &mut self.quotes) {
            Ok(end) => end,
            Err(broken) => {
                self.literal_until = broken;
                return at;
            }
        };
        let (kind, raw) = tag::kind(tag::name(&self.bytes[at..end]));
        if matches!(kind, Kind::Block | Kind::Literal) {
            self.line();
        }
        let Some(raw) = raw.filter(|_| !closing) else { return end };
        match self.end_tag(raw, end) {
            Some(close) if kind == Kind::Skipped => {
                self.line();
                close
            }
            Some(close) => {
                self.literal_until = close;
                end
            }
            None => end,
        }
    }

    /// Where the end tag of the raw element starts.
    fn end_tag(&mut self, raw: usize, from: usize) -> Option<usize> {
        if self.no_end_tag[raw] {
            return None;
        }
        let name = RAW[raw].0.as_bytes();
        let mut at = from;
        loop {
            at = OPEN.next(self.bytes, at);
            let tail = self.bytes.get(at + 1..).unwrap_or_default();
            if tail.is_empty() {
                self.no_end_tag[raw] = true;
                return None;
            }
            if tail[0] == b'/' && tag::name(&tail[1..]).eq_ignore_ascii_case(name) {
                return Some(at);
            }
            at += 1;
        }
    }

    /// A new line, unless the text stands at the beginning of one.
    fn line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }
}
