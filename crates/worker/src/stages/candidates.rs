//! Buckets to lists of candidates.

use super::entries::Entries;
use super::{Numbers, Places, Records, each_record, packed, part_of_place, unexpected};
use crate::blob::{entries, list, put_list, put_number};
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
        put_list(others.iter().map(|&other| places.get(other)), &mut list);
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
    places.positions(recipe)?;
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

/// Lists that begin with the same text, of those that one part makes: the texts of these are sent to one part together. More are
/// spread, so that a crowd that begins with one text is not all in one part.
const TOGETHER: u32 = 256;

/// What a text sees.
#[derive(Default)]
struct Seen {
    others: Vec<(u32, bool)>,
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
    let (mut numbers, mut all) = (Numbers::default(), AHashMap::<u32, Seen>::new());
    input.rows(|row| match row.kind.as_str() {
        "sight" => each_record(&row, recipe, |[text, full, others]| {
            let seen = all.entry(numbers.of(text)).or_default();
            let is_full = full == [1];
            seen.cut |= is_full;
            list(others, |place| seen.others.push((numbers.of(place), !is_full)))
        }),
        _ => Err(unexpected(&row, "lists")),
    })?;
    let (places, sorted) = numbers.sorted();
    let positions = places.positions(recipe)?;
    let is_old = |number: u32| recipe.against().is_some_and(|new| positions[number as usize] < new);
    let mut texts: Vec<(u32, Seen)> =
        all.into_iter().map(|(text, seen)| (sorted[text as usize], seen)).collect();
    texts.sort_unstable_by_key(|one| one.0);
    let mut lists = Records::new("list", context.parts);
    let mut cuts = Records::new("cut", 1);
    let (mut wanted, mut begun) = (AHashSet::new(), AHashMap::<u32, u32>::new());
    let [mut truncated, mut candidates] = [0u64; 2];
    for (text, mut seen) in texts {
        let place = places.get(text);
        seen.others.iter_mut().for_each(|one| one.0 = sorted[one.0 as usize]);
        let (mut found, cut) =
            rules.list(place, &seen.others, seen.cut, |number| places.get(number));
        truncated += u64::from(cut);
        if recipe.against().is_some() {
            if cut {
                cuts.put(0, &[place], recipe, output)?;
            }
            found.retain(|one| !is_old(text) && is_old(one.0));
        }
        let Some(first) = found.iter().map(|one| one.0).min() else { continue };
        candidates += found.len() as u64;
        let begin = begun.entry(first).or_default();
        *begin += 1;
        let meeting = if *begin > TOGETHER { place } else { places.get(first) };
        let part = part_of_place(meeting, context.parts);
        if rules.verifies() {
            for number in std::iter::once(text).chain(found.iter().map(|one| one.0)) {
                if wanted.insert((part, number)) {
                    output.want(part.cast_signed(), positions[number as usize])?;
                }
            }
        }
        let (mut others, mut ranks) = (Vec::new(), Vec::new());
        put_list(found.iter().map(|one| places.get(one.0)), &mut others);
        found.iter().for_each(|one| put_number(u64::from(one.1), &mut ranks));
        lists.put(part, &[place, &others, &ranks], recipe, output)?;
    }
    lists.flush(output)?;
    cuts.flush(output)?;
    output.count("truncated", truncated)?;
    output.count("candidates", candidates)
}
