//! Where results go, and that no two roles share a file.

use super::output::is_passed_on;
use crate::error::DedupError;
use crate::read::{Encoding, Format, Input};
use parking_lot::Mutex;
use simhash_store::{Place, folder};
use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The outputs of a run. Each is optional; without any, a run only counts.
#[derive(Default)]
pub struct Outputs {
    /// The records, in input order and in the format of the inputs, byte for byte as they were read unless `encoding` is another one; those of
    /// a folder are JSON lines of `id`, the path, and `text`.
    pub records: Option<Target>,
    /// What happens to duplicates in `records`.
    pub duplicates: Duplicates,
    /// Of texts in files: their paths in `records`, a line each, instead of what they hold; one with a newline, or that begins with a quote, as a
    /// JSON string.
    pub list: bool,
    /// Of texts in files, instead of `records`: a folder, into which those that are kept are copied, under the names that they have below the
    /// input. Nothing that is there is replaced, and an error leaves none of them. A folder that is new appears in one step, also where the process
    /// is killed; in one that was there a kill while names are given leaves the first of them.
    pub copy: Option<PathBuf>,
    /// How characters of `records` are written. Default `None`: as those of the inputs, where all have one encoding, else UTF-8. (Of several
    /// streams that are decided as they come always UTF-8.)
    pub encoding: Option<Encoding>,
    /// One JSON line per group of two or more: `{"representative": id, "members": [{"id": id},
    /// {"id": id, "similarity": s, "distance": d}, …]}`, the representative first, members and groups (by their
    /// representative) in input order. Similarity and distance are those to the representative, each where it is known.
    /// Costs memory for the id of every duplicate.
    pub clusters: Option<Target>,
    /// One JSON line per rejected record: `{"file", "line", "reason", "raw"}`, `raw` the line itself, or
    /// `rawBase64` instead where it is no UTF-8: nothing is lost. Of a record that is longer than
    /// any may be ([`Form::max_record`](crate::Form::max_record)) `raw` is the first kilobyte.
    pub rejects: Option<Target>,
}

/// The outputs of [`pairs_files`](crate::pairs_files), [`match_files`](crate::match_files),
/// [`fingerprint_files`](crate::fingerprint_files) and [`segment_files`](crate::segment_files). Each is optional; without any, a run only counts.
#[derive(Default)]
pub struct LineOutputs {
    /// A line for each pair, or for each document. Ids are as the records write them.
    pub lines: Option<Target>,
    /// The rejected records, as [`Outputs::rejects`].
    pub rejects: Option<Target>,
}

/// What happens to duplicates in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// They are left out.
    #[default]
    Remove,
    /// They stay, with `duplicateOf`, `similarity` and `distance` added at the end of the record. Such keys that
    /// records have already are cut out, from kept ones too; every other byte stays.
    Mark,
}

/// One output.
pub enum Target {
    /// A file, replaced as a whole at the end of a successful run. A path that exists and is not a
    /// regular file (a device, a pipe) is written to directly. What goes to a name that ends in `.gz` is compressed.
    File(PathBuf),
    /// A writer of the caller; see [`Target::stream`].
    Stream(Stream),
}

/// A named writer.
pub struct Stream {
    name: PathBuf,
    writer: SharedWriter,
}

/// A writer that outlives the run that uses it: a write that its reader holds up cannot be taken back.
pub(super) type SharedWriter = Arc<Mutex<Box<dyn Write + Send>>>;

impl Target {
    /// A writer under a name used in messages, such as `-` for standard output. What was written
    /// before an error or a cancel cannot be taken back.
    pub fn stream(name: impl Into<PathBuf>, writer: impl Write + Send + 'static) -> Self {
        Self::Stream(Stream { name: name.into(), writer: Arc::new(Mutex::new(Box::new(writer))) })
    }

    /// Whether it appears whole at the end of a run, under a name.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::File(path) if !is_passed_on(path))
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Stream(_) => None,
        }
    }
}

impl Stream {
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    pub(super) fn writer(&self) -> SharedWriter {
        Arc::clone(&self.writer)
    }
}

/// What an output that is not of records can hold: what its name may say.
#[derive(Clone, Copy)]
pub(crate) enum Written {
    JsonLines,
    /// Rows of CSV or TSV too, by the name.
    Rows,
    /// Lines for people; with this sign between what a line holds.
    Lines(Option<char>),
}

impl Written {
    /// Refuses a name that says what is not written: a reader would take it at its word.
    fn check(self, argument: &'static str, target: Option<&Target>) -> Result<(), DedupError> {
        let Some(path) = target.and_then(Target::path) else { return Ok(()) };
        let (named, expected) = match (self, Format::of(path)) {
            (_, None | Some(Format::Lines))
            | (Self::Rows | Self::JsonLines, Some(Format::JsonLines))
            | (Self::Rows, Some(Format::Csv | Format::Tsv))
            | (Self::Lines(Some('\t')), Some(Format::Tsv)) => return Ok(()),
            (Self::JsonLines, Some(named)) => {
                (named, "a name for JSON lines, as x.jsonl: nothing else is written")
            }
            (Self::Rows, Some(named)) => {
                (named, "a name for JSON lines, CSV or TSV, as x.jsonl: nothing else is written")
            }
            (Self::Lines(_), Some(Format::JsonLines)) => (
                Format::JsonLines,
                "a name for lines of text, as x.txt, unless JSON lines are asked for too",
            ),
            (Self::Lines(_), Some(named)) => {
                (named, "a name for lines of text, as x.txt: nothing else is written")
            }
        };
        let value = format!("{} ({named})", path.display());
        Err(DedupError::Option { argument, value, expected })
    }
}

impl Outputs {
    /// Refuses names of other formats for what is always written in the same ones.
    pub(crate) fn check_names(&self) -> Result<(), DedupError> {
        Written::Rows.check("clusters", self.clusters.as_ref())?;
        Written::JsonLines.check("rejects", self.rejects.as_ref())
    }

    pub(crate) fn targets(&self) -> impl Iterator<Item = &Target> {
        [&self.records, &self.clusters, &self.rejects].into_iter().flatten()
    }
}

impl LineOutputs {
    /// Refuses names of other formats than what is written.
    pub(crate) fn check_names(&self, written: Written) -> Result<(), DedupError> {
        written.check("output", self.lines.as_ref())?;
        Written::JsonLines.check("rejects", self.rejects.as_ref())
    }

    pub(crate) fn targets(&self) -> impl Iterator<Item = &Target> {
        [&self.lines, &self.rejects].into_iter().flatten()
    }
}

/// Refuses an output that is an input or another output, whatever links and spellings hide it.
pub(crate) fn check_distinct<'a>(
    inputs: impl Iterator<Item = &'a Input>,
    outputs: impl Iterator<Item = &'a Target>,
) -> Result<(), DedupError> {
    let files = inputs.flat_map(Input::files);
    let mut taken: HashSet<Identity> = files.filter_map(|path| Identity::of(&path)).collect();
    for path in outputs.filter_map(Target::path) {
        let Some(identity) = Identity::of(path) else { continue };
        if !taken.insert(identity) {
            return Err(DedupError::SameFile { path: path.to_owned() });
        }
    }
    Ok(())
}

/// What makes two paths the same file.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    /// Device and inode: hard links are the same file under two names.
    #[cfg(unix)]
    Inode(u64, u64),
    Path(PathBuf),
}

impl Identity {
    /// `None` for devices and pipes, which may well serve twice.
    fn of(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            Ok(about) if !about.is_file() => None,
            #[cfg(unix)]
            Ok(about) => {
                use std::os::unix::fs::MetadataExt;
                Some(Self::Inode(about.dev(), about.ino()))
            }
            #[cfg(not(unix))]
            Ok(_) => fs::canonicalize(path).ok().map(Self::Path),
            // Not there yet, or a link to what is not: the folder is what can be resolved.
            Err(_) => {
                let Ok(Place::File { target, .. }) = Place::of(path) else { return None };
                let folder = fs::canonicalize(folder::of(&target)).ok()?;
                Some(Self::Path(folder.join(target.file_name()?)))
            }
        }
    }
}
