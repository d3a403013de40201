//! Values one behind the other.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::space::Space;
use super::{Room, RoomError};

/// A list of plain values: in memory, or in a file of its [`Room`].
///
/// Values need no dropping, and no other process reads them: they lie there as they are. In memory it costs what a `Vec` costs; in a file
/// besides that, at first touch of a page, a fault.
pub struct Column<T>(Held<T>);

enum Held<T> {
    Memory(Vec<T>),
    File {
        space: Space,
        /// Values.
        length: usize,
        of: PhantomData<T>,
    },
}

impl<T> Column<T> {
    /// What the type of the values must be.
    const PLAIN: () = {
        assert!(!std::mem::needs_drop::<T>(), "values are not dropped");
        assert!(size_of::<T>() > 0 && align_of::<T>() <= 4096);
    };

    /// None yet.
    ///
    /// # Errors
    /// [`RoomError::Disk`].
    pub fn new(room: &Room) -> Result<Self, RoomError> {
        const { Self::PLAIN };
        Ok(Self(match room.space(0)? {
            None => Held::Memory(Vec::new()),
            Some(space) => Held::File { space, length: 0, of: PhantomData },
        }))
    }

    /// So many values, made by place in order.
    ///
    /// # Errors
    /// [`RoomError`].
    pub fn made(
        room: &Room,
        length: usize,
        mut value: impl FnMut(usize) -> T,
    ) -> Result<Self, RoomError> {
        let mut column = Self::new(room)?;
        column.reserve(length)?;
        for place in 0..length {
            column.push(value(place))?;
            if place % 4096 == 0 {
                room.relieve()?;
            }
        }
        Ok(column)
    }

    /// Room for so many more values.
    ///
    /// # Errors
    /// [`RoomError::Disk`].
    pub fn reserve(&mut self, more: usize) -> Result<(), RoomError> {
        match &mut self.0 {
            Held::Memory(values) => values.reserve(more),
            Held::File { space, length, .. } => space.grow((*length + more) * size_of::<T>())?,
        }
        Ok(())
    }

    /// Adds a value.
    ///
    /// # Errors
    /// [`RoomError::Disk`].
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), RoomError> {
        match &mut self.0 {
            Held::Memory(values) => values.push(value),
            Held::File { space, length, .. } => {
                let end = (*length + 1) * size_of::<T>();
                if end > space.bytes() {
                    space.grow(end)?;
                }
                // SAFETY: the space has room for one more value behind `length` of them, its start is that of a page and so aligned, and
                // this column alone writes to it.
                unsafe { space.start().cast::<T>().add(*length).write(value) };
                *length += 1;
            }
        }
        Ok(())
    }

    /// Adds values.
    ///
    /// # Errors
    /// [`RoomError::Disk`].
    pub fn extend(&mut self, values: impl IntoIterator<Item = T>) -> Result<(), RoomError> {
        values.into_iter().try_for_each(|value| self.push(value))
    }

    /// Leaves the first values, so many at most. A file keeps its length.
    pub fn truncate(&mut self, most: usize) {
        match &mut self.0 {
            Held::Memory(values) => values.truncate(most),
            Held::File { length, .. } => *length = most.min(*length),
        }
    }

    /// Gives back the room behind the values.
    ///
    /// # Errors
    /// [`RoomError::Disk`].
    pub fn fit(&mut self) -> Result<(), RoomError> {
        match &mut self.0 {
            Held::Memory(values) => values.shrink_to_fit(),
            Held::File { space, length, .. } => space.shrink(*length * size_of::<T>())?,
        }
        Ok(())
    }

    /// Bytes of the values.
    pub fn bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }
}

impl<T: Copy> Column<T> {
    /// Adds all values of a slice.
    ///
    /// # Errors
    /// [`RoomError::Disk`].
    pub fn extend_from_slice(&mut self, values: &[T]) -> Result<(), RoomError> {
        match &mut self.0 {
            Held::Memory(held) => held.extend_from_slice(values),
            // It may have no space yet, and no start.
            Held::File { .. } if values.is_empty() => {}
            Held::File { space, length, .. } => {
                space.grow((*length + values.len()) * size_of::<T>())?;
                // SAFETY: the space has room for so many values behind `length` of them; `values` is no part of it, for it is borrowed
                // mutably.
                unsafe {
                    let end = space.start().cast::<T>().add(*length);
                    end.copy_from_nonoverlapping(NonNull::from(values).cast(), values.len());
                }
                *length += values.len();
            }
        }
        Ok(())
    }
}

impl<T> Deref for Column<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Held::Memory(values) => values,
            Held::File { length: 0, .. } => &[],
            // SAFETY: so many values were written from the start of the space on, which is aligned, and nobody else writes to them.
            Held::File { space, length, .. } => unsafe {
                std::slice::from_raw_parts(space.start().cast().as_ptr(), *length)
            },
        }
    }
}

impl<T> DerefMut for Column<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Held::Memory(values) => values,
            Held::File { length: 0, .. } => &mut [],
            // SAFETY: as above, and the column is borrowed mutably.
            Held::File { space, length, .. } => unsafe {
                std::slice::from_raw_parts_mut(space.start().cast().as_ptr(), *length)
            },
        }
    }
}

impl<T> Default for Column<T> {
    /// None, in memory.
    fn default() -> Self {
        Self(Held::Memory(Vec::new()))
    }
}

impl<T: fmt::Debug> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Column<T> {}
