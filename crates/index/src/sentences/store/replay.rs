//! From the frames of a file to its state; what is a torn tail and what is damage.
//!
//! Before the mark everything has to be right. Behind it are frames that the system had accepted when the process ended. A
//! torn tail, see [`tail`], is cut off and reported; everything else is damage.

use std::io::{Read, Seek};

use simhash_store::frame::Name;
use simhash_store::{FileError, Frame, Input, Section, tail};

use super::mark::Mark;
use crate::IndexError;
use crate::sentences::operation::Operation;
use crate::sentences::{SentenceOptions, State};

/// The frame of a whole, and those of changes.
pub(super) const WHOLE: Name = *b"WHOL";
pub(super) const CHANGES: Name = *b"CHNG";

/// What the frames of a file lead to.
#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) state: State,
    /// Documents of the whole and changes since.
    pub(super) records: u64,
    /// Where the last whole frame ends.
    pub(super) end: u64,
}

/// Reads all frames, from the first on, up to the `length` of the file.
pub(super) fn replay<R: Read + Seek>(
    input: &mut Input<R>,
    length: u64,
    options: &SentenceOptions,
    mark: Mark,
) -> Result<Replayed, IndexError> {
    let mut first = input.frame(WHOLE)?;
    let mut state = State::read(options, &mut first)?;
    let mut records = state.live();
    while input.offset() < mark.end {
        let mut changes = input.frame(CHANGES)?;
        records += apply(&mut state, &mut changes, options)?;
    }
    if input.offset() != mark.end {
        let reason = format!("a frame ends here, but what counts ends at {}", mark.end);
        return Err(FileError::damaged(input.offset(), reason).into());
    }
    let mut end = mark.end;
    while input.offset() < length {
        let mut changes = match input.frame(CHANGES) {
            Ok(changes) => changes,
            Err(FileError::Damaged { .. }) => {
                input.go_to(end)?;
                let rest = input.bytes(length - end)?;
                match tail::damage(&rest, Frame { name: CHANGES, at: end }) {
                    None => break,
                    Some(reason) => return Err(FileError::damaged(end, reason).into()),
                }
            }
            // Whatever the disk could not read may be sound.
            Err(error) => return Err(error.into()),
        };
        records += apply(&mut state, &mut changes, options)?;
        end = input.offset();
    }
    Ok(Replayed { state, records, end })
}

/// Replays the changes of a frame; how many they are.
pub(in crate::sentences) fn apply(
    state: &mut State,
    changes: &mut Section,
    options: &SentenceOptions,
) -> Result<u64, IndexError> {
    let mut count = 0;
    while !changes.is_empty() {
        let at = changes.offset();
        let change = Operation::read(changes, options.sentences)?;
        if !state.replay(options, &change.as_change())? {
            let reason = format!("the change {change:?} does not fit what came before");
            return Err(FileError::damaged(at, reason).into());
        }
        count += 1;
    }
    Ok(count)
}

#[cfg(test)]
mod tests;
