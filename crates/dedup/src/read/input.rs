//! Where documents come from: files (plain or gzip) and streams.

use crate::error::DedupError;
use crossbeam_channel::{Receiver, bounded};
use parking_lot::Mutex;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::gunzip::{Gunzip, MAGIC};
use super::origin::Origin;
use super::{Block, Format, Reader, encoding};

/// One input of JSON lines.
///
/// A file that starts with the gzip magic number is decompressed, all members. A path that is not
/// a regular file (a pipe, a device) is read as a stream. A file that is changed or replaced during a run is an error
/// ([`DedupError::InputChanged`]); what a stream gives is taken as it comes.
pub enum Input {
    /// A file by its path; error messages and ids use the path as given.
    File(PathBuf),
    /// Anything that reads; see [`Input::stream`].
    Stream(Stream),
}

/// A named reader that is consumed by one run.
pub struct Stream {
    name: String,
    reader: Mutex<Option<Reading>>,
}

impl Input {
    /// A reader under a name (used in ids and messages), consumed by the first run that uses it.
    ///
    /// Kept records of a stream are copied to an unnamed temporary file, because verification needs
    /// their texts again.
    pub fn stream(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Self::Stream(Stream { name: name.into(), reader: Mutex::new(Some(Box::new(reader))) })
    }

    /// Standard input under the name `-`.
    pub fn stdin() -> Self {
        Self::stream("-", io::stdin())
    }

    /// The name in ids and messages: the path as given, or the stream's name.
    pub fn name(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Stream(stream) => PathBuf::from(&stream.name),
        }
    }

    pub(crate) fn open(&self, format: Format) -> Result<Opened, DedupError> {
        let name = self.name();
        let consumed = Arc::new(AtomicU64::new(0));
        let count = consumed.clone();
        match self {
            Self::Stream(stream) => {
                let reader = stream.reader.lock().take().ok_or_else(|| DedupError::Option {
                    argument: "inputs",
                    value: stream.name.clone(),
                    expected: "streams that no earlier run has read",
                })?;
                let open = Box::new(|| Ok(sniffed(Counted { reader, count })));
                Ok(Opened { name, format, consumed, origin: None, spooled: true, open })
            }
            Self::File(path) => {
                let fail = |error| DedupError::input(path, error);
                // Not opened to be looked at: opening a pipe waits until somebody writes.
                let about = fs::metadata(path).map_err(fail)?;
                if about.is_dir() {
                    return Err(fail(io::Error::from(io::ErrorKind::IsADirectory)));
                }
                if !about.is_file() {
                    let path = path.clone();
                    let open = Box::new(|| {
                        let reader = Box::new(File::open(path)?);
                        Ok(sniffed(Counted { reader, count }))
                    });
                    return Ok(Opened {
                        name,
                        format,
                        consumed,
                        origin: None,
                        spooled: true,
                        open,
                    });
                }
                let file = File::open(path).map_err(fail)?;
                let about = file.metadata().map_err(fail)?;
                let origin = Arc::new(Origin::new(path, file, &about));
                let spooled = is_gzip(&origin).map_err(fail)?;
                let reader = Counted { reader: Box::new(origin.reader()), count };
                let reader: Reading =
                    if spooled { Box::new(Gunzip::new(reader)) } else { Box::new(reader) };
                let open = Box::new(|| Ok(reader));
                Ok(Opened { name, format, consumed, origin: Some(origin), spooled, open })
            }
        }
    }
}

fn is_gzip(origin: &Origin) -> io::Result<bool> {
    let mut magic = [0; MAGIC.len()];
    if origin.length() < MAGIC.len() as u64 {
        return Ok(false);
    }
    origin.read_exact_at(&mut magic, 0)?;
    Ok(magic == MAGIC)
}

type Reading = Box<dyn Read + Send>;

/// An input that is ready for its one pass.
pub(crate) struct Opened {
    pub(crate) name: PathBuf,
    format: Format,
    /// Bytes taken from the disk or the stream so far (compressed ones for gzip).
    pub(crate) consumed: Arc<AtomicU64>,
    /// The file, unless it is a stream, a pipe or a device, of which nobody can say whether it changed.
    pub(crate) origin: Option<Arc<Origin>>,
    /// Records are found again in a copy, not by their position in the file.
    pub(crate) spooled: bool,
    open: Box<dyn FnOnce() -> io::Result<Reading> + Send>,
}

struct Counted {
    reader: Reading,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A stream that is decompressed where it begins like gzip. It is looked at when it is first read, not when it is opened:
/// a silent pipe must not hold up the caller.
fn sniffed(reader: impl Read + Send + 'static) -> Reading {
    Box::new(Sniffed::New(Box::new(reader)))
}

enum Sniffed {
    New(Reading),
    Known(Reading),
}

impl Read for Sniffed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Self::New(reader) = self {
            let mut reader = std::mem::replace(reader, Box::new(io::empty()));
            let mut magic = Vec::with_capacity(MAGIC.len());
            reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic)?;
            let packed = magic == MAGIC;
            let whole = io::Cursor::new(magic).chain(reader);
            *self =
                Self::Known(if packed { Box::new(Gunzip::new(whole)) } else { Box::new(whole) });
        }
        match self {
            Self::New(reader) | Self::Known(reader) => reader.read(buffer),
        }
    }
}

/// Opens the inputs and reads one after the other, on a thread of its own, at most `ahead` blocks in advance;
/// `Ok(None)` is the end, and an error is the last thing that comes. A file that changed while it was read is an error.
///
/// The thread is not joined: one that waits for somebody to open or fill a pipe must not hold up a cancelled run.
/// It ends at its next block, because nobody receives any more.
pub(crate) fn spawn(
    inputs: Vec<Opened>,
    ahead: usize,
) -> Receiver<Result<Option<Block>, DedupError>> {
    let (sender, receiver) = bounded(ahead);
    std::thread::spawn(move || {
        let read = read_all(inputs, |block| sender.send(Ok(Some(block))).is_ok());
        // Nobody listens where the run has ended already.
        let _ = sender.send(read.map(|()| None));
    });
    receiver
}

/// Passes every block on, until nobody wants more.
fn read_all(inputs: Vec<Opened>, pass_on: impl Fn(Block) -> bool) -> Result<(), DedupError> {
    // All of them before the first is read: who fills two pipes opens both and then writes.
    let readers: Result<Vec<_>, DedupError> = inputs
        .into_iter()
        .map(|Opened { name, format, origin, open, .. }| match open() {
            Ok(reader) => Ok((name, format, origin, reader)),
            Err(error) => Err(DedupError::input(&name, error)),
        })
        .collect();
    for (number, (name, format, origin, reader)) in readers?.into_iter().enumerate() {
        let unchanged = || origin.as_ref().map_or(Ok(()), |origin| origin.check());
        let mut reader = Reader::new(number as u32, format, reader);
        while let Some(block) = checked(reader.next_block()).or_else(|error| {
            // Why a file cannot be read may be that it is being written.
            unchanged().and(Err(DedupError::input(&name, error)))
        })? {
            if !pass_on(block) {
                return Ok(());
            }
        }
        unchanged()?;
    }
    Ok(())
}

/// The same block, unless it begins an input of another encoding.
fn checked(block: io::Result<Option<Block>>) -> io::Result<Option<Block>> {
    if let Ok(Some(block)) = &block
        && block.offset == 0
    {
        encoding::check(&block.bytes)?;
    }
    block
}
