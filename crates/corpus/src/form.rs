//! How inputs are read, as far as they do not say it themselves.

use crate::encoding::Encoding;
use crate::error::CorpusError;
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
    /// Between the fields of CSV: a comma, a semicolon or a tab. Default `None`: a comma.
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
            && !b",;\t".contains(&delimiter)
        {
            let value = format!("{:?}", char::from(delimiter));
            return refuse("delimiter", value, "a comma, a semicolon or a tab");
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

    /// Between the fields of rows.
    pub(crate) fn between(&self, format: Format) -> u8 {
        match format {
            Format::Tsv => b'\t',
            _ => self.delimiter.unwrap_or(b','),
        }
    }
}
