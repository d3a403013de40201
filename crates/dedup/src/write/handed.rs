//! Bytes for a reader who may stall: a pipe, a device, a stream of the caller.
//!
//! A write to a full pipe cannot be taken back, so a thread of its own makes it, and who has more waits for a place in a
//! bounded queue, with an eye on the cancel flag. The thread is not joined: where the reader never reads, it stays behind
//! until the reader or the process ends, and writes nothing further after a cancelled run or an error.

use crate::error::DedupError;
use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bytes per write: what a pipe holds.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that wait: one being handed over, some in reserve, so that both sides keep busy.
const QUEUE: usize = 4;
/// Longest sleep between two looks at the cancel flag.
const POLL: Duration = Duration::from_millis(20);

/// One output that is handed to a reader.
pub(super) struct Handed<'a> {
    /// The target as it was named, for messages.
    name: &'a Path,
    cancel: &'a AtomicBool,
    buffer: Vec<u8>,
    /// `None` once sealed.
    chunks: Option<Sender<Vec<u8>>>,
    ended: Receiver<io::Result<()>>,
    abandoned: Arc<AtomicBool>,
}

impl<'a> Handed<'a> {
    /// Calls `open` on the writing thread, and what it returns with one chunk after the other.
    pub(super) fn new<W: FnMut(&[u8]) -> io::Result<()>>(
        name: &'a Path,
        cancel: &'a AtomicBool,
        open: impl FnOnce() -> io::Result<W> + Send + 'static,
    ) -> Self {
        let (chunks, queue) = bounded::<Vec<u8>>(QUEUE);
        let (done, ended) = bounded(1);
        let abandoned = Arc::new(AtomicBool::new(false));
        let gone = Arc::clone(&abandoned);
        std::thread::spawn(move || {
            let write_all = || {
                let mut write = open()?;
                for chunk in queue {
                    if gone.load(Ordering::Relaxed) {
                        break;
                    }
                    write(&chunk)?;
                }
                Ok(())
            };
            // Nobody listens where the run has ended already.
            let _ = done.send(write_all());
        });
        Self { name, cancel, buffer: Vec::new(), chunks: Some(chunks), ended, abandoned }
    }

    /// Appends, by way of the buffer.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> Result<(), DedupError> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
            if self.buffer.len() == CHUNK_BYTES {
                self.pass_on()?;
            }
        }
        Ok(())
    }

    /// Waits until everything is written.
    pub(super) fn seal(&mut self) -> Result<(), DedupError> {
        self.pass_on()?;
        self.chunks = None;
        loop {
            match self.ended.recv_timeout(POLL) {
                Ok(result) => return result.map_err(|error| self.failed(error)),
                Err(RecvTimeoutError::Timeout) => self.check_cancel()?,
                Err(RecvTimeoutError::Disconnected) => return Err(self.failed(ended_early())),
            }
        }
    }

    fn pass_on(&mut self) -> Result<(), DedupError> {
        let Some(chunks) = self.chunks.as_ref().filter(|_| !self.buffer.is_empty()) else {
            return Ok(());
        };
        let mut chunk = std::mem::take(&mut self.buffer);
        loop {
            self.check_cancel()?;
            match chunks.send_timeout(chunk, POLL) {
                Ok(()) => return Ok(()),
                Err(SendTimeoutError::Timeout(back)) => chunk = back,
                Err(SendTimeoutError::Disconnected(_)) => {
                    let result = self.ended.recv().unwrap_or_else(|_| Err(ended_early()));
                    return Err(self.failed(result.err().unwrap_or_else(ended_early)));
                }
            }
        }
    }

    fn check_cancel(&self) -> Result<(), DedupError> {
        crate::parallel::check(self.cancel)
    }

    fn failed(&self, error: io::Error) -> DedupError {
        DedupError::output(self.name, error)
    }
}

impl Drop for Handed<'_> {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }
}

fn ended_early() -> io::Error {
    io::Error::other("the writing thread ended early")
}
