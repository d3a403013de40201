//! Full buckets: their texts go on to longer keys, all together, in one task.
//!
//! It is run until it asks for nothing more: for texts first, then once for the buckets that these may go on to. Everything that was
//! answered so far comes in again each time, so that a run depends on none before it. What it asked for comes in again, too: a text that
//! does not come is refused then, and not asked for again without end.

use super::entries::{Entries, buckets};
use super::sights::Sights;
use super::{Given, Records, Wants, each_record, packed, unexpected};
use crate::blob;
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use ahash::{AHashMap, AHashSet};
use simhash_dedup::stages::Crowd;
use simhash_sketch::{Outline, Scratch};
use std::io::Write;
use std::sync::Arc;

/// See the [table](super).
///
/// # Errors
/// Those of the streams.
pub fn crowd<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (recipe, rules) = (&context.recipe, context.recipe.rules());
    let (mut own, mut given) = (Entries::default(), Given::default());
    let (mut full, mut asked, mut wanted) = (AHashSet::new(), AHashSet::new(), Vec::new());
    input.alone("crowd").rows(|row| match row.kind.as_str() {
        "full" => each_record(&row, recipe, |[bucket, place]| {
            let bucket = super::number(bucket)?;
            full.insert(bucket);
            own.push(bucket, place);
            Ok(())
        }),
        "ask" => each_record(&row, recipe, |[bucket]| {
            asked.insert(super::number(bucket)?);
            Ok(())
        }),
        "bucket" => blob::entries(packed(&row)?, recipe, |bucket, place| own.push(bucket, place)),
        "text" => given.take(row, recipe),
        "want" => blob::positions(packed(&row)?, recipe, |pos| wanted.push(pos)),
        _ => Err(unexpected(&row, "crowd")),
    })?;
    wanted.into_iter().try_for_each(|pos| given.get(pos).map(|_| ()))?;
    let (places, entries, _) = own.sorted();
    let positions = places.positions(recipe)?;
    let mut wants = Wants::default();
    positions.iter().filter(|&&pos| !given.has(pos)).for_each(|&pos| wants.ask(0, pos));
    if !wants.is_empty() {
        return wants.write(recipe, output);
    }
    let mut known: AHashMap<u64, Vec<u32>> =
        asked.iter().map(|&bucket| (bucket, Vec::new())).collect();
    let mut crowded = Vec::new();
    for (bucket, texts) in buckets(&entries) {
        if full.contains(&bucket) {
            crowded.push((bucket, texts.clone()));
        }
        known.insert(bucket, texts);
    }
    let text = |number: u32, read: &mut dyn FnMut(&str)| {
        given.get(positions[number as usize]).map(read).is_ok()
    };
    match rules.crowd(&crowded, &known, &text)? {
        Crowd::Asks(buckets) => {
            let mut asks = Records::for_all("ask");
            for bucket in buckets {
                asks.put(0, &[&bucket.to_le_bytes()], recipe, output)?;
            }
            asks.flush(output)
        }
        Crowd::Seen(crowded) => {
            // The stage pairs has told who sees whom in these, and not in the full ones: it is taken back.
            let mut out = Sights::new("unseen", &places, context);
            for bucket in crowded.taken().iter().filter(|bucket| !full.contains(bucket)) {
                let Some(texts) = known.get(bucket) else { continue };
                let mut put = Ok(());
                let place = |text: u32| places.get(text);
                rules.sights(*bucket, texts, place, |text, others, full| {
                    if put.is_ok() {
                        put = out.put((text, others), (full, &|_| false), recipe, output);
                    }
                });
                put?;
            }
            out.flush(recipe, output)?;
            let mut scratch = Scratch::default();
            let mut outline = |&pos| Ok(rules.outline(given.get(pos)?, &mut scratch));
            let outlines =
                positions.iter().map(&mut outline).collect::<Result<Vec<Outline>, Failure>>()?;
            let mut out = Sights::new("sight", &places, context);
            crowded.sights(|text, others, full| {
                let outline = |text: u32| &outlines[text as usize];
                let is_excluded = |other| !rules.may_match(outline(text), outline(other));
                out.put((text, others), (full, &is_excluded), recipe, output)
            })?;
            out.flush(recipe, output)
        }
    }
}
