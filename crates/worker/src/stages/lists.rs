//! Who sees whom to lists of candidates. A text is gone through by itself, with what it sees at hand: nothing is numbered across texts.

use super::places::prefix;
use super::sights::{All, Sight, Taken};
use super::{Numbers, Records, Wants, grown, packed, part_of_place, position, unexpected};
use crate::blob::{put_list, put_number};
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

/// Lists that begin with the same text, of all parts together: the texts of these are sent to one part. More are spread, so that a crowd
/// that begins with one text is not all in one part. Each part has its share of the number, and one at least.
const TOGETHER: u32 = 4096;

/// One that a text sees in a bucket.
struct Other {
    prefix: u64,
    place: Range<usize>,
    has_room: bool,
    is_undone: bool,
    is_excluded: bool,
}

/// What one text sees, by numbers of its own, which ascend with the places.
#[derive(Default)]
struct Seen {
    bytes: Vec<u8>,
    /// As often as they are seen.
    found: Vec<Other>,
    /// By number.
    places: Vec<Range<usize>>,
    /// By number.
    excluded: Vec<bool>,
    /// Each as often as it is seen.
    all: Vec<(u32, bool)>,
}

impl Seen {
    /// Bytes of one beside its place, while it grows.
    const EACH: usize = 2 * size_of::<Other>();

    fn clear(&mut self) {
        self.bytes.clear();
        self.found.clear();
        self.places.clear();
        self.excluded.clear();
        self.all.clear();
    }

    fn add(&mut self, place: &[u8], sight: &Sight, has_room: bool, is_excluded: bool) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(place);
        let (prefix, place) = (prefix(place), begin..self.bytes.len());
        let is_undone = sight.is_undone;
        self.found.push(Other { prefix, place, has_room, is_undone, is_excluded });
    }

    fn number(&mut self) -> Result<(), Failure> {
        let Self { bytes, found, places, excluded, all } = self;
        let place = |range: &Range<usize>| &bytes[range.clone()];
        found.sort_unstable_by(|a, b| {
            let order = a.prefix.cmp(&b.prefix);
            let order = order.then_with(|| place(&a.place).cmp(place(&b.place)));
            // Behind what they take back.
            order.then((a.has_room, a.is_undone).cmp(&(b.has_room, b.is_undone)))
        });
        for one in found {
            if places.last().is_none_or(|last| place(last) != place(&one.place)) {
                places.push(one.place.clone());
                excluded.push(false);
            }
            if let Some(known) = excluded.last_mut() {
                *known |= one.is_excluded;
            }
            let own = (places.len() as u32 - 1, one.has_room);
            if !one.is_undone {
                all.push(own);
            } else if all.pop() != Some(own) {
                return Err(Failure(
                    "a row of kind unseen takes back what no row of kind sight has".into(),
                ));
            }
        }
        Ok(())
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
        let is_undone = match row.kind.as_str() {
            "sight" => false,
            "unseen" => true,
            _ => return Err(unexpected(&row, "lists")),
        };
        packed(&row)?;
        let cell = row.blob.take().unwrap_or_default();
        let Taken { records, others, bytes } = given.take(cell, is_undone, context)?;
        // The cell stays as it is.
        Ok(grown(records * All::EACH + others * Wants::EACH) + bytes.div_ceil(4) as u64)
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
    let mut own = [0; 8];
    for sights in given.by_text() {
        let place = given.place(&sights[0], &mut own);
        let pos = position(recipe, place)?;
        // Where a bucket was full, a text that sees nobody has a list, too.
        let (mut is_full, mut bytes) = (false, 0usize);
        seen.clear();
        for sight in sights {
            let (full, count, places) = given.size(sight)?;
            is_full |= full;
            // Packed, places have but once what they begin with.
            bytes = bytes.saturating_add(places.saturating_mul(2) + count * Seen::EACH);
            context.must_fit(bytes)?;
            given.others(sight, |place, is_excluded| {
                seen.add(place, sight, !full, is_excluded);
            })?;
        }
        seen.number()?;
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
