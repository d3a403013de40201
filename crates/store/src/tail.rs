//! What is wrong with the last frames of a log: a torn tail, or damage.
//!
//! Where a frame of a log is not whole there are two explanations. A **torn tail** is the last frame of the file, and not
//! all of it is there: the file ends before it does. Or, after a power cut, a sector of it is zeros that were never
//! written; then frames behind it may be whole, because a disk writes in any order what it was not told to flush. Everything
//! else is **damage**: bytes were changed, and what follows them had been acknowledged.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::fields::number;
use crate::frame::{AROUND, Frame};

/// Bytes that a disk writes whole or not at all.
const SECTOR: u64 = 512;

/// Zeros of a sector that a frame does not fill: fewer say nothing.
const LEAST: usize = 4;

/// Why `rest`, the bytes of a file from a frame to its end, which do not begin with that frame whole, are damage; `None`:
/// they are a torn tail. Frames behind it have the same name.
pub fn damage(rest: &[u8], frame: Frame) -> Option<String> {
    let Frame { name, at } = frame;
    let advice = format!("restore the file, or cut it to {at} bytes to go on with what is before");
    if is_unwritten(rest, frame) {
        return None;
    }
    if let Some(next) = frame_after(rest, frame) {
        return Some(format!(
            "this frame is damaged, a whole one follows at byte {next}; {advice}"
        ));
    }
    let body = (rest.len() as u64).checked_sub(AROUND)?;
    let length = number(&rest[8..]);
    if length <= body {
        let own = &rest[..(AROUND + length) as usize];
        let wrong =
            format!("the checksum of this frame is wrong, and all of it is there; {advice}");
        return (!has_unwritten_sector(own, at)).then_some(wrong);
    }
    // It says that it goes on beyond the end. If all that is there is a frame but for that, only the length was changed.
    let whole = Frame { name, at }.bytes(&rest[16..rest.len() - 8]);
    (whole[16..] == rest[16..]).then(|| format!("the length of this frame is wrong; {advice}"))
}

/// Whether a sector that the frame with which `rest` begins reaches into was never written, as far as its head says where it ends.
fn is_unwritten(rest: &[u8], frame: Frame) -> bool {
    let is_zero = |bytes: &[u8]| bytes.len() >= LEAST && bytes.iter().all(|&byte| byte == 0);
    let first = (SECTOR - frame.at % SECTOR).min(rest.len() as u64) as usize;
    let (own, others) = rest.split_at(first);
    // A head of zeros says nothing of what follows, and one that ends in another sector may say less than it did.
    let next = &others[..others.len().min(SECTOR as usize)];
    if is_zero(own) && own.len() >= 16 || own.len() < 16 && is_zero(next) {
        return true;
    }
    if rest.len() < 16 || number(rest) != u64::from(u32::from_le_bytes(frame.name)) {
        return false;
    }
    let end = frame.at.saturating_add(number(&rest[8..])).saturating_add(AROUND);
    let whole = end.saturating_add(SECTOR - 1) / SECTOR * SECTOR - frame.at;
    has_unwritten_sector(&rest[..whole.min(rest.len() as u64) as usize], frame.at)
}

/// Where, behind the first byte, a whole frame begins.
fn frame_after(rest: &[u8], frame: Frame) -> Option<u64> {
    let name = u64::from(u32::from_le_bytes(frame.name));
    // Crafted bytes that look like the heads of many long frames must not make this slow.
    let mut budget = 16 * rest.len() as u64;
    let last = rest.len().checked_sub(AROUND as usize)?;
    for from in 1..=last {
        let bytes = &rest[from..];
        let length = number(&bytes[8..]);
        if number(bytes) != name || length > (last - from) as u64 {
            continue;
        }
        let (content, sum) = bytes.split_at(16 + length as usize);
        let place = frame.at + from as u64;
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
    // The end of a frame that reaches a few bytes into a sector may be zeros by itself.
    sectors.any(|sector| sector.len() >= LEAST && sector.iter().all(|&byte| byte == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_heads_of_long_frames_do_not_make_the_search_slow() {
        // Each pair of numbers looks like the head of a frame that goes on to the end.
        let mut bytes = vec![0xff; 16];
        for left in (0..60_000u64).rev() {
            bytes.extend(b"LOG_\0\0\0\0");
            bytes.extend((left * 16).to_le_bytes());
        }
        bytes.extend([7; 8]);
        let frame = Frame { name: *b"LOG_", at: 4096 };
        assert!(frame_after(&bytes, frame).is_some(), "in doubt it is damage");
    }
}
