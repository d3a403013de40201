//! Lines of what documents are known by.

use simhash_sketch::MethodSketch;
use std::fmt::Write as _;

/// Characters of the text that a line for people shows.
const PREVIEW: usize = 40;

/// Appends the line of a document as JSON. `exact` is the hash of the normalised text, where that is asked for.
pub(crate) fn sketch_json(text: &mut String, id: &str, sketch: &MethodSketch, exact: Option<u128>) {
    let _ = write!(text, r#"{{"id":{id}"#);
    let start = text.len();
    text.push_str(r#","fingerprint":""#);
    if hexadecimal(text, sketch, exact) {
        text.push('"');
    } else {
        text.truncate(start);
    }
    text.push_str("}\n");
}

/// Appends the line of a document for people: id, what it is known by, the beginning of its text.
pub(crate) fn sketch_line(
    text: &mut String,
    id: &str,
    sketch: &MethodSketch,
    exact: Option<u128>,
    given: &str,
) {
    match serde_json::from_str::<String>(id) {
        Ok(id) => one_line(text, &id, usize::MAX),
        // A number, or a string that is no Unicode.
        Err(_) => one_line(text, id, usize::MAX),
    }
    text.push('\t');
    if !hexadecimal(text, sketch, exact) {
        text.push('-');
    }
    text.push('\t');
    one_line(text, given.trim_start_matches(is_gap), PREVIEW);
    text.push('\n');
}

/// Appends a sketch in hexadecimal, if there is one.
fn hexadecimal(text: &mut String, sketch: &MethodSketch, exact: Option<u128>) -> bool {
    // Writing to a string cannot fail.
    let mut hash = |hash: &u64| {
        let _ = write!(text, "{hash:016x}");
    };
    match (sketch, exact) {
        (_, Some(exact)) => {
            let _ = write!(text, "{exact:032x}");
        }
        (MethodSketch::None, None) => return false,
        (MethodSketch::Fingerprint(value), _) => hash(value),
        (MethodSketch::Sentences(hashes) | MethodSketch::Set(hashes), _) => {
            hashes.iter().for_each(hash);
        }
        (MethodSketch::Signature { positions, .. }, _) => {
            for position in positions {
                let _ = write!(text, "{position:08x}");
            }
        }
    }
    true
}

/// Appends the beginning of a text, so many characters: each run of white space and control characters as one space, none at the
/// end of the text.
fn one_line(line: &mut String, text: &str, most: usize) {
    let mut rest = text.trim_end_matches(is_gap);
    for _ in 0..most {
        let Some(next) = rest.chars().next() else { return };
        if is_gap(next) {
            line.push(' ');
            rest = rest.trim_start_matches(is_gap);
        } else {
            line.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
}

fn is_gap(character: char) -> bool {
    character.is_whitespace() || character.is_control() || character == '\u{feff}'
}
