//! `simhash-native-worker STAGE --recipe JSON`: one stage, Arrow on standard input and output.

use simhash_worker::rows::{Input, Output};
use simhash_worker::{Context, Failure, Recipe, stages};
use std::io::{BufReader, BufWriter, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

/// Bytes that a stage holds where nothing else is said.
const MEMORY: u64 = 2 << 30;

const HELP: &str = "\
usage: simhash-native-worker STAGE [--recipe JSON] [--parts N] [--memory BYTES] <ROWS >ROWS
       simhash-native-worker recipe [--recipe JSON]    the recipe in words
       simhash-native-worker version

One stage of dedup over Arrow streams, for engines and schedulers; docs/scale.md says how they are put together.

  --recipe JSON    everything that decides the answer: method, bands, rows, cluster, keep, verify, minSimilarity,
                   maxVerifications, maxBucket, features, specification. Default: {}, the defaults of dedup
  --parts N        into how many parts rows are spread, 1 to 65536. Default 1
  --memory BYTES   most bytes that the stage holds, with K, M or G. Default 2G
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, failure)) => {
            // Whoever reads standard error may have ended, too.
            let _ = writeln!(std::io::stderr(), "simhash-native-worker: {failure}");
            ExitCode::from(code)
        }
    }
}

/// A misuse, as the command line has it.
const USAGE: u8 = 2;
/// Input or output.
const FAILED: u8 = 3;

fn run() -> Result<(), (u8, Failure)> {
    let usage = |words: String| (USAGE, Failure(words));
    let mut arguments = std::env::args().skip(1);
    let stage = arguments.next();
    let (mut recipe, mut parts, mut memory) = ("{}".to_owned(), 1, MEMORY);
    while let Some(name) = arguments.next() {
        let value = |arguments: &mut dyn Iterator<Item = String>| {
            arguments.next().ok_or_else(|| usage(format!("{name} needs a value")))
        };
        match name.as_str() {
            "--recipe" => recipe = value(&mut arguments)?,
            "--parts" => {
                let given = value(&mut arguments)?;
                let range = given.parse().ok().filter(|parts| (1..=1 << 16).contains(parts));
                parts = range.ok_or_else(|| {
                    usage(format!("--parts must be a whole number from 1 to 65536, got {given}"))
                })?;
            }
            "--memory" => {
                let given = value(&mut arguments)?;
                memory = bytes(&given).ok_or_else(|| {
                    usage(format!(
                        "--memory must be bytes, as 512M or 2G, at least 1M, got {given}"
                    ))
                })?;
            }
            "--help" | "-h" => return print(HELP),
            other => return Err(usage(format!("unknown option {other}; --help lists them"))),
        }
    }
    let stage = match stage.as_deref() {
        None => return Err(usage("a stage is missing; --help lists what there is".into())),
        Some("help" | "--help" | "-h") => return print(HELP),
        Some("version" | "--version") => {
            let (version, specification) =
                (env!("CARGO_PKG_VERSION"), simhash_worker::recipe::SPECIFICATION);
            return print(&format!(
                "simhash-native-worker {version}, specification {specification}\n"
            ));
        }
        Some(stage) => stage.to_owned(),
    };
    let recipe = Recipe::new(&recipe).map_err(|failure| (USAGE, failure))?;
    if stage == "recipe" {
        return print(&format!("{}\n", recipe.words()));
    }
    let Some(stage) = stages::find(&stage) else {
        let known: Vec<&str> = stages::ALL.iter().map(|one| one.0).collect();
        return Err(usage(format!("there is no stage {stage}: there are {}", known.join(", "))));
    };
    if std::io::stdin().is_terminal() {
        return Err(usage("standard input is a terminal: a stage reads an Arrow stream".into()));
    }
    let failed = |failure| (FAILED, failure);
    let context = Arc::new(Context { recipe, parts, memory });
    let input = Input::new(BufReader::with_capacity(1 << 20, std::io::stdin().lock()), &context)
        .map_err(failed)?;
    let to = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let mut output = Output::new(to, context.recipe.words()).map_err(failed)?;
    stage(&context, input, &mut output).map_err(failed)?;
    output.finish().map(drop).map_err(failed)
}

fn print(words: &str) -> Result<(), (u8, Failure)> {
    let written = std::io::stdout().lock().write_all(words.as_bytes());
    written.map_err(|error| (FAILED, Failure(format!("cannot write to standard output: {error}"))))
}

/// `512M` in bytes.
fn bytes(given: &str) -> Option<u64> {
    let (digits, unit) = match given.char_indices().last()? {
        (at, 'k' | 'K') => (&given[..at], 10),
        (at, 'm' | 'M') => (&given[..at], 20),
        (at, 'g' | 'G') => (&given[..at], 30),
        _ => (given, 0),
    };
    let bytes = digits.parse::<u64>().ok()?.checked_mul(1 << unit)?;
    (bytes >= 1 << 20).then_some(bytes)
}
