//! The formats, and how a file says which it is.

use std::fmt;
use std::path::Path;

/// What the records of an input are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A JSON object on each line. Blank lines are none.
    #[default]
    JsonLines,
    /// The objects of one JSON array.
    JsonArray,
    /// Rows of fields with commas between them, as RFC 4180 has it; the first row names the columns.
    Csv,
    /// The same with tabs.
    Tsv,
    /// A text on each line; a blank line is an empty text.
    Lines,
    /// A text in each file; of a folder in each file below it that ends in `.txt`, `.text`, `.md`, `.html` or `.htm`.
    Files,
    /// The rows of a Parquet file.
    Parquet,
    /// The rows of an Arrow file (Feather) or stream.
    Arrow,
}

impl Format {
    /// All of them, by the names that people type.
    pub const NAMES: [(&'static str, Self); 8] = [
        ("jsonl", Self::JsonLines),
        ("json", Self::JsonArray),
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("lines", Self::Lines),
        ("files", Self::Files),
        ("parquet", Self::Parquet),
        ("arrow", Self::Arrow),
    ];

    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|&(_, format)| format)
    }

    /// By the name of a file, whatever compresses it; `.json` may be lines or an array, and says nothing.
    pub fn of(name: &Path) -> Option<Self> {
        let name = name.to_string_lossy().to_ascii_lowercase();
        let packed = [".gz", ".zst", ".bz2", ".xz"];
        let name = packed.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "txt" | "text" => Some(Self::Lines),
            "parquet" => Some(Self::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Self::Arrow),
            _ => None,
        }
    }

    /// By how the content begins: JSON says what it is.
    pub(crate) fn of_content(head: &[u8]) -> Option<Self> {
        match head.iter().find(|byte| !byte.is_ascii_whitespace())? {
            b'{' => Some(Self::JsonLines),
            b'[' => Some(Self::JsonArray),
            _ => None,
        }
    }

    /// By how a file begins, of Parquet also by how it ends.
    pub(crate) fn of_table(head: &[u8], tail: &[u8]) -> Option<Self> {
        // A stream of Arrow begins with the mark of its first message.
        if head.starts_with(b"ARROW1") || head.starts_with(&[0xff; 4]) {
            return Some(Self::Arrow);
        }
        (head.starts_with(b"PAR1") && tail.ends_with(b"PAR1")).then_some(Self::Parquet)
    }

    /// Whether its records are rows of columns that are no text.
    pub fn is_columnar(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// What a record is, where its format has a place for another key.
    pub fn is_json(self) -> bool {
        matches!(self, Self::JsonLines | Self::JsonArray)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::JsonLines => "JSON lines",
            Self::JsonArray => "a JSON array",
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
            Self::Lines => "lines of text",
            Self::Files => "files of text",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_format() {
        for (name, format) in [
            ("a.jsonl", Some(Format::JsonLines)),
            ("a.NDJSON", Some(Format::JsonLines)),
            ("x/a.jsonl.gz", Some(Format::JsonLines)),
            ("a.jsonl.zst", Some(Format::JsonLines)),
            ("a.Csv.xz", Some(Format::Csv)),
            ("a.tab", Some(Format::Tsv)),
            ("a.b.txt.bz2", Some(Format::Lines)),
            ("train-00000.Parquet", Some(Format::Parquet)),
            ("a.feather", Some(Format::Arrow)),
            ("a.arrow", Some(Format::Arrow)),
            ("a.json", None),
            ("jsonl", None),
            ("-", None),
            ("a.jsonl.7z", None),
        ] {
            assert_eq!(Format::of(Path::new(name)), format, "{name}");
        }
        for (name, format) in Format::NAMES {
            assert_eq!(Format::named(name), Some(format));
        }
    }

    #[test]
    fn json_is_known_by_its_first_character() {
        assert_eq!(Format::of_content(b" \n{"), Some(Format::JsonLines));
        assert_eq!(Format::of_content(b"\t[\n"), Some(Format::JsonArray));
        assert_eq!(Format::of_content(b"id,text"), None);
        assert_eq!(Format::of_content(b""), None);
    }
}
