//! What can go wrong, with the path and, where there is one, the line.
//!
//! A malformed *record* is not an error: it is counted as rejected and the run goes on
//! ([`Rejected`](crate::Rejected)). An error ends the run, and no output file appears.

use crate::live::CheckedMany;
use crate::report::Rejected;
use simhash_corpus::{NoColumn, grouped};
use simhash_index::durable::Settled;
use simhash_index::{Added, IndexError};
use simhash_sketch::OptionsError;
use simhash_store::{FileError, RoomError};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Why a run stopped.
#[derive(Debug)]
pub enum DedupError {
    /// An option of the fingerprinter is wrong.
    Fingerprinter(OptionsError),
    /// The index refused its options or an item.
    Index(IndexError),
    /// An option of the run has no meaning; the message says what is allowed.
    Option {
        /// Name of the option, as in [`DedupOptions`](crate::DedupOptions), or of the argument.
        argument: &'static str,
        /// The value that was given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// A number is outside its range.
    OutOfRange {
        /// Name of the option, as in [`DedupOptions`](crate::DedupOptions), or of the argument.
        argument: &'static str,
        /// The value that was given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// An input cannot be opened or read: missing, no permission, damaged gzip, failing disk.
    Input {
        /// The input as it was named.
        path: PathBuf,
        /// The reason of the operating system or the decoder.
        source: io::Error,
    },
    /// Every record of the inputs was rejected, and there was at least one: most likely another format than JSON lines,
    /// or another field. Of the outputs only the rejects were written.
    NoRecords {
        /// How many.
        rejected: u64,
        /// The first of them.
        first: Rejected,
        /// What is likely wrong, and what to do.
        hint: String,
        /// The field that may hold the text instead.
        text_in: Option<String>,
    },
    /// An input file was truncated, written to, replaced or removed during the run. Streams, pipes and devices are taken as
    /// they come: nobody can say whether they changed.
    InputChanged {
        /// The input as it was named.
        path: PathBuf,
        /// Line of the record that was found changed, from 1, where it is a record by which the change was seen.
        line: Option<u64>,
        /// How it changed.
        what: String,
    },
    /// Two roles share one file: an output is also an input, or two outputs are the same.
    SameFile {
        /// The output in question.
        path: PathBuf,
    },
    /// An output cannot be created, written or moved into place.
    Output {
        /// The output as it was named.
        path: PathBuf,
        /// The reason of the operating system.
        source: io::Error,
    },
    /// The checkpoint of a run cannot be written, or is damaged or that of another run: of other options, of another release, or of one that
    /// is going on.
    Checkpoint(FileError),
    /// The caller set the cancel flag. No output file was left.
    Cancelled,
    /// The [`Deduper`](crate::Deduper) stopped on an earlier error; its state ends in the middle
    /// of a batch, so make a new one.
    Stopped,
    /// More documents than one run decides: 2^31 in files, or 2^32 − 1 kept ones of a stream.
    TooMany,
    /// A live index holds as many bytes as it may; the item was not added, those of a batch before it were. Searches and
    /// deletions go on.
    Memory {
        /// Bytes held.
        held: u64,
        /// Bytes that it may hold.
        most: u64,
        /// What came before it in a batch.
        done: Done,
    },
    /// The process holds more memory than the run may take; beyond what can be put into temporary files.
    Bound {
        /// Bytes held.
        held: u64,
        /// Bytes that may be held.
        most: u64,
        /// Records were decided as they came: of files less is held.
        streamed: bool,
    },
    /// A document came with the key of a live one, in an index that refuses that; those of a batch before it were added or checked.
    SameKey {
        /// The key.
        key: String,
        /// The document that has it.
        id: u64,
        /// What came before it in a batch.
        done: Done,
    },
    /// A live index was made with another option than the run that it is given to.
    Differs {
        /// The argument that it was given as.
        argument: &'static str,
        /// The option.
        option: &'static str,
        /// The value of the index.
        made: String,
        /// That of the run.
        given: String,
    },
    /// What `source` says, after an earlier run that was killed had been finished or undone, which is said nowhere else.
    AfterSettling {
        /// What became of the earlier run.
        settled: Settled,
        /// Why this one stopped.
        source: Box<DedupError>,
    },
}

/// What a batch on a live index had done when memory ended, or a key was refused.
#[derive(Debug, Default)]
pub enum Done {
    /// Nothing, or it was no batch.
    #[default]
    Nothing,
    /// These ids were added.
    Added(Added),
    /// These items were checked, and added where they were new.
    Checked(CheckedMany),
}

impl DedupError {
    /// The file concerned.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Input { path, .. }
            | Self::InputChanged { path, .. }
            | Self::SameFile { path }
            | Self::Output { path, .. } => Some(path),
            Self::NoRecords { first, .. } => Some(Path::new(&first.file)),
            Self::AfterSettling { source, .. } => source.path(),
            _ => None,
        }
    }

    /// The line concerned, from 1.
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::InputChanged { line, .. } => *line,
            Self::NoRecords { first, .. } => Some(first.line),
            Self::AfterSettling { source, .. } => source.line(),
            _ => None,
        }
    }

    /// The same error of a batch that had done this.
    pub(crate) fn after(self, done: Done) -> Self {
        match self {
            Self::Memory { held, most, .. } => Self::Memory { held, most, done },
            Self::SameKey { key, id, .. } => Self::SameKey { key, id, done },
            other => other,
        }
    }

    /// The same error, of what began with settling an earlier run.
    pub(crate) fn after_settling(self, settled: Option<&Settled>) -> Self {
        match settled {
            Some(settled) => {
                Self::AfterSettling { settled: settled.clone(), source: Box::new(self) }
            }
            None => self,
        }
    }

    pub(crate) fn input(path: &Path, source: io::Error) -> Self {
        Self::Input { path: path.to_owned(), source }
    }

    /// That a temporary file cannot be written.
    pub(crate) fn temporary(folder: &Path, source: &io::Error) -> Self {
        let why = format!("no temporary file can be made or grow there: {source}");
        Self::Output { path: folder.to_owned(), source: io::Error::new(source.kind(), why) }
    }

    pub(crate) fn output(path: &Path, source: io::Error) -> Self {
        Self::Output { path: path.to_owned(), source }
    }
}

/// What the message of an error is written into.
pub trait Message: fmt::Write {
    /// An option that is to be set, spelled as the reader has it, and its value as JavaScript has it.
    ///
    /// # Errors
    /// Those of writing.
    fn setting(&mut self, option: &str, value: &str) -> fmt::Result {
        write!(self, "`{option}: {value}`")
    }
}

impl Message for fmt::Formatter<'_> {}

/// A string as JavaScript has it.
fn quoted(text: &str) -> String {
    if text.contains(['\'', '\\']) { format!("{text:?}") } else { format!("'{text}'") }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

impl fmt::Display for DedupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_as(f, Cow::Borrowed)
    }
}

impl DedupError {
    /// Writes the message, every option spelled by `spell` from its name in Rust, as `window.max_age`; what it says to set goes through
    /// [`Message::setting`].
    ///
    /// # Errors
    /// Those of `f`.
    pub fn write_as(
        &self,
        f: &mut impl Message,
        spell: fn(&'static str) -> Cow<'static, str>,
    ) -> fmt::Result {
        match self {
            Self::Fingerprinter(error) => error.write_as(f, spell),
            Self::Index(error) => error.write_as(f, spell),
            Self::Option { argument, value, expected }
            | Self::OutOfRange { argument, value, expected } => {
                write!(f, "{} must be {expected}, got {value}", spell(argument))
            }
            Self::Input { path, source } => {
                write!(f, "cannot read {}: {source}", path.display())?;
                let inner = source.get_ref();
                match inner.and_then(|inner| inner.downcast_ref::<NoColumn>()) {
                    Some(missing) => Self::write_column(missing, f, spell),
                    None => Ok(()),
                }
            }
            Self::NoRecords { rejected, first: Rejected { file, line, reason }, hint, text_in } => {
                let all = match rejected {
                    1 => "the only record was rejected,".to_owned(),
                    rejected => {
                        format!("all {} records were rejected, the first is", grouped(*rejected))
                    }
                };
                write!(f, "{all} {file}:{line}: {reason}; {hint}")?;
                let Some(path) = text_in else { return Ok(()) };
                write!(f, "; if the text is in {path}, set ")?;
                f.setting(&spell("text_field"), &quoted(path))
            }
            Self::InputChanged { path, line, what } => {
                let line = line.map_or(String::new(), |line| format!(":{line}"));
                write!(
                    f,
                    "{}{line} changed while it was being read: {what}; run again on a file that nothing writes to",
                    path.display()
                )
            }
            Self::SameFile { path } => write!(
                f,
                "the output {} is also an input or another output; give it a name of its own",
                path.display()
            ),
            Self::Output { path, source } => {
                let hint = if is_full(source) { "; free some space and run again" } else { "" };
                write!(f, "cannot write {}: {source}{hint}", path.display())
            }
            Self::Checkpoint(error) => Self::write_checkpoint(error, f, spell),
            Self::Cancelled => f.write_str("cancelled; no output file was written"),
            Self::Stopped => {
                f.write_str("this Deduper stopped on an earlier error; make a new one")
            }
            Self::TooMany => f.write_str(
                "more documents than one run decides (2,147,483,648 in files, 4,294,967,295 kept ones of a stream); split the input",
            ),
            Self::Differs { argument, option, made, given } => write!(
                f,
                "{} must be an index that was made with the options of this run: its {} is {made}, and that of the run is {given}",
                spell(argument),
                spell(option)
            ),
            Self::SameKey { key, id, .. } => write!(
                f,
                "the key {key:?} is that of document {id}, which is alive; delete that one first, use another key, or make the index with another {}",
                spell("on_same_key")
            ),
            Self::Bound { held, most, streamed } => {
                let instead = if *streamed {
                    "give files as inputs instead of a stream, whose documents are held in memory, or"
                } else {
                    "use fewer threads, or"
                };
                write!(
                    f,
                    "the process holds {held} bytes of memory and may hold {most}; {instead} raise {}",
                    spell("memory")
                )
            }
            Self::AfterSettling { settled: Settled { counts, outputs }, source } => {
                source.write_as(f, spell)?;
                f.write_str("; an earlier run was killed while it was about to count: ")?;
                f.write_str(if *counts {
                    "it counts now, and its outputs stand"
                } else {
                    "it was undone, because its outputs are gone or changed"
                })?;
                let names: Vec<_> =
                    outputs.iter().map(|output| output.display().to_string()).collect();
                if names.is_empty() { Ok(()) } else { write!(f, " ({})", names.join(", ")) }
            }
            Self::Memory { held, most, .. } => write!(
                f,
                "the index holds {held} bytes and may hold {most}; delete or expire documents, or raise {}",
                spell("memory")
            ),
        }
    }
}

impl DedupError {
    /// What to set where a column is not there.
    fn write_column(
        NoColumn { argument, example, delimiter, by_header, .. }: &NoColumn,
        f: &mut impl Message,
        spell: fn(&'static str) -> Cow<'static, str>,
    ) -> fmt::Result {
        let mut ways = Vec::new();
        if let Some(sign) = delimiter {
            let value = format!("'{}'", sign.escape_default());
            ways.push(("set ", "delimiter", value, " if that is between the fields"));
        }
        if let Some(argument) = argument {
            ways.push(("name a column by ", argument, format!("'{example}'"), ""));
        }
        if *by_header {
            ways.push(("set ", "header", "false".into(), " if the first row is a record"));
        }
        for (number, (before, option, value, behind)) in ways.iter().enumerate() {
            f.write_str(match number {
                0 => "; ",
                number if number + 1 == ways.len() => ", or ",
                _ => ", ",
            })?;
            f.write_str(before)?;
            f.setting(&spell(option), value)?;
            f.write_str(behind)?;
        }
        Ok(())
    }

    fn write_checkpoint(
        error: &FileError,
        f: &mut impl fmt::Write,
        spell: fn(&'static str) -> Cow<'static, str>,
    ) -> fmt::Result {
        let anew = format!("leave out {} to begin anew", spell("resume"));
        match error {
            FileError::Read { path, source } => {
                write!(f, "cannot read {} of the checkpoint: {source}; {anew}", path.display())
            }
            FileError::Write { path, source } => {
                let hint = if is_full(source) { "; free some space and run again" } else { "" };
                write!(f, "cannot write {} of the checkpoint: {source}{hint}", path.display())
            }
            FileError::Damaged { path, offset, reason } => write!(
                f,
                "{}: the checkpoint is damaged at byte {offset}: {reason}; delete its folder to begin anew",
                path.display()
            ),
            FileError::Format { path, found } => write!(
                f,
                "{}: the checkpoint is that of another release (format {found}); {anew}",
                path.display()
            ),
            FileError::Mismatch { path, option, saved, given } => write!(
                f,
                "{}: the checkpoint is that of a run with {} ({saved}), and this one has ({given}); give the same, or {anew}",
                path.display(),
                spell(option)
            ),
            FileError::Locked { path, by } => {
                let by = if by.is_empty() { "this process or another" } else { by };
                write!(
                    f,
                    "{} is in use: a run with the same outputs is going on in {by}",
                    path.display()
                )
            }
            FileError::Moved { .. } | FileError::Cancelled => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for DedupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Fingerprinter(error) => Some(error),
            Self::Index(error) => Some(error),
            Self::Checkpoint(error) => Some(error),
            Self::Input { source, .. } | Self::Output { source, .. } => Some(source),
            Self::AfterSettling { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<OptionsError> for DedupError {
    fn from(error: OptionsError) -> Self {
        Self::Fingerprinter(error)
    }
}

impl From<IndexError> for DedupError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Cancelled => Self::Cancelled,
            error => Self::Index(error),
        }
    }
}

impl From<RoomError> for DedupError {
    fn from(error: RoomError) -> Self {
        match error {
            RoomError::Disk { folder, source } => Self::temporary(&folder, &source),
            RoomError::Memory { held, most } => Self::Bound { held, most, streamed: false },
        }
    }
}

impl DedupError {
    /// Of documents that are held as they come.
    pub(crate) fn streamed(error: RoomError) -> Self {
        match Self::from(error) {
            Self::Bound { held, most, .. } => Self::Bound { held, most, streamed: true },
            other => other,
        }
    }
}

impl From<FileError> for DedupError {
    fn from(error: FileError) -> Self {
        IndexError::from(error).into()
    }
}
