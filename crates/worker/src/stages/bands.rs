//! Band keys to what is shared: of most corpora more than nine in ten keys stand alone, and go no further.

use super::{Records, packed, part_of, part_of_place, records, unexpected};
use crate::blob::{entries, pack_entries};
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use ahash::{AHashMap, AHashSet};
use std::io::{Read, Write};
use std::sync::Arc;

/// See the [table](super).
///
/// # Errors
/// Those of the streams.
pub fn bands<R: Read, W: Write>(
    context: &Arc<Context>,
    input: Input<R>,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let recipe = &context.recipe;
    let (mut places, mut all) = (Vec::new(), Vec::<(u64, usize, usize)>::new());
    let (mut asked, mut asks) = (AHashSet::new(), false);
    input.rows(|row| match row.kind.as_str() {
        "key" => entries(packed(&row)?, recipe, |bucket, place| {
            all.push((bucket, places.len(), place.len()));
            places.extend_from_slice(place);
        }),
        "ask" => {
            asks = true;
            records(&row, recipe, |[bucket]| {
                asked.insert(super::number(bucket)?);
                Ok(())
            })
        }
        _ => Err(unexpected(&row, "bands")),
    })?;
    let place = |&(_, start, len): &(u64, usize, usize)| &places[start..start + len];
    all.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| place(a).cmp(place(b))));
    let mut shared: Vec<(&[u8], u64)> = Vec::new();
    for run in all.chunk_by(|a, b| a.0 == b.0) {
        let several = || place(&run[0]) != place(&run[run.len() - 1]);
        if if asks { asked.contains(&run[0].0) } else { several() } {
            shared.extend(run.iter().map(|entry| (place(entry), entry.0)));
        }
    }
    shared.sort_unstable();
    let mut out = Records::new("shared", context.parts);
    for run in shared.chunk_by(|a, b| a.0 == b.0) {
        let buckets: Vec<u8> = run.iter().flat_map(|entry| entry.1.to_le_bytes()).collect();
        out.put(part_of_place(run[0].0, context.parts), &[run[0].0, &buckets], recipe, output)?;
    }
    out.flush(output)?;
    output.count("entries", all.len() as u64)?;
    output.count("shared", shared.len() as u64)
}

/// See the [table](super). A copy has the keys of the first document of its text, which is in the same buckets: it goes.
///
/// # Errors
/// Those of the streams.
pub fn texts<R: Read, W: Write>(
    context: &Arc<Context>,
    input: Input<R>,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let recipe = &context.recipe;
    let mut copies = AHashSet::new();
    let mut shared: AHashMap<Vec<u8>, Vec<u8>> = AHashMap::new();
    input.rows(|row| match row.kind.as_str() {
        "copy" => records(&row, recipe, |[place, _]| {
            copies.insert(place.to_vec());
            Ok(())
        }),
        "shared" => records(&row, recipe, |[place, buckets]| {
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
    for (part, entries) in parts.iter_mut().enumerate() {
        if !entries.is_empty() {
            output.blob("bucket", part as u32, pack_entries(entries, recipe))?;
        }
    }
    Ok(())
}
