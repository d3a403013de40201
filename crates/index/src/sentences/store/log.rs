//! The end of the file: frames of changes, and the mark that says how far they count.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use simhash_store::Frame;

use super::Durability;
use super::mark::{MARKS, Mark};
use super::replay::CHANGES;

/// What a log is written to: a file, or in tests what records the order of writes and flushes.
pub(super) trait Medium {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Has the disk take all that was written.
    fn sync(&mut self) -> io::Result<()>;
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Medium for File {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(at))?;
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// A file that changes are appended to.
#[derive(Debug)]
pub(super) struct Log<M: Medium> {
    pub(super) medium: M,
    durability: Durability,
    /// Where the next frame goes: the end of what is acknowledged.
    end: u64,
    /// The last mark.
    mark: Mark,
    /// A write failed: what the disk has is no longer known, and no mark may say that it counts.
    failed: bool,
}

impl<M: Medium> Log<M> {
    pub(super) fn new(medium: M, durability: Durability, end: u64, mark: Mark) -> Self {
        Self { medium, durability, end, mark, failed: false }
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn durability(&self) -> Durability {
        self.durability
    }

    /// Appends a frame; when this returns it is kept as durably as was promised. After an error the log ends where it
    /// ended before.
    pub(super) fn append(&mut self, changes: &[u8]) -> io::Result<()> {
        let frame = Frame { name: CHANGES, at: self.end }.bytes(changes);
        let end = self.end + frame.len() as u64;
        let written = self.medium.write_at(self.end, &frame).and_then(|()| match self.durability {
            Durability::Commit => self.medium.sync(),
            Durability::System => Ok(()),
        });
        if let Err(error) = written {
            self.failed = true;
            // Part of the frame, which nothing says counts. If it stays the next opener takes it for a torn tail.
            let _ = self.medium.cut(self.end);
            return Err(error);
        }
        if self.durability == Durability::Commit {
            // Once the mark is under way it may be on the disk whatever the system says: the frame has to stay.
            self.write_mark(end)?;
        }
        self.end = end;
        Ok(())
    }

    /// Has the disk take everything, and says that it counts.
    pub(super) fn checkpoint(&mut self) -> io::Result<()> {
        if self.failed || self.mark.end == self.end {
            return Ok(());
        }
        self.medium.sync()?;
        self.write_mark(self.end)
    }

    /// What is up to `end` is on the disk.
    fn write_mark(&mut self, end: u64) -> io::Result<()> {
        let mark = Mark { end, turn: self.mark.turn + 1 };
        let at = MARKS[(mark.turn % 2) as usize];
        let written = self.medium.write_at(at, &mark.bytes(at)).and_then(|()| self.medium.sync());
        match written {
            Ok(()) => self.mark = mark,
            Err(_) => self.failed = true,
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Eq)]
    enum Call {
        Write(u64, usize),
        Sync,
        Cut(u64),
    }

    /// Records what is asked of it; call number `fails` fails.
    #[derive(Debug, Default)]
    struct Recorded {
        calls: Vec<Call>,
        fails: Option<usize>,
    }

    impl Recorded {
        fn call(&mut self, call: Call) -> io::Result<()> {
            self.calls.push(call);
            let fails = self.fails == Some(self.calls.len() - 1);
            if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    impl Medium for Recorded {
        fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
            self.call(Call::Write(at, bytes.len()))
        }
        fn sync(&mut self) -> io::Result<()> {
            self.call(Call::Sync)
        }
        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.call(Call::Cut(length))
        }
    }

    const START: Mark = Mark { end: 5000, turn: 1 };

    fn log(durability: Durability, fails: Option<usize>) -> Log<Recorded> {
        Log::new(Recorded { calls: Vec::new(), fails }, durability, START.end, START)
    }

    /// The calls of one commit of ten bytes, which make a frame of 34.
    fn commit() -> [Call; 4] {
        [Call::Write(5000, 34), Call::Sync, Call::Write(MARKS[0], 512), Call::Sync]
    }

    #[test]
    fn a_commit_flushes_the_frame_before_the_mark_and_the_mark_before_it_returns() {
        let mut log = log(Durability::Commit, None);
        log.append(&[0; 10]).unwrap();
        assert_eq!(log.medium.calls, commit());
        log.append(&[0; 10]).unwrap();
        let second = [Call::Write(5034, 34), Call::Sync, Call::Write(MARKS[1], 512), Call::Sync];
        assert_eq!(log.medium.calls[4..], second);
        // Everything is marked: there is nothing to do at the end.
        log.checkpoint().unwrap();
        assert_eq!((log.medium.calls.len(), log.end()), (8, 5068));
    }

    #[test]
    fn what_the_system_keeps_is_written_and_marked_at_the_end() {
        let mut log = log(Durability::System, None);
        log.append(&[0; 10]).unwrap();
        log.append(&[0; 10]).unwrap();
        assert_eq!(log.medium.calls, [Call::Write(5000, 34), Call::Write(5034, 34)]);
        log.checkpoint().unwrap();
        let last = [Call::Sync, Call::Write(MARKS[0], 512), Call::Sync];
        assert_eq!(log.medium.calls[2..], last);
    }

    #[test]
    fn a_write_that_fails_is_cut_off_unless_a_mark_may_count_it_and_is_never_marked() {
        for fails in 0..4 {
            let mut log = log(Durability::Commit, Some(fails));
            assert!(log.append(&[0; 10]).is_err());
            let mut calls = commit()[..=fails].to_vec();
            if fails < 2 {
                calls.push(Call::Cut(5000));
            }
            assert_eq!((&log.medium.calls, log.end()), (&calls, 5000));
            log.checkpoint().unwrap();
            assert_eq!(log.medium.calls, calls, "what the disk has is not known");
        }
    }
}
