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

/// Answers rows of kind `want`; those of other documents are for others to answer. Without them, documents come with the parts that ask.
///
/// # Errors
/// Those of the streams.
pub fn answer<W: Write>(
    context: &Arc<Context>,
    wants: Option<Input>,
    documents: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let recipe = &context.recipe;
    let (mut asking, is_asked) = (AHashMap::<u64, Vec<i32>>::new(), wants.is_some());
    if let Some(wants) = wants {
        wants.rows(|row| match row.kind.as_str() {
            "want" => positions(packed(&row)?, recipe, |pos| {
                asking.entry(pos).or_default().push(row.part);
            }),
            _ => Err(unexpected(&row, "answer")),
        })?;
        if asking.is_empty() {
            return Ok(());
        }
    }
    let (mut found, mut bytes) = (BTreeMap::<i32, Vec<(u64, String)>>::new(), 0);
    let mut write = |found: &mut BTreeMap<i32, Vec<(u64, String)>>| {
        let mut found = std::mem::take(found).into_iter();
        found.try_for_each(|(part, texts)| output.blob("text", part, pack_texts(&texts, recipe)))
    };
    documents.documents(|document| {
        let Some(text) = document.text else { return Ok(()) };
        let pos = document.pos.cast_unsigned();
        let own = document.part.as_slice();
        let parts = if is_asked { asking.get(&pos).map_or(&[][..], Vec::as_slice) } else { own };
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
