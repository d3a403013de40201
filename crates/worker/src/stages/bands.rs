//! Band keys to what is shared: of most corpora more than nine in ten keys stand alone, and go no further.

use super::entries::{Entries, Entry};
use super::{Records, each_record, packed, part_of, part_of_place, unexpected};
use crate::blob::{entries, pack_entries};
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use ahash::{AHashMap, AHashSet};
use std::io::Write;
use std::sync::Arc;

/// Writes some of the entries, those of a text together.
fn write_shared<'a, W: Write>(
    own: &'a Entries,
    wanted: impl Iterator<Item = &'a Entry>,
    context: &Context,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let mut shared: Vec<(&[u8], u64)> =
        wanted.map(|entry| (own.place(entry), entry.bucket)).collect();
    shared.sort_unstable();
    let mut out = Records::new("shared", context.parts);
    for run in shared.chunk_by(|a, b| a.0 == b.0) {
        let buckets: Vec<u8> = run.iter().flat_map(|entry| entry.1.to_le_bytes()).collect();
        let part = part_of_place(run[0].0, context.parts);
        out.put(part, &[run[0].0, &buckets], &context.recipe, output)?;
    }
    out.flush(output)?;
    output.count("shared", shared.len() as u64)
}

/// See the [table](super).
///
/// # Errors
/// Those of the streams.
pub fn bands<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let mut own = Entries::default();
    input.rows(|row| match row.kind.as_str() {
        "key" => entries(packed(&row)?, &context.recipe, |bucket, place| own.push(bucket, place)),
        _ => Err(unexpected(&row, "bands")),
    })?;
    own.sort();
    output.count("entries", own.all().len() as u64)?;
    let runs = own.all().chunk_by(|a, b| a.bucket == b.bucket);
    let shared = runs.filter(|run| own.place(&run[0]) != own.place(&run[run.len() - 1]));
    write_shared(&own, shared.flatten(), context, output)
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
    write_shared(&own, own.all().iter(), context, output)
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
    let mut shared: AHashMap<Vec<u8>, Vec<u8>> = AHashMap::new();
    input.rows(|row| match row.kind.as_str() {
        "copy" => each_record(&row, recipe, |[place, _]| {
            copies.insert(place.to_vec());
            Ok(())
        }),
        "shared" => each_record(&row, recipe, |[place, buckets]| {
            shared.entry(place.to_vec()).or_default().extend_from_slice(buckets);
            Ok(())
        }),
        _ => Err(unexpected(&row, "texts")),
    })?;
    let mut parts: Vec<Vec<(u64, &[u8])>> = vec![Vec::new(); context.parts as usize];
    for (place, buckets) in shared.iter().filter(|(place, _)| !copies.contains(*place)) {
        for bucket in buckets.chunks(8) {
            let bucket = super::number(bucket)?;
            parts[part_of(bucket, context.parts) as usize].push((bucket, place));
        }
    }
    for (part, entries) in (0..).zip(&mut parts) {
        if !entries.is_empty() {
            output.blob("bucket", part, pack_entries(entries, recipe))?;
        }
    }
    Ok(())
}
