//! Buckets to lists of candidates.

use super::entries::Entries;
use super::{Places, Records, each_record, packed, part_of_place, position, unexpected};
use crate::blob::{Blob, entries, put};
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use ahash::{AHashMap, AHashSet};
use std::io::Write;
use std::sync::Arc;

/// Who sees whom, on its way to the part of the later text.
pub(super) struct Sights(Records);

impl Sights {
    pub(super) fn new(context: &Context) -> Self {
        Self(Records::new("sight", context.parts))
    }

    pub(super) fn put<W: Write>(
        &mut self,
        (text, others, full): (u32, &[u32], bool),
        places: &Places,
        context: &Context,
        output: &mut Output<W>,
    ) -> Result<(), Failure> {
        let mut list = Vec::new();
        for &other in others {
            put(places.get(other), &mut list);
        }
        let place = places.get(text);
        let part = part_of_place(place, context.parts);
        self.0.put(part, &[place, &[u8::from(full)], &list], &context.recipe, output)
    }

    pub(super) fn flush<W: Write>(&mut self, output: &mut Output<W>) -> Result<(), Failure> {
        self.0.flush(output)
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
    let (places, buckets) = own.numbered();
    for place in &places.0 {
        position(recipe, place)?;
    }
    let mut sights = Sights::new(context);
    let mut full = Records::new("full", 1);
    for (bucket, texts) in buckets {
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
                        put = sights.put((text, others, full), &places, context, output);
                    }
                },
            );
            put?;
        }
    }
    full.flush(output)?;
    sights.flush(output)
}

/// What a text sees.
#[derive(Default)]
struct Seen {
    others: Vec<(Vec<u8>, bool)>,
    cut: bool,
}

/// See the [table](super).
///
/// # Errors
/// Those of the streams.
pub fn lists<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (recipe, rules) = (&context.recipe, context.recipe.rules());
    let mut all: AHashMap<Vec<u8>, Seen> = AHashMap::new();
    input.rows(|row| match row.kind.as_str() {
        "sight" => each_record(&row, recipe, |[text, full, list]| {
            let seen = all.entry(text.to_vec()).or_default();
            let is_full = full == [1];
            seen.cut |= is_full;
            let mut list = Blob::inner(list);
            while !list.is_empty() {
                seen.others.push((list.field()?.to_vec(), !is_full));
            }
            Ok(())
        }),
        _ => Err(unexpected(&row, "lists")),
    })?;
    let mut texts: Vec<(Vec<u8>, Seen)> = all.into_iter().collect();
    texts.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let mut lists = Records::new("list", context.parts);
    let mut cuts = Records::new("cut", 1);
    let mut wanted = AHashSet::new();
    let [mut truncated, mut candidates] = [0u64; 2];
    for (text, seen) in texts {
        let places = Places::of(seen.others.iter().map(|(place, _)| place.clone()).collect());
        for place in std::iter::once(&text).chain(&places.0) {
            position(recipe, place)?;
        }
        let numbers: Vec<(u32, bool)> =
            seen.others.iter().map(|(place, room)| (places.number(place), *room)).collect();
        let (mut list, cut) = rules.list(&text, &numbers, seen.cut, |number| places.get(number));
        truncated += u64::from(cut);
        if let Some(against) = recipe.against() {
            if cut {
                cuts.put(0, &[&text], recipe, output)?;
            }
            let is_old = |place: &[u8]| position(recipe, place).map(|pos| pos < against);
            let own_side = is_old(&text)?;
            let mut kept = Vec::new();
            for one in list {
                if !own_side && is_old(places.get(one.0))? {
                    kept.push(one);
                }
            }
            list = kept;
            if list.is_empty() {
                continue;
            }
        }
        candidates += list.len() as u64;
        let part = part_of_place(&text, context.parts);
        let mut packed = Vec::new();
        let mut want = |place: &[u8], output: &mut Output<W>| {
            let pos = position(recipe, place)?;
            let is_new = rules.verifies() && wanted.insert((part, pos));
            if is_new { output.want(part.cast_signed(), pos) } else { Ok(()) }
        };
        want(&text, output)?;
        for (number, rank) in list {
            let place = places.get(number);
            want(place, output)?;
            put(place, &mut packed);
            put(&rank.to_le_bytes(), &mut packed);
        }
        lists.put(part, &[&text, &packed], recipe, output)?;
    }
    lists.flush(output)?;
    cuts.flush(output)?;
    output.count("truncated", truncated)?;
    output.count("candidates", candidates)
}
