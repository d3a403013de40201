//! Sorting a column by a number of its values.

use super::{Column, Room, RoomError};

/// Bits of the number by which values are put apart in a pass: so many streams are written at once.
const DIGIT: u32 = 11;
/// Values between two looks at the memory, and at whether to go on: read one behind the other.
const LOOK: usize = 1024;
/// And written in as many places: each may bring in what the page cache keeps as one, up to 2 MB.
const LOOK_AT_WRITING: usize = 8;

impl<T: Copy> Column<T> {
    /// Sorts by a number below `numbers`; what has one number stays in order. By its digits, the lowest first, so that whatever the numbers
    /// are the column is gone through from begin to end, and written in 2,048 places at a time. Takes its own size once more meanwhile.
    /// `check` is called every now and then: its error ends the work, which leaves the values in another order.
    ///
    /// # Errors
    /// [`RoomError`], and those of `check`.
    pub fn sort_by_number<E: From<RoomError>>(
        &mut self,
        room: &Room,
        numbers: u32,
        number: impl Fn(&T) -> u32,
        check: impl Fn() -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(&some) = self.first() else { return Ok(()) };
        let mut other = Self::made(room, self.len(), |_| some)?;
        let bits = u32::BITS - numbers.saturating_sub(1).leading_zeros();
        for shift in (0..bits).step_by(DIGIT as usize) {
            let digit = |value: &T| (number(value) >> shift) & ((1 << DIGIT) - 1);
            self.put_apart(&mut other, room, 1 << DIGIT, digit, &check)?;
            std::mem::swap(self, &mut other);
        }
        Ok(())
    }

    /// Writes the values to `other`, which has as many, apart by a number below `numbers`; what has one number stays in order. Where the
    /// values of each number end there comes back. The numbers are few: so many places are written at a time.
    ///
    /// # Errors
    /// [`RoomError`], and those of `check`, which is called every now and then.
    pub fn put_apart<E: From<RoomError>>(
        &self,
        other: &mut Self,
        room: &Room,
        numbers: usize,
        number: impl Fn(&T) -> u32,
        check: impl Fn() -> Result<(), E>,
    ) -> Result<Vec<usize>, E> {
        let mut ends = vec![0; numbers + 1];
        let other = &mut other[..self.len()];
        for values in self.chunks(LOOK) {
            for value in values {
                ends[number(value) as usize + 1] += 1;
            }
            room.relieve()?;
            check()?;
        }
        (0..numbers).for_each(|number| ends[number + 1] += ends[number]);
        for values in self.chunks(LOOK_AT_WRITING) {
            for value in values {
                let end = &mut ends[number(value) as usize];
                other[*end] = *value;
                *end += 1;
            }
            room.relieve()?;
            check()?;
        }
        ends.pop();
        Ok(ends)
    }
}
