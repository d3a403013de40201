//! `dedupFiles`, `pairsFiles`, `matchFiles` and the commands `fingerprint` and `segment` for JavaScript: names in, a summary out;
//! texts never come here.

mod convert;
mod evaluate;
mod explain;
mod form;
pub(crate) mod index;
mod predict;
mod report;
mod segment;

use crate::check::{number, whole};
use crate::deduper::NativeDedupOptions;
use crate::error::{Failure, js};
use crate::stdout::Waiting;
use crate::task::{self, Cancel, Place};
use form::{NativeForm, encoding};
use napi::bindgen_prelude::{Function, Object, ToNapiValue};
use napi::threadsafe_function::{ThreadsafeFunctionCallMode, UnknownReturnValue};
use napi::{Env, Status};
use napi_derive::napi;
use simhash_dedup::{
    DedupError, DedupOptions, Duplicates, EdgeSummary, FileOptions, FingerprintOptions, Input,
    LineOutputs, MatchOptions, Outputs, Progress, ReadAs, Rejected, SameId, SameIds, Stage,
    Summary, Target, decontaminate_files, dedup_files as core, dedup_new_files,
    fingerprint_files as fingerprints, match_files, pairs_files,
};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// A run over files.
#[napi(object, object_to_js = false)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct NativeFileOptions<'env> {
    pub dedup: NativeDedupOptions<'env>,
    pub inputs: Vec<String>,
    /// Of documents that were there already.
    pub known: Option<Vec<String>>,
    pub output: Option<String>,
    pub clusters: Option<String>,
    pub rejects: Option<String>,
    pub mark: bool,
    pub list: bool,
    pub copy: Option<String>,
    pub output_encoding: Option<String>,
    pub dry_run: bool,
    pub form: NativeForm,
    /// Bytes; a whole number.
    pub memory: Option<f64>,
    pub tmp: Option<String>,
    pub resume: bool,
    pub across_files_only: bool,
}

/// A run over files that looks for pairs, or for matches where `against` is given.
#[napi(object, object_to_js = false)]
pub struct NativeEdgeOptions<'env> {
    pub dedup: NativeDedupOptions<'env>,
    pub inputs: Vec<String>,
    pub against: Option<Vec<String>>,
    /// Of matches; a whole number.
    pub limit: Option<f64>,
    pub output: Option<String>,
    /// New documents in place of matches.
    pub records: Option<NativeRecords>,
    pub rejects: Option<String>,
    pub dry_run: bool,
    pub form: NativeForm,
    /// Bytes; a whole number.
    pub memory: Option<f64>,
    pub tmp: Option<String>,
}

/// Documents themselves in place of what is said of them: those without a match, or all with marks.
#[napi(object, object_to_js = false)]
pub struct NativeRecords {
    pub mark: bool,
    pub list: bool,
    pub copy: Option<String>,
    pub output_encoding: Option<String>,
}

impl NativeRecords {
    fn outputs(self, records: Option<Target>, rejects: Option<Target>) -> Result<Outputs, Failure> {
        Ok(Outputs {
            records,
            duplicates: if self.mark { Duplicates::Mark } else { Duplicates::Remove },
            list: self.list,
            copy: self.copy.map(PathBuf::from),
            encoding: encoding("output_encoding", self.output_encoding.as_deref())?,
            clusters: None,
            rejects,
        })
    }
}

/// Where answers go.
enum Answers {
    Lines(LineOutputs),
    Records(Outputs),
}

impl Answers {
    fn new(
        records: Option<NativeRecords>,
        output: Option<Target>,
        rejects: Option<Target>,
    ) -> Result<Self, Failure> {
        Ok(match records {
            None => Self::Lines(LineOutputs { lines: output, rejects }),
            Some(records) => Self::Records(records.outputs(output, rejects)?),
        })
    }
}

/// A run over files that says what a method knows each document by.
#[napi(object, object_to_js = false)]
pub struct NativeFingerprintOptions<'env> {
    pub dedup: NativeDedupOptions<'env>,
    pub inputs: Vec<String>,
    pub output: String,
    pub json: bool,
    pub form: NativeForm,
}

/// A record that could not be used.
#[napi(object, object_from_js = false)]
pub struct NativeRejected {
    pub file: String,
    pub line: f64,
    pub reason: String,
}

impl From<Rejected> for NativeRejected {
    fn from(rejected: Rejected) -> Self {
        Self { file: rejected.file, line: number(rejected.line), reason: rejected.reason }
    }
}

/// An input that is not in UTF-8.
#[napi(object, object_from_js = false)]
pub struct NativeReadAs {
    pub file: String,
    pub encoding: String,
    pub files: Option<f64>,
}

impl From<ReadAs> for NativeReadAs {
    fn from(ReadAs { file, encoding, files }: ReadAs) -> Self {
        Self { file, encoding, files: files.map(number) }
    }
}

/// The figures of a run.
#[napi(object, object_from_js = false)]
pub struct NativeSummary {
    pub read: f64,
    pub kept: f64,
    pub duplicates: f64,
    pub rejected: f64,
    pub clusters: f64,
    pub truncated: f64,
    pub empty: f64,
    pub short: f64,
    pub seconds: f64,
    pub bytes: f64,
    pub index_bytes: f64,
    pub encodings: Vec<NativeReadAs>,
    pub first_rejected: Vec<NativeRejected>,
    pub leftovers: Vec<String>,
}

impl From<Summary> for NativeSummary {
    fn from(summary: Summary) -> Self {
        Self {
            read: number(summary.read),
            kept: number(summary.kept),
            duplicates: number(summary.duplicates),
            rejected: number(summary.rejected),
            clusters: number(summary.clusters),
            truncated: number(summary.truncated),
            empty: number(summary.empty),
            short: number(summary.short),
            seconds: summary.seconds,
            bytes: number(summary.bytes),
            index_bytes: number(summary.index_bytes),
            encodings: summary.encodings.into_iter().map(NativeReadAs::from).collect(),
            first_rejected: summary.first_rejected.into_iter().map(NativeRejected::from).collect(),
            leftovers: shown(&summary.leftovers),
        }
    }
}

/// Documents that have the id of an earlier one.
#[napi(object, object_from_js = false)]
pub struct NativeSameIds {
    pub documents: f64,
    pub first: Vec<NativeSameId>,
}

/// One of them, and the first with its id.
#[napi(object, object_from_js = false)]
pub struct NativeSameId {
    pub file: String,
    pub line: f64,
    pub first_file: String,
    pub first_line: f64,
}

impl From<SameIds> for NativeSameIds {
    fn from(SameIds { documents, first }: SameIds) -> Self {
        let named = |SameId { file, line, first_file, first_line }: SameId| NativeSameId {
            file,
            line: number(line),
            first_file,
            first_line: number(first_line),
        };
        Self { documents: number(documents), first: first.into_iter().map(named).collect() }
    }
}

/// What a run over files did.
#[napi(object, object_from_js = false)]
pub struct NativeFilesRun {
    pub summary: NativeSummary,
    /// Documents that have the id of an earlier one.
    pub same_ids: NativeSameIds,
    /// Documents that were there already.
    pub known: f64,
    /// Records that an earlier run had sketched.
    pub resumed: f64,
    /// Folders of other runs that did not end.
    pub stopped: Vec<String>,
}

impl From<Summary> for NativeFilesRun {
    fn from(summary: Summary) -> Self {
        Self {
            known: number(summary.known),
            resumed: number(summary.resumed),
            stopped: shown(&summary.stopped),
            same_ids: summary.same_ids.clone().into(),
            summary: summary.into(),
        }
    }
}

/// The figures of a run that looks for pairs or matches.
#[napi(object, object_from_js = false)]
pub struct NativeEdgeSummary {
    pub read: f64,
    pub documents: f64,
    pub against: f64,
    pub rejected: f64,
    pub edges: f64,
    pub candidates: f64,
    pub matched: f64,
    pub truncated: f64,
    pub empty: f64,
    pub short: f64,
    pub seconds: f64,
    pub bytes: f64,
    pub index_bytes: f64,
    pub encodings: Vec<NativeReadAs>,
    pub first_rejected: Vec<NativeRejected>,
    pub same_ids: NativeSameIds,
    pub leftovers: Vec<String>,
}

impl From<EdgeSummary> for NativeEdgeSummary {
    fn from(summary: EdgeSummary) -> Self {
        Self {
            read: number(summary.read),
            documents: number(summary.documents),
            against: number(summary.against),
            rejected: number(summary.rejected),
            edges: number(summary.edges),
            candidates: number(summary.candidates),
            matched: number(summary.matched),
            truncated: number(summary.truncated),
            empty: number(summary.empty),
            short: number(summary.short),
            seconds: summary.seconds,
            bytes: number(summary.bytes),
            index_bytes: number(summary.index_bytes),
            encodings: summary.encodings.into_iter().map(NativeReadAs::from).collect(),
            first_rejected: summary.first_rejected.into_iter().map(NativeRejected::from).collect(),
            same_ids: summary.same_ids.into(),
            leftovers: shown(&summary.leftovers),
        }
    }
}

fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// How far a run is.
#[napi(object, object_from_js = false)]
pub struct NativeProgress {
    #[napi(ts_type = "'dedup' | 'finish'")]
    pub stage: String,
    pub documents: f64,
    pub bytes: f64,
    pub total_bytes: Option<f64>,
    pub duplicates: f64,
}

impl From<&Progress> for NativeProgress {
    fn from(progress: &Progress) -> Self {
        let stage = if progress.stage == Stage::Finish { "finish" } else { "dedup" };
        Self {
            stage: stage.to_owned(),
            documents: number(progress.documents),
            bytes: number(progress.bytes),
            total_bytes: progress.total_bytes.map(number),
            duplicates: number(progress.duplicates),
        }
    }
}

fn inputs(names: Vec<String>) -> Vec<Input> {
    let input = |name: String| {
        if name == "-" { Input::stdin() } else { Input::File(name.into()) }
    };
    names.into_iter().map(input).collect()
}

fn target(name: String, cancel: &Cancel) -> Target {
    match name.as_str() {
        "-" => Target::stream("-", Waiting::new(std::io::stdout(), cancel.flag())),
        _ => Target::File(name.into()),
    }
}

struct Run {
    inputs: Vec<Input>,
    known: Option<Vec<Input>>,
    outputs: Outputs,
    options: FileOptions,
}

impl Run {
    fn new(given: NativeFileOptions<'_>, cancel: &Cancel) -> Result<Self, Failure> {
        let target = |name: String| target(name, cancel);
        let dedup: DedupOptions = given.dedup.core()?;
        let (fields, form) = given.form.core()?;
        let encoding = encoding("output_encoding", given.output_encoding.as_deref())?;
        let memory = given.memory.map(|memory| whole(memory, "memory")).transpose()?;
        let (tmp, dry_run, resume) = (given.tmp.map(PathBuf::from), given.dry_run, given.resume);
        let across_files_only = given.across_files_only;
        let options =
            FileOptions { dedup, fields, form, across_files_only, dry_run, memory, tmp, resume };
        Ok(Self {
            options,
            inputs: inputs(given.inputs),
            known: given.known.map(inputs),
            outputs: Outputs {
                records: given.output.map(target),
                duplicates: if given.mark { Duplicates::Mark } else { Duplicates::Remove },
                clusters: given.clusters.map(target),
                rejects: given.rejects.map(target),
                list: given.list,
                copy: given.copy.map(PathBuf::from),
                encoding,
            },
        })
    }
}

/// A run that looks for pairs or matches.
struct EdgeRun {
    inputs: Vec<Input>,
    against: Option<Vec<Input>>,
    answers: Answers,
    options: MatchOptions,
}

impl EdgeRun {
    fn new(given: NativeEdgeOptions<'_>, cancel: &Cancel) -> Result<Self, Failure> {
        let limit = given.limit.map(|limit| whole(limit, "limit")).transpose()?;
        let target = |name: String| target(name, cancel);
        let (fields, form) = given.form.core()?;
        let (dedup, dry_run) = (given.dedup.core()?, given.dry_run);
        let memory = given.memory.map(|memory| whole(memory, "memory")).transpose()?;
        let tmp = given.tmp.map(PathBuf::from);
        let files = FileOptions { dedup, fields, form, dry_run, memory, tmp, ..Default::default() };
        Ok(Self {
            options: MatchOptions {
                files,
                limit: limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            },
            inputs: inputs(given.inputs),
            against: given.against.map(inputs),
            answers: Answers::new(
                given.records,
                given.output.map(target),
                given.rejects.map(target),
            )?,
        })
    }

    fn run(
        &self,
        report: &dyn Fn(&Progress),
        cancel: &AtomicBool,
    ) -> Result<EdgeSummary, DedupError> {
        let Self { inputs, against, answers, options } = self;
        let against = against.as_deref();
        match (answers, against) {
            (Answers::Lines(outputs), None) => {
                pairs_files(inputs, outputs, &options.files, report, cancel)
            }
            (Answers::Lines(outputs), Some(against)) => {
                match_files(inputs, against, outputs, options, report, cancel)
            }
            (Answers::Records(outputs), against) => {
                let against = against.unwrap_or_default();
                decontaminate_files(inputs, against, outputs, &options.files, report, cancel)
            }
        }
    }
}

type OnProgress<'env> = Option<Function<'env, NativeProgress, UnknownReturnValue>>;

/// Calls a function of JavaScript from any thread, of which at most `QUEUE` calls wait (0: any number); one that is too many is left
/// out. Weak: a callback must not keep the process alive.
fn telling<P, N, const QUEUE: usize>(
    function: Option<Function<'_, N, UnknownReturnValue>>,
) -> Result<impl Fn(&P) + Send + use<P, N, QUEUE>, Failure>
where
    P: 'static,
    N: for<'a> From<&'a P> + ToNapiValue + Send + 'static,
{
    let build = |function: Function<'_, N, UnknownReturnValue>| {
        function.build_threadsafe_function::<N>().weak::<true>().max_queue_size::<QUEUE>().build()
    };
    let function = function.map(build).transpose()?;
    Ok(move |told: &P| {
        if let Some(function) = &function {
            let _: Status = function.call(N::from(told), ThreadsafeFunctionCallMode::NonBlocking);
        }
    })
}

/// Starts `work` on threads of its own, with a function that reports to JavaScript.
fn start<'env, T, N>(
    env: &'env Env,
    threads: u32,
    on_progress: OnProgress<'_>,
    cancel: &Cancel,
    work: impl FnOnce(&dyn Fn(&Progress), &AtomicBool) -> Result<T, DedupError> + Send + 'static,
) -> js::Result<Object<'env>>
where
    T: 'static,
    N: From<T> + ToNapiValue + Send + 'static,
{
    // The core calls at most 20 times a second; of a queue of 8 the newest positions matter least.
    let report = telling::<Progress, NativeProgress, 8>(on_progress)?;
    let work = move |flag: &AtomicBool| Ok(N::from(work(&report, flag)?));
    task::start(env, Place::Own(threads), cancel, work, |_| {})
}

/// Deduplicates files on threads of its own.
#[napi(catch_unwind, ts_return_type = "Promise<NativeFilesRun>")]
pub fn dedup_files<'env>(
    env: &'env Env,
    options: NativeFileOptions<'_>,
    on_progress: Option<Function<'_, NativeProgress, UnknownReturnValue>>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let threads = options.dedup.threads;
    let run = Run::new(options, cancel)?;
    start::<Summary, NativeFilesRun>(env, threads, on_progress, cancel, move |report, flag| {
        let Run { inputs, known, outputs, options } = &run;
        match known {
            None => core(inputs, outputs, options, report, flag),
            Some(known) => dedup_new_files(inputs, known, outputs, options, report, flag),
        }
    })
}

/// Looks for the pairs of files, or for their matches, on threads of its own.
#[napi(catch_unwind, ts_return_type = "Promise<NativeEdgeSummary>")]
pub fn edge_files<'env>(
    env: &'env Env,
    options: NativeEdgeOptions<'_>,
    on_progress: Option<Function<'_, NativeProgress, UnknownReturnValue>>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let threads = options.dedup.threads;
    let run = EdgeRun::new(options, cancel)?;
    let work = move |report: &dyn Fn(&Progress), flag: &AtomicBool| run.run(report, flag);
    start::<EdgeSummary, NativeEdgeSummary>(env, threads, on_progress, cancel, work)
}

/// Says what a method knows each document of files by, on threads of its own.
#[napi(catch_unwind, ts_return_type = "Promise<NativeSummary>")]
pub fn fingerprint_files<'env>(
    env: &'env Env,
    options: NativeFingerprintOptions<'_>,
    on_progress: Option<Function<'_, NativeProgress, UnknownReturnValue>>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let dedup = options.dedup.core()?;
    let (fields, form) = options.form.core()?;
    let core = FingerprintOptions {
        fingerprinter: dedup.fingerprinter,
        method: dedup.method,
        fields,
        form,
        json: options.json,
        threads: dedup.threads,
    };
    let (inputs, lines) = (inputs(options.inputs), Some(target(options.output, cancel)));
    let outputs = LineOutputs { lines, rejects: None };
    let work = move |report: &dyn Fn(&Progress), flag: &AtomicBool| {
        fingerprints(&inputs, &outputs, &core, report, flag)
    };
    start::<Summary, NativeSummary>(env, options.dedup.threads, on_progress, cancel, work)
}
