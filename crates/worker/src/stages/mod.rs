//! The stages, and the kinds of rows that they read and write.
//!
//! | stage | reads | writes |
//! |---|---|---|
//! | [`sketch`] | documents: `pos`, `text`, and `key` or `number`; or `pos` and `line` | `exact` by hash, `key` by bucket, `outline` by place |
//! | [`exact`] | `exact` | `copy` by place: documents whose text an earlier one has |
//! | [`bands`] | `key` | `shared` by place: entries of buckets of several documents |
//! | [`asked`] | `ask`, then `key` in any parts | `shared` by place: entries of buckets that were asked for |
//! | [`texts`] | `shared`, `copy`, `outline` | `bucket` by bucket: entries of first documents; their `outline` |
//! | [`pairs`] | `bucket`, `outline` | `sight` by later text: who sees whom; `full`: buckets with too many |
//! | [`crowd`] | `full`, `ask`, `bucket`, `text`, `want` | `want`, or `ask`, or `sight`, and `unseen`: sights that are taken back |
//! | [`lists`] | `sight`, `unseen` | `list` by the first text that the later one sees, `want` |
//! | [`verify`] | `list`, `text` | `link` |
//! | [`stars`] | `link`, `copy` or `edge`, in any parts | `edge` by each of its two documents: the same components, with fewer edges |
//! | [`large`] | `edge` | `edge` by the later document |
//! | [`small`] | `edge` of `large` | `edge` by each of its two documents |
//! | [`group`] | `link`, `copy`, `edge` where nothing moves | `link`, `copy` by the first document of their component |
//! | [`waits`] | `link`, `copy`, in any parts | `open` by the later text, as `link` was; `wait` by the earlier one; `copy` by the first of its texts |
//! | [`round`] | `open`, `best`, `past` by the later text, `wait` by the earlier one, `fate` by who waits, `copy` of [`waits`] | the same without `copy`; `link` by the text that decides, of which nothing is open |
//! | [`decide`] | `link`, `copy`, all of a component, or what rounds left of a text | `mark`: a duplicate, its original, their similarity; `pair` and `want` where that is not known |
//! | [`relate`] | `pair`, `text` | `mark` |
//! | [`matches()`] | `link`, `copy`, `cut`, in place of `decide` where the recipe says `against` | `match`: a new document, an old one, their similarity, its place among them (`part`) |
//!
//! One task may decide everything. Where that is too much, `stars`, then `large` and `small` by turns until they count nothing `moved`,
//! and `group` bring each component to one part; or, in the mode `representative`, `waits` and then `round` until it counts nothing `moved`:
//! the `link` of all rounds and the `copy` of `waits` are what each part can decide.
//!
//! Beside them [`records`] takes lines apart, [`answer`] packs the texts that were asked for, and [`lines`] writes what was found as lines.
//!
//! [`lists`] writes `cut`, too, with `against`: texts whose list a limit cut. The blob of a `mark` and a `match` is a byte, the Hamming
//! distance, where the method has one.
//!
//! `want` asks for the texts of documents in a part: whoever has the documents answers with rows of kind `text`, which have many. `count`
//! says what a stage counted; [`texts`] and [`pairs`] pass on what they are given of it, so that who does not keep the rows of
//! [`bands`] reads it there. `ask` is for all parts.

mod answer;
mod bands;
mod candidates;
mod crowd;
mod decide;
mod entries;
mod exact;
mod lines;
mod lists;
mod matches;
mod places;
mod records;
mod rounds;
mod sights;
mod sketch;
mod stars;
#[cfg(test)]
mod testing;
mod verify;

use crate::blob::{Blob, pack_positions, put, texts as texts_of};
use crate::rows::{FOR_ALL, Input, Output, Row};
use crate::{Context, Failure, Recipe};
use ahash::AHashMap;
pub use answer::answer;
pub use bands::{asked, bands, texts};
pub use candidates::pairs;
pub use crowd::crowd;
pub use decide::decide;
pub use exact::exact;
pub use lines::{Kind, lines};
pub use lists::lists;
pub use matches::matches;
use places::{Numbers, Places};
pub use records::records;
pub use rounds::{round, waits};
pub use sketch::sketch;
pub use stars::{group, large, small, stars};
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;
pub use verify::{relate, verify};
use xxhash_rust::xxh3::xxh3_64;

/// A stage.
pub type Stage = fn(&Arc<Context>, Input, &mut Output<Box<dyn Write>>) -> Result<(), Failure>;

/// All stages, by name, in their order.
pub const ALL: [(&str, Stage); 18] = [
    ("sketch", sketch),
    ("exact", exact),
    ("bands", bands),
    ("asked", asked),
    ("texts", texts),
    ("pairs", pairs),
    ("crowd", crowd),
    ("lists", lists),
    ("verify", verify),
    ("stars", stars),
    ("large", large),
    ("small", small),
    ("group", group),
    ("waits", waits),
    ("round", round),
    ("decide", decide),
    ("relate", relate),
    ("matches", matches),
];

/// The stage of a name.
pub fn find(name: &str) -> Option<Stage> {
    ALL.iter().find(|one| one.0 == name).map(|one| one.1)
}

/// Bytes that a stage gathers before it writes them: packed entries are the smaller the more there are.
const GATHERED: usize = 64 << 20;

/// The part of a number whose highest bits are spread evenly.
fn part_of(high: u64, parts: u32) -> u32 {
    ((u128::from(high) * u128::from(parts)) >> 64) as u32
}

/// The part of a place.
fn part_of_place(place: &[u8], parts: u32) -> u32 {
    part_of(xxh3_64(place), parts)
}

/// Records on their way, by part.
struct Records {
    kind: &'static str,
    parts: Vec<Vec<u8>>,
    bytes: usize,
    /// How many there may be before they are written.
    most: usize,
    for_all: bool,
}

impl Records {
    fn new(kind: &'static str, parts: u32) -> Self {
        let parts = vec![Vec::new(); parts as usize];
        Self { kind, parts, bytes: 0, most: GATHERED, for_all: false }
    }

    /// One of so many kinds that are gathered at the same time.
    fn of(self, kinds: usize) -> Self {
        Self { most: GATHERED / kinds, ..self }
    }

    /// Records that all parts are given; they are put into part 0.
    fn for_all(kind: &'static str) -> Self {
        Self { for_all: true, ..Self::new(kind, 1) }
    }

    /// Adds a record.
    fn put<W: Write>(
        &mut self,
        part: u32,
        fields: &[&[u8]],
        recipe: &Recipe,
        output: &mut Output<W>,
    ) -> Result<(), Failure> {
        let blob = &mut self.parts[part as usize];
        let before = blob.len();
        if blob.is_empty() {
            blob.extend(recipe.digest());
        }
        for field in fields {
            put(field, blob);
        }
        self.bytes += blob.len() - before;
        if self.bytes > self.most { self.flush(output) } else { Ok(()) }
    }

    fn flush<W: Write>(&mut self, output: &mut Output<W>) -> Result<(), Failure> {
        self.bytes = 0;
        for (part, blob) in (0..).zip(&mut self.parts) {
            if !blob.is_empty() {
                let part = if self.for_all { FOR_ALL } else { part };
                output.blob(self.kind, part, std::mem::take(blob))?;
            }
        }
        Ok(())
    }
}

/// Bytes of what is kept, as [`Input::sifted`] wants them: what grows takes twice its bytes, where four times is counted.
fn grown(bytes: usize) -> u64 {
    bytes as u64 / 2
}

/// The packed cell of a row.
fn packed(row: &Row) -> Result<&[u8], Failure> {
    let missing = || Failure(format!("a row of kind {} has no blob", row.kind));
    row.blob.as_deref().ok_or_else(missing)
}

fn unexpected(row: &Row, stage: &str) -> Failure {
    Failure(format!("stage {stage} knows no rows of kind {}", row.kind))
}

/// The position of a place.
fn position(recipe: &Recipe, place: &[u8]) -> Result<u64, Failure> {
    let none = || Failure("a packed row has a place that is none: the stream is damaged".into());
    recipe.rules().position(place).ok_or_else(none)
}

/// Texts that somebody needs, by part and position.
#[derive(Default)]
struct Wants {
    all: Vec<(u32, u64)>,
    /// How many there were when they were last made each to be there once.
    once: usize,
}

impl Wants {
    /// Positions of a cell.
    const MOST: usize = 1 << 20;
    /// Bytes that one takes.
    const EACH: usize = size_of::<(u32, u64)>();

    /// Asks for a text, which may have been asked for before: what comes often does not grow without end.
    fn ask(&mut self, part: u32, pos: u64) {
        if self.all.len() == (2 * self.once).max(Self::MOST) {
            self.settle();
        }
        self.all.push((part, pos));
    }

    fn settle(&mut self) {
        self.all.sort_unstable();
        self.all.dedup();
        self.once = self.all.len();
    }

    fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn write<W: Write>(mut self, recipe: &Recipe, output: &mut Output<W>) -> Result<(), Failure> {
        self.settle();
        for part in self.all.chunk_by(|a, b| a.0 == b.0) {
            let number = part[0].0.cast_signed();
            for wanted in part.chunks(Self::MOST) {
                let positions: Vec<u64> = wanted.iter().map(|one| one.1).collect();
                output.blob("want", number, pack_positions(&positions, recipe))?;
            }
        }
        Ok(())
    }
}

/// Texts by position, where they came.
#[derive(Default)]
struct Given {
    cells: Vec<Vec<u8>>,
    /// By position: the cell, and where the text is in it.
    places: AHashMap<u64, (u32, Range<usize>)>,
}

impl Given {
    fn take(&mut self, mut row: Row, recipe: &Recipe) -> Result<(), Failure> {
        packed(&row)?;
        let (cell, number) = (row.blob.take().unwrap_or_default(), self.cells.len() as u32);
        texts_of(&cell, recipe, |pos, place| {
            self.places.insert(pos, (number, place));
        })?;
        self.cells.push(cell);
        Ok(())
    }

    fn has(&self, pos: u64) -> bool {
        self.places.contains_key(&pos)
    }

    fn get(&self, pos: u64) -> Result<&str, Failure> {
        let missing = || {
            Failure(format!(
                "the text of the document at pos {pos} was asked for, but is not there: is pos the same each time the source is read?"
            ))
        };
        let (cell, place) = self.places.get(&pos).ok_or_else(missing)?;
        let bad = |_| Failure(format!("the text of the document at pos {pos} is no UTF-8"));
        std::str::from_utf8(&self.cells[*cell as usize][place.clone()]).map_err(bad)
    }
}

/// The records of all rows of a kind, each of so many fields.
fn each_record<const N: usize>(
    row: &Row,
    recipe: &Recipe,
    mut each: impl FnMut([&[u8]; N]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut blob = Blob::new(packed(row)?, recipe)?;
    while !blob.is_empty() {
        let mut fields = [&[][..]; N];
        for field in &mut fields {
            *field = blob.field()?;
        }
        each(fields)?;
    }
    Ok(())
}

/// Calls `each` with the places of a row of kind `link` or one that has the same, their rank and similarity.
fn each_link(
    row: &Row,
    recipe: &Recipe,
    mut each: impl FnMut([&[u8]; 2], u32, f64),
) -> Result<(), Failure> {
    each_record(row, recipe, |[text, other, rank, similarity]| {
        let wrong = |_| Failure(format!("a row of kind {} is damaged", row.kind));
        let rank = u32::from_le_bytes(rank.try_into().map_err(wrong)?);
        each([text, other], rank, f64::from_bits(number(similarity)?));
        Ok(())
    })
}

fn number(bytes: &[u8]) -> Result<u64, Failure> {
    let wrong = |_| Failure("a packed row has no number where there should be one".into());
    bytes.try_into().map(u64::from_le_bytes).map_err(wrong)
}

/// Reads all rows; a convenience for stages that need all of them first.
fn all(input: Input) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    input.rows(|row| {
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_often_is_held_once() {
        let mut wants = Wants::default();
        for at in 0..5 * Wants::MOST as u64 {
            wants.ask(3, at % 10);
            assert!(wants.all.len() <= Wants::MOST);
        }
        wants.settle();
        assert_eq!(wants.all, (0..10).map(|pos| (3, pos)).collect::<Vec<(u32, u64)>>());
    }
}
