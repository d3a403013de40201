//! Many entries in one cell: eight bytes of the recipe, then records.
//!
//! A record is a number of fields, each with its length before it (LEB128). Entries of bands are smaller: sorted by bucket, as differences,
//! and places without what they begin with alike.

use crate::{Failure, Recipe};

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

    fn bytes(&mut self, count: u64) -> Result<&'a [u8], Failure> {
        let count = usize::try_from(count).map_err(|_| torn())?;
        let (bytes, rest) = self.0.split_at_checked(count).ok_or_else(torn)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// The next field.
    ///
    /// # Errors
    /// The blob ends within it.
    pub fn field(&mut self) -> Result<&'a [u8], Failure> {
        let count = self.number()?;
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

/// Packs entries of buckets, which are sorted here.
pub fn pack_entries(entries: &mut [(u64, &[u8])], recipe: &Recipe) -> Vec<u8> {
    entries.sort_unstable();
    let mut blob = recipe.digest().to_vec();
    let first = entries.first().map_or(&[][..], |entry| entry.1);
    let mut common = first.len();
    let mut width = Some(first.len());
    for (_, place) in entries.iter() {
        common = place.iter().zip(&first[..common]).take_while(|(a, b)| a == b).count();
        width = width.filter(|&width| width == place.len());
    }
    let width = width.map_or(0, |width| width - common);
    put_number(width as u64, &mut blob);
    put(&first[..common], &mut blob);
    let (mut last, zeros) = (0, recipe.rules().zeros());
    for &(bucket, place) in entries.iter() {
        let bucket = bucket >> zeros;
        put_number(bucket - last, &mut blob);
        last = bucket;
        if width == 0 {
            put(&place[common..], &mut blob);
        } else {
            blob.extend(&place[common..]);
        }
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
    let mut blob = Blob::new(bytes, recipe)?;
    let (width, common) = (blob.number()?, blob.field()?);
    let (mut bucket, mut place) = (0u64, common.to_vec());
    let zeros = recipe.rules().zeros();
    while !blob.is_empty() {
        bucket = bucket.checked_add(blob.number()?).ok_or_else(torn)?;
        place.truncate(common.len());
        place.extend(if width == 0 { blob.field()? } else { blob.bytes(width)? });
        each(bucket << zeros, &place);
    }
    Ok(())
}
