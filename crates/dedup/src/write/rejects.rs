//! The rejects file: what every run over files writes of a line that is no record.

use super::{Output, Target};
use crate::error::DedupError;
use crate::read::{Block, Line};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Writes rejects, where they are wanted.
#[derive(Default)]
pub(crate) struct Rejects<'a> {
    output: Option<Output<'a>>,
    /// Of the inputs.
    names: Vec<PathBuf>,
}

impl<'a> Rejects<'a> {
    /// Opens the output; who waits for a reader looks at `cancel`.
    pub(crate) fn open(
        target: Option<&'a Target>,
        names: Vec<PathBuf>,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DedupError> {
        let output = target.map(|target| Output::open(target, cancel)).transpose()?;
        Ok(Self { output, names })
    }

    /// A line that is no record.
    pub(crate) fn write(
        &mut self,
        block: &Block,
        line: &Line,
        reason: &str,
    ) -> Result<(), DedupError> {
        let Some(output) = &mut self.output else { return Ok(()) };
        let bytes = block.bytes_of(line);
        let file = self.names[block.input as usize].display().to_string();
        let mut reject = json!({ "file": file, "line": line.number, "reason": reason });
        match std::str::from_utf8(bytes) {
            Ok(raw) => reject["raw"] = raw.into(),
            Err(_) => reject["rawBase64"] = BASE64_STANDARD.encode(bytes).into(),
        }
        output.write(reject.to_string().as_bytes())?;
        output.write(b"\n")
    }

    /// The open file, to be sealed and moved into place.
    pub(crate) fn into_output(self) -> Option<Output<'a>> {
        self.output
    }
}
