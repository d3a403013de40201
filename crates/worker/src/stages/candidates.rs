//! Buckets to who sees whom there.

use super::entries::{Entries, buckets};
use super::{Places, Records, each_record, packed, unexpected};
use crate::blob::{entries, put_list};
use crate::rows::{Input, Output};
use crate::{Context, Failure, Recipe};
use ahash::AHashSet;
use std::io::Write;
use std::sync::Arc;

/// Who sees whom, on its way to the part of the later text.
pub(super) struct Sights<'p> {
    places: &'p Places,
    parts: Vec<u32>,
    records: Records,
}

impl<'p> Sights<'p> {
    pub(super) fn new(places: &'p Places, context: &Context) -> Self {
        let records = Records::new("sight", context.parts);
        Self { places, parts: places.parts(context.parts), records }
    }

    pub(super) fn put<W: Write>(
        &mut self,
        (text, others, full): (u32, &[u32], bool),
        recipe: &Recipe,
        output: &mut Output<W>,
    ) -> Result<(), Failure> {
        let (mut list, places) = (Vec::new(), self.places);
        put_list(others.iter().map(|&other| places.get(other)), &mut list);
        let fields = [places.get(text), &[u8::from(full)], &list];
        self.records.put(self.parts[text as usize], &fields, recipe, output)
    }

    pub(super) fn flush<W: Write>(&mut self, output: &mut Output<W>) -> Result<(), Failure> {
        self.records.flush(output)
    }
}

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
    let (mut own, mut taken) = (Entries::default(), AHashSet::new());
    input.rows(|row| match row.kind.as_str() {
        "bucket" => entries(packed(&row)?, recipe, |bucket, place| own.push(bucket, place)),
        "taken" => each_record(&row, recipe, |[bucket]| {
            taken.insert(super::number(bucket)?);
            Ok(())
        }),
        _ => Err(unexpected(&row, "pairs")),
    })?;
    let (places, entries) = own.sorted();
    places.positions(recipe)?;
    let mut sights = Sights::new(&places, context);
    let mut full = Records::new("full", 1);
    for (bucket, texts) in buckets(&entries) {
        if rules.is_full(texts.len()) {
            for &text in &texts {
                full.put(0, &[&bucket.to_le_bytes(), places.get(text)], recipe, output)?;
            }
        } else if !taken.contains(&bucket) {
            let mut put = Ok(());
            rules.sights(
                bucket,
                &texts,
                |text| places.get(text),
                |text, others, full| {
                    if put.is_ok() {
                        put = sights.put((text, others, full), recipe, output);
                    }
                },
            );
            put?;
        }
    }
    full.flush(output)?;
    sights.flush(output)
}
