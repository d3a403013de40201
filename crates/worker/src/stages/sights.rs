//! Who sees whom in buckets, on its way to the later of two texts.
//!
//! A record is a text, what is said of it in a bucket, and whom it sees there. Most places are numbers of eight bytes, of which a cell has the
//! differences: a 0, which is the length of no place, then for each text, ascending, how far it is behind the one before, how many records
//! it has, and of each how many others it sees << 2 | some are excluded << 1 | the bucket was full, a bit for each of the others where some
//! are excluded, and how far the last of these is before the text, and each other one before the one behind it. All numbers are LEB128. Where
//! places have another length, each record has fields instead: the place, [`Flags`], and a list of places.

use super::places::{Places, prefix};
use super::{GATHERED, Records};
use crate::blob::{Blob, list, list_size, put_list, put_number};
use crate::rows::Output;
use crate::{Context, Failure, Recipe};
use std::cmp::Ordering;
use std::io::Write;

/// The length of no place: what follows is packed by differences.
const WHOLE: u64 = 0;
/// Bytes of a place that is a number.
const NUMBER: usize = size_of::<u64>();

/// What is said of a text in a bucket beside whom it sees there: whether that was full, then a bit for each of the others, as far as
/// there are such that outlines exclude.
#[derive(Clone, Copy)]
struct Flags<'a>(&'a [u8]);

impl Flags<'_> {
    fn is_full(self) -> bool {
        self.0.first() == Some(&1)
    }

    fn is_excluded(self, at: usize) -> bool {
        is_set(self.0.get(1..).unwrap_or_default(), at)
    }
}

fn is_set(bits: &[u8], at: usize) -> bool {
    bits.get(at / 8).is_some_and(|bits| bits >> (at % 8) & 1 == 1)
}

fn set(bits: &mut Vec<u8>, at: usize) {
    bits.resize(bits.len().max(at / 8 + 1), 0);
    bits[at / 8] |= 1 << (at % 8);
}

/// A text that sees others in a bucket: how many, and where these are among those of all.
struct Seeing {
    text: u32,
    count: u32,
    begin: usize,
    full: bool,
}

/// What a part is told.
#[derive(Default)]
struct Told {
    all: Vec<Seeing>,
    /// Each with whether it is excluded.
    others: Vec<(u32, bool)>,
}

/// Records on their way, by the part of the later text.
pub(super) struct Sights<'p> {
    kind: &'static str,
    places: &'p Places,
    /// By number.
    parts: Vec<u32>,
    told: Vec<Told>,
    bytes: usize,
    are_whole: bool,
}

impl<'p> Sights<'p> {
    /// `kind`: that of the rows.
    pub(super) fn new(kind: &'static str, places: &'p Places, context: &Context) -> Self {
        let told = (0..context.parts).map(|_| Told::default()).collect();
        let are_whole = (0..places.len()).all(|number| places.get(number).len() == NUMBER);
        Self { kind, places, parts: places.parts(context.parts), told, bytes: 0, are_whole }
    }

    /// A text sees others in a bucket, which was `full` or not, and of which some are `excluded`: they are not similar.
    pub(super) fn put<W: Write>(
        &mut self,
        (text, others): (u32, &[u32]),
        (full, excluded): (bool, &dyn Fn(u32) -> bool),
        recipe: &Recipe,
        output: &mut Output<W>,
    ) -> Result<(), Failure> {
        let told = &mut self.told[self.parts[text as usize] as usize];
        let (count, begin) = (others.len() as u32, told.others.len());
        told.all.push(Seeing { text, count, begin, full });
        told.others.extend(others.iter().map(|&other| (other, excluded(other))));
        self.bytes += size_of::<Seeing>() + size_of_val(others) * 2;
        if self.bytes > GATHERED { self.flush(recipe, output) } else { Ok(()) }
    }

    pub(super) fn flush<W: Write>(
        &mut self,
        recipe: &Recipe,
        output: &mut Output<W>,
    ) -> Result<(), Failure> {
        self.bytes = 0;
        let mut records = Records::new(self.kind, self.told.len() as u32);
        for (part, told) in (0u32..).zip(&mut self.told) {
            let mut told = std::mem::take(told);
            if told.all.is_empty() {
                continue;
            }
            told.all.sort_by_key(|one| one.text);
            if self.are_whole {
                let packed = differences(&told, self.places, recipe);
                output.blob(self.kind, part.cast_signed(), packed)?;
            } else {
                fields_of(&told, self.places, |fields| records.put(part, fields, recipe, output))?;
            }
        }
        records.flush(output)
    }
}

/// Packs records of places that are numbers.
fn differences(told: &Told, places: &Places, recipe: &Recipe) -> Vec<u8> {
    let number = |text: u32| prefix(places.get(text));
    let (mut blob, mut last, mut bits) = (recipe.digest().to_vec(), 0, Vec::new());
    put_number(WHOLE, &mut blob);
    for of_text in told.all.chunk_by(|a, b| a.text == b.text) {
        let text = number(of_text[0].text);
        put_number(text.wrapping_sub(last), &mut blob);
        last = text;
        put_number(of_text.len() as u64, &mut blob);
        for one in of_text {
            let others = &told.others[one.begin..one.begin + one.count as usize];
            bits.clear();
            // The last one first, as they are packed.
            let excluded = others.iter().rev().enumerate().filter(|other| other.1.1);
            excluded.for_each(|(at, _)| set(&mut bits, at));
            let some = u64::from(!bits.is_empty());
            put_number(u64::from(one.count) << 2 | some << 1 | u64::from(one.full), &mut blob);
            if some == 1 {
                bits.resize(others.len().div_ceil(8), 0);
                blob.extend(&bits);
            }
            let mut behind = text;
            for &(other, _) in others.iter().rev() {
                let other = number(other);
                put_number(behind.wrapping_sub(other), &mut blob);
                behind = other;
            }
        }
    }
    blob
}

/// Calls `put` with the fields of each record.
fn fields_of(
    told: &Told,
    places: &Places,
    mut put: impl FnMut(&[&[u8]]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut packed, mut flags, mut bits) = (Vec::new(), Vec::new(), Vec::new());
    for one in &told.all {
        let others = &told.others[one.begin..one.begin + one.count as usize];
        packed.clear();
        put_list(others.iter().map(|&(other, _)| places.get(other)), &mut packed);
        bits.clear();
        let excluded = others.iter().enumerate().filter(|other| other.1.1);
        excluded.for_each(|(at, _)| set(&mut bits, at));
        flags.clear();
        flags.push(one.full.into());
        flags.extend(&bits);
        put(&[places.get(one.text), &flags, &packed])?;
    }
    Ok(())
}

/// A record that was read: the text, and where the rest of it begins.
pub(super) struct Sight {
    prefix: u64,
    cell: u32,
    at: u32,
    /// The cell has differences, and the prefix is all of the place.
    is_whole: bool,
    /// What another record says is taken back.
    pub(super) is_undone: bool,
}

/// What is in a cell.
pub(super) struct Taken {
    /// How many records it has.
    pub(super) records: usize,
    /// Others that they see.
    pub(super) others: usize,
    /// Its length.
    pub(super) bytes: usize,
}

/// The records of all texts, in the cells in which they came.
#[derive(Default)]
pub(super) struct All {
    cells: Vec<Vec<u8>>,
    sights: Vec<Sight>,
}

/// A record of differences, behind its text.
struct Differences<'a> {
    full: bool,
    count: usize,
    bits: &'a [u8],
}

impl<'a> Differences<'a> {
    fn head(blob: &mut Blob<'a>) -> Result<Self, Failure> {
        let head = blob.number()?;
        // There is one at least, and each takes a byte or more.
        let may_be = |count: &usize| (1..=blob.len()).contains(count);
        let count = usize::try_from(head >> 2).ok().filter(may_be).ok_or_else(damaged)?;
        let bits = if head & 2 == 2 { blob.bytes(count.div_ceil(8))? } else { &[] };
        Ok(Self { full: head & 1 == 1, count, bits })
    }
}

fn damaged() -> Failure {
    Failure("a row of kind sight is damaged".into())
}

impl All {
    /// Bytes of a record beside its cell: itself, and what is known of the first text that it may lead to.
    pub(super) const EACH: usize = 4 * size_of::<Sight>();

    /// Takes a cell, whose records take others back or not.
    pub(super) fn take(
        &mut self,
        cell: Vec<u8>,
        is_undone: bool,
        context: &Context,
    ) -> Result<Taken, Failure> {
        let mut blob = Blob::new(&cell, &context.recipe)?;
        let (mut others, before) = (0, self.sights.len());
        let number = self.cells.len() as u32;
        let at = |blob: &Blob<'_>| (cell.len() - blob.len()) as u32;
        if blob.clone().number().is_ok_and(|first| first == WHOLE) {
            blob.number()?;
            let mut prefix = 0u64;
            while !blob.is_empty() {
                prefix = prefix.wrapping_add(blob.number()?);
                for _ in 0..blob.number()? {
                    let at = at(&blob);
                    let Differences { count, .. } = Differences::head(&mut blob)?;
                    for _ in 0..count {
                        blob.number()?;
                    }
                    others += count;
                    context.must_fit(self.sights.len() * 2 * size_of::<Sight>())?;
                    self.sights.push(Sight { prefix, cell: number, at, is_whole: true, is_undone });
                }
            }
        }
        while !blob.is_empty() {
            let at = at(&blob);
            let [text, _, list] = fields(&mut blob)?;
            others += list_size(list)?.0;
            context.must_fit(self.sights.len() * 2 * size_of::<Sight>())?;
            let prefix = prefix(text);
            self.sights.push(Sight { prefix, cell: number, at, is_whole: false, is_undone });
        }
        let taken = Taken { records: self.sights.len() - before, others, bytes: cell.len() };
        self.cells.push(cell);
        Ok(taken)
    }

    fn rest(&self, sight: &Sight) -> Blob<'_> {
        Blob::inner(&self.cells[sight.cell as usize][sight.at as usize..])
    }

    /// The place of the text of a record, in `own` where it is a number.
    pub(super) fn place<'a>(&'a self, sight: &Sight, own: &'a mut [u8; NUMBER]) -> &'a [u8] {
        if sight.is_whole {
            *own = sight.prefix.to_be_bytes();
            return own;
        }
        fields(&mut self.rest(sight)).unwrap_or_default()[0]
    }

    /// Whether the bucket of a record was full, how many others it has, and the bytes of their places.
    pub(super) fn size(&self, sight: &Sight) -> Result<(bool, usize, usize), Failure> {
        let mut blob = self.rest(sight);
        if sight.is_whole {
            let Differences { full, count, .. } = Differences::head(&mut blob)?;
            return Ok((full, count, count * NUMBER));
        }
        let [_, flags, list] = fields(&mut blob)?;
        let (count, bytes) = list_size(list)?;
        Ok((Flags(flags).is_full(), count, bytes))
    }

    /// Calls `each` with the place of each of the others of a record, and whether it is excluded.
    pub(super) fn others(
        &self,
        sight: &Sight,
        mut each: impl FnMut(&[u8], bool),
    ) -> Result<(), Failure> {
        let (mut blob, mut at) = (self.rest(sight), 0);
        if sight.is_whole {
            let Differences { count, bits, .. } = Differences::head(&mut blob)?;
            let mut behind = sight.prefix;
            for at in 0..count {
                behind = behind.wrapping_sub(blob.number()?);
                each(&behind.to_be_bytes(), is_set(bits, at));
            }
            return Ok(());
        }
        let [_, flags, others] = fields(&mut blob)?;
        list(others, |place| {
            each(place, Flags(flags).is_excluded(at));
            at += 1;
        })
    }

    /// By the places of their texts.
    fn order(&self, a: &Sight, b: &Sight) -> Ordering {
        a.prefix.cmp(&b.prefix).then_with(|| {
            if a.is_whole && b.is_whole {
                return Ordering::Equal;
            }
            let [mut first, mut other] = [[0; NUMBER]; 2];
            self.place(a, &mut first).cmp(self.place(b, &mut other))
        })
    }

    /// The records of each text together, by its place.
    pub(super) fn sort(&mut self) {
        let mut sights = std::mem::take(&mut self.sights);
        // Cells are sorted: a sort that keeps runs has them to merge alone.
        sights.sort_by(|a, b| self.order(a, b));
        self.sights = sights;
    }

    pub(super) fn by_text(&self) -> impl Iterator<Item = &[Sight]> {
        self.sights.chunk_by(|a, b| self.order(a, b).is_eq())
    }
}

/// The place of a text, [`Flags`], and the places that it sees there.
fn fields<'a>(blob: &mut Blob<'a>) -> Result<[&'a [u8]; 3], Failure> {
    Ok([blob.field()?, blob.field()?, blob.field()?])
}

#[cfg(test)]
mod tests {
    use super::super::Numbers;
    use super::*;
    use crate::rows::{Input, Row};
    use proptest::prelude::*;
    use std::io::Cursor;
    use std::sync::Arc;

    /// A text, whether its bucket was full, and whom it sees there, some of them twice.
    type Record = (u8, bool, Vec<u8>);

    fn is_excluded(text: u8) -> bool {
        text.is_multiple_of(5)
    }

    fn place(text: u8, are_whole: bool) -> Vec<u8> {
        let whole = (u64::from(text) << 33 | 7).to_be_bytes();
        if are_whole { whole.to_vec() } else { [&whole[..], &vec![1; text as usize % 3]].concat() }
    }

    fn context(parts: u32) -> Arc<Context> {
        Arc::new(Context { recipe: Recipe::new("{}").unwrap(), parts, memory: 1 << 30 })
    }

    /// The cells of these records, for the first of so many parts.
    fn cells(records: &[Record], are_whole: bool) -> Vec<Vec<u8>> {
        let context = context(1);
        let mut numbers = Numbers::default();
        for text in 0..=u8::MAX {
            numbers.of(&place(text, are_whole));
        }
        let (places, sorted) = numbers.sorted();
        let words = context.recipe.words().to_owned();
        let mut output = Output::new(Vec::new(), &words).unwrap();
        let mut sights = Sights::new("sight", &places, &context);
        assert_eq!(sights.are_whole, are_whole);
        for (text, full, others) in records {
            let mut own: Vec<u32> = others.iter().map(|&one| sorted[one as usize]).collect();
            own.sort_unstable();
            let excluded = |other: u32| {
                let is_it = |one: &&u8| sorted[**one as usize] == other;
                others.iter().find(is_it).copied().is_some_and(is_excluded)
            };
            let text = (sorted[*text as usize], own.as_slice());
            sights.put(text, (*full, &excluded), &context.recipe, &mut output).unwrap();
        }
        sights.flush(&context.recipe, &mut output).unwrap();
        let mut found = Vec::new();
        let rows = Input::new(Cursor::new(output.finish().unwrap()), &context);
        let mut take = |row: Row| {
            assert_eq!((row.kind.as_str(), row.part), ("sight", 0));
            found.extend(row.blob);
            Ok(())
        };
        rows.rows(&mut take).unwrap();
        found
    }

    type Read = Vec<(Vec<u8>, bool, Vec<(Vec<u8>, bool)>)>;

    fn read(cells: Vec<Vec<u8>>) -> Result<Read, Failure> {
        let (context, mut all, mut found) = (context(1), All::default(), Read::new());
        let mut counted = [0; 2];
        for cell in cells {
            let Taken { records, others, .. } = all.take(cell, false, &context)?;
            counted = [counted[0] + records, counted[1] + others];
        }
        all.sort();
        for sights in all.by_text() {
            for sight in sights {
                let (full, count, bytes) = all.size(sight)?;
                let mut others = Vec::new();
                all.others(sight, |place, excluded| others.push((place.to_vec(), excluded)))?;
                assert_eq!(count, others.len());
                assert_eq!(bytes, others.iter().map(|one| one.0.len()).sum::<usize>());
                others.sort_unstable();
                found.push((all.place(sight, &mut [0; NUMBER]).to_vec(), full, others));
            }
        }
        let others: usize = found.iter().map(|one| one.2.len()).sum();
        assert_eq!(counted, [found.len(), others]);
        found.sort_unstable();
        Ok(found)
    }

    proptest! {
        #[test]
        fn records_come_back(
            records in proptest::collection::vec(
                (any::<u8>(), any::<bool>(), proptest::collection::vec(any::<u8>(), 1..40)),
                0..30,
            ),
            are_whole in any::<bool>(),
            halves in any::<bool>(),
        ) {
            let (first, second) = records.split_at(if halves { records.len() / 2 } else { 0 });
            let cells = [cells(first, are_whole), cells(second, are_whole)].concat();
            let mut expected: Read = records
                .iter()
                .map(|(text, full, others)| {
                    let other = |&other: &u8| (place(other, are_whole), is_excluded(other));
                    let mut others: Vec<(Vec<u8>, bool)> = others.iter().map(other).collect();
                    others.sort_unstable();
                    (place(*text, are_whole), *full, others)
                })
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(read(cells).unwrap(), expected);
        }
    }

    #[test]
    fn damaged_cells_are_refused_or_read_without_a_panic() {
        for are_whole in [true, false] {
            let others = vec![5, 3, 200];
            let whole = &cells(&[(9, true, others.clone()), (250, false, others)], are_whole)[0];
            for end in 8..whole.len() {
                // What ends behind a record is a shorter cell.
                let _ = read(vec![whole[..end].to_vec()]);
                for with in [0, 0x7F, 0xFF] {
                    let mut other = whole.clone();
                    other[end] = with;
                    let _ = read(vec![other]);
                }
            }
            for cut in 1..4 {
                assert!(read(vec![whole[..whole.len() - cut].to_vec()]).is_err());
            }
        }
    }
}
