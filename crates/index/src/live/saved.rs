//! A live index as one file: saved whole as it is at one moment, opened whole or mapped. In the frames of `simhash_store`:
//!
//! ```text
//! HEAD  recipe; options of the kind
//! …     frames of the kind, see its `image`
//! KEPT  nothing, or what somebody else keeps with the index
//! SELF  in a directory: identity u64 u64, number of the file u64, position u64
//! END!
//! ```
//! A kind says in [`Whole`] what is copied of it and how that is written and read; when the copy is made, how the file is published
//! and what is checked is said here once.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use simhash_store::{Access, Fields, FileError, Input, Mapped, Output, Section, saved};

use super::kind::Kind;
use super::turns::Asked;
use super::{Ages, Live, Log, Shared, State, Window};
use crate::IndexError;
use crate::ids::{Alive, Ids};

/// A kind that is saved whole.
pub trait Whole: Kind {
    /// What its files say of themselves.
    const FILE: simhash_store::Kind;
    /// What is copied of an index between two changes.
    type Copy: Send + 'static;
    /// What is asked for at the call and comes later.
    type Awaited: Send + 'static;

    /// The options, as they are written.
    fn written(options: &Self::Options) -> Fields;

    /// The copy.
    fn copied(options: &Self::Options, state: &State<Self>) -> Self::Copy;

    /// Asks for what comes later.
    fn awaited(shared: &Arc<Shared<Self>>) -> Self::Awaited;

    /// Writes the frames of the kind.
    ///
    /// # Errors
    /// [`FileError::Write`], and [`IndexError::Cancelled`] where it waits.
    fn write_frames(
        shared: &Arc<Shared<Self>>,
        copy: Self::Copy,
        awaited: Self::Awaited,
        out: &mut Output<'_>,
        cancel: &AtomicBool,
    ) -> Result<(), IndexError>;

    /// Reads options and frames.
    ///
    /// # Errors
    /// [`FileError::Damaged`] with the place.
    fn read_frames<R: Read>(
        options: Section,
        input: &mut Input<R>,
    ) -> Result<Live<Self>, IndexError>;

    /// [`Whole::read_frames`] of a file that is mapped: a kind that can looks things up in it and builds nothing.
    ///
    /// # Errors
    /// As [`Whole::read_frames`].
    fn map_frames(
        options: Section,
        input: &mut Input<BufReader<File>>,
        map: &Arc<Mapped>,
    ) -> Result<Live<Self>, IndexError> {
        let _ = map;
        Self::read_frames(options, input)
    }
}

/// An index as it was when [`Live::snapshot`] was called, on its way to a file.
pub struct Snapshot<K: Whole> {
    shared: Arc<Shared<K>>,
    asked: Asked<Option<Result<Made<K>, IndexError>>>,
    awaited: K::Awaited,
    /// Whose file it becomes, in a directory.
    mark: Option<Fields>,
}

impl<K: Whole> fmt::Debug for Snapshot<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").finish_non_exhaustive()
    }
}

/// What is copied of an index, and what is kept with it.
struct Made<K: Whole> {
    copy: K::Copy,
    alive: Alive,
    beside: Later,
    position: u64,
}

/// What somebody else keeps with an index, copied; put together as it is written, told which ids were alive.
pub type Later = Box<dyn FnOnce(&Alive) -> Fields + Send>;

impl<K: Whole> Snapshot<K> {
    /// Writes it, to be read by [`Live::open_with`]; additions and searches go on. `recipe` is what made items of texts, in
    /// words.
    ///
    /// # Errors
    /// [`FileError::Write`], [`IndexError::Cancelled`]; [`IndexError::Merge`] if merging has failed.
    pub fn write(
        self,
        out: &mut dyn Write,
        recipe: &str,
        cancel: &AtomicBool,
    ) -> Result<(), IndexError> {
        let Self { shared, asked, awaited, mark } = self;
        if !asked.wait(&shared.turns, cancel) {
            return Err(IndexError::Cancelled);
        }
        let made = asked.made().flatten();
        let Made { copy, alive, beside, position } = made.ok_or(IndexError::Copy)??;
        let mut out = Output::begin(out, K::FILE, recipe, &K::written(&shared.options))?;
        K::write_frames(&shared, copy, awaited, &mut out, cancel)?;
        out.frame(*b"KEPT", &beside(&alive).0)?;
        if let Some(mut mark) = mark {
            mark.number(position);
            out.frame(*b"SELF", &mark.0)?;
        }
        Ok(out.end()?)
    }

    /// Makes the copy now, if nobody has; of a batch up to a position it waits for the end.
    pub(crate) fn copy_now(&self) {
        self.asked.wait(&self.shared.turns, &AtomicBool::new(false));
    }

    /// As a file of a directory, which says whose it is.
    pub(crate) fn marked(self, mark: Fields) -> Self {
        Self { mark: Some(mark), ..self }
    }

    /// Writes it to a file, whole or not at all. `access` is that of a file which is new.
    ///
    /// # Errors
    /// As [`Snapshot::write`].
    pub fn write_file(
        self,
        (path, access): (&Path, Access),
        recipe: &str,
        cancel: &AtomicBool,
    ) -> Result<(), IndexError> {
        let saved = saved::save(path, access, cancel, |out| self.write(out, recipe, cancel));
        saved.map_err(|error| error.in_file(path))
    }
}

impl<K: Whole> Live<K> {
    /// The index as it is now, for saving: what is added or deleted after this call is not in it. Of a batch under way it has
    /// the items that came before; of one up to a position ([`Writer::hold`](super::Writer::hold)) it has all, and what was changed
    /// beside it until its end. O(1): what the kind copies is copied before the next change, by the thread of that change
    /// or by the one that writes, whichever comes first.
    pub fn snapshot(&self) -> Snapshot<K> {
        self.snapshot_with(|| |_: &Alive| Fields::default())
    }

    /// [`Live::snapshot`] with what somebody else keeps: `beside` runs with the copy, while other writers are kept out. What
    /// it returns makes the bytes when the file is written; it is told which ids were alive.
    pub fn snapshot_with<B: FnOnce(&Alive) -> Fields + Send + 'static>(
        &self,
        beside: impl FnOnce() -> B + Send + 'static,
    ) -> Snapshot<K> {
        self.snapshot_between(move || Box::new(beside()) as Later, |_| Ok(()))
    }

    /// [`Live::snapshot_with`], and something else that is done at the same moment, before the copy is made.
    pub(crate) fn snapshot_between(
        &self,
        beside: impl FnOnce() -> Later + Send + 'static,
        between: impl FnOnce(&mut Log) -> Result<(), IndexError> + Send + 'static,
    ) -> Snapshot<K> {
        // Weak: a copy that is never made must not keep the index.
        let weak = Arc::downgrade(&self.shared);
        let mut own = Some((beside, between));
        let asked = self.shared.turns.ask(move |log: &mut Log| {
            // Half a batch would stand beside the position of the one before.
            if log.whole {
                return None;
            }
            let (beside, between) = own.take()?;
            let Some(shared) = weak.upgrade() else { return Some(None) };
            Some(Some(between(log).map(|()| {
                let state = shared.state.read();
                let copy = K::copied(&shared.options, &state);
                let alive = state.kind.ids().alive();
                drop(state);
                let position = shared.position.load(Ordering::Acquire);
                Made { copy, alive, beside: beside(), position }
            })))
        });
        let awaited = K::awaited(&self.shared);
        Snapshot { shared: Arc::clone(&self.shared), asked, awaited, mark: None }
    }

    /// Writes the whole index as it is at the call, see [`Live::snapshot`], without a recipe.
    ///
    /// # Errors
    /// As [`Snapshot::write`].
    pub fn save(&self, out: &mut dyn Write) -> Result<(), IndexError> {
        self.snapshot().write(out, "", &AtomicBool::new(false))
    }

    /// Reads an index that [`Live::save`] or [`Snapshot::write`] wrote, whatever its recipe.
    ///
    /// # Errors
    /// Those of [`Live::open_with`]; [`FileError::Mismatch`] where something is kept with it.
    pub fn open(input: &mut dyn Read) -> Result<Self, IndexError> {
        Self::alone(Self::open_with(Input::new(input, None), None)?)
    }

    /// Reads the file that [`Snapshot::write_file`] wrote with this recipe.
    ///
    /// # Errors
    /// As [`Live::open`]; [`IndexError::Cancelled`] when the flag is raised.
    pub fn open_file(path: &Path, recipe: &str, cancel: &AtomicBool) -> Result<Self, IndexError> {
        let opened = saved::open(path, cancel, |input, length| {
            Self::alone(Self::open_with(Input::new(input, length), Some(recipe))?)
        });
        opened.map_err(|error: IndexError| error.in_file(path))
    }

    fn alone((index, kept): (Self, Section)) -> Result<Self, IndexError> {
        if kept.is_empty() {
            return Ok(index);
        }
        Err(FileError::mismatch("keys or texts", "some", "none").into())
    }

    /// Opens a file that [`Snapshot::write_file`] wrote by mapping it, where the kind can: then what searches look up stays in the
    /// file, and each block of 64 KiB is checked against its checksum when it is first touched. A damaged block is an error of
    /// the call that touches it and of every later one, never a wrong answer. The file must not be changed or cut while the
    /// index is open; it may be replaced and unlinked. On systems that cannot map, the file is read and the same holds. Also gives what
    /// is kept with the index.
    ///
    /// # Errors
    /// As [`Live::open_with`], with the file.
    pub fn open_mapped(path: &Path, recipe: Option<&str>) -> Result<(Self, Section), IndexError> {
        let open = || {
            let (map, mut input) = Mapped::open(path)?;
            let opened = Self::map(&mut input, &map, recipe)?;
            input.end()?;
            Ok(opened)
        };
        open().map_err(|error: IndexError| error.in_file(path))
    }

    fn map(
        input: &mut Input<BufReader<File>>,
        map: &Arc<Mapped>,
        recipe: Option<&str>,
    ) -> Result<(Self, Section), IndexError> {
        let options = input.head(K::FILE, recipe)?;
        let index = K::map_frames(options, input, map)?;
        let kept = input.frame(*b"KEPT")?;
        Ok((index, kept))
    }

    /// Reads an index and what is kept with it. `recipe` is what it must have been written with; `None` takes any.
    ///
    /// # Errors
    /// Those of [`Input::head`]; damage comes with the byte where it was noticed.
    pub fn open_with<R: Read>(
        mut input: Input<R>,
        recipe: Option<&str>,
    ) -> Result<(Self, Section), IndexError> {
        let (index, kept) = Self::open_frames(&mut input, recipe)?;
        input.end()?;
        Ok((index, kept))
    }

    /// [`Live::open_with`] of a file of a directory; `check` looks at whose it says it is.
    ///
    /// # Errors
    /// As [`Live::open_with`], and those of `check`.
    pub(crate) fn open_marked<R: Read>(
        mut input: Input<R>,
        recipe: Option<&str>,
        check: impl FnOnce(&mut Section) -> Result<(), FileError>,
    ) -> Result<(Self, Section), IndexError> {
        let (index, kept) = Self::open_frames(&mut input, recipe)?;
        index.read_mark(input, check)?;
        Ok((index, kept))
    }

    /// [`Live::open_marked`] by mapping, as [`Live::open_mapped`].
    ///
    /// # Errors
    /// As [`Live::open_marked`].
    pub(crate) fn map_marked(
        path: &Path,
        recipe: Option<&str>,
        check: impl FnOnce(&mut Section) -> Result<(), FileError>,
    ) -> Result<(Self, Section), IndexError> {
        let (map, mut input) = Mapped::open(path)?;
        let (index, kept) = Self::map(&mut input, &map, recipe)?;
        index.read_mark(input, check)?;
        Ok((index, kept))
    }

    /// The end of a file of a directory: whose it is, and the position.
    fn read_mark<R: Read>(
        &self,
        mut input: Input<R>,
        check: impl FnOnce(&mut Section) -> Result<(), FileError>,
    ) -> Result<(), FileError> {
        let mut mark = input.frame(*b"SELF")?;
        check(&mut mark)?;
        self.shared.position.store(mark.number()?, Ordering::Release);
        mark.end()?;
        input.end()
    }

    fn open_frames<R: Read>(
        input: &mut Input<R>,
        recipe: Option<&str>,
    ) -> Result<(Self, Section), IndexError> {
        let options = input.head(K::FILE, recipe)?;
        let index = K::read_frames(options, input)?;
        let kept = input.frame(*b"KEPT")?;
        Ok((index, kept))
    }
}

/// What to say of a file that is something else.
pub(crate) const ADVICE: &str = "name a file that holds one";

/// Writes a window: whether there is one, and its limits, 0 where there is none.
pub(crate) fn window(window: Option<Window>, fields: &mut Fields) {
    let limits = window.unwrap_or_default();
    fields.number(u64::from(window.is_some()));
    fields.number(limits.max_age.unwrap_or(0));
    fields.number(limits.max_count.unwrap_or(0));
}

pub(crate) fn read_window(fields: &mut Section) -> Result<Option<Window>, FileError> {
    let (is_some, age, count) = (fields.number()?, fields.number()?, fields.number()?);
    let limit = |limit: u64| (limit > 0).then_some(limit);
    Ok((is_some > 0).then(|| Window { max_age: limit(age), max_count: limit(count) }))
}

/// The oldest id and how many there are from it on, of which the next is what is written.
pub(crate) fn read_ids(fields: &mut Section) -> Result<(u64, u64), FileError> {
    let (first, next) = (fields.number()?, fields.number()?);
    let count = next.checked_sub(first).filter(|&count| count < u64::from(u32::MAX));
    let count = count.ok_or_else(|| fields.damaged(format!("ids from {first} to {next}")))?;
    Ok((first, count))
}

/// The latest time; then id and time of each document, the oldest first.
pub(crate) fn ages(latest: u64, times: impl Iterator<Item = (u64, u64)>) -> Fields {
    let mut fields = Fields::default();
    fields.number(latest);
    for (id, at) in times {
        fields.number(id);
        fields.number(at);
    }
    fields
}

pub(crate) fn read_ages(
    mut fields: Section,
    is_alive: impl Fn(u64) -> bool,
) -> Result<Ages, FileError> {
    let mut ages = Ages::default();
    ages.advance(fields.number()?);
    while !fields.is_empty() {
        let (id, at) = (fields.number()?, fields.number()?);
        if !is_alive(id) || at > ages.latest() {
            return Err(fields.damaged(format!("time {at} of id {id}")));
        }
        ages.restore(id as u32, at);
    }
    Ok(ages)
}
