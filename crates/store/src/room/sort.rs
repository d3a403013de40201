//! Sorting a column by a number of its values.

use super::{Column, Room, RoomError};

/// Bits of the number by which values are put apart in a pass: so many streams are written at once.
const DIGIT: u32 = 11;
/// Values between two looks at the memory, read one behind the other.
const LOOK: usize = 1024;
/// And written in as many places: each may bring in what the file system keeps as one, up to some hundred kilobytes.
const LOOK_AT_WRITING: usize = 64;

impl<T: Copy> Column<T> {
    /// Sorts by a number below `numbers`; what has one number stays in order. By its digits, the lowest first, so that whatever the numbers
    /// are the column is gone through from begin to end, and written in 2,048 places at a time. Takes its own size once more meanwhile.
    ///
    /// # Errors
    /// [`RoomError`].
    pub fn sort_by_number(
        &mut self,
        room: &Room,
        numbers: u32,
        number: impl Fn(&T) -> u32,
    ) -> Result<(), RoomError> {
        let Some(&some) = self.first() else { return Ok(()) };
        let mut other = Self::made(room, self.len(), |_| some)?;
        let bits = u32::BITS - numbers.saturating_sub(1).leading_zeros();
        for shift in (0..bits).step_by(DIGIT as usize) {
            let digit = |value: &T| (number(value) >> shift) as usize & ((1 << DIGIT) - 1);
            let mut ends = vec![0; (1 << DIGIT) + 1];
            for values in self.chunks(LOOK) {
                for value in values {
                    ends[digit(value) + 1] += 1;
                }
                room.relieve()?;
            }
            (0..1 << DIGIT).for_each(|digit| ends[digit + 1] += ends[digit]);
            for values in self.chunks(LOOK_AT_WRITING) {
                for value in values {
                    let end = &mut ends[digit(value)];
                    other[*end] = *value;
                    *end += 1;
                }
                room.relieve()?;
            }
            std::mem::swap(self, &mut other);
        }
        Ok(())
    }
}
