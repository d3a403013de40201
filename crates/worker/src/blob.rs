//! Many entries in one cell: eight bytes of the recipe, then records.
//!
//! A record is a number of fields, each with its length before it (LEB128). Places of a list are smaller: without what they begin with
//! alike, and without their lengths where these are the same. So are entries of bands: sorted by bucket, as differences.
//!
//! What programs that have arrays of numbers read and write is little-endian numbers of a fixed width: positions that are wanted, of eight
//! bytes each, and texts: how many they are, in eight bytes, their positions, in four bytes each where they begin, and where the last one
//! ends, then their bytes.

use crate::{Failure, Recipe};
use simhash_sketch::Folded;
use std::ops::Range;

/// Appends a number, seven bits to a byte, the lowest first.
pub fn put_number(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Appends a field.
pub fn put(field: &[u8], to: &mut Vec<u8>) {
    put_number(field.len() as u64, to);
    to.extend(field);
}

/// What is left to read of a blob.
#[derive(Clone)]
pub struct Blob<'a>(&'a [u8]);

fn torn() -> Failure {
    Failure("a packed row ends in the middle: the stream is damaged".into())
}

impl<'a> Blob<'a> {
    /// A blob of this recipe.
    ///
    /// # Errors
    /// It is one of another recipe, or none.
    pub fn new(bytes: &'a [u8], recipe: &Recipe) -> Result<Self, Failure> {
        match bytes.split_first_chunk() {
            Some((digest, rest)) if *digest == recipe.digest() => Ok(Self(rest)),
            Some(_) => Err(Failure(format!(
                "rows were made by another recipe than that of this stage ({}): give all stages the same options and the same version",
                recipe.words()
            ))),
            None => Err(torn()),
        }
    }

    /// Of no recipe: a list within a field.
    pub fn inner(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Bytes that are left.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// There is nothing left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next number.
    ///
    /// # Errors
    /// The blob ends within it.
    pub fn number(&mut self) -> Result<u64, Failure> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.0.split_first().filter(|_| shift < 64).ok_or_else(torn)?;
            self.0 = rest;
            number |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                return Ok(number);
            }
        }
    }

    /// The next bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Failure> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or_else(torn)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// The next field.
    ///
    /// # Errors
    /// The blob ends within it.
    pub fn field(&mut self) -> Result<&'a [u8], Failure> {
        let count = usize::try_from(self.number()?).map_err(|_| torn())?;
        self.bytes(count)
    }

    /// The next field, of a known length.
    ///
    /// # Errors
    /// It has another one.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        self.field()?.try_into().map_err(|_| torn())
    }
}

/// How places are packed: what they begin with alike, and of how many bytes each of them then is; 0 where they differ in that.
#[derive(Clone)]
struct Alike<'a> {
    common: &'a [u8],
    width: usize,
}

/// Of how many bytes two places begin alike. Most have eight, which are compared at once.
fn alike(a: &[u8], b: &[u8]) -> usize {
    let slow = |a: &[u8], b: &[u8]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (Some((&a, a_rest)), Some((&b, b_rest))) =
        (a.split_first_chunk::<8>(), b.split_first_chunk::<8>())
    else {
        return slow(a, b);
    };
    match u64::from_be_bytes(a) ^ u64::from_be_bytes(b) {
        0 => 8 + slow(a_rest, b_rest),
        differ => differ.leading_zeros() as usize / 8,
    }
}

impl<'a> Alike<'a> {
    fn of<'p: 'a>(mut places: impl Iterator<Item = &'p [u8]>) -> Self {
        let first = places.next().unwrap_or_default();
        let (mut common, mut same) = (first.len(), true);
        for place in places {
            common = common.min(alike(place, first));
            same &= place.len() == first.len();
        }
        let width = if same { first.len() - common } else { 0 };
        Self { common: &first[..common], width }
    }

    fn put_head(&self, to: &mut Vec<u8>) {
        put_number(self.width as u64, to);
        put(self.common, to);
    }

    fn put(&self, place: &[u8], to: &mut Vec<u8>) {
        let rest = &place[self.common.len()..];
        match (self.width, <&[u8; 8]>::try_from(place).ok()) {
            (0, _) => put(rest, to),
            (_, None) => to.extend(rest),
            // Eight bytes at once, and back to those that count: a copy of a few costs a call.
            (width, Some(&place)) => {
                let end = to.len() + width;
                let rest = u64::from_be_bytes(place) << (64 - 8 * width);
                to.extend_from_slice(&rest.to_be_bytes());
                to.truncate(end);
            }
        }
    }

    fn head(blob: &mut Blob<'a>) -> Result<Self, Failure> {
        let width = usize::try_from(blob.number()?).map_err(|_| torn())?;
        Ok(Self { common: blob.field()?, width })
    }

    /// What comes behind it in the next place.
    fn rest(&self, blob: &mut Blob<'a>) -> Result<&'a [u8], Failure> {
        if self.width == 0 { blob.field() } else { blob.bytes(self.width) }
    }
}

/// Appends a list of places.
pub fn put_list<'a>(places: impl Iterator<Item = &'a [u8]> + Clone, to: &mut Vec<u8>) {
    let alike = Alike::of(places.clone());
    alike.put_head(to);
    places.for_each(|place| alike.put(place, to));
}

/// Calls `each` with the places of a list.
///
/// # Errors
/// It is damaged.
pub fn list(bytes: &[u8], mut each: impl FnMut(&[u8])) -> Result<(), Failure> {
    let mut blob = Blob::inner(bytes);
    let alike = Alike::head(&mut blob)?;
    let mut place = alike.common.to_vec();
    while !blob.is_empty() {
        place.truncate(alike.common.len());
        place.extend_from_slice(alike.rest(&mut blob)?);
        each(&place);
    }
    Ok(())
}

/// How many places a list has, and the bytes of all of them. Where they have one width a last one that is torn is not noticed.
///
/// # Errors
/// It is damaged.
pub fn list_size(bytes: &[u8]) -> Result<(usize, usize), Failure> {
    let mut blob = Blob::inner(bytes);
    let alike = Alike::head(&mut blob)?;
    if let Some(count) = blob.len().checked_div(alike.width) {
        return Ok((count, count.saturating_mul(alike.common.len().saturating_add(alike.width))));
    }
    let (mut count, mut rest) = (0usize, 0);
    while !blob.is_empty() {
        rest += blob.field()?.len();
        count += 1;
    }
    Ok((count, count.saturating_mul(alike.common.len()).saturating_add(rest)))
}

/// Entries of a bin, about.
const BIN: usize = 8;

/// Sorts entries whose buckets are spread evenly between the first and the last: each goes at once to where it belongs, about.
fn sort(entries: &mut [(u64, u32)]) {
    let all = || entries.iter().map(|entry| entry.0);
    let (Some(first), Some(last)) = (all().min(), all().max()) else { return };
    let bins = (entries.len() / BIN).max(1).next_power_of_two();
    // The highest bits of how far a bucket is from the first.
    let shift = (64 - (last - first).leading_zeros()).saturating_sub(bins.trailing_zeros());
    let bin = |bucket: u64| (bucket - first).checked_shr(shift).unwrap_or(0) as usize;
    let mut ends = vec![0u32; bins + 1];
    all().for_each(|bucket| ends[bin(bucket) + 1] += 1);
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut sorted = vec![(0, 0); entries.len()];
    for &entry in &*entries {
        let end = &mut ends[bin(entry.0)];
        sorted[*end as usize] = entry;
        *end += 1;
    }
    let mut begin = 0;
    for &end in &ends[..bins] {
        sorted[begin..end as usize].sort_unstable();
        begin = end as usize;
    }
    entries.copy_from_slice(&sorted);
}

/// Packs entries of buckets, which are sorted here: each a bucket and the number of a place.
pub fn pack_entries<'p>(
    entries: &mut [(u64, u32)],
    place: impl Fn(u32) -> &'p [u8],
    recipe: &Recipe,
) -> Vec<u8> {
    sort(entries);
    let mut blob = recipe.digest().to_vec();
    let alike = Alike::of(entries.iter().map(|entry| place(entry.1)));
    alike.put_head(&mut blob);
    let (mut last, zeros) = (0, recipe.rules().zeros());
    for &(bucket, number) in entries.iter() {
        let bucket = bucket >> zeros;
        put_number(bucket - last, &mut blob);
        last = bucket;
        alike.put(place(number), &mut blob);
    }
    blob
}

/// Calls `each` with the entries of a blob.
///
/// # Errors
/// It is damaged, or one of another recipe.
pub fn entries(
    bytes: &[u8],
    recipe: &Recipe,
    mut each: impl FnMut(u64, &[u8]),
) -> Result<(), Failure> {
    let (mut cursor, mut place) = (Cursor::new(bytes, recipe)?, Vec::new());
    while let Some(bucket) = cursor.bucket() {
        place.clear();
        cursor.take()?.iter().for_each(|part| place.extend_from_slice(part));
        each(bucket, &place);
    }
    Ok(())
}

/// A place in a blob of entries: the next one, and all behind it.
#[derive(Clone)]
pub struct Cursor<'a> {
    blob: Blob<'a>,
    alike: Alike<'a>,
    next: Option<u64>,
    zeros: u32,
}

impl<'a> Cursor<'a> {
    /// At the first entry of a blob.
    ///
    /// # Errors
    /// It is damaged, or one of another recipe.
    pub fn new(bytes: &'a [u8], recipe: &Recipe) -> Result<Self, Failure> {
        let mut blob = Blob::new(bytes, recipe)?;
        let alike = Alike::head(&mut blob)?;
        let mut cursor = Self { blob, alike, next: None, zeros: recipe.rules().zeros() };
        cursor.advance(0)?;
        Ok(cursor)
    }

    fn advance(&mut self, from: u64) -> Result<(), Failure> {
        self.next = None;
        if !self.blob.is_empty() {
            let next = from.checked_add(self.blob.number()?);
            self.next = Some(next.filter(|&next| next <= u64::MAX >> self.zeros).ok_or_else(torn)?);
        }
        Ok(())
    }

    /// The bucket of the next entry; no bucket is below one before it.
    pub fn bucket(&self) -> Option<u64> {
        self.next.map(|bucket| bucket << self.zeros)
    }

    /// Goes on to the entry behind the next one, whose place is what all begin with and the rest.
    ///
    /// # Errors
    /// There is none, or the blob is damaged.
    pub fn take(&mut self) -> Result<[&'a [u8]; 2], Failure> {
        let rest = self.alike.rest(&mut self.blob)?;
        self.advance(self.next.ok_or_else(torn)?)?;
        Ok([self.alike.common, rest])
    }
}

/// Packs places with their outlines.
pub fn pack_outlines<'p>(
    outlines: impl Iterator<Item = (&'p [u8], Folded)> + Clone,
    recipe: &Recipe,
) -> Vec<u8> {
    let mut blob = recipe.digest().to_vec();
    let alike = Alike::of(outlines.clone().map(|one| one.0));
    alike.put_head(&mut blob);
    for (place, outline) in outlines {
        alike.put(place, &mut blob);
        outline.put(&mut blob);
    }
    blob
}

/// Calls `each` with the places of a blob and their outlines.
///
/// # Errors
/// It is damaged, or one of another recipe.
pub fn outlines(
    bytes: &[u8],
    recipe: &Recipe,
    mut each: impl FnMut(&[u8], Folded),
) -> Result<(), Failure> {
    let mut blob = Blob::new(bytes, recipe)?;
    let alike = Alike::head(&mut blob)?;
    let mut place = alike.common.to_vec();
    while !blob.is_empty() {
        place.truncate(alike.common.len());
        place.extend_from_slice(alike.rest(&mut blob)?);
        each(&place, Folded::take(&mut blob.0).ok_or_else(torn)?);
    }
    Ok(())
}

/// Bytes of a bucket without those that are always 0.
fn bucket_bytes(recipe: &Recipe) -> usize {
    (u64::BITS - recipe.rules().zeros()).div_ceil(8) as usize
}

/// The buckets of a text, as a field.
pub fn pack_buckets(buckets: impl Iterator<Item = u64>, recipe: &Recipe) -> Vec<u8> {
    let (zeros, width) = (recipe.rules().zeros(), bucket_bytes(recipe));
    buckets.flat_map(|bucket| (bucket >> zeros).to_le_bytes().into_iter().take(width)).collect()
}

/// Calls `each` with the buckets of a text.
///
/// # Errors
/// The field ends within one, or one has bits that none has.
pub fn buckets_of(field: &[u8], recipe: &Recipe, mut each: impl FnMut(u64)) -> Result<(), Failure> {
    let (zeros, width) = (recipe.rules().zeros(), bucket_bytes(recipe));
    for own in field.chunks(width) {
        let mut bytes = [0; 8];
        bytes.get_mut(..own.len()).ok_or_else(torn)?.copy_from_slice(own);
        let bucket = u64::from_le_bytes(bytes);
        if own.len() < width || bucket > u64::MAX >> zeros {
            return Err(torn());
        }
        each(bucket << zeros);
    }
    Ok(())
}

/// Packs positions.
pub fn pack_positions(positions: &[u64], recipe: &Recipe) -> Vec<u8> {
    let numbers = positions.iter().flat_map(|pos| pos.to_le_bytes());
    recipe.digest().into_iter().chain(numbers).collect()
}

/// Calls `each` with the positions of a blob.
///
/// # Errors
/// It is damaged, or one of another recipe.
pub fn positions(bytes: &[u8], recipe: &Recipe, mut each: impl FnMut(u64)) -> Result<(), Failure> {
    let (positions, rest) = Blob::new(bytes, recipe)?.0.as_chunks();
    for pos in positions {
        each(u64::from_le_bytes(*pos));
    }
    if rest.is_empty() { Ok(()) } else { Err(torn()) }
}

/// Packs texts with their positions: of less than 4 GiB together.
pub fn pack_texts(texts: &[(u64, String)], recipe: &Recipe) -> Vec<u8> {
    let mut blob = recipe.digest().to_vec();
    blob.extend((texts.len() as u64).to_le_bytes());
    blob.extend(texts.iter().flat_map(|text| text.0.to_le_bytes()));
    let mut end = 0;
    blob.extend(u32::to_le_bytes(end));
    for (_, text) in texts {
        end += text.len() as u32;
        blob.extend(end.to_le_bytes());
    }
    for (_, text) in texts {
        blob.extend(text.as_bytes());
    }
    blob
}

/// Calls `each` with the positions of the texts of a blob, and where in the blob each is.
///
/// # Errors
/// It is damaged, or one of another recipe.
pub fn texts(
    bytes: &[u8],
    recipe: &Recipe,
    mut each: impl FnMut(u64, Range<usize>),
) -> Result<(), Failure> {
    let blob = Blob::new(bytes, recipe)?;
    let (count, rest) = blob.0.split_first_chunk().ok_or_else(torn)?;
    let count = usize::try_from(u64::from_le_bytes(*count)).map_err(|_| torn())?;
    // Each has twelve bytes beside its own.
    if count > rest.len() / 12 {
        return Err(torn());
    }
    let (positions, rest) = rest.split_at(count * 8);
    let (ends, texts) = rest.split_at_checked(count * 4 + 4).ok_or_else(torn)?;
    let (positions, ends) = (positions.as_chunks().0, ends.as_chunks().0);
    let end = |at: usize| u32::from_le_bytes(ends[at]) as usize;
    let begin = bytes.len() - texts.len();
    for (at, pos) in positions.iter().enumerate() {
        let (from, to) = (end(at), end(at + 1));
        texts.get(from..to).ok_or_else(torn)?;
        each(u64::from_le_bytes(*pos), begin + from..begin + to);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn places_come_back_whatever_they_have_in_common() {
        // Two of eight bytes, or of nine, that begin alike in none to all of them.
        let mut given: Vec<Vec<Vec<u8>>> = vec![vec![], vec![vec![]], vec![vec![7; 8]]];
        for length in [7, 8, 9] {
            for common in 0..=length {
                let mut other = vec![7u8; length];
                other[common..].fill(9);
                given.push(vec![vec![7; length], other.clone(), vec![7; length]]);
                given.push(vec![other, vec![7; length - 1], vec![7; length + 1]]);
            }
        }
        for places in given {
            let mut bytes = Vec::new();
            put_list(places.iter().map(Vec::as_slice), &mut bytes);
            let mut found: Vec<Vec<u8>> = Vec::new();
            list(&bytes, |place| found.push(place.to_vec())).unwrap();
            assert_eq!(found, places);
            let sum = places.iter().map(Vec::len).sum();
            assert_eq!(list_size(&bytes).unwrap(), (places.len(), sum));
        }
    }

    proptest! {
        #[test]
        fn entries_are_sorted_however_they_are_spread(
            mut given in proptest::collection::vec((any::<u64>(), 0u32..9), 0..300),
            keeps in 0u32..64,
            adds in any::<u64>(),
        ) {
            for (bucket, _) in &mut given {
                *bucket = (*bucket >> keeps).saturating_add(adds);
            }
            let mut expected = given.clone();
            expected.sort_unstable();
            sort(&mut given);
            prop_assert_eq!(given, expected);
        }
    }

    #[test]
    fn outlines_come_back_and_torn_ones_do_not() {
        let recipe = Recipe::new("{}").unwrap();
        let outline = |count: u64| {
            let hashes: Vec<u64> = (0..count).map(|one| one.wrapping_mul(0x9E37 << 48)).collect();
            simhash_sketch::Outline::of(&hashes).folded().unwrap()
        };
        for places in [vec![vec![7; 8], vec![9; 8]], vec![vec![1; 8], vec![1; 9], vec![]]] {
            let places: Vec<Vec<u8>> = places;
            let given: Vec<(&[u8], Folded)> =
                places.iter().map(Vec::as_slice).zip([1, 20, 64].map(outline)).collect();
            let bytes = pack_outlines(given.iter().copied(), &recipe);
            let mut whole = 0;
            for end in 0..=bytes.len() {
                let mut found = Vec::new();
                let read = outlines(&bytes[..end], &recipe, |place, outline| {
                    found.push((place.to_vec(), outline));
                });
                whole += usize::from(read.is_ok());
                assert_eq!(end == bytes.len(), found.len() == given.len(), "{end}");
                for (found, given) in found.iter().zip(&given) {
                    assert_eq!((&found.0[..], found.1), *given);
                }
            }
            // It may end before the first and behind each of them, and nowhere else.
            assert_eq!(whole, given.len() + 1);
            let mut other = bytes;
            *other.last_mut().unwrap() ^= 1;
            other.push(0);
            assert!(outlines(&other, &recipe, |_, _| ()).is_err());
        }
    }

    #[test]
    fn buckets_of_a_text_come_back_and_damaged_ones_do_not() {
        for (options, width) in [("{}", 6), (r#"{"method":"sentences"}"#, 8)] {
            let recipe = Recipe::new(options).unwrap();
            let zeros = recipe.rules().zeros();
            let given = [0, 1, 9 << 30, u64::MAX >> zeros].map(|bucket| bucket << zeros);
            let field = pack_buckets(given.into_iter(), &recipe);
            assert_eq!(field.len(), 4 * width);
            for end in 0..=field.len() {
                let mut found = Vec::new();
                let read = buckets_of(&field[..end], &recipe, |bucket| found.push(bucket));
                assert_eq!(read.is_ok(), end % width == 0, "{end}");
                assert_eq!(found, given[..end / width]);
            }
        }
        let recipe = Recipe::new("{}").unwrap();
        assert!(buckets_of(&[0xFF; 6], &recipe, |_| ()).is_err());
    }
}
