//! How inputs are read, as far as they do not say it themselves.

use crate::encoding::Encoding;
use crate::error::CorpusError;
use crate::field::Fields;
use crate::format::Format;

/// Longest record that can be one, in bytes: 64 MiB. A longer one is rejected.
pub const MAX_RECORD_BYTES: usize = 64 << 20;

/// How inputs are read.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// What their records are. Default `None`: by the name of each file ([`Format::of`]), else by its first character, else `otherwise`.
    pub format: Option<Format>,
    /// The format of an input that does not say it. Default: JSON lines.
    pub otherwise: Format,
    /// How characters are written. Default `None`: found, once for each input.
    pub encoding: Option<Encoding>,
    /// Of CSV and TSV: whether the first row names the columns. Default true. False: columns have numbers, from 1.
    pub header: bool,
    /// Between the fields of CSV: a sign of ASCII that is no letter, no digit, no quote and no end of a line. Default `None`: a comma.
    pub delimiter: Option<u8>,
    /// Longest record in bytes, 1 to 2^30. Default [`MAX_RECORD_BYTES`].
    pub max_record: usize,
    /// A text ends where the first of these begins. Default: none.
    pub cut_after: Vec<String>,
}

impl Default for Form {
    fn default() -> Self {
        Self {
            format: None,
            otherwise: Format::JsonLines,
            encoding: None,
            header: true,
            delimiter: None,
            max_record: MAX_RECORD_BYTES,
            cut_after: Vec::new(),
        }
    }
}

impl Form {
    /// JSON lines in UTF-8, whatever the name: labels and results.
    pub fn json_lines() -> Self {
        Self { format: Some(Format::JsonLines), encoding: Some(Encoding::UTF_8), ..Self::default() }
    }

    /// # Errors
    /// [`CorpusError::Option`] for a value outside its range.
    pub fn check(&self) -> Result<(), CorpusError> {
        let refuse =
            |argument, value, expected| Err(CorpusError::Option { argument, value, expected });
        if let Some(delimiter) = self.delimiter
            && (!delimiter.is_ascii()
                || delimiter.is_ascii_alphanumeric()
                || b"\"\r\n\0".contains(&delimiter))
        {
            let value = format!("{:?}", char::from(delimiter));
            let expected = "one sign of ASCII, no letter, digit, double quote or end of a line";
            return refuse("delimiter", value, expected);
        }
        if !(1..=1 << 30).contains(&self.max_record) {
            let value = self.max_record.to_string();
            return refuse("max_record", value, "1 to 1073741824 bytes");
        }
        if self.cut_after.iter().any(String::is_empty) {
            return refuse("cut_after", "\"\"".into(), "texts that are not empty");
        }
        Ok(())
    }

    /// The options that are given and say nothing about records of this format: each with what it is for.
    pub(crate) fn unused(
        &self,
        fields: &Fields,
        format: Format,
    ) -> impl Iterator<Item = (&'static str, &'static str)> {
        let is_csv = format == Format::Csv;
        let is_table = matches!(format, Format::Csv | Format::Tsv);
        let is_text = matches!(format, Format::Lines | Format::Files);
        let usual = Fields::default();
        let has_text_field = !fields.text_paths().eq(usual.text_paths());
        let of_csv = match format {
            Format::Tsv => {
                "left out: TSV has tabs between its fields; name the format csv for another sign"
            }
            _ => "left out: only CSV has one; if these are rows of CSV, name that format",
        };
        let no_fields = "left out: lines and files of text have no fields; if they hold JSON or rows, name that format";
        [
            (
                !self.header && !is_table,
                "header",
                "left out: only CSV and TSV have one; if these are such rows, name that format",
            ),
            // Of TSV it is a tab: to say so is no mistake.
            (
                !is_csv
                    && self.delimiter.is_some_and(|sign| format != Format::Tsv || sign != b'\t'),
                "delimiter",
                of_csv,
            ),
            (
                self.encoding.is_some() && format.is_columnar(),
                "encoding",
                "left out: Parquet and Arrow say themselves how characters are written",
            ),
            (has_text_field && is_text, "text_field", no_fields),
            (fields.id_path() != usual.id_path() && is_text, "id_field", no_fields),
            (
                fields.key_path().is_some() && is_text,
                "keep",
                "left out, or be first, last or longest: lines and files of text have no field to compare",
            ),
        ]
        .into_iter()
        .filter_map(|(unused, argument, expected)| unused.then_some((argument, expected)))
    }

    /// Between the fields of rows.
    pub(crate) fn between(&self, format: Format) -> u8 {
        match format {
            Format::Tsv => b'\t',
            _ => self.delimiter.unwrap_or(b','),
        }
    }
}
