//! Changes, as they are written down: what is made again in the same order gives the same index.
//!
//! ```text
//! 1 advance  time u64     2 add  item     3 touch  id u64     4 delete  id u64     5 expire  time u64
//! 6 overlook  item, measure of its best match u64
//! 7 beside  length u32, bytes: what somebody else keeps with the document that was added last
//! 8 note  length u32, bytes: what somebody else keeps
//! 9 position  u64
//! ```
//! All numbers are little-endian. Ids, groups and who leaves a window are not written: they follow. An addition and a touch take
//! the time of the last `advance`. How an item is written is its kind's business.

use simhash_store::{FileError, Section};

use super::kind::Kind;
use super::writer::Writer;
use crate::IndexError;

/// A change, as it is written down. Ids, and who leaves a window, follow from the order of changes.
#[derive(Debug)]
pub enum Change<'a, K: Kind> {
    /// Time goes on.
    Advance(u64),
    /// A document is added, at that time.
    Add(&'a K::Item),
    /// A document is as young as that time again.
    Touch(u64),
    /// A document is taken away.
    Delete(u64),
    /// Documents before a time are taken away.
    Expire(u64),
    /// A document was not added because of this match, see [`Kind::overlook`].
    Overlook(&'a K::Item, K::Match),
    /// Something that somebody else keeps with the document that was added last.
    Beside(&'a [u8]),
    /// Something that somebody else keeps.
    Note(&'a [u8]),
    /// How far the caller has come.
    Position(u64),
}

impl<K: Kind> Change<'_, K> {
    /// Appends the change.
    pub(crate) fn write(&self, options: &K::Options, out: &mut Vec<u8>) {
        let (kind, number) = match *self {
            Self::Advance(at) => (1, at),
            Self::Add(item) => {
                out.push(2);
                return K::write_item(options, item, out);
            }
            Self::Touch(id) => (3, id),
            Self::Delete(id) => (4, id),
            Self::Expire(before) => (5, before),
            Self::Overlook(item, near) => {
                out.push(6);
                K::write_item(options, item, out);
                return out.extend(K::measure_of(&near).to_le_bytes());
            }
            Self::Beside(bytes) => return write_bytes(7, bytes, out),
            Self::Note(bytes) => return write_bytes(8, bytes, out),
            Self::Position(position) => (9, position),
        };
        out.push(kind);
        out.extend(number.to_le_bytes());
    }
}

fn write_bytes(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn read_bytes(input: &mut Section) -> Result<&[u8], FileError> {
    let length = input.half()?;
    input.bytes(length.into())
}

/// What was kept by somebody else, as it is read again.
#[derive(Debug)]
pub enum Kept<'a> {
    /// With this document.
    Beside(u64, &'a [u8]),
    /// By itself.
    Note(&'a [u8]),
    /// A document was taken away by its id.
    Deleted(u64),
}

impl<K: Kind> Writer<'_, K> {
    /// Makes the changes of a frame again, telling `kept` what others have kept; how many they were.
    ///
    /// # Errors
    /// [`FileError::Damaged`] where they make no sense, or do not fit what came before; the errors of `kept`.
    pub(crate) fn replay(
        &mut self,
        changes: &mut Section,
        kept: &mut dyn FnMut(Kept<'_>) -> Result<(), FileError>,
    ) -> Result<u64, IndexError> {
        let live = self.live;
        let options = live.options();
        let (mut count, mut added) = (0, None);
        while !changes.is_empty() {
            let at = changes.offset();
            let fits = match changes.byte()? {
                1 => {
                    self.advance(Some(changes.number()?))?;
                    true
                }
                2 => {
                    let item = K::read_item(options, changes)?;
                    added = Some(self.add(&item)?);
                    true
                }
                3 => self.touch(changes.number()?),
                4 => {
                    let id = changes.number()?;
                    let there = self.delete(id);
                    kept(Kept::Deleted(id))?;
                    there
                }
                5 => {
                    self.expire_before(changes.number()?)?;
                    live.window().is_some()
                }
                6 => {
                    let item = K::read_item(options, changes)?;
                    let near = K::measured(changes.number()?);
                    near.is_some_and(|near| self.pass_over(&item, &near))
                }
                7 => match added.take() {
                    Some(id) => {
                        kept(Kept::Beside(id, read_bytes(changes)?))?;
                        true
                    }
                    None => false,
                },
                8 => {
                    kept(Kept::Note(read_bytes(changes)?))?;
                    true
                }
                9 => {
                    let position = changes.number()?;
                    self.position(position).is_ok()
                }
                _ => false,
            };
            if !fits {
                let reason = "this change makes no sense behind what came before";
                return Err(FileError::damaged(at, reason).into());
            }
            count += 1;
        }
        Ok(count)
    }
}
