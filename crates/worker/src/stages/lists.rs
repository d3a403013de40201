//! Who sees whom to lists of candidates. A text is gone through by itself, with what it sees at hand: nothing is numbered across texts.

use super::candidates::Flags;
use super::places::prefix;
use super::{Numbers, Records, Wants, grown, packed, part_of_place, position, unexpected};
use crate::blob::{Blob, list, list_size, put_list, put_number};
use crate::rows::{Input, Output};
use crate::{Context, Failure, Recipe};
use std::cmp::Ordering;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

/// Lists that begin with the same text, of all parts together: the texts of these are sent to one part. More are spread, so that a crowd
/// that begins with one text is not all in one part. Each part has its share of the number, and one at least.
const TOGETHER: u32 = 4096;

/// A record of a text that sees others in a bucket: where it begins.
struct Sight {
    prefix: u64,
    cell: u32,
    at: u32,
    /// The prefix is all of the place, as of most.
    is_whole: bool,
}

/// The records of all texts.
#[derive(Default)]
struct All {
    cells: Vec<Vec<u8>>,
    sights: Vec<Sight>,
}

impl All {
    /// Bytes of a record beside its cell: itself, and what is known of the first text that it may lead to.
    const EACH: usize = 4 * size_of::<Sight>();

    /// Takes a cell; the bytes that it makes necessary, as [`Input::sifted`] wants them.
    fn take(&mut self, cell: Vec<u8>, recipe: &Recipe) -> Result<u64, Failure> {
        let (mut blob, mut others, before) = (Blob::new(&cell, recipe)?, 0, self.sights.len());
        while !blob.is_empty() {
            let at = (cell.len() - blob.len()) as u32;
            let [text, _, list] = fields(&mut blob)?;
            others += list_size(list)?.0;
            let (prefix, is_whole) = (prefix(text), text.len() == 8);
            self.sights.push(Sight { prefix, cell: self.cells.len() as u32, at, is_whole });
        }
        let sights = (self.sights.len() - before) * Self::EACH;
        // The cell stays as it is.
        let bytes = grown(sights + others * Wants::EACH) + cell.len().div_ceil(4) as u64;
        self.cells.push(cell);
        Ok(bytes)
    }

    /// The fields of a record that was taken.
    fn fields(&self, sight: &Sight) -> [&[u8]; 3] {
        let mut blob = Blob::inner(&self.cells[sight.cell as usize][sight.at as usize..]);
        fields(&mut blob).unwrap_or_default()
    }

    /// By the places of their texts.
    fn order(&self, a: &Sight, b: &Sight) -> Ordering {
        a.prefix.cmp(&b.prefix).then_with(|| {
            if a.is_whole && b.is_whole {
                return Ordering::Equal;
            }
            self.fields(a)[0].cmp(self.fields(b)[0])
        })
    }

    /// The records of each text together, by its place.
    fn sort(&mut self) {
        let mut sights = std::mem::take(&mut self.sights);
        sights.sort_unstable_by(|a, b| self.order(a, b));
        self.sights = sights;
    }

    fn by_text(&self) -> impl Iterator<Item = &[Sight]> {
        self.sights.chunk_by(|a, b| self.order(a, b).is_eq())
    }
}

/// The place of a text, [`Flags`], and the places that it sees there.
fn fields<'a>(blob: &mut Blob<'a>) -> Result<[&'a [u8]; 3], Failure> {
    Ok([blob.field()?, blob.field()?, blob.field()?])
}

/// What one text sees, by numbers of its own, which ascend with the places.
#[derive(Default)]
struct Seen {
    bytes: Vec<u8>,
    /// The place of each as often as it is seen, whether the bucket had room, and whether it is excluded.
    found: Vec<(u64, Range<usize>, bool, bool)>,
    /// By number.
    places: Vec<Range<usize>>,
    /// By number.
    excluded: Vec<bool>,
    /// Each as often as it is seen.
    all: Vec<(u32, bool)>,
}

impl Seen {
    /// Bytes of one beside its place, while it grows.
    const EACH: usize = 2 * size_of::<(u64, Range<usize>, bool, bool)>();

    fn clear(&mut self) {
        self.bytes.clear();
        self.found.clear();
        self.places.clear();
        self.excluded.clear();
        self.all.clear();
    }

    fn add(&mut self, others: &[u8], flags: Flags<'_>) -> Result<(), Failure> {
        let Self { bytes, found, .. } = self;
        let (has_room, mut at) = (!flags.is_full(), 0);
        list(others, |place| {
            let begin = bytes.len();
            bytes.extend_from_slice(place);
            found.push((prefix(place), begin..bytes.len(), has_room, flags.is_excluded(at)));
            at += 1;
        })
    }

    fn number(&mut self) {
        let Self { bytes, found, places, excluded, all } = self;
        let place = |range: &Range<usize>| &bytes[range.clone()];
        found.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| place(&a.1).cmp(place(&b.1))).then(a.2.cmp(&b.2))
        });
        for (_, range, has_room, is_excluded) in found {
            if places.last().is_none_or(|last| place(last) != place(range)) {
                places.push(range.clone());
                excluded.push(false);
            }
            if let Some(known) = excluded.last_mut() {
                *known |= *is_excluded;
            }
            all.push((places.len() as u32 - 1, *has_room));
        }
    }

    fn place(&self, number: u32) -> &[u8] {
        &self.bytes[self.places[number as usize].clone()]
    }
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
    let mut given = All::default();
    input.sifted(|mut row| {
        if row.kind != "sight" {
            return Err(unexpected(&row, "lists"));
        }
        packed(&row)?;
        given.take(row.blob.take().unwrap_or_default(), recipe)
    })?;
    given.sort();
    let is_old = |pos: u64| recipe.against().is_some_and(|new| pos < new);
    let mut lists = Records::new("list", context.parts);
    let mut cuts = Records::new("cut", 1);
    let (mut wants, mut firsts) = (Wants::default(), Numbers::default());
    // By number of a first text: lists that begin with it.
    let mut begun: Vec<u32> = Vec::new();
    let [mut truncated, mut candidates] = [0u64; 2];
    let together = (TOGETHER / context.parts).max(1);
    let (mut seen, mut positions) = (Seen::default(), Vec::new());
    let (mut others, mut ranks) = (Vec::new(), Vec::new());
    for sights in given.by_text() {
        let place = given.fields(&sights[0])[0];
        let pos = position(recipe, place)?;
        // Where a bucket was full, a text that sees nobody has a list, too.
        let (mut is_full, mut bytes) = (false, 0usize);
        seen.clear();
        for sight in sights {
            let [_, flags, others] = given.fields(sight);
            let flags = Flags::new(flags);
            is_full |= flags.is_full();
            // Packed, places have but once what they begin with.
            let (count, places) = list_size(others)?;
            bytes = bytes.saturating_add(places.saturating_mul(2) + count * Seen::EACH);
            context.must_fit(bytes)?;
            seen.add(others, flags)?;
        }
        seen.number();
        positions.clear();
        for number in 0..seen.places.len() as u32 {
            positions.push(position(recipe, seen.place(number))?);
        }
        let (mut found, cut) = rules.list(place, &seen.all, is_full, |number| seen.place(number));
        truncated += u64::from(cut);
        if recipe.against().is_some() {
            if cut {
                cuts.put(0, &[place], recipe, output)?;
            }
            found.retain(|one| !is_old(pos) && is_old(positions[one.0 as usize]));
        }
        candidates += found.len() as u64;
        found.retain(|one| !seen.excluded[one.0 as usize]);
        let Some(first) = found.iter().map(|one| one.0).min() else { continue };
        let first = seen.place(first);
        let number = firsts.of(first) as usize;
        begun.resize(begun.len().max(number + 1), 0);
        begun[number] += 1;
        let apart = begun[number] > together;
        let part = part_of_place(if apart { place } else { first }, context.parts);
        if rules.verifies() {
            wants.ask(part, pos);
            for one in &found {
                wants.ask(part, positions[one.0 as usize]);
            }
        }
        others.clear();
        put_list(found.iter().map(|one| seen.place(one.0)), &mut others);
        ranks.clear();
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
