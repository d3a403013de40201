//! Where documents come from: files, folders and streams, compressed or not.

use crate::error::CorpusError;
use crossbeam_channel::{Receiver, bounded};
use parking_lot::Mutex;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::block::{Block, Reader, utf_16};
use crate::columnar::Table;
use crate::field::Fields;
use crate::files::Files;
use crate::form::Form;
use crate::format::Format;
use crate::glob;
use crate::layout::Layout;
use crate::origin::Origin;
use crate::sample::Pieces;
use crate::texts::{self, Texts};
use crate::unpack::expansion::OF_INPUT;
use crate::unpack::{MAGIC_BYTES, Packing};

/// One input.
///
/// A path with `*`, `?`, `[` or `**` that names nothing is a pattern, see [`Input::expanded`].
///
/// What begins like gzip, zstd, bzip2 or xz is decompressed, to its end. Of a folder the texts below it are read, see [`Format::Files`]. A path that is neither
/// a folder nor a regular file (a pipe, a device) is read as a stream. A file that is changed or replaced during a run is an error
/// ([`CorpusError::Changed`]); what a stream gives is taken as it comes.
#[derive(Clone)]
pub enum Input {
    /// A file by its path; error messages and ids use the path as given.
    File(PathBuf),
    /// Anything that reads; see [`Input::stream`].
    Stream(Arc<Stream>),
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
        let reader = Mutex::new(Some(Box::new(reader) as Reading));
        Self::Stream(Arc::new(Stream { name: name.into(), reader }))
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

    /// The inputs with the files of patterns, by path, in place of these. Where all files of a pattern are texts (`.txt`, `.text`, `.md`,
    /// `.html`, `.htm`) and no other format is named, it stands for a text in each file, as a folder does.
    ///
    /// # Errors
    /// [`CorpusError::Input`] for a pattern that no file has, or a folder that cannot be read.
    pub fn expanded<'i>(inputs: &'i [Self], form: &Form) -> Result<Cow<'i, [Self]>, CorpusError> {
        let is_pattern = |input: &Self| matches!(input, Self::File(path) if glob::is_pattern(path));
        if !inputs.iter().any(is_pattern) {
            return Ok(inputs.into());
        }
        let mut all = Vec::new();
        for input in inputs {
            let Self::File(path) = input else {
                all.push(input.clone());
                continue;
            };
            let files = if glob::is_pattern(path) { glob::files(path)? } else { Vec::new() };
            let of_texts = match form.format {
                None => files.iter().all(|file| texts::is_text(file)),
                named => named == Some(Format::Files),
            };
            if of_texts {
                all.push(input.clone());
            } else {
                all.extend(files.into_iter().map(Self::File));
            }
        }
        Ok(all.into())
    }

    /// Bytes of it on the disk; of a folder or a pattern those of its texts, of a stream 0. What cannot be looked at has none.
    pub fn length(&self) -> u64 {
        let length = |path: &PathBuf| fs::metadata(path).map_or(0, |about| about.len());
        self.files().iter().map(length).sum()
    }

    /// The files that it stands for: of a folder its texts, of a pattern what it names, of a stream none. What cannot be looked at
    /// is left out: opening it says why.
    pub fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Stream(_) => Vec::new(),
            Self::File(path) if path.is_dir() => texts::below(path),
            Self::File(path) if glob::is_pattern(path) => glob::files(path).unwrap_or_default(),
            Self::File(path) => vec![path.clone()],
        }
    }

    /// Opens it.
    ///
    /// # Errors
    /// [`CorpusError::Input`] where it cannot be opened, [`CorpusError::Option`] for a stream that was read before.
    pub fn open(&self, fields: &Fields, form: &Form) -> Result<Opened, CorpusError> {
        let name = self.name();
        let layout = Arc::new(Layout::new(&name, fields, form));
        let consumed = Arc::new(AtomicU64::new(0));
        let count = consumed.clone();
        let new = |open: Open| Opened {
            name: name.clone(),
            layout: Arc::clone(&layout),
            consumed: Arc::clone(&consumed),
            origin: None,
            spooled: true,
            is_live: true,
            again: None,
            group: 0,
            most: u64::MAX,
            is_sampled: false,
            is_cut: Arc::default(),
            open,
        };
        match self {
            Self::Stream(stream) => {
                let reader = stream.reader.lock().take().ok_or_else(|| CorpusError::Option {
                    argument: "inputs",
                    value: stream.name.clone(),
                    expected: "streams that no earlier run has read",
                })?;
                Ok(new(Box::new(|_| Ok(sniffed(Counted { reader, count })))))
            }
            Self::File(path) => {
                let fail = |error| CorpusError::input(path, error);
                // Not opened to be looked at: opening a pipe waits until somebody writes.
                let about = if glob::is_pattern(path) {
                    None
                } else {
                    Some(fs::metadata(path).map_err(fail)?)
                };
                let Some(about) =
                    about.filter(|about| !about.is_dir() && layout.format() != Some(Format::Files))
                else {
                    if form.format.is_some_and(|format| format != Format::Files) {
                        return Err(fail(io::Error::from(io::ErrorKind::IsADirectory)));
                    }
                    let texts = Arc::new(Texts::new(path));
                    let layout = Arc::new(Layout::of_files(fields, form, Arc::clone(&texts)));
                    let files = Files::new(&texts, form, count, Some(Arc::clone(&layout)));
                    let opened = new(Box::new(|threads| Ok(Box::new(files.on(threads)))));
                    let form = form.clone();
                    let again: Again =
                        Arc::new(move || Box::new(Files::new(&texts, &form, Arc::default(), None)));
                    return Ok(Opened { layout, is_live: false, again: Some(again), ..opened });
                };
                if !about.is_file() {
                    let path = path.clone();
                    return Ok(new(Box::new(|_| {
                        let reader = Box::new(File::open(path)?);
                        Ok(sniffed(Counted { reader, count }))
                    })));
                }
                let file = File::open(path).map_err(fail)?;
                let about = file.metadata().map_err(fail)?;
                let origin = Arc::new(Origin::new(path, file, &about));
                let mut head = vec![0; HEAD_BYTES.min(origin.length()) as usize];
                origin.read_exact_at(&mut head, 0).map_err(fail)?;
                if let Some(format) = table_format(&origin, &head, &layout, form).map_err(fail)? {
                    let table = Table::open(path.clone(), &origin, format).map_err(fail)?;
                    let reader = table.lines(fields, form.max_record, count).map_err(fail)?;
                    let layout = Arc::new(Layout::of_table(table, format, fields, form));
                    let opened = new(Box::new(|_| Ok(reader)));
                    return Ok(Opened { layout, origin: Some(origin), is_live: false, ..opened });
                }
                let packing = Packing::of(&head);
                let spooled = packing.is_some() || utf_16(form.encoding, &head).is_some();
                let reader = Counted { reader: Box::new(origin.reader()), count };
                let open: Open = match packing {
                    Some(packing) => Box::new(move |_| packing.unpack(reader, OF_INPUT)),
                    None => Box::new(|_| Ok(Box::new(reader))),
                };
                Ok(Opened { origin: Some(origin), spooled, is_live: false, ..new(open) })
            }
        }
    }
}

/// Parquet or Arrow, where the file says so, by its bytes or its name, unless it is named as something else.
fn table_format(
    origin: &Origin,
    head: &[u8],
    layout: &Layout,
    form: &Form,
) -> io::Result<Option<Format>> {
    let named = layout.format().filter(|format| format.is_columnar());
    if form.format.is_some() {
        return Ok(named);
    }
    let mut tail = [0; 4];
    if let Some(at) = origin.length().checked_sub(4) {
        origin.read_exact_at(&mut tail, at)?;
    }
    Ok(Format::of_table(head, &tail).or(named))
}

/// Least bytes that are looked at of a compressed file, decompressed: of less it would count that its reader has read on.
const LEAST_PACKED: u64 = 4 << 20;

/// Looked at of a file when it is opened: as much as tells UTF-16.
const HEAD_BYTES: u64 = 8 << 10;

/// Bytes of an input, decompressed.
pub type Reading = Box<dyn Read + Send>;

/// Reads an input that is no single file once more, from the beginning.
pub type Again = Arc<dyn Fn() -> Reading + Send + Sync>;

/// Opens it, for so many threads.
type Open = Box<dyn FnOnce(usize) -> io::Result<Reading> + Send>;

/// An input that is ready for its one pass.
pub struct Opened {
    /// In ids and messages.
    pub name: PathBuf,
    /// What is known of it.
    pub layout: Arc<Layout>,
    /// Bytes taken from the disk or the stream so far (compressed ones).
    pub consumed: Arc<AtomicU64>,
    /// The file, unless it is a folder, a stream, a pipe or a device.
    pub origin: Option<Arc<Origin>>,
    /// Records are found again in a copy, not by their position in the file.
    pub spooled: bool,
    /// A stream, a pipe or a device: who writes it may wait for answers, and nobody can say whether it changed.
    pub is_live: bool,
    /// Of a folder: reads it once more.
    pub again: Option<Again>,
    /// Inputs of one group share one format and one list of columns.
    pub group: usize,
    /// Bytes, decompressed, behind which no further block is read.
    most: u64,
    /// Only some of its lines are read, and found again in a copy.
    pub is_sampled: bool,
    /// Reading has ended before its end.
    pub is_cut: Arc<AtomicBool>,
    open: Open,
}

impl Opened {
    /// Only about so many of its `length` bytes are read: of a file of lines pieces from all over it, of a folder some of its files, of other files the
    /// beginning, of compressed ones at least 4 MiB of what comes out. A stream is read whole.
    pub fn sample(&mut self, most: u64, length: u64) {
        if self.spooled && self.origin.is_some() {
            // How many bytes it has nobody knows before.
            self.most = most.max(LEAST_PACKED);
            return;
        }
        if length <= most {
            return;
        }
        self.is_cut.store(true, Ordering::Relaxed);
        let count = Arc::clone(&self.consumed);
        let Some(origin) = &self.origin else {
            let layout = Arc::clone(&self.layout);
            let Some((texts, (_, form))) = layout.texts.clone().zip(layout.given.clone()) else {
                return;
            };
            self.open = Box::new(move |threads| {
                let parts = usize::try_from(length.div_ceil(most)).unwrap_or(usize::MAX);
                let some = Arc::new(texts.some(texts.paths()?.len().div_ceil(parts))?);
                Ok(Box::new(Files::new(&some, &form, count, Some(layout)).on(threads)))
            });
            return;
        };
        let has_lines = matches!(self.layout.format(), Some(Format::JsonLines | Format::Lines));
        if !has_lines {
            self.most = most;
            return;
        }
        let origin = Arc::clone(origin);
        (self.is_sampled, self.spooled) = (true, true);
        self.open = Box::new(move |_| Ok(Box::new(Pieces::new(origin, count, most))));
    }
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

/// A stream that is decompressed where it begins like that. It is looked at when it is first read, not when it is opened:
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
            let mut magic = Vec::with_capacity(MAGIC_BYTES);
            reader.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut magic)?;
            let packing = Packing::of(&magic);
            let whole = io::Cursor::new(magic).chain(reader);
            *self = Self::Known(match packing {
                Some(packing) => packing.unpack(whole, OF_INPUT)?,
                None => Box::new(whole),
            });
        }
        match self {
            Self::New(reader) | Self::Known(reader) => reader.read(buffer),
        }
    }
}

/// Opens the inputs and reads one after the other, on a thread of its own, at most `ahead` blocks in advance (the files of folders on so
/// many `threads`, at least 1);
/// `Ok(None)` is the end, and an error is the last thing that comes. A file that changed while it was read is an error.
///
/// The thread is not joined: one that waits for somebody to open or fill a pipe must not hold up a cancelled run.
/// It ends at its next block, because nobody receives any more.
pub fn spawn(
    inputs: Vec<Opened>,
    ahead: usize,
    threads: usize,
) -> Receiver<Result<Option<Block>, CorpusError>> {
    let (sender, receiver) = bounded(ahead);
    std::thread::spawn(move || {
        let read = read_all(inputs, threads, |block| sender.send(Ok(Some(block))).is_ok());
        // Nobody listens where the run has ended already.
        let _ = sender.send(read.map(|()| None));
    });
    receiver
}

/// Passes every block on, until nobody wants more.
fn read_all(
    inputs: Vec<Opened>,
    threads: usize,
    pass_on: impl Fn(Block) -> bool,
) -> Result<(), CorpusError> {
    let all: Vec<(PathBuf, Arc<Layout>)> =
        inputs.iter().map(|input| (input.name.clone(), Arc::clone(&input.layout))).collect();
    let all_used = || uses_all(&all.iter().map(|(name, layout)| (&**name, &**layout)));
    // All of them before the first is read: who fills two pipes opens both and then writes.
    let readers: Result<Vec<_>, CorpusError> = inputs
        .into_iter()
        .map(
            |Opened {
                 name, layout, origin, group, most, open, spooled, consumed, is_cut, ..
             }| {
                let plain = (!spooled).then_some(consumed);
                match open(threads) {
                    Ok(reader) => Ok((name, layout, origin, group, (most, plain, is_cut, reader))),
                    Err(error) => Err(CorpusError::input(&name, error)),
                }
            },
        )
        .collect();
    let mut first: Option<(usize, PathBuf, Arc<Layout>)> = None;
    for (number, (name, layout, origin, group, input)) in readers?.into_iter().enumerate() {
        let unchanged = || origin.as_ref().map_or(Ok(()), |origin| origin.check());
        let (most, plain, is_cut, reader) = input;
        let mut taken = 0;
        let mut reader = Reader::new(number as u32, Arc::clone(&layout), reader);
        let mut begins = true;
        while let Some(block) = reader.next_block().or_else(|error| {
            // Why a file cannot be read may be that it is being written.
            unchanged().and(Err(CorpusError::input(&name, error)))
        })? {
            if std::mem::take(&mut begins) {
                match &first {
                    Some((of, other, known)) if *of == group => {
                        agree((other.as_path(), known), (name.as_path(), &layout))?;
                    }
                    _ => first = Some((group, name.clone(), Arc::clone(&layout))),
                }
                // What names do not say is known now.
                all_used()?;
            }
            taken += block.length;
            if !pass_on(block) {
                return Ok(());
            }
            if taken >= most {
                is_cut.store(true, Ordering::Relaxed);
                // What was read beyond it is no part of the sample.
                if let Some(consumed) = plain {
                    consumed.store(taken, Ordering::Relaxed);
                }
                break;
            }
        }
        unchanged()?;
    }
    Ok(())
}

/// Looks whether every option that was given says something about an input of a run: none is silently ignored. One that is for
/// the others may stand: known documents need not be of the format of new ones.
///
/// # Errors
/// [`CorpusError::Option`] for an option that is for none of the inputs, as far as their formats are known.
pub fn uses_all<'i>(
    inputs: &(impl Iterator<Item = (&'i Path, &'i Layout)> + Clone),
) -> Result<(), CorpusError> {
    // An input of an unknown format may be what an option is for.
    let Some((name, first)) = inputs.clone().next() else { return Ok(()) };
    let unused = |layout: &Layout, argument| layout.unused().any(|(name, _)| name == argument);
    let of_none = first
        .unused()
        .find(|(argument, _)| inputs.clone().all(|(_, layout)| unused(layout, *argument)));
    let Some((argument, expected)) = of_none else { return Ok(()) };
    let format = first.format().unwrap_or_default();
    let value = format!("{} ({format})", name.display());
    Err(CorpusError::Option { argument, value, expected })
}

/// Compares two inputs of one run.
///
/// # Errors
/// [`CorpusError::Option`] where they are not of one format, as far as that is known, or have other columns.
pub fn agree(
    (name, layout): (&Path, &Layout),
    (other, found): (&Path, &Layout),
) -> Result<(), CorpusError> {
    let refuse = |value, expected| Err(CorpusError::Option { argument: "inputs", value, expected });
    let of_json = |format: Format| if format == Format::Files { Format::JsonLines } else { format };
    if let (Some(a), Some(b)) = (layout.format(), found.format())
        && of_json(a) != of_json(b)
    {
        let value = format!("{} ({a}) beside {} ({b})", name.display(), other.display());
        return refuse(value, "files of one format");
    }
    if let (Some(a), Some(b)) = (layout.table.get(), found.table.get())
        && let Some((a, b)) = a.differs(b)
    {
        let value = format!("{} ({a}) beside {} ({b})", name.display(), other.display());
        return refuse(value, "files with the same columns in the same order");
    }
    if let (Some(a), Some(b)) = (layout.columns.get(), found.columns.get())
        && a.names() != b.names()
    {
        let (a, b) = (a.names().join(", "), b.names().join(", "));
        let value = format!("{} ({a}) beside {} ({b})", name.display(), other.display());
        return refuse(value, "files with the same columns in the same order");
    }
    Ok(())
}
