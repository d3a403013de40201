//! Band keys to what is shared: of most corpora more than nine in ten keys stand alone, and go no further.

use super::entries::{Filter, PlacedEntries};
use super::places::permuted;
use super::{Numbers, Records, each_record, packed, part_of, part_of_place, unexpected};
use crate::blob::{Cursor, buckets_of, pack_buckets, pack_entries, pack_outlines};
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use ahash::AHashSet;
use std::cmp::Ordering;
use std::io::Write;
use std::sync::Arc;

/// Bytes of a packed entry, about: a difference, and a place without what all begin with.
const ENTRY: usize = 6;

/// Writes entries, those of a text together.
fn write_shared<W: Write>(
    shared: PlacedEntries,
    context: &Context,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (mut out, count) = (Records::new("shared", context.parts), shared.len());
    shared.each_text(|place, buckets| {
        let buckets = pack_buckets(buckets, &context.recipe);
        let part = part_of_place(place, context.parts);
        out.put(part, &[place, &buckets], &context.recipe, output)
    })?;
    out.flush(output)?;
    output.count("shared", count as u64)
}

/// The bucket of the next entry, if it is in this region.
fn next(cursor: &Cursor<'_>, filter: &Filter, region: u64) -> Result<Option<u64>, Failure> {
    let Some(bucket) = cursor.bucket() else { return Ok(None) };
    match filter.region(bucket).cmp(&region) {
        Ordering::Less => Err(Failure(
            "a row of kind key has buckets of several parts: give all stages the same --parts; if they have it, the stream is damaged".into(),
        )),
        Ordering::Equal => Ok(Some(bucket)),
        Ordering::Greater => Ok(None),
    }
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
    let (mut cells, mut count) = (Vec::<Vec<u8>>::new(), 0);
    input.rows(|row| {
        if row.kind != "key" {
            return Err(unexpected(&row, "bands"));
        }
        count += packed(&row)?.len() / ENTRY;
        cells.extend(row.blob);
        Ok(())
    })?;
    let (mut filter, mut entries) = (Filter::new(count, context.parts), 0);
    let bytes: usize = cells.iter().map(Vec::len).sum();
    let cursors = cells.iter().map(|cell| Cursor::new(cell, recipe));
    let mut cursors = cursors.collect::<Result<Vec<Cursor<'_>>, Failure>>()?;
    let (mut own, mut shared) = (PlacedEntries::default(), PlacedEntries::default());
    let mut place = Vec::new();
    for region in 0..filter.regions() {
        filter.clear();
        for cursor in &cursors {
            let mut ahead = cursor.clone();
            while let Some(bucket) = next(&ahead, &filter, region)? {
                filter.see(bucket);
                ahead.take()?;
                entries += 1;
            }
        }
        for cursor in &mut cursors {
            while let Some(bucket) = next(cursor, &filter, region)? {
                let parts = cursor.take()?;
                if filter.has_several(bucket) {
                    place.clear();
                    for part in parts {
                        place.extend_from_slice(part);
                    }
                    own.push(bucket, &place);
                }
            }
        }
        own.drain_shared(&mut shared);
        context.must_fit(bytes + own.bytes() + shared.bytes())?;
    }
    output.count("entries", entries)?;
    write_shared(shared, context, output)
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
    let (mut own, mut asked, mut has_keys) = (PlacedEntries::default(), Vec::<u64>::new(), false);
    let mut place = Vec::new();
    input.rows(|row| match row.kind.as_str() {
        "key" => {
            if !std::mem::replace(&mut has_keys, true) {
                asked.sort_unstable();
            }
            let mut cursor = Cursor::new(packed(&row)?, recipe)?;
            // Keys ascend, too. What is before the first of a cell is of another part, mostly.
            let first = cursor.bucket().unwrap_or_default();
            let mut asked = asked[asked.partition_point(|&ask| ask < first)..].iter();
            let mut next = asked.next();
            while let Some(bucket) = cursor.bucket() {
                let parts = cursor.take()?;
                while next.is_some_and(|&next| next < bucket) {
                    next = asked.next();
                }
                if next == Some(&bucket) {
                    place.clear();
                    for part in parts {
                        place.extend_from_slice(part);
                    }
                    own.push(bucket, &place);
                }
            }
            Ok(())
        }
        "ask" if has_keys => {
            Err(Failure("stage asked needs the rows of kind ask before those of kind key".into()))
        }
        "ask" => each_record(&row, recipe, |[bucket]| {
            asked.push(super::number(bucket)?);
            Ok(())
        }),
        _ => Err(unexpected(&row, "asked")),
    })?;
    write_shared(own, context, output)
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
    let (mut copies, mut outlines) = (AHashSet::new(), Vec::new());
    let (mut places, mut shared) = (Numbers::default(), Vec::new());
    input.rows(|mut row| match row.kind.as_str() {
        "outline" => {
            packed(&row)?;
            outlines.extend(row.blob.take());
            Ok(())
        }
        "copy" => each_record(&row, recipe, |[place, _]| {
            copies.insert(places.of(place));
            Ok(())
        }),
        "shared" => each_record(&row, recipe, |[place, buckets]| {
            let number = places.of(place);
            buckets_of(buckets, recipe, |bucket| shared.push((bucket, number)))
        }),
        "count" => output.row(row),
        _ => Err(unexpected(&row, "texts")),
    })?;
    let known = places.outlines(outlines, shared.len(), context)?;
    let (places, sorted) = places.sorted();
    let known = permuted(known, &sorted);
    let mut parts: Vec<Vec<(u64, u32)>> = vec![Vec::new(); context.parts as usize];
    for (bucket, number) in shared.into_iter().filter(|one| !copies.contains(&one.1)) {
        let number = sorted[number as usize];
        parts[part_of(bucket, context.parts) as usize].push((bucket, number));
    }
    for (part, entries) in (0..).zip(&mut parts) {
        if entries.is_empty() {
            continue;
        }
        let mut texts: Vec<u32> = entries.iter().map(|entry| entry.1).collect();
        let packed = pack_entries(entries, |number| places.get(number), recipe);
        output.blob("bucket", part, packed)?;
        texts.sort_unstable();
        texts.dedup();
        let outline = |&text: &u32| Some((places.get(text), (*known.get(text as usize)?)?));
        let mut outlines = texts.iter().filter_map(outline).peekable();
        if outlines.peek().is_some() {
            output.blob("outline", part, pack_outlines(outlines, recipe))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recipe;
    use crate::rows::Row;
    use proptest::prelude::*;
    use std::io::Cursor as Bytes;

    /// What the stage makes of cells: each bucket and place that it writes.
    fn shared(cells: &[Vec<u8>], parts: u32) -> Result<Vec<(u64, Vec<u8>)>, Failure> {
        let recipe = Recipe::new("{}")?;
        let words = recipe.words().to_owned();
        let context = Arc::new(Context { recipe, parts, memory: 1 << 30 });
        let mut input = Output::new(Vec::new(), &words)?;
        cells.iter().try_for_each(|cell| input.blob("key", 0, cell.clone()))?;
        let input = Input::new(Bytes::new(input.finish()?), &context);
        let mut output = Output::new(Vec::new(), &words)?;
        bands(&context, input, &mut output)?;
        let mut found = Vec::new();
        let rows = Input::new(Bytes::new(output.finish()?), &context);
        rows.rows(|row: Row| {
            if row.kind != "shared" {
                return Ok(());
            }
            each_record(&row, &context.recipe, |[place, buckets]| {
                buckets_of(buckets, &context.recipe, |bucket| found.push((bucket, place.to_vec())))
            })
        })?;
        found.sort_unstable();
        Ok(found)
    }

    /// Most have eight bytes; of others some begin as these do, or end in zeros.
    fn place(text: u64) -> Vec<u8> {
        let whole = (text / 3).to_be_bytes();
        match text % 3 {
            0 => whole.to_vec(),
            1 => [&whole[..], &[0]].concat(),
            _ => whole[..7].to_vec(),
        }
    }

    fn packed_cell(given: &[(u64, u64)]) -> Vec<u8> {
        let places: Vec<Vec<u8>> = given.iter().map(|one| place(one.1)).collect();
        let mut entries: Vec<(u64, u32)> = given.iter().map(|one| one.0).zip(0..).collect();
        let recipe = Recipe::new("{}").unwrap();
        pack_entries(&mut entries, |number| &places[number as usize], &recipe)
    }

    proptest! {
        /// Few buckets, so that many are shared, all over the part, so that there are many regions.
        #[test]
        fn what_several_texts_have_goes_on_and_nothing_else(
            cells in proptest::collection::vec(proptest::collection::vec((0u64..60, 0u64..40), 0..80), 1..5),
            parts in 1u32..4,
        ) {
            // Buckets of the first part, whose lowest bits are 0.
            let bucket = |one: u64| (u64::MAX / 60 * one / u64::from(parts)) >> 21 << 21;
            let cells: Vec<Vec<(u64, u64)>> = cells
                .into_iter()
                .map(|cell| cell.into_iter().map(|(one, text)| (bucket(one), text)).collect())
                .collect();
            let all: Vec<(u64, u64)> = cells.concat();
            let is_other = |a: u64, b: u64| place(a) != place(b);
            let is_shared =
                |own: &(u64, u64)| all.iter().any(|one| one.0 == own.0 && is_other(one.1, own.1));
            let mut expected: Vec<(u64, Vec<u8>)> = all
                .iter()
                .filter(|own| is_shared(own))
                .map(|own| (own.0, place(own.1)))
                .collect();
            expected.sort_unstable();
            let packed: Vec<Vec<u8>> = cells.iter().map(|cell| packed_cell(cell)).collect();
            prop_assert_eq!(shared(&packed, parts).unwrap(), expected);
        }
    }

    /// Cells of several parts, asked for twice and for what is between keys, before and behind all.
    #[test]
    fn what_was_asked_for_is_found_in_every_cell() {
        let recipe = Recipe::new("{}").unwrap();
        let words = recipe.words().to_owned();
        let cells = [
            vec![(2, 0), (2, 1), (5, 2)],
            vec![(5, 3), (5, 6), (9, 1), (40, 4), (41, 0)],
            vec![(1, 7)],
        ];
        let asks = [41u64, 5, 3, 5, 0, 60, 1, 39];
        let mut input = Output::new(Vec::new(), &words).unwrap();
        let mut asked_for = Records::for_all("ask");
        for ask in asks {
            let bucket = (ask << 50).to_le_bytes();
            asked_for.put(0, &[&bucket], &recipe, &mut input).unwrap();
        }
        asked_for.flush(&mut input).unwrap();
        for cell in &cells {
            let entries: Vec<(u64, u64)> =
                cell.iter().map(|&(one, text)| (one << 50, text)).collect();
            input.blob("key", 0, packed_cell(&entries)).unwrap();
        }
        let context = Arc::new(Context { recipe, parts: 1, memory: 1 << 30 });
        let input = Input::new(Bytes::new(input.finish().unwrap()), &context);
        let mut output = Output::new(Vec::new(), &words).unwrap();
        asked(&context, input, &mut output).unwrap();
        let mut found = Vec::new();
        let rows = Input::new(Bytes::new(output.finish().unwrap()), &context);
        rows.rows(|row: Row| {
            if row.kind != "shared" {
                return Ok(());
            }
            each_record(&row, &context.recipe, |[place, buckets]| {
                buckets_of(buckets, &context.recipe, |bucket| {
                    found.push((bucket >> 50, place.to_vec()));
                })
            })
        })
        .unwrap();
        found.sort_unstable();
        let mut expected: Vec<(u64, Vec<u8>)> = [(1, 7), (5, 2), (5, 3), (5, 6), (41, 0)]
            .map(|(bucket, text)| (bucket, place(text)))
            .to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn buckets_of_another_part_are_refused() {
        // Of two parts; of the second one the slots begin again.
        let many: Vec<(u64, u64)> = (0..64).map(|one| (one << 58, one)).collect();
        let cells = [packed_cell(&many[..32]), packed_cell(&many[32..]), packed_cell(&many)];
        assert!(shared(&cells[..1], 2).is_ok() && shared(&cells[1..2], 2).is_ok());
        let failure = shared(&cells[2..], 2).unwrap_err().to_string();
        assert!(failure.contains("has buckets of several parts"), "{failure}");
    }
}
