//! Documents of files to the texts that others asked for: what an engine does that sends positions to where the documents are.

use super::{packed, unexpected};
use crate::blob::{pack_texts, positions};
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use std::collections::BTreeMap;
use std::io::Write;
use std::slice::from_ref;
use std::sync::Arc;

/// Bytes of texts that are gathered before they are written.
const GATHERED: usize = 8 << 20;

/// Answers rows of kind `want`; those of other documents are for others to answer. Without them, documents come with the parts that ask.
/// A text goes to a part once, however often the rows ask for it.
///
/// # Errors
/// Those of the streams; without rows, documents that come without a part.
pub fn answer<W: Write>(
    context: &Arc<Context>,
    wants: Option<Input>,
    documents: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let recipe = &context.recipe;
    let (mut asking, is_asked) = (Vec::<(u64, i32)>::new(), wants.is_some());
    if let Some(wants) = wants {
        wants.rows(|row| match row.kind.as_str() {
            "want" => positions(packed(&row)?, recipe, |pos| asking.push((pos, row.part))),
            _ => Err(unexpected(&row, "answer")),
        })?;
        asking.sort_unstable();
        asking.dedup();
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
        let pos = document.pos.cast_unsigned();
        let own;
        let asking = if is_asked {
            let from = asking.partition_point(|one| one.0 < pos);
            let count = asking[from..].iter().take_while(|one| one.0 == pos).count();
            &asking[from..from + count]
        } else {
            let missing = || Failure("column part is missing: it says who asks for a text".into());
            own = (pos, document.part.ok_or_else(missing)?);
            from_ref(&own)
        };
        let Some(text) = document.text else { return Ok(()) };
        for &(_, part) in asking {
            found.entry(part).or_default().push((pos, text.to_owned()));
            bytes += text.len();
            if bytes >= GATHERED {
                bytes = 0;
                write(&mut found)?;
            }
        }
        Ok(())
    })?;
    write(&mut found)
}
