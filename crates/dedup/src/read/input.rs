//! Where documents come from: files (plain or gzip) and streams.

use crate::error::DedupError;
use crossbeam_channel::{Receiver, bounded};
use flate2::read::MultiGzDecoder;
use parking_lot::Mutex;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Block, Reader};

/// One input of JSON lines.
///
/// A file that starts with the gzip magic number is decompressed, all members. A path that is not
/// a regular file (a pipe, a device) is read as a stream.
pub enum Input {
    /// A file by its path; error messages and ids use the path as given.
    File(PathBuf),
    /// Anything that reads; see [`Input::stream`].
    Stream(Stream),
}

/// A named reader that is consumed by one run.
pub struct Stream {
    name: String,
    reader: Mutex<Option<Box<dyn Read + Send>>>,
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

    pub(crate) fn open(&self) -> Result<Opened, DedupError> {
        let name = self.name();
        let consumed = Arc::new(AtomicU64::new(0));
        let count = |reader: Box<dyn Read + Send>| Counted { reader, count: consumed.clone() };
        match self {
            Self::Stream(stream) => {
                let reader = stream.reader.lock().take().ok_or_else(|| DedupError::Option {
                    argument: "inputs",
                    value: stream.name.clone(),
                    expected: "streams that no earlier run has read",
                })?;
                let reader = Box::new(Sniffed::new(Box::new(count(reader))));
                Ok(Opened { name, bytes: None, consumed, reader, kind: Kind::Spooled })
            }
            Self::File(path) => {
                let fail = |error| DedupError::input(path, error);
                let mut file = File::open(path).map_err(fail)?;
                let about = file.metadata().map_err(fail)?;
                if about.is_dir() {
                    return Err(fail(io::Error::from(io::ErrorKind::IsADirectory)));
                }
                if !about.is_file() {
                    let reader = Box::new(Sniffed::new(Box::new(count(Box::new(file)))));
                    return Ok(Opened { name, bytes: None, consumed, reader, kind: Kind::Spooled });
                }
                let bytes = Some(about.len());
                if is_gzip(&mut file).map_err(fail)? {
                    let reader = Box::new(MultiGzDecoder::new(count(Box::new(file))));
                    return Ok(Opened { name, bytes, consumed, reader, kind: Kind::Spooled });
                }
                let again = File::open(path).map_err(fail)?;
                let reader = Box::new(count(Box::new(file)));
                Ok(Opened { name, bytes, consumed, reader, kind: Kind::File(again) })
            }
        }
    }
}

fn is_gzip(file: &mut File) -> io::Result<bool> {
    let mut magic = Vec::with_capacity(2);
    file.take(2).read_to_end(&mut magic)?;
    file.rewind()?;
    Ok(magic == GZIP)
}

/// The first two bytes of a gzip member.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// An input that is open for its one pass.
pub(crate) struct Opened {
    pub(crate) name: PathBuf,
    /// Size on disk, where it is known before reading.
    pub(crate) bytes: Option<u64>,
    /// Bytes taken from the disk or the stream so far (compressed ones for gzip).
    pub(crate) consumed: Arc<AtomicU64>,
    pub(crate) kind: Kind,
    pub(crate) reader: Box<dyn Read + Send>,
}

/// How the bytes of a record are found again.
pub(crate) enum Kind {
    /// By position in the input itself (a second handle).
    File(File),
    /// By position in a copy of the kept records.
    Spooled,
}

struct Counted {
    reader: Box<dyn Read + Send>,
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
enum Sniffed {
    New(Box<dyn Read + Send>),
    Known(Box<dyn Read + Send>),
}

impl Sniffed {
    fn new(reader: Box<dyn Read + Send>) -> Self {
        Self::New(reader)
    }
}

impl Read for Sniffed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Self::New(reader) = self {
            let mut reader = std::mem::replace(reader, Box::new(io::empty()));
            let mut magic = Vec::with_capacity(GZIP.len());
            reader.by_ref().take(GZIP.len() as u64).read_to_end(&mut magic)?;
            let packed = magic == GZIP;
            let whole = io::Cursor::new(magic).chain(reader);
            *self = Self::Known(if packed {
                Box::new(MultiGzDecoder::new(whole))
            } else {
                Box::new(whole)
            });
        }
        match self {
            Self::New(reader) | Self::Known(reader) => reader.read(buffer),
        }
    }
}

/// Reads the inputs one after the other on a thread of its own, at most `ahead` blocks in advance;
/// `Ok(None)` is the end, and an error is the last thing that comes.
///
/// The thread is not joined: one that is blocked on a silent pipe must not hold up a cancelled run.
/// It ends at its next block, because nobody receives any more.
pub(crate) fn spawn(
    inputs: Vec<(PathBuf, Box<dyn Read + Send>)>,
    ahead: usize,
) -> Receiver<Result<Option<Block>, DedupError>> {
    let (sender, receiver) = bounded(ahead);
    std::thread::spawn(move || {
        for (number, (name, reader)) in inputs.into_iter().enumerate() {
            let mut reader = Reader::new(number as u32, reader);
            loop {
                let block = match reader.next_block() {
                    Ok(None) => break,
                    Ok(block) => Ok(block),
                    Err(error) => Err(DedupError::input(&name, error)),
                };
                let failed = block.is_err();
                if sender.send(block).is_err() || failed {
                    return;
                }
            }
        }
        // Nobody listens where the run has ended already.
        let _ = sender.send(Ok(None));
    });
    receiver
}
