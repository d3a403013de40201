//! Why a file was not opened, and what to do.

use crate::error::Failure;
use simhash_dedup::DedupError;
use simhash_dedup::live::OpenOptions;
use simhash_index::IndexError;
use simhash_store::{FileError, head};
use std::io::ErrorKind;
use std::path::Path;

/// A refusal of the core that opened a file.
pub(super) fn opening(error: DedupError) -> Failure {
    match error {
        DedupError::Index(IndexError::File(error)) => refusal(error),
        other => other.into(),
    }
}

/// A refusal of the core that opened a folder, or made one.
pub(super) fn opening_at(path: &Path, how: OpenOptions, error: DedupError) -> Failure {
    let advice = if how.read_only {
        "readOnly reads an index that is there; leave it out, and one is made"
    } else {
        "save() of an index writes such a file; Index.open without create: false makes a folder"
    };
    let is_made = how.create && !how.read_only;
    if is_made || path.exists() { opening(error) } else { Failure::from(error).advised(advice) }
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
            "restore it from a snapshot, or build the index again from its documents".to_owned()
        }
        // A reason that says what to do has it behind a semicolon.
        FileError::Damaged { reason, .. } if !reason.contains(';') => {
            "open a copy of it, or build the index again from its documents".to_owned()
        }
        FileError::Mismatch { option: head::SPECIFICATION, .. } => {
            "open it with the release that saved it, or build the index again from its documents"
                .to_owned()
        }
        FileError::Mismatch { option: option @ ("dictionary" | "stopWords" | "idf"), .. } => {
            format!(
                "give the {option} that it was made with; or build the index again with another"
            )
        }
        FileError::Mismatch { option, .. } => {
            format!("leave {option} out: the index has it; or build the index again with another")
        }
        _ => String::new(),
    }
}
