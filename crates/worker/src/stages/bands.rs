//! Band keys to what is shared: of most corpora more than nine in ten keys stand alone, and go no further.

use super::{Records, each_record, packed, part_of, part_of_place, unexpected};
use crate::blob::{entries, pack_entries};
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use ahash::{AHashMap, AHashSet};
use std::io::Write;
use std::sync::Arc;

/// Entries of buckets, sorted.
struct Entries {
    places: Vec<u8>,
    /// A bucket, and where a place begins and how long it is.
    all: Vec<(u64, usize, usize)>,
    asked: AHashSet<u64>,
}

impl Entries {
    fn read(context: &Context, input: Input, stage: &str) -> Result<Self, Failure> {
        let recipe = &context.recipe;
        let (mut places, mut all) = (Vec::new(), Vec::new());
        let mut asked = AHashSet::new();
        input.rows(|row| match row.kind.as_str() {
            "key" => entries(packed(&row)?, recipe, |bucket, place| {
                all.push((bucket, places.len(), place.len()));
                places.extend_from_slice(place);
            }),
            "ask" if stage == "asked" => each_record(&row, recipe, |[bucket]| {
                asked.insert(super::number(bucket)?);
                Ok(())
            }),
            _ => Err(unexpected(&row, stage)),
        })?;
        let mut own = Self { places, all: Vec::new(), asked };
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| own.place(a).cmp(own.place(b))));
        own.all = all;
        Ok(own)
    }

    fn place(&self, &(_, start, len): &(u64, usize, usize)) -> &[u8] {
        &self.places[start..start + len]
    }

    /// Writes the entries of some of the buckets.
    fn write<W: Write>(
        &self,
        context: &Context,
        is_wanted: impl Fn(&[(u64, usize, usize)]) -> bool,
        output: &mut Output<W>,
    ) -> Result<(), Failure> {
        let runs = self.all.chunk_by(|a, b| a.0 == b.0).filter(|run| is_wanted(run));
        let mut shared: Vec<(&[u8], u64)> =
            runs.flatten().map(|entry| (self.place(entry), entry.0)).collect();
        shared.sort_unstable();
        let mut out = Records::new("shared", context.parts);
        for run in shared.chunk_by(|a, b| a.0 == b.0) {
            let buckets: Vec<u8> = run.iter().flat_map(|entry| entry.1.to_le_bytes()).collect();
            let part = part_of_place(run[0].0, context.parts);
            out.put(part, &[run[0].0, &buckets], &context.recipe, output)?;
        }
        out.flush(output)?;
        output.count("entries", self.all.len() as u64)?;
        output.count("shared", shared.len() as u64)
    }
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
    let own = Entries::read(context, input, "bands")?;
    own.write(context, |run| own.place(&run[0]) != own.place(&run[run.len() - 1]), output)
}

/// See the [table](super).
///
/// # Errors
/// Those of the streams.
pub fn asked<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let own = Entries::read(context, input, "asked")?;
    own.write(context, |run| own.asked.contains(&run[0].0), output)
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
