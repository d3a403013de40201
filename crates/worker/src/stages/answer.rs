//! Documents of files to the texts that others asked for: what an engine does by a join.

use super::unexpected;
use crate::rows::{Input, Output, Row};
use crate::{Context, Failure};
use ahash::AHashMap;
use std::io::Write;
use std::sync::Arc;

/// Answers rows of kind `want`; those of other documents are for others to answer.
///
/// # Errors
/// Those of the streams.
pub fn answer<W: Write>(
    _: &Arc<Context>,
    wants: Input,
    documents: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let mut parts: AHashMap<i64, Vec<i32>> = AHashMap::new();
    wants.rows(|row| match (row.kind.as_str(), row.pos) {
        ("want", Some(pos)) => {
            parts.entry(pos).or_default().push(row.part);
            Ok(())
        }
        _ => Err(unexpected(&row, "answer")),
    })?;
    if parts.is_empty() {
        return Ok(());
    }
    documents.documents(|document| {
        let (Some(parts), Some(text)) = (parts.get(&document.pos), document.text) else {
            return Ok(());
        };
        for &part in parts {
            let (pos, blob) = (Some(document.pos), Some(text.as_bytes().to_vec()));
            output.row(Row { kind: "text".into(), part, pos, blob, ..Row::default() })?;
        }
        Ok(())
    })
}
