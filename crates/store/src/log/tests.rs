use std::fs;
use std::sync::Barrier;

use super::*;
use crate::Section;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Call {
    Write(u64, usize),
    Sync,
    Cut(u64),
    Reserve(u64, u64),
}

/// Records what is asked of it; call number `fails` fails.
#[derive(Debug, Default)]
struct Recorded {
    calls: Mutex<Vec<Call>>,
    fails: Option<usize>,
}

impl Recorded {
    fn call(&self, call: Call) -> io::Result<()> {
        let mut calls = self.calls.lock().unwrap();
        calls.push(call);
        let fails = self.fails == Some(calls.len() - 1);
        if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl Medium for Recorded {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.call(Call::Write(at, bytes.len()))
    }
    fn sync(&self) -> io::Result<()> {
        self.call(Call::Sync)
    }
    fn cut(&self, length: u64) -> io::Result<()> {
        self.call(Call::Cut(length))
    }
    fn reserve(&self, from: u64, length: u64) -> io::Result<bool> {
        self.call(Call::Reserve(from, length)).map(|()| true)
    }
}

const START: Mark = Mark { end: 5000, turn: 1 };

fn recorded(fails: Option<usize>) -> Log<Recorded> {
    let medium = Recorded { calls: Mutex::default(), fails };
    Log::of(Path::new("log"), medium, START, START.end)
}

fn calls(log: &Log<Recorded>) -> Vec<Call> {
    log.medium.calls.lock().unwrap().clone()
}

/// The calls of one commit of ten bytes, which make a frame of 34.
fn commit() -> [Call; 4] {
    [Call::Write(5000, 34), Call::Sync, Call::Write(MARKS[0], 512), Call::Sync]
}

#[test]
fn the_frame_is_flushed_before_the_mark_and_the_mark_before_sync_returns() {
    let log = recorded(None);
    let end = log.append(&[0; 10]).unwrap();
    assert!(!log.is_synced());
    log.sync(end).unwrap();
    assert_eq!(calls(&log), commit());
    let end = log.append(&[0; 10]).unwrap();
    log.sync(end).unwrap();
    let second = [Call::Write(5034, 34), Call::Sync, Call::Write(MARKS[1], 512), Call::Sync];
    assert_eq!(calls(&log)[4..], second);
    // Everything is marked: there is nothing to do.
    log.sync(end).unwrap();
    log.close().unwrap();
    assert_eq!((calls(&log).len(), log.end(), log.is_synced()), (8, 5068, true));
}

#[test]
fn one_flush_serves_all_that_was_appended_before_it() {
    let log = recorded(None);
    let ends: Vec<u64> = (0..5).map(|_| log.append(&[1; 10]).unwrap()).collect();
    for end in ends {
        log.sync(end).unwrap();
    }
    let flushes = calls(&log).iter().filter(|call| **call == Call::Sync).count();
    assert_eq!(flushes, 2);
}

#[test]
fn a_write_that_fails_is_cut_off_and_is_never_marked() {
    let log = recorded(Some(0));
    assert!(log.append(&[0; 10]).is_err());
    let expected = [Call::Write(5000, 34), Call::Cut(5000)];
    assert_eq!((calls(&log).as_slice(), log.end()), (&expected[..], 5000));
    assert!(log.has_failed());
    assert!(log.append(&[0; 10]).unwrap_err().to_string().contains("open the index again"));
    assert_eq!(calls(&log), expected);
}

#[test]
fn after_a_flush_that_fails_nothing_is_appended_or_marked() {
    for fails in 1..4 {
        let log = recorded(Some(fails));
        let end = log.append(&[0; 10]).unwrap();
        assert!(log.sync(end).is_err());
        assert_eq!(calls(&log), commit()[..=fails]);
        assert!(log.sync(end).is_err() && log.append(&[0; 10]).is_err() && log.close().is_err());
        assert_eq!(calls(&log), commit()[..=fails], "what the disk has is not known");
    }
}

#[test]
fn room_is_taken_before_it_is_needed_and_less_of_it_where_there_is_little() {
    let log = recorded(None);
    log.reserve(100).unwrap();
    log.reserve(100).unwrap();
    let taken = Call::Reserve(5000, 100 + AROUND + LEAST_ROOM);
    assert_eq!(calls(&log), std::slice::from_ref(&taken));
    let little = recorded(Some(0));
    little.reserve(100).unwrap();
    assert_eq!(calls(&little), [taken, Call::Reserve(5000, 100 + AROUND)]);
    little.close().unwrap();
    assert_eq!(calls(&little).last(), Some(&Call::Cut(5000)));
}

fn numbers(bytes: &[u8]) -> Fields {
    Fields(bytes.to_vec())
}

/// What a log on the disk holds, as another process finds it that goes on with it.
fn read(path: &Path) -> Result<(Vec<Vec<u8>>, u64, u64), FileError> {
    read_as(path, true)
}

/// The same, or as one finds it beside which another process may be writing.
fn read_as(path: &Path, write: bool) -> Result<(Vec<Vec<u8>>, u64, u64), FileError> {
    let (mut reader, _) = Reader::open(path, write)?;
    let mut all = Vec::new();
    while let Some(changes) = reader.next_changes()? {
        all.push(whole(changes));
    }
    Ok((all, reader.offset(), reader.torn()))
}

fn whole(mut changes: Section) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !changes.is_empty() {
        bytes.push(changes.byte().unwrap());
    }
    bytes
}

#[test]
fn what_was_appended_is_read_by_others_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log-1");
    let log = Log::create(&path, &numbers(&[1, 2, 3])).unwrap();
    assert!(Log::create(&path, &numbers(&[])).is_err(), "of two creators one is refused");
    let (mut follower, mut options) = Reader::open(&path, false).unwrap();
    assert_eq!(options.bytes(3).unwrap(), [1, 2, 3]);
    assert!(follower.next_changes().unwrap().is_none());
    log.reserve(1000).unwrap();
    log.append(b"one").unwrap();
    let end = log.append(b"two").unwrap();
    assert_eq!(read(&path).unwrap(), (vec![b"one".to_vec(), b"two".to_vec()], end, 0));
    follower.refresh().unwrap();
    assert_eq!(follower.next_changes().unwrap().map(whole), Some(b"one".to_vec()));
    log.sync(end).unwrap();
    log.append(b"three").unwrap();
    follower.refresh().unwrap();
    assert_eq!(follower.next_changes().unwrap().map(whole), Some(b"two".to_vec()));
    assert_eq!(follower.next_changes().unwrap().map(whole), Some(b"three".to_vec()));
    assert!(follower.next_changes().unwrap().is_none());
    log.close().unwrap();
    drop(log);
    let (mut reader, _) = Reader::open(&path, true).unwrap();
    while reader.next_changes().unwrap().is_some() {}
    let opened = reader.into_log().unwrap();
    opened.log.append(b"four").unwrap();
    assert_eq!(read(&path).unwrap().0.len(), 4);
}

#[test]
fn threads_that_sync_at_once_share_flushes_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log-1");
    let (log, turn, barrier) =
        (Log::create(&path, &numbers(&[])).unwrap(), Mutex::new(()), Barrier::new(4));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                for _ in 0..20 {
                    let end = {
                        let _turn = turn.lock().unwrap();
                        log.append(&[7; 100]).unwrap()
                    };
                    log.sync(end).unwrap();
                    assert!(log.mark().end >= end);
                }
            });
        }
    });
    assert_eq!(read(&path).unwrap().0.len(), 80);
}

/// A log of three frames of which one is marked; its bytes, and where each frame ends.
fn three() -> (Vec<u8>, Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log-1");
    let log = Log::create(&path, &numbers(&[9])).unwrap();
    let mut ends = vec![FRAMES as usize];
    for size in [40_u8, 90, 20] {
        let end = log.append(&vec![size; usize::from(size) * 9]).unwrap();
        ends.push(end as usize);
        if ends.len() == 2 {
            log.sync(end).unwrap();
        }
    }
    (fs::read(&path).unwrap(), ends)
}

#[test]
fn every_flipped_bit_is_damage_with_file_and_place() {
    let (sound, ends) = three();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log-1");
    let frames = |at: usize| ends.iter().rposition(|&end| end <= at);
    for at in 0..sound.len() {
        let mut flipped = sound.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&path, &flipped).unwrap();
        // Who reads beside a writer looks at marks again and again.
        let write = !(HEAD..FRAMES as usize).contains(&at) || at % 61 > 0;
        let error = read_as(&path, write).unwrap_err();
        match &error {
            FileError::Damaged { path: named, offset, .. } => {
                assert_eq!(named, &path);
                if let Some(frame) = frames(at) {
                    assert_eq!(*offset as usize, ends[frame], "byte {at}: {error}");
                }
            }
            FileError::Format { .. } | FileError::Mismatch { .. } => assert!(at < HEAD),
            other => panic!("byte {at}: {other}"),
        }
    }
}

#[test]
fn a_cut_behind_the_mark_is_a_torn_tail_and_before_it_damage() {
    let (sound, ends) = three();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log-1");
    for length in 0..=sound.len() {
        fs::write(&path, &sound[..length]).unwrap();
        if length < ends[1] {
            assert!(read(&path).is_err(), "{length}");
            continue;
        }
        let kept = ends.iter().rposition(|&end| end <= length).unwrap();
        let (all, end, torn) = read(&path).unwrap();
        assert_eq!(
            (all.len(), end as usize, torn as usize),
            (kept, ends[kept], length - ends[kept])
        );
    }
}

#[test]
fn sectors_that_a_power_cut_left_unwritten_end_the_log_even_before_whole_frames() {
    let (sound, ends) = three();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log-1");
    for sector in [ends[1].next_multiple_of(512), ends[1] / 512 * 512] {
        let mut holed = sound.clone();
        let from = sector.max(ends[1]);
        holed[from..sector + 512].fill(0);
        fs::write(&path, &holed).unwrap();
        let (all, end, torn) = read(&path).unwrap();
        assert_eq!((all.len(), end as usize, torn as usize), (1, ends[1], sound.len() - ends[1]));
    }
    // What is before the mark was on the disk.
    let mut holed = sound.clone();
    holed[ends[0]..ends[0] + 64].fill(0);
    fs::write(&path, &holed).unwrap();
    assert!(read(&path).is_err());
}

#[test]
fn any_sector_of_small_frames_that_a_power_cut_left_unwritten_ends_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log-1");
    for size in [1_usize, 9, 18, 33] {
        let _ = fs::remove_file(&path);
        let log = Log::create(&path, &numbers(&[])).unwrap();
        let mut ends = vec![FRAMES];
        for _ in 0..120 {
            ends.push(log.append(&vec![7; size]).unwrap());
        }
        drop(log);
        let sound = fs::read(&path).unwrap();
        let length = sound.len();
        for from in (FRAMES as usize..length).step_by(512) {
            for to in [from + 512, length] {
                let mut holed = sound.clone();
                holed[from..to.min(length)].fill(0);
                fs::write(&path, &holed).unwrap();
                if length - from < 4 {
                    continue;
                }
                let kept = ends.iter().rposition(|&end| end <= from as u64).unwrap();
                let (all, end, torn) =
                    read(&path).unwrap_or_else(|error| panic!("{size}, {from}: {error}"));
                assert_eq!((all.len(), end, torn), (kept, ends[kept], length as u64 - ends[kept]));
            }
        }
    }
}

/// The marks of a log, both of them, and what a reader meets that comes in the middle of the writing of each.
fn torn_marks(path: &Path) -> (Vec<u8>, Vec<u8>) {
    let sound = fs::read(path).unwrap()[HEAD..FRAMES as usize].to_vec();
    let mut torn = sound.clone();
    for at in [0, FRAMES as usize - HEAD - 512] {
        torn[at..at + 8].copy_from_slice(&0x7777_u64.to_le_bytes());
    }
    (sound, torn)
}

#[test]
fn marks_that_are_being_written_are_read_again_and_those_that_stay_wrong_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log-1");
    let log = Log::create(&path, &numbers(&[])).unwrap();
    for text in ["one", "two", "three"] {
        let end = log.append(text.as_bytes()).unwrap();
        log.sync(end).unwrap();
    }
    let (sound, torn) = torn_marks(&path);
    let put = |marks: &[u8]| log.medium.write_at(HEAD as u64, marks).unwrap();
    let (mut follower, _) = Reader::open(&path, false).unwrap();
    for refreshes in [false, true] {
        put(&torn);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // The other half, when the system gives the writer a core again.
                std::thread::sleep(std::time::Duration::from_millis(8));
                put(&sound);
            });
            if refreshes {
                follower.refresh().unwrap();
            } else {
                assert_eq!(read_as(&path, false).unwrap().0.len(), 3);
            }
        });
    }
    put(&torn);
    for error in [
        Reader::open(&path, false).unwrap_err(),
        // Nobody writes beside the one that has the lock.
        Reader::open(&path, true).unwrap_err(),
        follower.refresh().unwrap_err(),
    ] {
        let place = |error: &FileError| match error {
            FileError::Damaged { path, offset, .. } => Some((path.clone(), *offset)),
            _ => None,
        };
        assert_eq!(place(&error), Some((path.clone(), HEAD as u64)), "{error}");
    }
}

#[test]
fn who_opens_a_log_beside_its_writer_finds_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log-1");
    let log = Log::create(&path, &numbers(&[])).unwrap();
    let done = AtomicBool::new(false);
    let read = || {
        let mut before = 0;
        for _ in 0..2_000 {
            let (reader, _) = Reader::open(&path, false)?;
            assert!(reader.length() >= before);
            before = reader.length();
        }
        Ok::<_, FileError>(())
    };
    let read = std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                if done.load(Ordering::Relaxed) {
                    return;
                }
                let end = log.append(&[7; 64][..round % 64]).unwrap();
                log.sync(end).unwrap();
            }
        });
        let read = read();
        done.store(true, Ordering::Relaxed);
        read
    });
    assert_eq!(read, Ok(()));
}
