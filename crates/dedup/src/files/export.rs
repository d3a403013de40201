//! The documents of a saved index, written down: number, id, and what the index knows each by.

use super::saved_index::SavedIndex;
use crate::error::DedupError;
use crate::live::{Exported, LiveIndex, LiveMethod};
use crate::read::id_of_key;
use crate::write::{Output, Target};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Documents that are written at a time.
const CHUNK: usize = 4_096;

/// How documents are written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportFormat {
    /// A JSON line each: `{"id", "number", "fingerprint"}`, or in its place `"signature"` (minhash), `"sentences"`, `"hash"` (exact).
    /// Default.
    #[default]
    JsonLines,
    /// A head, then a line each, as RFC 4180 has it: `id,number,fingerprint`, or the other names.
    Csv,
}

impl SavedIndex {
    /// Writes every document, in the order in which they were added: its id (without a key, its number), its number in the index,
    /// and in hexadecimal what the index knows it by: fingerprint, signature where these are kept, hashes of its sentences, or the hash
    /// of its normalised text, which begins with `=`. Memory: that of the index, and a few thousand lines.
    ///
    /// How many there are, what killed runs had left beside the output, and the index come back.
    ///
    /// # Errors
    /// Those of [`SavedIndex::open`]; [`DedupError::Output`], [`DedupError::Cancelled`].
    pub fn export(
        &self,
        output: &Target,
        format: ExportFormat,
        cancel: &AtomicBool,
    ) -> Result<(u64, Vec<PathBuf>, LiveIndex), DedupError> {
        self.check_outside([output])?;
        let live = self.open(cancel)?;
        let mut output = Output::open(output, cancel)?;
        let mut text = String::new();
        let what = match live.options().method {
            LiveMethod::SimHash { .. } => "fingerprint",
            LiveMethod::MinHash { .. } => "signature",
            LiveMethod::Sentences { .. } => "sentences",
            LiveMethod::Exact => "hash",
        };
        if format == ExportFormat::Csv {
            let _ = write!(text, "id,number,{what}\r\n");
        }
        let (mut ids, mut count) = (live.ids(), 0);
        loop {
            crate::parallel::check(cancel)?;
            for id in ids.by_ref().take(CHUNK) {
                if let Some(known) = live.exported(id) {
                    line(&mut text, format, id, live.key_of(id).as_deref(), (what, &known));
                    count += 1;
                }
            }
            output.write(text.as_bytes())?;
            text.clear();
            if ids.is_empty() {
                break;
            }
        }
        output.seal()?;
        Ok((count, Output::commit([output])?, live))
    }
}

fn line(
    text: &mut String,
    format: ExportFormat,
    id: u64,
    key: Option<&str>,
    (what, known): (&str, &Exported),
) {
    // Writing to a string cannot fail.
    match format {
        ExportFormat::JsonLines => {
            let name = key.map_or_else(|| id.to_string().into(), id_of_key);
            let _ = write!(text, r#"{{"id":{name},"number":{id}"#);
            if *known != Exported::Nothing {
                let _ = write!(text, r#","{what}":"{known}""#);
            }
            text.push_str("}\n");
        }
        ExportFormat::Csv => {
            let name = key.map_or_else(|| id.to_string(), str::to_owned);
            if name.contains(['"', ',', '\r', '\n']) {
                let _ = write!(text, "\"{}\"", name.replace('"', "\"\""));
            } else {
                text.push_str(&name);
            }
            let _ = write!(text, ",{id},{known}\r\n");
        }
    }
}
