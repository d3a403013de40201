//! Band keys to what is shared: of most corpora more than nine in ten keys stand alone, and go no further.

use super::entries::{Entries, Filter};
use super::{Numbers, Records, each_record, packed, part_of, part_of_place, unexpected};
use crate::blob::{buckets, buckets_of, entries, pack_buckets, pack_entries};
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use ahash::AHashSet;
use std::io::Write;
use std::sync::Arc;

/// Bytes of a packed entry, about: a difference, and a place without what all begin with.
const ENTRY: usize = 6;

/// Writes some of the entries, those of a text together.
fn write_shared<W: Write>(
    mut shared: Vec<(u64, u32)>,
    places: &Numbers,
    context: &Context,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    shared.sort_unstable_by_key(|&(bucket, text)| (text, bucket));
    let mut out = Records::new("shared", context.parts);
    for run in shared.chunk_by(|a, b| a.1 == b.1) {
        let buckets = pack_buckets(run.iter().map(|entry| entry.0), &context.recipe);
        let place = places.get(run[0].1);
        let part = part_of_place(place, context.parts);
        out.put(part, &[place, &buckets], &context.recipe, output)?;
    }
    out.flush(output)?;
    output.count("shared", shared.len() as u64)
}

/// See the [table](super). Of keys that stand alone nothing is sorted.
///
/// # Errors
/// Those of the streams.
pub fn bands<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let recipe = &context.recipe;
    let (mut cells, mut count) = (Vec::new(), 0);
    input.rows(|row| {
        if row.kind != "key" {
            return Err(unexpected(&row, "bands"));
        }
        count += packed(&row)?.len() / ENTRY;
        cells.extend(row.blob);
        Ok(())
    })?;
    let (mut filter, mut count) = (Filter::new(count, context.parts), 0);
    for cell in &cells {
        buckets(cell, recipe, |bucket| {
            count += 1;
            filter.see(bucket);
        })?;
    }
    output.count("entries", count)?;
    let mut own = Entries::default();
    for cell in cells {
        entries(&cell, recipe, |bucket, place| {
            if filter.has_several(bucket) {
                own.push(bucket, place);
            }
        })?;
    }
    let runs = own.by_bucket().chunk_by(|a, b| a.0 == b.0);
    let shared = runs.filter(|run| run[0].1 != run[run.len() - 1].1).flatten().copied().collect();
    write_shared(shared, &own.places, context, output)
}

/// See the [table](super). It finds what was asked for wherever the keys are, so they need not come together again.
///
/// # Errors
/// Those of the streams; keys that come before what was asked for.
pub fn asked<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let recipe = &context.recipe;
    let (mut own, mut asked, mut has_keys) = (Entries::default(), AHashSet::new(), false);
    input.rows(|row| match row.kind.as_str() {
        "key" => {
            has_keys = true;
            entries(packed(&row)?, recipe, |bucket, place| {
                if asked.contains(&bucket) {
                    own.push(bucket, place);
                }
            })
        }
        "ask" if has_keys => {
            Err(Failure("stage asked needs the rows of kind ask before those of kind key".into()))
        }
        "ask" => each_record(&row, recipe, |[bucket]| {
            asked.insert(super::number(bucket)?);
            Ok(())
        }),
        _ => Err(unexpected(&row, "asked")),
    })?;
    write_shared(own.by_bucket().to_vec(), &own.places, context, output)
}

/// See the [table](super). A copy has the keys of the first document of its text, which is in the same buckets: it goes.
///
/// # Errors
/// Those of the streams.
pub fn texts<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let recipe = &context.recipe;
    let mut copies = AHashSet::new();
    let (mut places, mut shared) = (Numbers::default(), Vec::new());
    input.rows(|row| match row.kind.as_str() {
        "copy" => each_record(&row, recipe, |[place, _]| {
            copies.insert(places.of(place));
            Ok(())
        }),
        "shared" => each_record(&row, recipe, |[place, buckets]| {
            let number = places.of(place);
            buckets_of(buckets, recipe, |bucket| shared.push((bucket, number)))
        }),
        _ => Err(unexpected(&row, "texts")),
    })?;
    let mut parts: Vec<Vec<(u64, u32)>> = vec![Vec::new(); context.parts as usize];
    for (bucket, number) in shared.into_iter().filter(|one| !copies.contains(&one.1)) {
        parts[part_of(bucket, context.parts) as usize].push((bucket, number));
    }
    for (part, entries) in (0..).zip(&mut parts) {
        if !entries.is_empty() {
            let packed = pack_entries(entries, |number| places.get(number), recipe);
            output.blob("bucket", part, packed)?;
        }
    }
    Ok(())
}
