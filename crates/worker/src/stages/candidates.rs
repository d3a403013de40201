//! Buckets to who sees whom there.

use super::entries::{Entries, buckets};
use super::places::permuted;
use super::sights::Sights;
use super::{Records, packed, unexpected};
use crate::blob::entries;
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use std::io::Write;
use std::sync::Arc;

/// See the [table](super).
///
/// # Errors
/// Those of the streams.
pub fn pairs<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (recipe, rules) = (&context.recipe, context.recipe.rules());
    let (mut own, mut outlines) = (Entries::default(), Vec::new());
    input.rows(|mut row| match row.kind.as_str() {
        "outline" => {
            packed(&row)?;
            outlines.extend(row.blob.take());
            Ok(())
        }
        "bucket" => entries(packed(&row)?, recipe, |bucket, place| own.push(bucket, place)),
        "count" => output.row(row),
        _ => Err(unexpected(&row, "pairs")),
    })?;
    let known = own.outlines(outlines, context)?;
    let (places, entries, sorted) = own.sorted();
    places.positions(recipe)?;
    let known = permuted(known, &sorted);
    let outline = |text: u32| known.get(text as usize)?.as_ref();
    let is_excluded = |text: u32, other: u32| {
        let both = outline(text).zip(outline(other));
        both.is_some_and(|(own, other)| !rules.may_match_folded(own, other))
    };
    let mut sights = Sights::new("sight", &places, context);
    let mut full = Records::new("full", 1);
    for (bucket, texts) in buckets(&entries) {
        if rules.is_full(texts.len()) {
            for &text in &texts {
                full.put(0, &[&bucket.to_le_bytes(), places.get(text)], recipe, output)?;
            }
        } else {
            let mut put = Ok(());
            rules.sights(
                bucket,
                &texts,
                |text| places.get(text),
                |text, others, full| {
                    if put.is_ok() {
                        let is_excluded = |other| is_excluded(text, other);
                        put = sights.put((text, others), (full, &is_excluded), recipe, output);
                    }
                },
            );
            put?;
        }
    }
    full.flush(output)?;
    sights.flush(recipe, output)
}
