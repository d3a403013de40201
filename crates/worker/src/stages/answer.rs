//! Documents of files to the texts that others asked for: what an engine does that sends positions to where the documents are.

use super::{packed, unexpected};
use crate::blob::{pack_texts, positions};
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use ahash::AHashMap;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

/// Bytes of texts that are gathered before they are written.
const GATHERED: usize = 8 << 20;

/// Answers rows of kind `want`; those of other documents are for others to answer.
///
/// # Errors
/// Those of the streams.
pub fn answer<W: Write>(
    context: &Arc<Context>,
    wants: Input,
    documents: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let recipe = &context.recipe;
    let mut parts: AHashMap<u64, Vec<u32>> = AHashMap::new();
    wants.rows(|row| match row.kind.as_str() {
        "want" => {
            let part = row.part.cast_unsigned();
            positions(packed(&row)?, recipe, |pos| parts.entry(pos).or_default().push(part))
        }
        _ => Err(unexpected(&row, "answer")),
    })?;
    if parts.is_empty() {
        return Ok(());
    }
    let (mut found, mut bytes) = (BTreeMap::<u32, Vec<(u64, String)>>::new(), 0);
    let mut write = |found: &mut BTreeMap<u32, Vec<(u64, String)>>| {
        let mut found = std::mem::take(found).into_iter();
        found.try_for_each(|(part, texts)| {
            output.blob("text", part.cast_signed(), pack_texts(&texts, recipe))
        })
    };
    documents.documents(|document| {
        let pos = document.pos.cast_unsigned();
        let (Some(parts), Some(text)) = (parts.get(&pos), document.text) else {
            return Ok(());
        };
        for &part in parts {
            found.entry(part).or_default().push((pos, text.to_owned()));
            bytes += text.len();
        }
        if bytes < GATHERED {
            return Ok(());
        }
        bytes = 0;
        write(&mut found)
    })?;
    write(&mut found)
}
