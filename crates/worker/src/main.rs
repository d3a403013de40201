//! `simhash-native-worker STAGE --recipe JSON`: one stage, Arrow on standard input and output.

use simhash_corpus::Fields;
use simhash_worker::lines::{Lines, OFFSET_BITS};
use simhash_worker::rows::{Files, Input, Output};
use simhash_worker::{Context, Failure, Recipe, stages};
use std::fs::File;
use std::io::{BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Bytes that a stage holds where nothing else is said.
const MEMORY: u64 = 2 << 30;

const HELP: &str = "\
usage: simhash-native-worker STAGE [--recipe JSON] [--parts N] [--memory BYTES] <ROWS >ROWS
       simhash-native-worker STAGE [...] --kinds KIND,... [--part N] -o FILE FILE...
       simhash-native-worker sketch [...] --file JSONL --number N [--start BYTE --end BYTE] -o FILE
       simhash-native-worker answer [...] --file JSONL --number N [...] --kinds want -o FILE FILE...
       simhash-native-worker answer [...] <DOCUMENTS that parts ask for >ROWS
       simhash-native-worker records [--text-field PATH --id-field PATH --keep-by PATH] <LINES >DOCUMENTS
       simhash-native-worker clusters|answers [--recipe JSON] <FOUND >LINES
       simhash-native-worker recipe [--recipe JSON]    the recipe in words
       simhash-native-worker version

One stage of dedup over Arrow streams, for engines and schedulers; docs/scale.md says how they are put together.

  --recipe JSON    everything that decides the answer: method, bands, rows, maxDistance, sentences, cluster, keep, verify,
                   minSimilarity, maxVerifications, maxBucket, against, limit, features, specification. Default: {}, the
                   defaults of dedup
  --parts N        into how many parts rows are spread, 1 to 65536. Default 1
  --memory BYTES   most bytes that the stage holds, with K, M or G. Default 2G
  --kinds, --part  which rows of the files are read. Default of --part: all
  -o FILE          is written as a whole or not at all; where it is there already nothing is done
  --text-field, --id-field, --keep-by PATH
                   where text, id and key are in lines, of a file or of a stream with columns pos and line: sketch, answer, records
  --file JSONL     documents: the lines that begin in bytes START to END of this file, which is the Nth of the inputs, from 0
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

/// What was asked for.
struct Arguments {
    stage: String,
    recipe: String,
    parts: u32,
    memory: u64,
    kinds: Vec<String>,
    part: Option<i32>,
    output: Option<PathBuf>,
    paths: Vec<PathBuf>,
    file: Option<PathBuf>,
    range: [u64; 3],
    fields: [String; 3],
}

fn usage(words: String) -> (u8, Failure) {
    (USAGE, Failure(words))
}

impl Arguments {
    /// `None`: what was asked for has been printed.
    fn read() -> Result<Option<Self>, (u8, Failure)> {
        let mut arguments = std::env::args().skip(1);
        let stage = match arguments.next().as_deref() {
            None => return Err(usage("a stage is missing; --help lists what there is".into())),
            Some("help" | "--help" | "-h") => return print(HELP).map(|()| None),
            Some("version" | "--version") => {
                let (version, own) = (env!("CARGO_PKG_VERSION"), simhash_dedup::SPECIFICATION);
                let words = format!("simhash-native-worker {version}, specification {own}\n");
                return print(&words).map(|()| None);
            }
            Some(stage) => stage.to_owned(),
        };
        let mut own = Self {
            stage,
            recipe: "{}".into(),
            parts: 1,
            memory: MEMORY,
            kinds: Vec::new(),
            part: None,
            output: None,
            paths: Vec::new(),
            file: None,
            range: [0, 0, u64::MAX],
            fields: ["text".into(), "id".into(), String::new()],
        };
        while let Some(name) = arguments.next() {
            if matches!(name.as_str(), "--help" | "-h") {
                return print(HELP).map(|()| None);
            }
            if !name.starts_with('-') {
                own.paths.push(name.into());
                continue;
            }
            let missing = || {
                usage(format!("{name} is no option, or needs a value; --help lists what there is"))
            };
            let given = arguments.next().ok_or_else(missing)?;
            own.take(&name, given)?;
        }
        Ok(Some(own))
    }

    fn take(&mut self, name: &str, given: String) -> Result<(), (u8, Failure)> {
        let whole = |most: u64| {
            let number = given.parse().ok().filter(|&number: &u64| number <= most);
            let expected =
                || usage(format!("{name} must be a whole number to {most}, got {given}"));
            number.ok_or_else(expected)
        };
        match name {
            "--recipe" => self.recipe = given,
            "--parts" => {
                let range = given.parse().ok().filter(|parts| (1..=1 << 16).contains(parts));
                self.parts = range.ok_or_else(|| {
                    usage(format!("--parts must be a whole number from 1 to 65536, got {given}"))
                })?;
            }
            "--memory" => {
                self.memory = bytes(&given).ok_or_else(|| {
                    usage(format!(
                        "--memory must be bytes, as 512M or 2G, at least 1M, got {given}"
                    ))
                })?;
            }
            "--kinds" => self.kinds = given.split(',').map(String::from).collect(),
            "--part" => self.part = Some(whole(65_535)? as i32),
            "-o" => self.output = Some(given.into()),
            "--file" => self.file = Some(given.into()),
            "--number" => self.range[0] = whole((1 << 23) - 1)?,
            "--start" => self.range[1] = whole((1 << OFFSET_BITS) - 1)?,
            "--end" => self.range[2] = whole(u64::MAX)?,
            "--text-field" => self.fields[0] = given,
            "--id-field" => self.fields[1] = given,
            "--keep-by" => self.fields[2] = given,
            other => return Err(usage(format!("unknown option {other}; --help lists them"))),
        }
        Ok(())
    }

    fn fields(&self) -> Result<Fields, (u8, Failure)> {
        let [text, id, key] = &self.fields;
        let fields = Fields::new(text, id);
        let fields = if key.is_empty() { fields } else { fields.and_then(|own| own.with_key(key)) };
        fields.map_err(|error| usage(error.to_string()))
    }
}

fn run() -> Result<(), (u8, Failure)> {
    let Some(arguments) = Arguments::read()? else { return Ok(()) };
    let recipe = Recipe::new(&arguments.recipe).map_err(|failure| (USAGE, failure))?;
    let stage = arguments.stage.as_str();
    if stage == "recipe" {
        return print(&format!("{}\n", recipe.words()));
    }
    let known = stages::find(stage);
    if known.is_none() && !["answer", "records", "clusters", "answers"].contains(&stage) {
        let known: Vec<&str> = stages::ALL.iter().map(|one| one.0).collect();
        let known = known.join(", ");
        return Err(usage(format!(
            "there is no stage {stage}: there are {known}, answer, records, clusters, answers"
        )));
    }
    if arguments.output.as_ref().is_some_and(|output| output.exists()) {
        return Ok(());
    }
    let failed = |failure| (FAILED, failure);
    let context = Arc::new(Context { recipe, parts: arguments.parts, memory: arguments.memory });
    let fields = arguments.fields()?;
    let from_terminal = arguments.file.is_none() && arguments.kinds.is_empty();
    if from_terminal && std::io::stdin().is_terminal() {
        return Err(usage("standard input is a terminal: a stage reads an Arrow stream".into()));
    }
    let stdin = || BufReader::with_capacity(1 << 20, std::io::stdin());
    let (to, place) = match &arguments.output {
        None => {
            (Box::new(BufWriter::with_capacity(1 << 20, std::io::stdout())) as Box<dyn Write>, None)
        }
        Some(path) => {
            let (file, place) = beside(path).map_err(failed)?;
            (
                Box::new(BufWriter::with_capacity(1 << 20, file)) as Box<dyn Write>,
                Some((place, path)),
            )
        }
    };
    if stage == "records" {
        stages::records(&context, stdin(), &fields, to).map_err(failed)?;
        return place.map_or(Ok(()), |(from, to)| take_name(from, to).map_err(failed));
    }
    if let Some(kind) = stages::Kind::of(stage) {
        stages::lines(&context, stdin(), kind, to).map_err(failed)?;
        return place.map_or(Ok(()), |(from, to)| take_name(from, to).map_err(failed));
    }
    let [number, start, end] = arguments.range;
    let own = fields.clone();
    let lines = arguments.file.map(|path| Lines { path, number, start, end, fields: own });
    let files = Files { paths: arguments.paths, kinds: arguments.kinds, part: arguments.part };
    let of_files = !files.kinds.is_empty();
    let stream = || Input::new(stdin(), &context).with_fields(fields.clone());
    let rows = || if of_files { Input::files(files, &context) } else { stream() };
    let mut output = Output::new(to, context.recipe.words()).map_err(failed)?;
    match (known, lines) {
        (Some(stage), Some(lines)) => stage(&context, Input::lines(lines, &context), &mut output),
        (Some(stage), None) => stage(&context, rows(), &mut output),
        (None, Some(lines)) => {
            let lines = Input::lines(lines, &context);
            stages::answer(&context, Some(rows()), lines, &mut output)
        }
        (None, None) if of_files => stages::answer(&context, Some(rows()), stream(), &mut output),
        (None, None) => stages::answer(&context, None, stream(), &mut output),
    }
    .map_err(failed)?;
    drop(output.finish().map_err(failed)?);
    place.map_or(Ok(()), |(from, to)| take_name(from, to).map_err(failed))
}

/// A file beside the one that is to appear, which nobody else writes to.
fn beside(path: &Path) -> Result<(File, tempfile::TempPath), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let failed = |error| Failure(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let made = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    Ok(made.into_parts())
}

/// Gives a complete file its name, on the disk.
fn take_name(from: tempfile::TempPath, to: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure(format!("{}: {error}", to.display()));
    File::open(&from).and_then(|file| file.sync_all()).map_err(failed)?;
    from.persist(to).map_err(|error| failed(error.error))
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
