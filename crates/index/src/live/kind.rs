//! What one kind of index has to say for itself: who is near, and how a document comes in and leaves.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use simhash_store::{FileError, Section};

use super::writer::Writer;
use super::{Answer, Live, Outcome, Shared};
use crate::IndexError;
use crate::ids::Ids;
use crate::live::Window;

/// A structure that finds what is near, for one thread at a time. [`Live`] makes a live index of it: locks, the order of
/// changes, a window, batches, counters.
///
/// The methods with a body are for kinds that have more to do than to look and to write.
pub trait Kind: Sized + Debug + Send + Sync + 'static {
    /// How it was made; known without a lock.
    type Options: Clone + Debug + Send + Sync;
    /// What is added and looked for.
    type Item: Sync;
    /// An item in the form in which it is looked up, made while the state is free.
    type Form<'a>;
    /// How to search.
    type Search: Copy + Default + Send + Sync;
    /// A live document that is near.
    type Match: Copy + Debug + PartialEq + Send + Sync;
    /// What a look has learnt that an addition of the same item right after it can use.
    type Hint: Copy + Debug + Default + Send;
    /// What works on the index beside its callers.
    type Background: Debug + Default + Send + Sync;

    /// Whether [`Kind::overlook`] may learn something.
    const OVERLOOKS: bool = false;

    /// Items of a batch that are added in one turn, where a window has only an age and nothing is written down: more than one where an
    /// addition costs less than the locks around it.
    const TOGETHER: usize = 1;

    /// The window among the options.
    fn window(options: &Self::Options) -> Option<Window>;

    /// Whether nothing that was read so far has turned out to be damaged, in a kind that reads from a file when it is asked: no
    /// answer is given before this was asked, and from the first damage on nothing is answered or changed.
    ///
    /// # Errors
    /// [`IndexError::File`] with the file and the place.
    fn sound(options: &Self::Options) -> Result<(), IndexError> {
        let _ = options;
        Ok(())
    }

    /// Whether an item fits this index.
    ///
    /// # Errors
    /// What does not fit.
    fn check(options: &Self::Options, item: &Self::Item) -> Result<(), IndexError>;

    /// An item that fits, to be looked up.
    fn form<'a>(options: &Self::Options, item: &'a Self::Item) -> Self::Form<'a>;

    /// The options of a search, checked, with its own in place of what was left out.
    ///
    /// # Errors
    /// An option out of range.
    fn search_options(
        options: &Self::Options,
        search: Self::Search,
    ) -> Result<Self::Search, IndexError>;

    /// The ids of documents, and which of them are alive.
    fn ids(&self) -> &impl Ids;

    /// The id of a match.
    fn id_of(found: &Self::Match) -> u64;

    /// A live document in the form in which it is looked up; none where too little of it is kept.
    fn form_of(&self, options: &Self::Options, id: u64) -> Option<Self::Form<'_>>;

    /// Asks for what a look at this item reads.
    fn prefetch(&self, form: &Self::Form<'_>) {
        let _ = form;
    }

    /// All live documents that are near, in the order of the kind, as many as the options allow.
    fn near(&self, form: &Self::Form<'_>, search: Self::Search) -> Answer<Self::Match>;

    /// How many items are looked for in one hold of the lock at most.
    fn at_once(&self) -> usize {
        super::SLICE
    }

    /// [`Kind::near`] for each item, their reads overlapping.
    fn near_each(
        &self,
        forms: &[Self::Form<'_>],
        search: Self::Search,
    ) -> Vec<Answer<Self::Match>> {
        let answer = |(number, form)| {
            if let Some(next) = forms.get(number + 1) {
                self.prefetch(next);
            }
            self.near(form, search)
        };
        forms.iter().enumerate().map(answer).collect()
    }

    /// The match by which an addition is judged.
    fn nearest(&self, options: &Self::Options, form: &Self::Form<'_>) -> Nearest<Self>;

    /// Whether so many more documents can be numbered.
    ///
    /// # Errors
    /// [`IndexError::Full`].
    fn check_room(&self, more: u64) -> Result<(), IndexError>;

    /// Adds an item for which there is room. The new id, and whether [`Kind::overdue`] wants to be called.
    fn insert(&mut self, form: &Self::Form<'_>, hint: Self::Hint) -> (u64, bool);

    /// Takes a live document away.
    fn remove(&mut self, id: u64);

    /// Some documents have been removed: time to tidy up, if that can be done at once.
    fn removed(&mut self) {}

    /// An item was not added because of this match: what the kind learns from that. False: nothing.
    fn overlook(&mut self, form: &Self::Form<'_>, near: &Self::Match) -> bool {
        let _ = (form, near);
        false
    }

    /// Gives back the numbers of documents that have left, if that can be done at once.
    fn purge(&mut self) {}

    /// [`Kind::purge`], where it takes more than that: nobody holds the state.
    fn reclaim(shared: &Arc<Shared<Self>>) {
        shared.state.write().kind.purge();
    }

    /// Begins the work in the background that is due.
    fn overdue(shared: &Arc<Shared<Self>>) {
        let _ = shared;
    }

    /// Documents have left. True: so many that this thread must [`Kind::settle`] before its next change.
    fn left(shared: &Arc<Shared<Self>>) -> bool {
        let _ = shared;
        false
    }

    /// Waits until the background has caught up or `cancel` is up, while others have their turns.
    fn settle(shared: &Arc<Shared<Self>>, cancel: &AtomicBool) {
        let _ = (shared, cancel);
    }

    /// A batch of additions, where there is a faster way than one by one. None: there is not.
    fn add_all<B: AsRef<Self::Item>>(
        writer: &mut Writer<'_, Self>,
        items: &[B],
    ) -> Option<Result<super::Added, IndexError>> {
        let _ = (writer, items);
        None
    }

    /// A batch of checks that do not add what is a duplicate, in an index without a window, where there is a faster way than one
    /// by one. None: there is not.
    fn check_all<B: AsRef<Self::Item> + Sync>(
        live: &Live<Self>,
        items: &[B],
        threads: usize,
        cancel: &AtomicBool,
    ) -> Option<Result<Vec<Outcome<Self::Match>>, IndexError>> {
        let _ = (live, items, threads, cancel);
        None
    }

    /// Appends an item as it is written down.
    fn write_item(options: &Self::Options, item: &Self::Item, out: &mut Vec<u8>);

    /// Reads an item that [`Kind::write_item`] wrote.
    ///
    /// # Errors
    /// [`FileError::Damaged`] where it is none.
    fn read_item(options: &Self::Options, input: &mut Section) -> Result<Self::Item, FileError>;

    /// What [`Kind::overlook`] looks at of a match, as it is written down.
    fn measure_of(near: &Self::Match) -> u64 {
        let _ = near;
        0
    }

    /// A match of which this was written down; none in a kind that overlooks nothing.
    fn measured(measure: u64) -> Option<Self::Match> {
        let _ = measure;
        None
    }
}

/// What a look for the nearest has found.
#[derive(Debug)]
pub struct Nearest<K: Kind> {
    /// The best match, ties to the lowest id.
    pub best: Option<K::Match>,
    /// Whether a bucket limit cut the look: a better match, or one at all, may have been overlooked. How many holders of a
    /// sentence are looked at is part of what nearest means there, and not reported.
    pub truncated: bool,
    /// For an addition of the same item.
    pub hint: K::Hint,
}
