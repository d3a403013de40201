//! From the frames of a file to its state; what is a torn tail and what is damage.
//!
//! Before the mark everything has to be right. Behind it are frames that the system had accepted when the process ended.
//! Where one of them is not whole there are two explanations. A **torn tail** is the last frame of the file, and not all of
//! it is there: the file ends before it does, or a sector of it is zeros that were never written. It is cut off and
//! reported. Everything else is **damage**: bytes were changed, and what follows them had been acknowledged.

use std::io::{Read, Seek};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::frame::{AROUND, CHANGES, Frame, Input, Mark, WHOLE, number};
use crate::image::frame::Section;
use crate::sentences::operation::Operation;
use crate::sentences::{SentenceError, SentenceOptions, State};

/// Bytes that a disk writes whole or not at all.
const SECTOR: u64 = 512;

/// What the frames of a file lead to.
#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) state: State,
    /// Documents of the whole and changes since.
    pub(super) records: u64,
    /// Where the last whole frame ends.
    pub(super) end: u64,
}

/// Reads all frames, from the first on.
pub(super) fn replay<R: Read + Seek>(
    input: &mut Input<'_, R>,
    path: &Path,
    options: &SentenceOptions,
    mark: Mark,
) -> Result<Replayed, SentenceError> {
    let named = |error| SentenceError::of(path, error);
    let mut first = input.frame(WHOLE)?;
    let mut state = State::read(options, &mut first).map_err(named)?;
    let mut records = state.live();
    while input.offset() < mark.end {
        let mut changes = input.frame(CHANGES)?;
        records += apply(&mut state, &mut changes, options).map_err(named)?;
    }
    if input.offset() != mark.end {
        let reason = format!("a frame ends here, but what counts ends at {}", mark.end);
        return Err(SentenceError::damaged(path, input.offset(), reason));
    }
    let mut end = mark.end;
    while !input.is_at_end() {
        let mut changes = match input.frame(CHANGES) {
            Ok(changes) => changes,
            Err(SentenceError::Damaged { .. }) => {
                let rest = input.rest(end)?;
                match damage(&rest, end) {
                    None => break,
                    Some(reason) => return Err(SentenceError::damaged(path, end, reason)),
                }
            }
            // Whatever the disk could not read may be sound.
            Err(error) => return Err(error),
        };
        records += apply(&mut state, &mut changes, options).map_err(named)?;
        end = input.offset();
    }
    Ok(Replayed { state, records, end })
}

/// Replays the changes of a frame; how many they are.
pub(in crate::sentences) fn apply(
    state: &mut State,
    changes: &mut Section,
    options: &SentenceOptions,
) -> Result<u64, crate::IndexError> {
    let mut count = 0;
    while !changes.is_empty() {
        let at = changes.offset();
        let change = Operation::read(changes, options.sentences)?;
        if !state.replay(options, &change.as_change())? {
            let reason = format!("the change {change:?} does not fit what came before");
            return Err(crate::IndexError::Damaged { offset: at, reason });
        }
        count += 1;
    }
    Ok(count)
}

/// Why the bytes from `at` to the end of the file, which do not begin with a whole frame, are damage; `None`: they are a
/// torn tail.
fn damage(rest: &[u8], at: u64) -> Option<String> {
    let advice = format!("restore the file, or cut it to {at} bytes to go on with what is before");
    if let Some(next) = frame_after(rest, at) {
        return Some(format!(
            "this frame is damaged, a whole one follows at byte {next}; {advice}"
        ));
    }
    let body = (rest.len() as u64).checked_sub(AROUND)?;
    let (length, kind) = (number(rest), number(&rest[8..]));
    if length <= body {
        let own = &rest[..(AROUND + length) as usize];
        let wrong =
            format!("the checksum of this frame is wrong, and all of it is there; {advice}");
        return (!has_unwritten_sector(own, at)).then_some(wrong);
    }
    // It says that it goes on beyond the end. If all that is there is a frame but for that, only the length was changed.
    let whole = Frame { kind, at }.bytes(&rest[16..rest.len() - 8]);
    (whole[16..] == rest[16..]).then(|| format!("the length of this frame is wrong; {advice}"))
}

/// Where, behind the first byte, a whole frame begins.
fn frame_after(rest: &[u8], at: u64) -> Option<u64> {
    // Crafted bytes that look like the heads of many long frames must not make this slow.
    let mut budget = 16 * rest.len() as u64;
    let last = rest.len().checked_sub(AROUND as usize)?;
    for from in 1..=last {
        let bytes = &rest[from..];
        let length = number(bytes);
        if number(&bytes[8..]) != CHANGES || length > (last - from) as u64 {
            continue;
        }
        let (content, sum) = bytes.split_at(16 + length as usize);
        let place = at + from as u64;
        if budget < length || number(sum) == xxh3_64_with_seed(content, place) {
            return Some(place);
        }
        budget -= length;
    }
    None
}

/// Whether a sector of these bytes, or the part of one that is theirs, is all zeros.
fn has_unwritten_sector(bytes: &[u8], at: u64) -> bool {
    let first = (SECTOR - at % SECTOR).min(bytes.len() as u64) as usize;
    let (first, others) = bytes.split_at(first);
    let mut sectors = std::iter::once(first).chain(others.chunks(SECTOR as usize));
    sectors.any(|sector| sector.iter().all(|&byte| byte == 0))
}

#[cfg(test)]
mod tests;
