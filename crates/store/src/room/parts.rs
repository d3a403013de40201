//! Bytes in many parts, each of which grows by itself.

use super::pages::{PAGE, Pages};
use super::{Room, RoomError};

/// Bytes of a chunk: the last one of each part is in memory always.
const CHUNK: usize = PAGE;

/// Parts of bytes, in one file where there is a bound. A part is a list of chunks; what is put in as a whole lies in one of them.
pub struct Parts {
    parts: Vec<Part>,
    /// Full chunks, where there is a bound.
    file: Option<Pages>,
}

#[derive(Default)]
struct Part {
    /// The chunk that is being filled.
    open: Vec<u8>,
    /// Full ones, in memory; none where they are in a file.
    full: Vec<Vec<u8>>,
    /// Full ones: number in the file, and bytes of it.
    places: Vec<(u32, u16)>,
    bytes: usize,
}

impl Parts {
    /// So many parts, all empty.
    ///
    /// # Errors
    /// [`RoomError::Disk`].
    pub fn new(room: &Room, count: usize) -> Result<Self, RoomError> {
        let file = room.pages()?;
        Ok(Self { parts: std::iter::repeat_with(Part::default).take(count).collect(), file })
    }

    /// The end of a part, where at most `most` bytes are to be put as a whole: less than a chunk, 4,096.
    ///
    /// # Errors
    /// [`RoomError::Disk`].
    #[inline]
    pub fn end(&mut self, part: usize, most: usize) -> Result<&mut Vec<u8>, RoomError> {
        let own = &mut self.parts[part];
        if own.open.len() + most > own.open.capacity().min(CHUNK) {
            own.next(most, self.file.as_mut())?;
        }
        Ok(&mut self.parts[part].open)
    }

    /// Calls `see` with the chunks of a part, in order.
    ///
    /// # Errors
    /// [`RoomError::Disk`] where one cannot be read again, and those of `see`.
    pub fn each<E: From<RoomError>>(
        &self,
        part: usize,
        mut see: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let own = &self.parts[part];
        for chunk in &own.full {
            see(chunk)?;
        }
        if let Some(file) = &self.file {
            let mut chunk = [0; CHUNK];
            for &(number, bytes) in &own.places {
                let chunk = &mut chunk[..usize::from(bytes)];
                file.read(number, chunk)?;
                see(chunk)?;
            }
        }
        see(&own.open)
    }

    /// How many parts there are.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Bytes of a part.
    pub fn bytes_of(&self, part: usize) -> usize {
        self.parts[part].bytes + self.parts[part].open.len()
    }

    /// Bytes of all parts.
    pub fn bytes(&self) -> usize {
        (0..self.len()).map(|part| self.bytes_of(part)).sum()
    }
}

impl Part {
    #[cold]
    fn next(&mut self, most: usize, file: Option<&mut Pages>) -> Result<(), RoomError> {
        // The first one grows: small corpora have little in each part.
        if self.open.capacity() < CHUNK && self.open.len() + most <= CHUNK {
            let before = self.open.capacity();
            let wanted = (before * 2).max(self.open.len() + most).max(64);
            self.open.reserve_exact(wanted.min(CHUNK) - self.open.len());
            if let Some(file) = file {
                file.announce(self.open.capacity() - before);
            }
            return Ok(());
        }
        self.bytes += self.open.len();
        let Some(file) = file else {
            self.full.push(std::mem::replace(&mut self.open, Vec::with_capacity(CHUNK)));
            return Ok(());
        };
        self.places.push((file.push(&self.open)?, self.open.len() as u16));
        file.announce(CHUNK);
        self.open.clear();
        Ok(())
    }
}
