//! UTF-16 to UTF-8 while it is read.

use std::io::{self, Read};

/// Reads as UTF-8. What is half a pair becomes the three bytes that stand for it in no valid UTF-8, and an odd byte at the end
/// the byte FF, so that a record with such a thing is rejected; nothing is replaced.
pub(crate) struct Utf16<R> {
    from: R,
    big_endian: bool,
    /// Read, and not turned yet.
    raw: Vec<u8>,
    /// Turned, and not taken yet.
    ready: Vec<u8>,
    taken: usize,
    ended: bool,
}

/// Bytes that are turned at a time.
const CHUNK: usize = 64 << 10;

impl<R: Read> Utf16<R> {
    pub(crate) fn new(from: R, big_endian: bool) -> Self {
        let (raw, ready, taken, ended) = (Vec::new(), Vec::new(), 0, false);
        Self { from, big_endian, raw, ready, taken, ended }
    }

    fn turn(&mut self) -> io::Result<()> {
        let before = self.raw.len();
        (&mut self.from).take(CHUNK as u64).read_to_end(&mut self.raw)?;
        self.ended = self.raw.len() == before;
        self.ready.clear();
        self.taken = 0;
        let unit = |pair: &[u8]| {
            let pair = [pair[0], pair[1]];
            if self.big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
        };
        let mut whole = self.raw.len() & !1;
        // The first half of a pair waits for the second.
        let half = whole > 0 && is_first_half(unit(&self.raw[whole - 2..]));
        if half && !self.ended {
            whole -= 2;
        }
        let mut rest = &self.raw[..whole];
        while !rest.is_empty() {
            // Most of Chinese text is runs of characters of three bytes.
            if let Some(bytes) = rest.first_chunk().and_then(|run| of_three_bytes(run, unit)) {
                self.ready.extend_from_slice(&bytes);
                rest = &rest[2 * RUN..];
                continue;
            }
            let mut end = rest.len().min(2 * RUN);
            if end < rest.len() && is_first_half(unit(&rest[end - 2..])) {
                end -= 2;
            }
            let (some, behind) = rest.split_at(end);
            turn_any(some.chunks_exact(2).map(unit), &mut self.ready);
            rest = behind;
        }
        self.raw.drain(..whole);
        if self.ended && !self.raw.is_empty() {
            self.raw.clear();
            self.ready.push(0xff);
        }
        Ok(())
    }
}

fn is_first_half(unit: u16) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

/// Units that are looked at together.
const RUN: usize = 8;

/// Three bytes for each unit, where that is what each takes.
fn of_three_bytes(run: &[u8; 2 * RUN], unit: impl Fn(&[u8]) -> u16) -> Option<[u8; 3 * RUN]> {
    let mut bytes = [0; 3 * RUN];
    let mut all = true;
    for (pair, three) in run.chunks_exact(2).zip(bytes.as_chunks_mut().0) {
        let unit = unit(pair);
        all &= unit >= 0x800 && !(0xd800..0xe000).contains(&unit);
        *three = three_bytes(unit);
    }
    all.then_some(bytes)
}

fn three_bytes(unit: u16) -> [u8; 3] {
    let low = |shift: u32| 0x80 | (unit >> shift & 0x3f) as u8;
    [0xe0 | (unit >> 12) as u8, low(6), low(0)]
}

fn turn_any(units: impl Iterator<Item = u16>, out: &mut Vec<u8>) {
    for character in char::decode_utf16(units) {
        match character {
            Ok(character) => {
                let mut room = [0; 4];
                out.extend(character.encode_utf8(&mut room).as_bytes());
            }
            Err(half) => out.extend(three_bytes(half.unpaired_surrogate())),
        }
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.ready.len() {
            if self.ended {
                return Ok(0);
            }
            self.turn()?;
        }
        let rest = &self.ready[self.taken..];
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        self.taken += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    fn turned(bytes: &[u8], big_endian: bool) -> Vec<u8> {
        let mut text = Vec::new();
        Utf16::new(Slow(bytes, 3), big_endian).read_to_end(&mut text).unwrap();
        text
    }

    #[test]
    fn every_character_comes_whole_and_halves_are_no_utf_8() {
        let text = "a中😀\n".repeat(20_000);
        let bytes = |big: bool| -> Vec<u8> {
            let unit = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
            text.encode_utf16().flat_map(unit).collect()
        };
        for big in [false, true] {
            assert!(turned(&bytes(big), big) == text.as_bytes());
        }
        // What is half a pair, or a whole one, at every place of a run.
        for before in 0..20 {
            let run = [0x4e2d; 20][..before].iter().copied();
            for end in [vec![0xd83d, 0xde00], vec![0xd83d], vec![0xde00], vec![0x7ff, 0x41]] {
                let units: Vec<u16> = run.clone().chain(end).chain([0x6587; 20]).collect();
                let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
                let mut expected = Vec::new();
                turn_any(units.into_iter(), &mut expected);
                assert_eq!(turned(&bytes, true), expected);
            }
        }
        assert_eq!(turned(b"a\0\x3d\xd8b\0", false), b"a\xed\xa0\xbdb");
        assert_eq!(turned(b"a\0\x3d\xd8", false), b"a\xed\xa0\xbd");
        assert_eq!(turned(b"a\0b", false), b"a\xff");
    }
}
