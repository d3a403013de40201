//! What a run over files will take, from a sample of them.

use super::intake::Intake;
use super::records::Records;
use super::{Run, Wants, expanded, fields};
use crate::batch::Columns;
use crate::error::DedupError;
use crate::options::FileOptions;
use crate::read::{Input, Opened};
use crate::report::Throttle;
use crate::write::{Outputs, RecordWriter};
use cpu_time::ProcessTime;
use simhash_store::Room;
use std::sync::atomic::AtomicBool;

/// Bytes of all inputs that are looked at, decompressed.
const SAMPLE: u64 = 32 << 20;
/// Inputs that are looked at: of more some, as far from each other as their sizes allow.
const INPUTS: usize = 64;
/// Least bytes of an input that is looked at: a block.
const LEAST: u64 = 1 << 20;
/// What the whole takes at least and at most of what the sample took for each document: near the end of a large run what is looked up lies
/// no longer in the caches; and the machine has other work.
const RANGE: (f64, f64) = (0.75, 2.5);
/// Bytes of a process that has done nothing yet: Node.js, and the addon.
const PROCESS: u64 = 64 << 20;
/// Bytes that a thread works with.
const OF_THREAD: u64 = 6 << 20;

/// What a run will take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Records of the inputs, without those that are rejected.
    pub documents: u64,
    /// Records that were read for it.
    pub sampled: u64,
    /// Whether these are all: then `documents` is no estimate.
    pub is_whole: bool,
    /// Bytes of the inputs; of a folder, or a pattern of texts, those that were read, which are all.
    pub bytes: u64,
    /// Most bytes of memory of the process, where none is given ([`FileOptions::memory`]); where one is given it is that one.
    pub memory: u64,
    /// Bytes of temporary files where memory is given, by methods minhash and exact: other methods have less there. 0 where this system has none.
    pub disk: u64,
    /// Bytes of copies of records that cannot be read again where they are: of compressed files, of those in UTF-16, of folders.
    pub copies: u64,
    /// Seconds of processor time of all threads together, least and most.
    pub cpu_seconds: (f64, f64),
}

/// What [`dedup_files`](crate::dedup_files) of these inputs will take: reads the beginning of each, 32 MiB of all at most, at least one block
/// of 1 MiB of each; of more than 64 some, spread over their sizes. Folders and patterns of texts are read whole. Memory and disk are
/// proportional to the documents, a tenth more or less.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files); [`DedupError::Option`] for a stream, which cannot be read twice.
pub fn predict_files(
    inputs: &[Input],
    options: &FileOptions,
    cancel: &AtomicBool,
) -> Result<Prediction, DedupError> {
    let inputs = &*expanded(inputs, "inputs", &options.form)?;
    if let Some(Input::Stream(_)) = inputs.iter().find(|input| matches!(input, Input::Stream(_))) {
        let (value, expected) = ("a stream".into(), "files, which can be read twice");
        return Err(DedupError::Option { argument: "inputs", value, expected });
    }
    let (chosen, all_bytes) = choose(inputs);
    let chosen_bytes: u64 = chosen.iter().map(|(_, bytes)| bytes).sum();
    let chosen: Vec<Input> = chosen.into_iter().map(|(input, _)| input).collect();
    let fields = fields(options, &Outputs::default())?;
    let folder = options.tmp.clone().unwrap_or_else(std::env::temp_dir);
    let room = Room::bounded(u64::MAX / 2, &folder)?;
    let (comparer, columns) = Columns::within(&options.dedup, &room)?;
    let columns = if options.across_files_only { columns.across() } else { columns };
    let most = |opened: &Opened| {
        let Some(origin) = &opened.origin else { return u64::MAX };
        let share = origin.length() as f64 / chosen_bytes.max(1) as f64;
        ((SAMPLE as f64 * share) as u64).max(LEAST)
    };
    let (records, threads) = (Records::new(&room, folder)?, options.dedup.threads);
    let (groups, form) = ([&chosen[..]], &options.form);
    let mut intake = Intake::of_some(records, &groups, most, &fields, form, threads, cancel)?;
    let began = ProcessTime::now();
    let about = (intake.records.names(), intake.records.layouts());
    let none = Outputs::default();
    let writer = RecordWriter::open(&none, about, 0, false, cancel)?;
    let (wants, throttle) = (Wants { members: false, links: false }, Throttle::new(&|_| {}));
    let run = Run { intake: &mut intake, wants, throttle, room: room.clone() };
    let ended = run.sorted(&options.dedup, comparer, columns, writer, 0, None)?;
    let seconds = began.elapsed().as_secs_f64();
    let summary = ended.summary;
    let (consumed, origins) = (intake.consumed(), intake.records.origins());
    let mut ends = consumed.iter().zip(&origins);
    let is_read = ends.all(|(&consumed, origin)| {
        origin.as_ref().is_none_or(|origin| origin.length() <= consumed)
    });
    let is_whole = is_read && chosen.len() == inputs.len();
    // Of plain files less than was taken of them: blocks end with a record.
    let is_plain = !intake.records.are_copied().any(|is_copied| is_copied);
    let taken = if is_plain { summary.bytes } else { consumed.iter().sum() };
    let sampled = summary.read - summary.rejected;
    let times = if is_whole { 1.0 } else { all_bytes as f64 / taken.max(1) as f64 };
    let scaled = |one: u64| (one as f64 * times).round() as u64;
    let threads = if threads == 0 { rayon::current_num_threads() } else { threads };
    Ok(Prediction {
        documents: scaled(sampled),
        sampled,
        is_whole,
        bytes: if is_whole { taken } else { all_bytes },
        memory: PROCESS + OF_THREAD * threads as u64 + scaled(summary.index_bytes),
        disk: scaled(room.most_on_disk()),
        copies: scaled(intake.records.copied()),
        cpu_seconds: (RANGE.0 * seconds * times, RANGE.1 * seconds * times),
    })
}

/// The inputs to look at, with their bytes, and the bytes of all. Of many those at whose bytes so many equal parts of all begin.
fn choose(inputs: &[Input]) -> (Vec<(Input, u64)>, u64) {
    let bytes = |input: &Input| match input {
        Input::File(path) => std::fs::metadata(path).map_or(0, |about| about.len()),
        Input::Stream(_) => 0,
    };
    let all: Vec<(Input, u64)> = inputs.iter().map(|input| (input.clone(), bytes(input))).collect();
    let total: u64 = all.iter().map(|(_, bytes)| bytes).sum();
    if all.len() <= INPUTS {
        return (all, total);
    }
    let (mut before, mut next) = (0, 0.0);
    let chosen = all.into_iter().filter(|&(_, bytes)| {
        before += bytes;
        let is_chosen = before as f64 > next;
        while is_chosen && next < before as f64 {
            next += total as f64 / INPUTS as f64;
        }
        is_chosen
    });
    (chosen.collect(), total)
}
