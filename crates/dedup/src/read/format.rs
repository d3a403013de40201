//! What a line of an input is.

use std::path::Path;

/// What a line of an input is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A record, a JSON object. Blank lines are none.
    #[default]
    JsonLines,
    /// A text. Invalid UTF-8 becomes U+FFFD, and a blank line is an empty text.
    Lines,
}

impl Format {
    /// By the name of a file: JSON lines where it ends in `.jsonl` or `.ndjson`, with or without `.gz`.
    pub fn of(name: &Path) -> Self {
        let name = name.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let is_json = [".jsonl", ".ndjson"].iter().any(|ending| name.ends_with(ending));
        if is_json { Self::JsonLines } else { Self::Lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_format() {
        for name in ["a.jsonl", "a.NDJSON", "x/a.jsonl.gz"] {
            assert_eq!(Format::of(Path::new(name)), Format::JsonLines, "{name}");
        }
        for name in ["-", "a.txt", "jsonl", "a.jsonl.zst", "a.json"] {
            assert_eq!(Format::of(Path::new(name)), Format::Lines, "{name}");
        }
    }
}
