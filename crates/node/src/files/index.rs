//! The commands `index build`, `add`, `query` and `stats` for JavaScript: names in, figures out.

use super::{NativeEdgeSummary, NativeProgress, NativeSummary, inputs, start, target};
use crate::error::{Failure, js};
use crate::fingerprinter::NativeFingerprinterOptions;
use crate::index::about::{NativeAbout, NativeStats};
use crate::index::options::NativeIndexOptions;
use crate::index::single::NativeSearch;
use crate::task::{self, Cancel, Place};
use napi::Env;
use napi::bindgen_prelude::{Function, Object};
use napi::threadsafe_function::UnknownReturnValue;
use napi_derive::napi;
use simhash_dedup::live::LiveIndex;
use simhash_dedup::{
    EdgeSummary, Fields, IndexFile, Input, LineOutputs, Progress, ReadOptions, Summary, Target,
};
use std::sync::atomic::AtomicBool;

/// A saved index, and the words of the user's own that it was made with.
#[napi(object, object_to_js = false)]
pub struct NativeIndexFile<'env> {
    pub path: String,
    /// Dictionary, stop words and idf table; nothing else counts.
    pub words: NativeFingerprinterOptions<'env>,
}

impl NativeIndexFile<'_> {
    fn core(self) -> Result<IndexFile, Failure> {
        Ok(IndexFile { words: self.words.core()?.extract, path: self.path.into() })
    }
}

/// Files that are read for an index.
#[napi(object, object_to_js = false)]
pub struct NativeRead {
    pub inputs: Vec<String>,
    /// For answers.
    pub output: Option<String>,
    pub rejects: Option<String>,
    pub text_field: String,
    pub id_field: String,
    pub threads: u32,
}

/// The same for the core.
struct Read {
    inputs: Vec<Input>,
    lines: Option<Target>,
    rejects: Option<Target>,
    options: ReadOptions,
}

impl Read {
    fn new(given: NativeRead, cancel: &Cancel) -> Result<Self, Failure> {
        let fields = Fields::new(&given.text_field, &given.id_field)?;
        Ok(Self {
            inputs: inputs(given.inputs),
            lines: given.output.map(|name| target(name, cancel)),
            rejects: given.rejects.map(|name| target(name, cancel)),
            options: ReadOptions { fields, threads: given.threads as usize },
        })
    }
}

/// What an index is, and its counts and bytes.
#[napi(object, object_from_js = false)]
pub struct NativeDescribed {
    pub about: NativeAbout,
    /// What makes sketches of texts, in words.
    pub made_by: String,
    pub stats: NativeStats,
}

impl From<LiveIndex> for NativeDescribed {
    fn from(live: LiveIndex) -> Self {
        Self {
            about: NativeAbout::of(&live, false),
            made_by: live.made_by(),
            stats: NativeStats::of(live.stats(), live.bytes()),
        }
    }
}

/// The figures of a run that fills an index.
#[napi(object, object_from_js = false)]
pub struct NativeFilled {
    pub summary: NativeSummary,
    pub index: NativeDescribed,
}

impl From<(Summary, LiveIndex)> for NativeFilled {
    fn from((summary, live): (Summary, LiveIndex)) -> Self {
        Self { summary: summary.into(), index: live.into() }
    }
}

/// The figures of a run that asks an index.
#[napi(object, object_from_js = false)]
pub struct NativeAsked {
    pub summary: NativeEdgeSummary,
    pub index: NativeDescribed,
}

impl From<(EdgeSummary, LiveIndex)> for NativeAsked {
    fn from((summary, live): (EdgeSummary, LiveIndex)) -> Self {
        Self { summary: summary.into(), index: live.into() }
    }
}

/// Makes an index of the documents of files, where options are given; else adds them to one.
#[napi(catch_unwind, ts_return_type = "Promise<NativeFilled>")]
pub fn fill_index_file<'env>(
    env: &'env Env,
    index: NativeIndexFile<'_>,
    made: Option<NativeIndexOptions<'_>>,
    read: NativeRead,
    on_progress: Option<Function<'_, NativeProgress, UnknownReturnValue>>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let made = made.map(|made| made.core()).transpose()?;
    let (index, threads, read) = (index.core()?, read.threads, Read::new(read, cancel)?);
    let work = move |report: &dyn Fn(&Progress), flag: &AtomicBool| {
        let Read { inputs, rejects, options, .. } = read;
        match made {
            Some(made) => index.build(&made, &inputs, rejects.as_ref(), &options, report, flag),
            None => index.add(&inputs, rejects.as_ref(), &options, report, flag),
        }
    };
    start::<_, NativeFilled>(env, threads, on_progress, cancel, work)
}

/// Writes what of an index is near each document of files.
#[napi(catch_unwind, ts_return_type = "Promise<NativeAsked>")]
pub fn query_index_file<'env>(
    env: &'env Env,
    index: NativeIndexFile<'_>,
    search: NativeSearch,
    read: NativeRead,
    on_progress: Option<Function<'_, NativeProgress, UnknownReturnValue>>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let search = NativeSearch::core(Some(search))?;
    let (index, threads, read) = (index.core()?, read.threads, Read::new(read, cancel)?);
    let work = move |report: &dyn Fn(&Progress), flag: &AtomicBool| {
        let Read { inputs, lines, rejects, options } = read;
        index.query(&inputs, &LineOutputs { lines, rejects }, &search, &options, report, flag)
    };
    start::<_, NativeAsked>(env, threads, on_progress, cancel, work)
}

/// Reads and checks an index, and says what it is.
#[napi(catch_unwind, ts_return_type = "Promise<NativeDescribed>")]
pub fn describe_index_file<'env>(
    env: &'env Env,
    index: NativeIndexFile<'_>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let index = index.core()?;
    let work = move |flag: &AtomicBool| Ok(NativeDescribed::from(index.open(flag)?));
    task::start(env, Place::Shared, cancel, work, |_| {})
}
