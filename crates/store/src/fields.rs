//! Little-endian numbers, one after the other: on their way out, and on their way in with bounds and places.

use crate::FileError;

/// Numbers and texts on their way out; their bytes so far.
#[derive(Debug, Default, Clone)]
pub struct Fields(pub Vec<u8>);

impl Fields {
    /// A number.
    pub fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// A count, then the numbers.
    pub fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = u64>) {
        self.number(numbers.len() as u64);
        numbers.for_each(|number| self.number(number));
    }

    /// A number of four bytes.
    pub fn half(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// A count of bytes, then the text.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }
}

/// The number of the first eight bytes; missing ones are 0.
pub fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Bytes that have passed their checksum, being read. Nothing is allocated for more than they hold.
#[derive(Debug)]
pub struct Section {
    bytes: Vec<u8>,
    start: u64,
    at: usize,
}

impl Section {
    /// Checked bytes that begin at `start` of their file.
    pub fn new(bytes: Vec<u8>, start: u64) -> Self {
        Self { bytes, start, at: 0 }
    }

    /// Where in the file the next byte is.
    pub fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    /// That something is wrong here.
    pub fn damaged(&self, reason: impl Into<String>) -> FileError {
        FileError::damaged(self.offset(), reason)
    }

    fn count_left(&self) -> u64 {
        (self.bytes.len() - self.at) as u64
    }

    /// So many bytes.
    ///
    /// # Errors
    /// [`FileError::Damaged`] where there are fewer; so do all that read from here.
    pub fn bytes(&mut self, count: u64) -> Result<&[u8], FileError> {
        let left = self.count_left();
        if count > left {
            return Err(self.damaged(format!("{count} bytes are wanted here, {left} are left")));
        }
        let from = self.at;
        self.at += count as usize;
        Ok(&self.bytes[from..self.at])
    }

    /// A number.
    ///
    /// # Errors
    /// As [`Section::bytes`].
    pub fn number(&mut self) -> Result<u64, FileError> {
        Ok(number(self.bytes(8)?))
    }

    /// A count, then so many numbers.
    ///
    /// # Errors
    /// As [`Section::bytes`].
    pub fn numbers(&mut self) -> Result<Vec<u64>, FileError> {
        let count = self.number()?;
        let bytes = self.bytes(count.saturating_mul(8))?;
        Ok(bytes.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect())
    }

    /// A number of four bytes.
    ///
    /// # Errors
    /// As [`Section::bytes`].
    pub fn half(&mut self) -> Result<u32, FileError> {
        Ok(number(self.bytes(4)?) as u32)
    }

    /// A number of sixteen bytes.
    ///
    /// # Errors
    /// As [`Section::bytes`].
    pub fn wide(&mut self) -> Result<u128, FileError> {
        let (low, high) = (self.number()?, self.number()?);
        Ok(u128::from(high) << 64 | u128::from(low))
    }

    /// A single byte.
    ///
    /// # Errors
    /// As [`Section::bytes`].
    pub fn byte(&mut self) -> Result<u8, FileError> {
        Ok(self.bytes(1)?[0])
    }

    /// A number below 256.
    ///
    /// # Errors
    /// As [`Section::bytes`], and where it is larger.
    pub fn small(&mut self) -> Result<u32, FileError> {
        let number = self.number()?;
        u8::try_from(number).map(u32::from).map_err(|_| self.damaged(format!("number {number}")))
    }

    /// A count, then so many numbers below 256.
    ///
    /// # Errors
    /// As [`Section::small`].
    pub fn smalls(&mut self) -> Result<Vec<u32>, FileError> {
        let small = |number: u64| u8::try_from(number).map(u32::from);
        let numbers: Result<Vec<u32>, _> = self.numbers()?.into_iter().map(small).collect();
        numbers.map_err(|_| self.damaged("a list of too large numbers"))
    }

    /// A count of bytes, then UTF-8.
    ///
    /// # Errors
    /// As [`Section::bytes`], and where it is no UTF-8.
    pub fn text(&mut self) -> Result<&str, FileError> {
        let count = self.number()?;
        self.text_of(count)
    }

    /// UTF-8 of so many bytes.
    ///
    /// # Errors
    /// As [`Section::text`].
    pub fn text_of(&mut self, count: u64) -> Result<&str, FileError> {
        let offset = self.offset();
        let wrong = |_| FileError::damaged(offset, "text that is no UTF-8");
        std::str::from_utf8(self.bytes(count)?).map_err(wrong)
    }

    /// All bytes that are left.
    pub fn left(&mut self) -> &[u8] {
        let from = std::mem::replace(&mut self.at, self.bytes.len());
        &self.bytes[from..]
    }

    /// Whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// That nothing may be left.
    ///
    /// # Errors
    /// [`FileError::Damaged`] where something is.
    pub fn end(&self) -> Result<(), FileError> {
        match self.count_left() {
            0 => Ok(()),
            left => Err(self.damaged(format!("{left} bytes too many"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_are_read_as_written_and_a_cut_is_named(
            (first, list) in any::<(u64, Vec<u64>)>(),
            (half, small) in any::<(u32, Vec<u8>)>(),
            text in ".{0,9}",
        ) {
            let mut fields = Fields::default();
            fields.number(first);
            fields.numbers(list.iter().copied());
            fields.half(half);
            fields.numbers(small.iter().map(|&small| small.into()));
            fields.text(&text);
            let read = |bytes: &[u8]| {
                let mut section = Section::new(bytes.to_vec(), 100);
                let read = (section.number()?, section.numbers()?, section.half()?);
                let read = (read, section.smalls()?, section.text()?.to_owned());
                section.end().map(|()| read)
            };
            let small = small.into_iter().map(u32::from).collect();
            prop_assert_eq!(read(&fields.0).unwrap(), ((first, list, half), small, text));
            for length in 0..fields.0.len() {
                match read(&fields.0[..length]).unwrap_err() {
                    FileError::Damaged { offset, .. } => {
                        prop_assert!((100..=100 + length as u64).contains(&offset));
                    }
                    other => panic!("{other}"),
                }
            }
            fields.0.push(0);
            prop_assert!(read(&fields.0).is_err());
        }
    }

    #[test]
    fn counts_that_lie_allocate_nothing() {
        for count in [3, 1 << 40, u64::MAX / 8 + 1, u64::MAX] {
            let mut fields = Fields::default();
            fields.number(count);
            fields.number(300);
            let section = || Section::new(fields.0.clone(), 0);
            assert!(section().numbers().is_err());
            assert!(section().smalls().is_err());
            assert_eq!(section().text().is_err(), count > 8);
            assert!(section().bytes(count).is_err() == (count > 16));
        }
    }
}
