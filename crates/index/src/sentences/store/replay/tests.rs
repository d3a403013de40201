use std::fs;
use std::io::{self, Cursor, SeekFrom};

use super::*;
use crate::sentences::store::header;
use crate::sentences::{Durability, SentenceIndex, SentenceItem, StoreOptions};

/// The bytes of a file whose mark is behind its whole, then some frames; and where each begins and the last ends.
fn unmarked() -> (Vec<u8>, Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mut options = StoreOptions::new(SentenceOptions::default(), "");
    options.durability = Durability::System;
    let index = SentenceIndex::open_log(&path, &options).unwrap();
    let (mut ends, mut bytes) = (Vec::new(), fs::read(&path).unwrap());
    for first in [0, 10, 20, 30] {
        ends.push(bytes.len());
        let items =
            [first, first + 1].map(|sentence| SentenceItem::Sentences(vec![sentence << 40 | 9; 5]));
        index.add_many(&items, &[], &false.into()).unwrap();
        // As another process finds it after kill -9.
        bytes = fs::read(&path).unwrap();
    }
    ends.push(bytes.len());
    (bytes, ends)
}

/// Documents and end, or the error.
fn read<R: Read + Seek>(file: R, length: usize) -> Result<(u64, usize), IndexError> {
    let mut input = Input::new(file, Some(length as u64));
    let options = header::read(&mut input, "")?;
    let mark = Mark::latest(&mut input)?;
    let read = replay(&mut input, length as u64, &options, mark)?;
    Ok((read.state.live(), read.end as usize))
}

fn reading(bytes: &[u8]) -> Result<(u64, usize), IndexError> {
    read(Cursor::new(bytes), bytes.len())
}

#[track_caller]
fn refused(bytes: &[u8]) -> (usize, String) {
    match reading(bytes).unwrap_err() {
        IndexError::File(FileError::Damaged { offset, reason, .. }) => (offset as usize, reason),
        other => panic!("{other}"),
    }
}

#[test]
fn every_flipped_bit_behind_the_mark_is_damage_with_its_place() {
    let (sound, starts) = unmarked();
    assert_eq!(reading(&sound).unwrap(), (8, sound.len()));
    for frame in starts.windows(2) {
        for at in frame[0]..frame[1] {
            for bit in 0..8 {
                let mut flipped = sound.clone();
                flipped[at] ^= 1 << bit;
                let (offset, reason) = refused(&flipped);
                assert_eq!(offset, frame[0], "bit {bit} of byte {at}: {reason}");
                assert!(reason.contains(&format!("cut it to {offset} bytes")), "{reason}");
            }
        }
    }
}

#[test]
fn a_last_frame_that_is_not_all_there_is_a_torn_tail_and_nothing_more() {
    let (sound, starts) = unmarked();
    for length in starts[0]..sound.len() {
        let whole = starts.iter().filter(|&&start| start <= length).count() - 1;
        let expected = (2 * whole as u64, starts[whole]);
        assert_eq!(reading(&sound[..length]).unwrap(), expected, "cut at {length}");
    }
    // A power cut leaves zeros where a sector was not written.
    let last = starts[3];
    for from in last..sound.len() {
        let mut zeros = sound.clone();
        zeros[from..].fill(0);
        if from == last || from / 512 < (sound.len() - 1) / 512 {
            assert_eq!(reading(&zeros).unwrap(), (6, last), "zeros from {from}");
        }
    }
    let longer = [sound.as_slice(), &[0; 5000]].concat();
    assert_eq!(reading(&longer).unwrap(), (8, sound.len()));
    // Frames that are gone from the middle are no tail, whatever is in their place.
    for with in [0, 255] {
        let mut hole = sound.clone();
        hole[starts[1]..starts[2]].fill(with);
        let (offset, reason) = refused(&hole);
        assert_eq!(offset, starts[1]);
        assert!(reason.contains(&format!("a whole one follows at byte {}", starts[2])), "{reason}");
    }
}

/// A file of which one read fails, as of a disk or network that recovers.
struct Failing {
    file: Cursor<Vec<u8>>,
    reads: usize,
    fails: usize,
}

impl Read for Failing {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.reads - 1 == self.fails {
            return Err(io::Error::other("input/output error"));
        }
        self.file.read(bytes)
    }
}

impl Seek for Failing {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[test]
fn a_read_that_fails_is_an_error_wherever_it_happens() {
    let (sound, starts) = unmarked();
    let torn = &sound[..sound.len() - 1];
    for (bytes, end) in [(sound.as_slice(), (8, sound.len())), (torn, (6, starts[3]))] {
        let mut failed = 0;
        for fails in 0.. {
            let mut file = Failing { file: Cursor::new(bytes.to_vec()), reads: 0, fails };
            match read(&mut file, bytes.len()) {
                Err(IndexError::File(FileError::Read { source, .. })) => {
                    assert_eq!(source.to_string(), "input/output error");
                    failed += 1;
                }
                read if file.reads <= fails => {
                    assert_eq!(read.unwrap(), end);
                    break;
                }
                other => panic!("read {fails}: {other:?}"),
            }
        }
        assert!(failed > 15, "{failed}");
    }
}
