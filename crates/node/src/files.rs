//! `dedupFiles` for JavaScript: names in, a summary out; texts never come here.

use crate::check::number;
use crate::deduper::NativeDedupOptions;
use crate::error::{Failure, js};
use crate::stdout::Waiting;
use crate::task::{self, Cancel, Place};
use napi::bindgen_prelude::{Function, Object};
use napi::threadsafe_function::{ThreadsafeFunctionCallMode, UnknownReturnValue};
use napi::{Env, Status};
use napi_derive::napi;
use simhash_dedup::{
    DedupOptions, Duplicates, Fields, FileOptions, Input, Outputs, Progress, Rejected, Stage,
    Summary, Target, dedup_files as core,
};
use std::sync::atomic::AtomicBool;

/// A run over files.
#[napi(object, object_to_js = false)]
pub struct NativeFileOptions<'env> {
    pub dedup: NativeDedupOptions<'env>,
    pub inputs: Vec<String>,
    pub output: Option<String>,
    pub clusters: Option<String>,
    pub rejects: Option<String>,
    pub mark: bool,
    pub dry_run: bool,
    pub text_field: String,
    pub id_field: String,
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
            first_rejected: summary.first_rejected.into_iter().map(NativeRejected::from).collect(),
            leftovers: summary.leftovers.iter().map(|path| path.display().to_string()).collect(),
        }
    }
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

struct Run {
    inputs: Vec<Input>,
    outputs: Outputs,
    options: FileOptions,
}

impl Run {
    fn new(given: NativeFileOptions<'_>, cancel: &Cancel) -> Result<Self, Failure> {
        let input = |name: String| {
            if name == "-" { Input::stdin() } else { Input::File(name.into()) }
        };
        let target = |name: String| match name.as_str() {
            "-" => Target::stream("-", Waiting::new(std::io::stdout(), cancel.flag())),
            _ => Target::File(name.into()),
        };
        let dedup: DedupOptions = given.dedup.core()?;
        Ok(Self {
            options: FileOptions {
                dedup,
                fields: Fields::new(&given.text_field, &given.id_field)?,
                dry_run: given.dry_run,
            },
            inputs: given.inputs.into_iter().map(input).collect(),
            outputs: Outputs {
                records: given.output.map(target),
                duplicates: if given.mark { Duplicates::Mark } else { Duplicates::Remove },
                clusters: given.clusters.map(target),
                rejects: given.rejects.map(target),
            },
        })
    }
}

/// Deduplicates files on threads of its own.
#[napi(catch_unwind, ts_return_type = "Promise<NativeSummary>")]
pub fn dedup_files<'env>(
    env: &'env Env,
    options: NativeFileOptions<'_>,
    on_progress: Option<Function<'_, NativeProgress, UnknownReturnValue>>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let threads = options.dedup.threads;
    let run = Run::new(options, cancel)?;
    let progress = on_progress
        .map(|function| {
            // Weak: a callback must not keep the process alive. The core calls at most 20 times a second; of a queue of
            // 8 the newest positions matter least, so a full one drops.
            function
                .build_threadsafe_function::<NativeProgress>()
                .weak::<true>()
                .max_queue_size::<8>()
                .build()
        })
        .transpose()
        .map_err(Failure::from)?;
    let work = move |flag: &AtomicBool| {
        let report = |position: &Progress| {
            if let Some(progress) = &progress {
                let _: Status = progress
                    .call(NativeProgress::from(position), ThreadsafeFunctionCallMode::NonBlocking);
            }
        };
        Ok(NativeSummary::from(core(&run.inputs, &run.outputs, &run.options, &report, flag)?))
    };
    task::start(env, Place::Own(threads), cancel, work, |_| {})
}
