//! Reports for JavaScript: names and the page around the figures in, a summary out; texts never come here.

use super::form::NativeForm;
use super::{NativeProgress, NativeRejected, inputs, shown, start, target};
use crate::check::number;
use crate::error::{js, unknown};
use crate::task::Cancel;
use napi::Env;
use napi::bindgen_prelude::{Function, Object};
use napi::threadsafe_function::UnknownReturnValue;
use napi_derive::napi;
use simhash_dedup::{
    Input, Page, Progress, ReadOptions, Report, ReportOptions, ReportTexts, report_files as core,
};
use std::sync::atomic::AtomicBool;

/// A report about a file of clusters or matches.
#[napi(object, object_to_js = false)]
pub struct NativeReportOptions {
    pub result: String,
    pub inputs: Vec<String>,
    /// Known documents, or those that were looked among.
    pub others: Vec<String>,
    pub output: String,
    /// The page up to the figures, and behind them.
    pub before: String,
    pub behind: String,
    pub date: Option<String>,
    #[napi(ts_type = "'all' | 'cut' | 'none'")]
    pub texts: String,
    pub form: NativeForm,
    pub threads: u32,
}

/// What a report tells.
#[napi(object, object_from_js = false)]
pub struct NativeReport {
    pub documents: f64,
    pub duplicates: f64,
    pub groups: f64,
    pub shown: f64,
    pub unknown: f64,
    pub rejected: f64,
    pub first_rejected: Vec<NativeRejected>,
    pub leftovers: Vec<String>,
}

impl From<Report> for NativeReport {
    fn from(report: Report) -> Self {
        Self {
            documents: number(report.documents),
            duplicates: number(report.duplicates),
            groups: number(report.groups),
            shown: number(report.shown),
            unknown: number(report.unknown),
            rejected: number(report.rejected),
            first_rejected: report.first_rejected.into_iter().map(NativeRejected::from).collect(),
            leftovers: shown(&report.leftovers),
        }
    }
}

/// Writes a page about a file of clusters or matches, on threads of its own.
#[napi(catch_unwind, ts_return_type = "Promise<NativeReport>")]
pub fn report_files<'env>(
    env: &'env Env,
    options: NativeReportOptions,
    on_progress: Option<Function<'_, NativeProgress, UnknownReturnValue>>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let threads = options.threads;
    let (fields, form) = options.form.core()?;
    let read = ReadOptions { fields, form, threads: threads as usize };
    let texts = match options.texts.as_str() {
        "all" => ReportTexts::All,
        "cut" => ReportTexts::Cut,
        "none" => ReportTexts::None,
        other => return Err(unknown("texts", other).into()),
    };
    let result = Input::File(options.result.into());
    let (inputs, others) = (inputs(options.inputs), inputs(options.others));
    let page = Page {
        target: target(options.output, cancel),
        before: options.before,
        behind: options.behind,
    };
    let options = ReportOptions { read, date: options.date, texts };
    let work = move |report: &dyn Fn(&Progress), flag: &AtomicBool| {
        core(&result, &inputs, &others, &page, &options, report, flag)
    };
    start::<Report, NativeReport>(env, threads, on_progress, cancel, work)
}
