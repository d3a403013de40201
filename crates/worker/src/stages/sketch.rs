//! Documents to their hashes and band keys: the only stage that sees every text.

use super::places::Arena;
use super::{Records, part_of, part_of_place};
use crate::blob::{pack_entries, pack_outlines};
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use simhash_sketch::{Folded, Scratch};
use std::io::Write;
use std::sync::Arc;

/// Entries that are gathered before they are written: 16 bytes each, and their places.
const ENTRIES: usize = 2 << 20;

/// Entries of buckets and outlines on their way, by part.
struct Keys {
    /// A bucket, and the number of a place.
    parts: Vec<Vec<(u64, u32)>>,
    /// By the part of a place, its number too.
    outlines: Vec<Vec<(u32, Folded)>>,
    places: Arena,
    entries: usize,
}

impl Keys {
    fn flush<W: Write>(
        &mut self,
        context: &Context,
        output: &mut Output<W>,
    ) -> Result<(), Failure> {
        let place = |number: u32| self.places.get(number);
        for (part, entries) in (0..).zip(&mut self.parts) {
            if !entries.is_empty() {
                output.blob("key", part, pack_entries(entries, place, &context.recipe))?;
                entries.clear();
            }
        }
        for (part, outlines) in (0..).zip(&mut self.outlines) {
            if !outlines.is_empty() {
                let outlines = std::mem::take(outlines);
                let outlines = outlines.iter().map(|one| (place(one.0), one.1));
                output.blob("outline", part, pack_outlines(outlines, &context.recipe))?;
            }
        }
        self.places.clear();
        self.entries = 0;
        Ok(())
    }
}

/// See the [table](super).
///
/// # Errors
/// Those of the streams.
pub fn sketch<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (recipe, parts) = (&context.recipe, context.parts);
    let (mut scratch, mut place) = (Scratch::default(), Vec::new());
    let mut exact = Records::new("exact", parts);
    let mut keys = Keys {
        parts: vec![Vec::new(); parts as usize],
        outlines: vec![Vec::new(); parts as usize],
        places: Arena::default(),
        entries: 0,
    };
    let [mut documents, mut rejected, mut empty, mut short] = [0u64; 4];
    let most = ENTRIES.min((context.memory / 64) as usize);
    input.documents(|document| {
        let Some(text) = document.text else {
            rejected += 1;
            return Ok(());
        };
        documents += 1;
        let sketched = recipe.rules().sketch(text, &mut scratch);
        short += u64::from(sketched.is_short);
        let Some(hash) = sketched.exact else {
            empty += 1;
            return Ok(());
        };
        place.clear();
        let pos = document.pos.cast_unsigned();
        recipe.rules().place(text, &document.key, pos, &sketched, &mut place);
        let part = part_of((hash >> 64) as u64, parts);
        exact.put(part, &[&hash.to_be_bytes(), &place], recipe, output)?;
        let number = keys.places.push(&place);
        for &bucket in &sketched.buckets {
            keys.parts[part_of(bucket, parts) as usize].push((bucket, number));
        }
        if let Some(outline) = sketched.outline.filter(|_| !sketched.buckets.is_empty()) {
            keys.outlines[part_of_place(&place, parts) as usize].push((number, outline));
        }
        keys.entries += sketched.buckets.len();
        if keys.entries >= most { keys.flush(context, output) } else { Ok(()) }
    })?;
    keys.flush(context, output)?;
    exact.flush(output)?;
    let counts =
        [("documents", documents), ("rejected", rejected), ("empty", empty), ("short", short)];
    counts.iter().try_for_each(|&(name, count)| output.count(name, count))
}
