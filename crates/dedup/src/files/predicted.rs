//! What a run over files will take, from a sample of them.

use super::intake::Intake;
use super::records::Records;
use super::{Run, Wants, check_across, expanded, fields};
use crate::batch::{Columns, Compared, TEXTS_AT_ONCE};
use crate::error::DedupError;
use crate::options::FileOptions;
use crate::read::{Input, Opened};
use crate::report::Throttle;
use crate::write::{Outputs, RecordWriter};
use cpu_time::ProcessTime;
use simhash_store::Room;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

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
const PROCESS: u64 = 66 << 20;
/// Bytes that verification makes of a byte of text.
const OF_TEXT: u64 = 14;
/// Bytes that a thread works with.
const OF_THREAD: u64 = 6 << 20;

/// What a run will take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Records of the inputs, without those that are rejected and those that are known.
    pub documents: u64,
    /// Records that were read for it.
    pub sampled: u64,
    /// Whether these are all: then `documents` is no estimate.
    pub is_whole: bool,
    /// Bytes of the inputs.
    pub bytes: u64,
    /// Most bytes of memory of the process, where none is given ([`FileOptions::memory`]); where one is given it is that one.
    pub memory: u64,
    /// Bytes of temporary files where memory is given; brute force has less there. 0 where this system has none.
    pub disk: u64,
    /// Bytes of copies of records that cannot be read again where they are: of compressed files, of those in UTF-16, of folders.
    pub copies: u64,
    /// Seconds of processor time of all threads together, least and most.
    pub cpu_seconds: (f64, f64),
}

/// What [`dedup_files`](crate::dedup_files) of these inputs, or with `known` [`dedup_new_files`](crate::dedup_new_files), will take: reads a part of each,
/// 32 MiB of all at most, at least 1 MiB of each (4 MiB decompressed); of more than 64 some, spread over their sizes. Of plain JSON lines and lines of text these are
/// pieces from all over the file, of folders files from all over it, of others the beginning. Memory and disk are proportional to the documents, a tenth
/// more or less, but for pairs of near fingerprints: those of documents that lie far apart grow as the square of the documents, up to eight for
/// each. With `whole` the inputs are themselves a sample, of so many bytes: what is told is of these.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files); [`DedupError::Option`] for a stream, which cannot be read twice.
pub fn predict_files(
    inputs: &[Input],
    known: &[Input],
    options: &FileOptions,
    whole: Option<u64>,
    cancel: &AtomicBool,
) -> Result<Prediction, DedupError> {
    let inputs = &*expanded(inputs, "inputs", &options.form)?;
    let known = &*Input::expanded(known, &options.form)?;
    check_across(options, known.iter().chain(inputs))?;
    let (known, new) = (Side::of(known), Side::of(inputs));
    if known.chosen.iter().chain(&new.chosen).any(|(input, _)| matches!(input, Input::Stream(_))) {
        return Err(not_twice());
    }
    let fields = fields(options, &Outputs::default())?;
    let folder = options.tmp.clone().unwrap_or_else(std::env::temp_dir);
    let room = Room::bounded(options.memory.unwrap_or(u64::MAX / 2), &folder)?;
    let (comparer, columns) = Columns::within(&options.dedup, &room)?;
    let columns = if options.across_files_only { columns.across() } else { columns };
    let mut lengths = known.chosen.iter().chain(&new.chosen).map(|&(_, length)| length);
    let looked_at: u64 = lengths.clone().sum();
    let mut cut = Vec::new();
    let sample = |opened: &mut Opened| {
        let length = lengths.next().unwrap_or(0);
        opened.sample(part(SAMPLE, length, looked_at).max(LEAST), length);
        cut.push(Arc::clone(&opened.is_cut));
    };
    let (records, threads) = (Records::new(&room, folder)?, options.dedup.threads);
    let (of_known, of_new) = (known.inputs(), new.inputs());
    let (groups, form) = ([&of_known[..], &of_new[..]], &options.form);
    let mut intake = Intake::of_some(records, &groups, sample, &fields, form, threads, cancel)?;
    if intake.records.is_live() {
        return Err(not_twice());
    }
    let began = ProcessTime::now();
    let about = (intake.records.names(), intake.records.layouts());
    let none = Outputs::default();
    let writer = RecordWriter::open(&none, about, 0, false, cancel)?;
    let (wants, throttle) = (Wants { members: false, links: false }, Throttle::new(&|_| {}));
    let run = Run { intake: &mut intake, wants, throttle, room: room.clone() };
    let count = of_known.len();
    let ended = run.sorted(&options.dedup, comparer, columns, writer, count as u32, None)?;
    let seconds = began.elapsed().as_secs_f64();
    let summary = ended.summary;
    let consumed = intake.consumed();
    let is_cut = |of: &[Arc<AtomicBool>]| of.iter().any(|is_cut| is_cut.load(Relaxed));
    let known = known.seen(&consumed[..count], is_cut(&cut[..count]));
    let new = Seen::of(new.seen(&consumed[count..], is_cut(&cut[count..])), whole);
    let sampled = summary.read - summary.rejected;
    let documents = new.scaled(sampled);
    let (all, of) = (known.scaled(summary.known) + documents, summary.known + sampled);
    let scaled = |one: u64| part(one, all, of);
    let threads = if threads == 0 { rayon::current_num_threads() } else { threads };
    // When texts are compared, keys and hashes have gone.
    let Compared { bytes, batches } = ended.compared;
    // More of them come together in a larger corpus, unless there were enough for several batches.
    let compared = if batches > 1 { bytes } else { scaled(bytes) };
    // Pairs do not grow as documents do.
    let (pairs, growing) = (ended.growing.bytes(), ended.growing.grown(all, of));
    let with_pairs = |bytes: u64| scaled(bytes.saturating_sub(pairs)) + growing;
    let columns = with_pairs(summary.index_bytes);
    let comparing = columns / 2 + OF_TEXT * compared.min(TEXTS_AT_ONCE);
    let times = all as f64 / of.max(1) as f64;
    let memory = PROCESS + OF_THREAD * threads as u64 + columns.max(comparing);
    Ok(Prediction {
        documents,
        sampled,
        is_whole: new.is_whole && known.is_whole,
        bytes: new.bytes,
        memory: memory.min(options.memory.unwrap_or(u64::MAX)),
        disk: with_pairs(room.most_on_disk()),
        copies: scaled(intake.records.copied()),
        cpu_seconds: (RANGE.0 * seconds * times, RANGE.1 * seconds * times),
    })
}

fn not_twice() -> DedupError {
    let (value, expected) = ("a stream".into(), "files, which can be read twice");
    DedupError::Option { argument: "inputs", value, expected }
}

/// The inputs of a run that are looked at.
struct Side {
    /// Each with its bytes.
    chosen: Vec<(Input, u64)>,
    /// Bytes of all, those that are not looked at too.
    bytes: u64,
    is_all: bool,
}

impl Side {
    /// Of many inputs those at whose bytes so many equal parts of all begin.
    fn of(inputs: &[Input]) -> Self {
        let all: Vec<(Input, u64)> =
            inputs.iter().map(|input| (input.clone(), input.length())).collect();
        let bytes: u64 = all.iter().map(|(_, bytes)| bytes).sum();
        if all.len() <= INPUTS {
            return Self { chosen: all, bytes, is_all: true };
        }
        let (mut before, mut next) = (0, 0);
        let chosen = all.into_iter().filter(|&(_, length)| {
            before += length;
            let is_chosen = before > part(bytes, next, INPUTS as u64);
            while is_chosen && before > part(bytes, next, INPUTS as u64) {
                next += 1;
            }
            is_chosen
        });
        Self { chosen: chosen.collect(), bytes, is_all: false }
    }

    fn inputs(&self) -> Vec<Input> {
        self.chosen.iter().map(|(input, _)| input.clone()).collect()
    }

    /// What was seen of it, where so many bytes of each were taken.
    fn seen(&self, consumed: &[u64], is_cut: bool) -> Seen {
        Seen { bytes: self.bytes, taken: consumed.iter().sum(), is_whole: self.is_all && !is_cut }
    }
}

/// Bytes of inputs, and those that were taken of them.
struct Seen {
    bytes: u64,
    taken: u64,
    is_whole: bool,
}

impl Seen {
    /// It is a sample of so many bytes, where they are given.
    fn of(sample: Self, whole: Option<u64>) -> Self {
        match whole {
            Some(bytes) => Self { bytes, taken: sample.taken, is_whole: false },
            None => sample,
        }
    }

    /// Of all of them, where of what was taken there are so many.
    fn scaled(&self, one: u64) -> u64 {
        if self.is_whole { one } else { part(one, self.bytes, self.taken) }
    }
}

/// `one * part / whole`, of which the product may be larger than a `u64`.
fn part(one: u64, part: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(one) * u128::from(part) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}
