//! Buckets to lists of candidates.

use super::entries::{Entries, buckets};
use super::{Numbers, Places, Records, Wants, each_record, grown, packed, unexpected};
use crate::blob::{entries, list, put_list, put_number};
use crate::rows::{Input, Output};
use crate::{Context, Failure, Recipe};
use ahash::{AHashMap, AHashSet};
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

/// Lists that begin with the same text, of all parts together: the texts of these are sent to one part. More are spread, so that a crowd
/// that begins with one text is not all in one part. Each part has its share of the number, and one at least.
const TOGETHER: u32 = 4096;

/// That a text sees another one: their numbers, and whether the bucket had room.
type Seen = (u32, u32, bool);

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
    let (mut numbers, mut all, mut full) =
        (Numbers::default(), Vec::<Seen>::new(), AHashSet::<u32>::new());
    input.sifted(|row| {
        if row.kind != "sight" {
            return Err(unexpected(&row, "lists"));
        }
        let before = (all.len(), numbers.bytes());
        each_record(&row, recipe, |[text, is_full, others]| {
            let (text, is_full) = (numbers.of(text), is_full == [1]);
            full.extend(is_full.then_some(text));
            list(others, |place| all.push((text, numbers.of(place), !is_full)))
        })?;
        // A cell has a few bytes for what is a number and the place that it asks for here.
        let seen = (all.len() - before.0) * (size_of::<Seen>() + Wants::EACH);
        Ok(grown(seen + numbers.bytes() - before.1))
    })?;
    let (places, sorted) = numbers.sorted();
    let positions = places.positions(recipe)?;
    let is_old = |number: u32| recipe.against().is_some_and(|new| positions[number as usize] < new);
    let number = |number: u32| sorted[number as usize];
    for seen in &mut all {
        (seen.0, seen.1) = (number(seen.0), number(seen.1));
    }
    all.sort_unstable();
    let full: AHashSet<u32> = full.into_iter().map(number).collect();
    // Where a bucket was full, a text that sees nobody has a list, too.
    let mut texts: Vec<u32> = all.iter().map(|seen| seen.0).chain(full.iter().copied()).collect();
    texts.sort_unstable();
    texts.dedup();
    let mut lists = Records::new("list", context.parts);
    let mut cuts = Records::new("cut", 1);
    let (mut wants, mut begun) = (Wants::default(), AHashMap::<u32, u32>::new());
    let [mut truncated, mut candidates] = [0u64; 2];
    let together = (TOGETHER / context.parts).max(1);
    let (mut rest, parts) = (all.as_slice(), places.parts(context.parts));
    for text in texts {
        let place = places.get(text);
        let own = rest.iter().take_while(|seen| seen.0 == text).count();
        let (seen, others) = rest.split_at(own);
        rest = others;
        let seen: Vec<(u32, bool)> = seen.iter().map(|&(_, other, room)| (other, room)).collect();
        let is_full = full.contains(&text);
        let (mut found, cut) = rules.list(place, &seen, is_full, |number| places.get(number));
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
        let part = parts[if *begin > together { text } else { first } as usize];
        if rules.verifies() {
            for number in std::iter::once(text).chain(found.iter().map(|one| one.0)) {
                wants.ask(part, positions[number as usize]);
            }
        }
        let (mut others, mut ranks) = (Vec::new(), Vec::new());
        put_list(found.iter().map(|one| places.get(one.0)), &mut others);
        for one in &found {
            put_number(u64::from(one.1), &mut ranks);
        }
        lists.put(part, &[place, &others, &ranks], recipe, output)?;
    }
    wants.write(recipe, output)?;
    lists.flush(output)?;
    cuts.flush(output)?;
    output.count("truncated", truncated)?;
    output.count("candidates", candidates)
}
