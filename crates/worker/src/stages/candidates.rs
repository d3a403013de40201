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
    flags: Vec<u8>,
    list: Vec<u8>,
}

/// What is said of a text in a bucket beside whom it sees there: whether that was full, then a bit for each of the others, as far as
/// there are such that outlines exclude.
#[derive(Clone, Copy)]
pub(super) struct Flags<'a>(&'a [u8]);

impl<'a> Flags<'a> {
    pub(super) fn new(flags: &'a [u8]) -> Self {
        Self(flags)
    }

    pub(super) fn is_full(self) -> bool {
        self.0.first() == Some(&1)
    }

    pub(super) fn is_excluded(self, at: usize) -> bool {
        self.0.get(at / 8 + 1).is_some_and(|bits| bits >> (at % 8) & 1 == 1)
    }
}

impl<'p> Sights<'p> {
    pub(super) fn new(places: &'p Places, context: &Context) -> Self {
        let records = Records::new("sight", context.parts);
        let parts = places.parts(context.parts);
        Self { places, parts, records, flags: Vec::new(), list: Vec::new() }
    }

    /// A text sees others in a bucket, which was `full` or not, and of which some are `excluded`: they are not similar.
    pub(super) fn put<W: Write>(
        &mut self,
        (text, others): (u32, &[u32]),
        (full, excluded): (bool, &dyn Fn(u32) -> bool),
        recipe: &Recipe,
        output: &mut Output<W>,
    ) -> Result<(), Failure> {
        let (list, flags, places) = (&mut self.list, &mut self.flags, self.places);
        list.clear();
        put_list(others.iter().map(|&other| places.get(other)), list);
        flags.clear();
        flags.push(full.into());
        for (at, _) in others.iter().enumerate().filter(|other| excluded(*other.1)) {
            flags.resize(at / 8 + 2, 0);
            flags[at / 8 + 1] |= 1 << (at % 8);
        }
        let fields = [places.get(text), flags.as_slice(), list.as_slice()];
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
    let mut outlines = Vec::new();
    input.rows(|mut row| match row.kind.as_str() {
        "outline" => {
            packed(&row)?;
            outlines.extend(row.blob.take());
            Ok(())
        }
        "bucket" => entries(packed(&row)?, recipe, |bucket, place| own.push(bucket, place)),
        "taken" => each_record(&row, recipe, |[bucket]| {
            taken.insert(super::number(bucket)?);
            Ok(())
        }),
        _ => Err(unexpected(&row, "pairs")),
    })?;
    let outlines = own.outlines(&outlines, recipe)?;
    let (places, entries, sorted) = own.sorted();
    places.positions(recipe)?;
    let mut known = vec![None; places.len() as usize];
    for (number, outline) in outlines {
        known[sorted[number as usize] as usize] = Some(outline);
    }
    let is_excluded = |text: u32, other: u32| {
        let both = known[text as usize].as_ref().zip(known[other as usize].as_ref());
        both.is_some_and(|(own, other)| !rules.may_match_folded(own, other))
    };
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
                        let is_excluded = |other| is_excluded(text, other);
                        put = sights.put((text, others), (full, &is_excluded), recipe, output);
                    }
                },
            );
            put?;
        }
    }
    full.flush(output)?;
    sights.flush(output)
}
