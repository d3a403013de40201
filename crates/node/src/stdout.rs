//! Standard output, where it may be a pipe that does not block.
//!
//! Node opens pipes without blocking, and the flag belongs to the pipe, not to the descriptor: after `2>&1`, touching
//! `process.stderr` is enough to make this process's standard output answer "would block" once the reader is slower. A
//! write then takes place when there is room again, as it would on any other pipe.
//!
//! Node gives its child processes sockets for pipes. A reader that closes a socket before it has read all of it makes the
//! next write fail with "connection reset" instead of "broken pipe"; both say that the reader went away, and are one here.

use std::io::{ErrorKind, Result, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// The first wait: about what a reader needs for a page of the pipe.
const SHORTEST: Duration = Duration::from_micros(100);
/// The longest: below what a person notices, and a hundred looks a second cost nothing.
const LONGEST: Duration = Duration::from_millis(10);

/// A writer that waits where the one inside would block, until its run is cancelled.
pub(crate) struct Waiting<W> {
    out: W,
    cancel: Arc<AtomicBool>,
}

impl<W> Waiting<W> {
    pub(crate) fn new(out: W, cancel: Arc<AtomicBool>) -> Self {
        Self { out, cancel }
    }
}

impl<W: Write> Write for Waiting<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        waiting(&self.cancel, || self.out.write(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        waiting(&self.cancel, || self.out.flush())
    }
}

/// Repeats `attempt` until it does something else than refuse to block.
fn waiting<T>(cancel: &AtomicBool, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let mut pause = SHORTEST;
    loop {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                // Whoever cancelled does not wait for this thread any more.
                if cancel.load(Ordering::Relaxed) {
                    return Err(error);
                }
                sleep(pause);
                pause = (pause * 2).min(LONGEST);
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                return Err(ErrorKind::BrokenPipe.into());
            }
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Waiting;
    use std::io::{ErrorKind, LineWriter, Result, Write};
    use std::sync::Arc;

    /// Takes few bytes at a time and refuses every other call.
    #[derive(Debug, Default)]
    struct Full {
        taken: Vec<u8>,
        refused: usize,
    }

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            if self.refused.is_multiple_of(2) {
                self.refused += 1;
                return Err(ErrorKind::WouldBlock.into());
            }
            self.refused += 1;
            let count = bytes.len().min(7);
            self.taken.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_pipe_that_would_block_gets_every_byte_once() {
        let text: Vec<u8> = (0..200).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        // Buffered by lines, as standard output is.
        let mut out = Waiting::new(LineWriter::new(Full::default()), Arc::default());
        out.write_all(&text).unwrap();
        out.flush().unwrap();
        let full = out.out.into_inner().unwrap();
        assert_eq!(full.taken, text);
        assert!(full.refused > 100);
    }

    #[test]
    fn a_reader_of_a_socket_that_went_away_is_one_of_a_pipe() {
        struct Reset;
        impl Write for Reset {
            fn write(&mut self, _: &[u8]) -> Result<usize> {
                Err(ErrorKind::ConnectionReset.into())
            }

            fn flush(&mut self) -> Result<()> {
                Ok(())
            }
        }
        let error = Waiting::new(Reset, Arc::default()).write_all(b"x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn other_errors_pass() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> Result<usize> {
                Err(ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> Result<()> {
                Ok(())
            }
        }
        let error = Waiting::new(Closed, Arc::default()).write_all(b"x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_cancelled_run_does_not_wait() {
        struct Stalled;
        impl Write for Stalled {
            fn write(&mut self, _: &[u8]) -> Result<usize> {
                Err(ErrorKind::WouldBlock.into())
            }

            fn flush(&mut self) -> Result<()> {
                Err(ErrorKind::WouldBlock.into())
            }
        }
        let mut out = Waiting::new(Stalled, Arc::new(true.into()));
        assert_eq!(out.write_all(b"x").unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}
