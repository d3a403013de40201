//! Bytes in many parts, each of which grows by itself.

use super::{Column, Room, RoomError};

/// Bytes of a chunk: the last one of each part is in memory always.
const CHUNK: usize = 4096;

/// Parts of bytes, in one file where there is a bound. A part is a list of chunks; what is put in as a whole lies in one of them.
pub struct Parts {
    parts: Vec<Part>,
    /// Full chunks, where there is a bound.
    file: Option<Column<u8>>,
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
        let file = room.most().map(|_| Column::new(room)).transpose()?;
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

    /// The chunks of a part, in order.
    pub fn chunks(&self, part: usize) -> impl Iterator<Item = &[u8]> {
        let own = &self.parts[part];
        let file: &[u8] = self.file.as_deref().unwrap_or_default();
        let filed = own.places.iter().map(|&(number, bytes)| {
            let from = number as usize * CHUNK;
            &file[from..from + usize::from(bytes)]
        });
        own.full.iter().map(Vec::as_slice).chain(filed).chain([&*own.open])
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

    /// Forgets the bytes of a part; their space is given back.
    pub fn clear(&mut self, part: usize) {
        let own = std::mem::take(&mut self.parts[part]);
        if let Some(file) = &mut self.file {
            for (number, _) in own.places {
                file.free(number as usize * CHUNK, CHUNK);
            }
        }
    }
}

impl Part {
    #[cold]
    fn next(&mut self, most: usize, file: Option<&mut Column<u8>>) -> Result<(), RoomError> {
        // The first one grows: small corpora have little in each part.
        if self.open.capacity() < CHUNK && self.open.len() + most <= CHUNK {
            let wanted = (self.open.capacity() * 2).max(self.open.len() + most).max(64);
            self.open.reserve_exact(wanted.min(CHUNK) - self.open.len());
            return Ok(());
        }
        self.bytes += self.open.len();
        let Some(file) = file else {
            self.full.push(std::mem::replace(&mut self.open, Vec::with_capacity(CHUNK)));
            return Ok(());
        };
        let number = file.len() / CHUNK;
        let bytes = self.open.len();
        self.open.reserve_exact(CHUNK - bytes);
        self.open.resize(CHUNK, 0);
        file.extend_from_slice(&self.open)?;
        self.open.clear();
        self.places.push((number as u32, bytes as u16));
        Ok(())
    }
}
