//! The commands on a saved index, and `dedup` into one, for JavaScript: names in, figures out.

use super::form::NativeForm;
use super::{
    Answers, NativeEdgeSummary, NativeFileOptions, NativeProgress, NativeRecords, NativeSummary,
    Run, inputs, shown, start, target,
};
use crate::check::number;
use crate::error::{Failure, js, unknown};
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
    EdgeSummary, ExportFormat, IndexRun, Input, Progress, ReadOptions, SavedIndex, Summary, Target,
    Verified, dedup_into_index as core,
};
use simhash_index::durable::Settled;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// A saved index, and the words of the user's own that it was made with.
#[napi(object, object_to_js = false)]
pub struct NativeSavedIndex<'env> {
    pub path: String,
    /// Dictionary, stop words and idf table; nothing else counts.
    pub words: NativeFingerprinterOptions<'env>,
}

impl NativeSavedIndex<'_> {
    fn core(self) -> Result<SavedIndex, Failure> {
        Ok(SavedIndex { words: self.words.core()?.extract, path: self.path.into() })
    }
}

/// Files that are read for an index.
#[napi(object, object_to_js = false)]
pub struct NativeRead {
    pub inputs: Vec<String>,
    /// For answers.
    pub output: Option<String>,
    /// Documents in place of matches.
    pub records: Option<NativeRecords>,
    pub rejects: Option<String>,
    pub form: NativeForm,
    pub threads: u32,
}

/// The same for the core.
struct Read {
    inputs: Vec<Input>,
    output: Option<Target>,
    records: Option<NativeRecords>,
    rejects: Option<Target>,
    options: ReadOptions,
}

impl Read {
    fn new(given: NativeRead, cancel: &Cancel) -> Result<Self, Failure> {
        let (fields, form) = given.form.core()?;
        Ok(Self {
            inputs: inputs(given.inputs),
            output: given.output.map(|name| target(name, cancel)),
            records: given.records,
            rejects: given.rejects.map(|name| target(name, cancel)),
            options: ReadOptions { fields, form, threads: given.threads as usize },
        })
    }
}

/// What became of a run whose process was killed while it was about to count.
#[napi(object, object_from_js = false)]
pub struct NativeSettled {
    pub counts: bool,
    pub outputs: Vec<String>,
}

impl From<&Settled> for NativeSettled {
    fn from(settled: &Settled) -> Self {
        Self { counts: settled.counts, outputs: shown(&settled.outputs) }
    }
}

/// What an index is, and its counts and bytes.
#[napi(object, object_from_js = false)]
pub struct NativeDescribed {
    pub about: NativeAbout,
    /// What makes sketches of texts, in words.
    pub made_by: String,
    pub stats: NativeStats,
    pub settled: Option<NativeSettled>,
}

impl From<LiveIndex> for NativeDescribed {
    fn from(live: LiveIndex) -> Self {
        Self {
            about: NativeAbout::of(&live),
            made_by: live.made_by(),
            stats: NativeStats::of(live.stats(), live.bytes()),
            settled: live.settled().map(NativeSettled::from),
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

/// The figures of a run of deduplication into an index.
#[napi(object, object_from_js = false)]
pub struct NativeIndexRun {
    pub summary: NativeSummary,
    /// 32 hexadecimal digits.
    pub run: String,
    pub repeated: bool,
    pub index: NativeDescribed,
}

impl From<IndexRun> for NativeIndexRun {
    fn from(IndexRun { summary, name, repeated, live }: IndexRun) -> Self {
        Self { summary: summary.into(), run: name, repeated, index: live.into() }
    }
}

/// What reading everything of an index has found.
#[napi(object, object_from_js = false)]
pub struct NativeVerified {
    pub index: NativeDescribed,
    /// Outputs of a run that nobody has settled yet.
    pub unsettled: Option<Vec<String>>,
}

/// What was written of an index.
#[napi(object, object_from_js = false)]
pub struct NativeWritten {
    pub documents: f64,
    pub leftovers: Vec<String>,
    pub index: NativeDescribed,
}

/// Makes an index of the documents of files, where options are given; else adds them to one.
#[napi(catch_unwind, ts_return_type = "Promise<NativeFilled>")]
pub fn fill_index<'env>(
    env: &'env Env,
    index: NativeSavedIndex<'_>,
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
pub fn query_index<'env>(
    env: &'env Env,
    index: NativeSavedIndex<'_>,
    search: NativeSearch,
    read: NativeRead,
    on_progress: Option<Function<'_, NativeProgress, UnknownReturnValue>>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let search = NativeSearch::core(Some(search))?;
    let (index, threads, read) = (index.core()?, read.threads, Read::new(read, cancel)?);
    let Read { inputs, output, records, rejects, options } = read;
    let answers = Answers::new(records, output, rejects)?;
    let work = move |report: &dyn Fn(&Progress), flag: &AtomicBool| match &answers {
        Answers::Lines(outputs) => index.query(&inputs, outputs, &search, &options, report, flag),
        Answers::Records(outputs) => {
            index.decontaminate(&inputs, outputs, &search, &options, report, flag)
        }
    };
    start::<_, NativeAsked>(env, threads, on_progress, cancel, work)
}

/// Deduplicates files against the index in a folder, and adds what is kept, in one commit with the outputs.
#[napi(catch_unwind, ts_return_type = "Promise<NativeIndexRun>")]
pub fn dedup_into_index<'env>(
    env: &'env Env,
    index: String,
    options: NativeFileOptions<'_>,
    on_progress: Option<Function<'_, NativeProgress, UnknownReturnValue>>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let (index, threads) = (PathBuf::from(index), options.dedup.threads);
    let run = Run::new(options, cancel)?;
    start::<_, NativeIndexRun>(env, threads, on_progress, cancel, move |report, flag| {
        core(&index, &run.inputs, &run.outputs, &run.options, report, flag)
    })
}

/// Opens an index and says what it is.
#[napi(catch_unwind, ts_return_type = "Promise<NativeDescribed>")]
pub fn describe_index<'env>(
    env: &'env Env,
    index: NativeSavedIndex<'_>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let index = index.core()?;
    let work = move |flag: &AtomicBool| Ok(NativeDescribed::from(index.open(flag)?));
    task::start(env, Place::Shared, cancel, work, |_| {})
}

/// Reads and checks everything of an index.
#[napi(catch_unwind, ts_return_type = "Promise<NativeVerified>")]
pub fn verify_index<'env>(
    env: &'env Env,
    index: NativeSavedIndex<'_>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let index = index.core()?;
    let work = move |flag: &AtomicBool| {
        let Verified { live, unsettled } = index.verify(flag)?;
        Ok(NativeVerified { index: live.into(), unsettled: unsettled.map(|paths| shown(&paths)) })
    };
    task::start(env, Place::Shared, cancel, work, |_| {})
}

/// Makes an index as small as it can be.
#[napi(catch_unwind, ts_return_type = "Promise<NativeDescribed>")]
pub fn compact_index<'env>(
    env: &'env Env,
    index: NativeSavedIndex<'_>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let index = index.core()?;
    let work = move |flag: &AtomicBool| Ok(NativeDescribed::from(index.compact(flag)?));
    task::start(env, Place::Shared, cancel, work, |_| {})
}

/// Writes an index to a folder of its own.
#[napi(catch_unwind, ts_return_type = "Promise<NativeWritten>")]
pub fn snapshot_index<'env>(
    env: &'env Env,
    index: NativeSavedIndex<'_>,
    to: String,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let (index, to) = (index.core()?, PathBuf::from(to));
    let work = move |flag: &AtomicBool| {
        let (leftovers, live) = index.snapshot(&to, flag)?;
        let documents = number(live.len());
        Ok(NativeWritten { documents, leftovers: shown(&leftovers), index: live.into() })
    };
    task::start(env, Place::Shared, cancel, work, |_| {})
}

/// Writes the documents of an index down.
#[napi(catch_unwind, ts_return_type = "Promise<NativeWritten>")]
pub fn export_index<'env>(
    env: &'env Env,
    index: NativeSavedIndex<'_>,
    output: String,
    #[napi(ts_arg_type = "'jsonl' | 'csv' | 'arrow' | undefined")] format: Option<String>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let (index, output) = (index.core()?, target(output, cancel));
    let format = match format.as_deref() {
        None => ExportFormat::of(&output),
        Some("jsonl") => ExportFormat::JsonLines,
        Some("csv") => ExportFormat::Csv,
        Some("arrow") => ExportFormat::Arrow,
        Some(other) => return Err(unknown("format", other).into()),
    };
    let work = move |flag: &AtomicBool| {
        let (documents, leftovers, live) = index.export(&output, format, flag)?;
        let leftovers = shown(&leftovers);
        Ok(NativeWritten { documents: number(documents), leftovers, index: live.into() })
    };
    // It may wait for who reads the output.
    task::start(env, Place::Own(1), cancel, work, |_| {})
}
