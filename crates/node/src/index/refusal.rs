//! Why a file was not opened, and what to do.

use crate::error::Failure;
use simhash_dedup::DedupError;
use simhash_index::IndexError;
use simhash_store::{FileError, head};
use std::io::ErrorKind;

/// A refusal of the core that opened a file.
pub(super) fn opening(error: DedupError) -> Failure {
    match error {
        DedupError::Index(IndexError::File(error)) => refusal(error),
        other => other.into(),
    }
}

/// The error, and what to do.
pub(super) fn refusal(error: FileError) -> Failure {
    let advice = advice(&error);
    let failure = Failure::from(error);
    if advice.is_empty() { failure } else { failure.advised(&advice) }
}

fn advice(error: &FileError) -> String {
    match error {
        FileError::Read { source, .. } if source.kind() == ErrorKind::NotFound => {
            "save() of an index writes such a file; a new index is made by new Index()".to_owned()
        }
        // A reason that says what to do has it behind a semicolon.
        FileError::Damaged { reason, .. } if !reason.contains(';') => {
            "open a copy of it, or build the index again from its documents".to_owned()
        }
        FileError::Mismatch {
            option:
                option @ ("method" | "keys" | "onSameKey" | "texts" | "verify" | "window" | "plan"),
            ..
        } => {
            format!("leave {option} out: the file has it; or build the index again with another")
        }
        FileError::Mismatch { option: head::SPECIFICATION, .. } => {
            "open it with the release that saved it, or build the index again from its documents"
                .to_owned()
        }
        FileError::Mismatch { .. } => {
            "open it with what it was saved with, or build the index again with another".to_owned()
        }
        _ => String::new(),
    }
}
