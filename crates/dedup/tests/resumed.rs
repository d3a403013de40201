//! Runs that stop and go on: the same bytes as of one that was not stopped, or an error that names what is wrong.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::json;
use simhash_dedup::{
    Cluster, DedupError, DedupOptions, Duplicates, FileOptions, Input, Keep, LEAST_MEMORY, Method,
    Outputs, Summary, Target, dedup_files, dedup_new_files,
};
use simhash_store::{FileError, record};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

static NEVER: AtomicBool = AtomicBool::new(false);

/// One test at a time: a process that another test is about to start holds the locks of this one for a moment.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Inputs, one of them packed, and what is already known.
struct Corpus(
    PathBuf,
    #[allow(dead_code, reason = "the folder goes with it")] Option<tempfile::TempDir>,
);

impl Corpus {
    fn new(documents: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Self(folder.path().to_owned(), Some(folder));
        for input in 0..5 {
            let bytes = records(input, documents);
            if input == 2 {
                let file = File::create(made.path("in-2")).unwrap();
                let fast = flate2::Compression::fast();
                let mut packer = flate2::write::GzEncoder::new(file, fast);
                packer.write_all(&bytes).unwrap();
                packer.finish().unwrap();
            } else {
                fs::write(made.path(&format!("in-{input}")), bytes).unwrap();
            }
        }
        fs::create_dir(made.path("tmp")).unwrap();
        made
    }

    fn at(folder: &str) -> Self {
        Self(folder.into(), None)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn inputs(&self) -> Vec<Input> {
        (0..5).map(|input| Input::File(self.path(&format!("in-{input}")))).collect()
    }

    fn outputs(&self) -> Outputs {
        let target = |name: &str| Some(Target::File(self.path(name)));
        Outputs {
            records: target("out"),
            clusters: target("clusters"),
            rejects: target("rejects"),
            duplicates: Duplicates::Mark,
            ..Outputs::default()
        }
    }

    fn written(&self) -> Vec<Vec<u8>> {
        ["out", "clusters", "rejects"].map(|name| fs::read(self.path(name)).unwrap()).into()
    }

    fn forget(&self) {
        for name in ["out", "clusters", "rejects"] {
            let _ = fs::remove_file(self.path(name));
        }
    }

    fn run(&self, kind: usize, resume: bool) -> Result<Summary, DedupError> {
        self.run_with(&self.options(kind, resume), &|| {})
    }

    fn run_with(&self, options: &FileOptions, report: &dyn Fn()) -> Result<Summary, DedupError> {
        let (mut inputs, outputs) = (self.inputs(), self.outputs());
        let report = |_: &simhash_dedup::Progress| report();
        if options.dedup.max_bucket == KNOWN {
            let known = inputs.drain(..2).collect::<Vec<_>>();
            return dedup_new_files(&inputs, &known, &outputs, options, &report, &NEVER);
        }
        dedup_files(&inputs, &outputs, options, &report, &NEVER)
    }

    fn options(&self, kind: usize, resume: bool) -> FileOptions {
        let dedup = kinds().swap_remove(kind);
        let memory = (kind % 2 == 1 && cfg!(target_os = "linux")).then_some(LEAST_MEMORY);
        let tmp = Some(self.path("tmp"));
        let across_files_only = dedup.max_bucket == ACROSS;
        FileOptions { dedup, across_files_only, memory, tmp, resume, ..FileOptions::default() }
    }

    /// The folder of the run that was stopped.
    fn left(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("tmp")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Runs in a process that ends after so many calls; whether it ended by itself before.
    fn killed(&self, test: &str, kind: usize, after: u64, resume: bool) -> bool {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let arguments = format!("{}|{kind}|{after}|{resume}", self.0.display());
        child.args(["--exact", test]).env("SIMHASH_CHILD", arguments);
        child.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
    }
}

/// Marks the options of a run beside known documents.
const KNOWN: usize = 300;
/// Marks the options of a run that compares documents of different inputs only.
const ACROSS: usize = 301;

fn kinds() -> Vec<DedupOptions> {
    let new = DedupOptions::default;
    let threads = 2;
    vec![
        DedupOptions { threads, ..new() },
        DedupOptions { cluster: Cluster::Components, keep: Keep::Longest, ..new() },
        DedupOptions { method: Method::SimHash { max_distance: 8 }, keep: Keep::Last, ..new() },
        DedupOptions { max_bucket: KNOWN, ..new() },
        DedupOptions { method: Method::Sentences { count: 3 }, threads, ..new() },
        DedupOptions { method: Method::Exact, ..new() },
        DedupOptions { min_similarity: None, keep: by_date(), ..new() },
        DedupOptions { max_bucket: ACROSS, keep: by_date(), ..new() },
        DedupOptions { max_bucket: ACROSS, cluster: Cluster::Components, threads, ..new() },
        // Full buckets.
        DedupOptions { max_bucket: 4, threads, ..new() },
    ]
}

fn by_date() -> Keep {
    Keep::Field { path: "date".into(), largest: true }
}

fn records(input: usize, documents: usize) -> Vec<u8> {
    let mut lines = Vec::new();
    for number in 0..documents {
        let from = (number * 7 + input * 3) % (documents * 2);
        let subject = ["港口", "铁路", "学校", "河流"][from % 4];
        let mut text =
            format!("今天第{from}号{subject}公告于{}日发布，介绍了建设的最新进展情况。", from * 31);
        if (number + input).is_multiple_of(3) {
            text.push_str("请相互转告");
        }
        let line = match number % 17 {
            16 => "no record".to_owned(),
            15 => json!({ "id": format!("{input}-{number}"), "text": "" }).to_string(),
            _ => json!({ "id": format!("{input}-{number}"), "text": text, "date": from % 5 })
                .to_string(),
        };
        lines.extend(format!("{line}\n").bytes());
    }
    lines
}

/// In the child: a run that ends its process when it has come so far.
fn child() -> bool {
    let Ok(arguments) = std::env::var("SIMHASH_CHILD") else { return false };
    let [folder, kind, after, resume] = arguments.split('|').collect::<Vec<_>>()[..] else {
        panic!("{arguments}")
    };
    record::end_after(after.parse().unwrap());
    let resume = resume.parse().unwrap();
    Corpus::at(folder).run(kind.parse().unwrap(), resume).unwrap();
    true
}

/// What comes out where nobody interrupts, and the figures.
fn uninterrupted(corpus: &Corpus, kind: usize) -> (Vec<Vec<u8>>, String) {
    let options = FileOptions { tmp: None, memory: None, ..corpus.options(kind, false) };
    let summary = corpus.run_with(&options, &|| {}).unwrap();
    assert!(summary.duplicates > 20 && summary.rejected >= 5, "{summary:?}");
    let written = corpus.written();
    corpus.forget();
    (written, figures(summary))
}

fn figures(summary: Summary) -> String {
    let summary = Summary { seconds: 0.0, resumed: 0, leftovers: Vec::new(), ..summary };
    format!("{summary:?}")
}

#[test]
fn a_run_that_is_killed_after_any_step_goes_on_to_the_same_bytes() {
    const NAME: &str = "a_run_that_is_killed_after_any_step_goes_on_to_the_same_bytes";
    let _turn = turn();
    if child() || !cfg!(debug_assertions) {
        return;
    }
    for kind in 0..kinds().len() {
        let corpus = Corpus::new(60);
        let expected = uninterrupted(&corpus, kind);
        let (mut resumed, mut step) = (Vec::new(), 1);
        // Every step of the first kind, some of the others.
        while !corpus.killed(NAME, kind, step, false) {
            let went_on = corpus.run(kind, true).unwrap();
            resumed.push(went_on.resumed);
            assert_eq!(corpus.left(), [] as [PathBuf; 0], "{kind}, step {step}");
            assert_eq!(corpus.written(), expected.0, "{kind}, step {step}");
            assert_eq!(figures(went_on), expected.1, "{kind}, step {step}");
            corpus.forget();
            step += if kind == 0 { 1 } else { 7 };
        }
        // Nothing, some blocks, all of them.
        let all = *resumed.iter().max().unwrap();
        assert_eq!((resumed[0], all), (0, 300), "{resumed:?}");
        assert!(kind != 0 || resumed.iter().any(|&one| one > 0 && one < all), "{resumed:?}");
        assert!(step > 30, "{step}");
    }
}

#[test]
fn a_run_that_is_killed_again_and_again_ends() {
    const NAME: &str = "a_run_that_is_killed_again_and_again_ends";
    let _turn = turn();
    if child() || !cfg!(debug_assertions) {
        return;
    }
    for kind in 0..2 {
        let corpus = Corpus::new(60);
        let expected = uninterrupted(&corpus, kind);
        let mut kills = 0;
        while !corpus.killed(NAME, kind, 4 + kills / 4, true) {
            kills += 1;
        }
        assert!(kills > 8, "{kills}");
        assert_eq!(corpus.written(), expected.0);
        assert_eq!(corpus.left(), [] as [PathBuf; 0]);
    }
}

/// Copies a folder without folders in it.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir(to).unwrap();
    // Its owner's alone: another one is refused.
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Leaves the folder of a run in each of its states that differ; each is copied to a place of its own.
fn states(corpus: &Corpus, test: &str, kind: usize) -> Vec<PathBuf> {
    let (mut states, mut before): (Vec<PathBuf>, Vec<String>) = (Vec::new(), Vec::new());
    for step in 1.. {
        if corpus.killed(test, kind, step, false) {
            break;
        }
        let [left] = &corpus.left()[..] else { continue };
        let mut names: Vec<String> = fs::read_dir(left)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with('.'))
            .collect();
        names.sort();
        if names != before && names.iter().any(|name| name.starts_with("checkpoint")) {
            let state = corpus.path(&format!("state-{step}"));
            copy(left, &state);
            states.push(state);
            before = names;
        }
        fs::remove_dir_all(left).unwrap();
        corpus.forget();
    }
    states
}

#[test]
fn damage_of_a_checkpoint_is_named_or_changes_nothing() {
    const NAME: &str = "damage_of_a_checkpoint_is_named_or_changes_nothing";
    let _turn = turn();
    if child() || !cfg!(debug_assertions) {
        return;
    }
    for kind in [0, 1, 7, 9] {
        let corpus = Corpus::new(30);
        let expected = uninterrupted(&corpus, kind).0;
        let states = states(&corpus, NAME, kind);
        assert!(states.len() >= 4, "{states:?}");
        let name = {
            assert!(!corpus.killed(NAME, kind, 12, false));
            let left = corpus.left().remove(0);
            fs::remove_dir_all(&left).unwrap();
            left
        };
        let (mut named, mut same) = (0, 0);
        for state in states {
            for entry in fs::read_dir(&state).unwrap() {
                let file = entry.unwrap().file_name();
                if file == "LOCK" {
                    continue;
                }
                let length = fs::metadata(state.join(&file)).unwrap().len();
                let flips = (0..12).map(|at| (at * length / 12, false));
                for (at, cut) in flips.chain([(length / 3, true), (length - 1, true)]) {
                    copy(&state, &name);
                    let mut bytes = fs::read(name.join(&file)).unwrap();
                    if cut {
                        bytes.truncate(at as usize);
                    } else {
                        bytes[at as usize] ^= 0x20;
                    }
                    fs::write(name.join(&file), bytes).unwrap();
                    match corpus.run(kind, true) {
                        Ok(_) => {
                            // A tail that no mark counts, or zeros behind a head.
                            assert_eq!(corpus.written(), expected, "{file:?} {at}");
                            same += 1;
                        }
                        Err(DedupError::Checkpoint(FileError::Damaged {
                            path, offset, ..
                        })) => {
                            assert_eq!(path, name.join(&file), "{at}");
                            assert!(offset <= length, "{file:?} {at} {offset}");
                            named += 1;
                        }
                        Err(other) => panic!("{file:?} {at}: {other}"),
                    }
                    corpus.forget();
                    let _ = fs::remove_dir_all(&name);
                }
            }
        }
        assert!(named > 150 && same < named / 2, "{named} {same}");
    }
}

/// Stops a run by its flag when everything was sketched.
fn stopped(corpus: &Corpus, options: &FileOptions) {
    let cancel = AtomicBool::new(false);
    let report = |progress: &simhash_dedup::Progress| {
        cancel.fetch_or(progress.documents == 150, Ordering::Relaxed);
    };
    let error = dedup_files(&corpus.inputs(), &corpus.outputs(), options, &report, &cancel);
    assert!(matches!(error, Err(DedupError::Cancelled)));
    assert!(!corpus.path("out").exists());
}

#[test]
fn a_run_that_was_stopped_goes_on_with_other_threads_and_memory_but_no_other_option() {
    let _turn = turn();
    let corpus = Corpus::new(30);
    let expected = uninterrupted(&corpus, 0).0;
    let options = corpus.options(0, true);
    stopped(&corpus, &options);
    assert_eq!(corpus.left().len(), 1);
    let refused = |options: &FileOptions| match corpus.run_with(options, &|| {}).unwrap_err() {
        DedupError::Checkpoint(FileError::Mismatch { option, .. }) => option,
        other => panic!("{other}"),
    };
    let with = |change: &dyn Fn(&mut DedupOptions)| {
        let mut options = options.clone();
        change(&mut options.dedup);
        options
    };
    let exact = Method::Exact;
    assert_eq!(refused(&with(&|given| given.min_similarity = Some(0.7))), "min_similarity");
    assert_eq!(refused(&with(&|given| given.method = exact)), "method");
    assert_eq!(refused(&with(&|given| given.cluster = Cluster::Components)), "cluster");
    assert_eq!(refused(&with(&|given| given.keep = Keep::Longest)), "keep");
    assert_eq!(refused(&with(&|given| given.max_bucket = 7)), "max_bucket");
    let mut features = options.clone();
    features.dedup.fingerprinter.extract.ngram = Some(3);
    assert_eq!(refused(&features), "features");
    let across = FileOptions { across_files_only: true, ..options.clone() };
    assert_eq!(refused(&across), "across_files_only");
    let fields = simhash_dedup::Fields::new("text", "date").unwrap();
    assert_eq!(refused(&FileOptions { fields, ..options.clone() }), "fields");
    assert_eq!(corpus.left().len(), 1);
    let mut other = with(&|given| given.threads = 1);
    other.memory = cfg!(target_os = "linux").then_some(LEAST_MEMORY + 1);
    let summary = corpus.run_with(&other, &|| {}).unwrap();
    assert_eq!(summary.resumed, 150);
    assert_eq!(corpus.written(), expected);
    assert_eq!(corpus.left(), [] as [PathBuf; 0]);
    // There is nothing to go on from.
    assert_eq!(corpus.run(0, true).unwrap().resumed, 0);
}

/// What the error says of it, and what is done to the file.
type Change<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
fn inputs_that_changed_since_the_run_stopped_are_named() {
    let _turn = turn();
    let change: [Change<'_>; 5] = [
        ("it had", &|path| {
            let mut file = File::options().append(true).open(path).unwrap();
            file.write_all(b"{\"text\":\"new\"}\n").unwrap();
        }),
        ("it had", &|path| {
            let file = File::options().write(true).open(path).unwrap();
            file.set_len(file.metadata().unwrap().len() / 2).unwrap();
        }),
        ("another file", &|path| {
            let other = path.with_extension("new");
            fs::copy(path, &other).unwrap();
            fs::rename(other, path).unwrap();
        }),
        ("it was written to", &|path| {
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::now() + Duration::from_secs(9)).unwrap();
        }),
        // Nothing of the file says so.
        ("its records became others", &|path| {
            let modified = path.metadata().unwrap().modified().unwrap();
            let mut bytes = fs::read(path).unwrap();
            bytes[40] ^= 1;
            let mut file = File::options().write(true).open(path).unwrap();
            file.write_all(&bytes).unwrap();
            file.set_modified(modified).unwrap();
        }),
    ];
    for (said, change) in change {
        for input in ["in-1", "in-4"] {
            let corpus = Corpus::new(30);
            stopped(&corpus, &corpus.options(0, true));
            change(&corpus.path(input));
            let error = corpus.run(0, true).unwrap_err();
            assert!(matches!(&error, DedupError::InputChanged { .. }), "{error}");
            assert_eq!(error.path(), Some(&*corpus.path(input)));
            assert!(error.to_string().contains(said), "{error}");
            assert!(!corpus.path("out").exists());
            // Anew it is another run.
            let left = corpus.left();
            let anew = corpus.run(0, false).unwrap();
            assert_eq!((anew.resumed, anew.leftovers), (0, left));
            assert_eq!(corpus.left(), [] as [PathBuf; 0]);
        }
    }
}

#[test]
fn a_folder_of_texts_that_changed_is_named_by_its_records() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("texts")).unwrap();
    fs::create_dir_all(path("tmp")).unwrap();
    for number in 0..40 {
        fs::write(path("texts").join(format!("{number}.txt")), format!("第{number}号公告"))
            .unwrap();
    }
    let outputs = Outputs { records: Some(Target::File(path("out"))), ..Outputs::default() };
    let options = FileOptions { tmp: Some(path("tmp")), resume: true, ..FileOptions::default() };
    let run = |at: u64| {
        let cancel = AtomicBool::new(false);
        let report = |progress: &simhash_dedup::Progress| {
            cancel.fetch_or(progress.documents == at, Ordering::Relaxed);
        };
        dedup_files(&[Input::File(path("texts"))], &outputs, &options, &report, &cancel)
    };
    for change in [0, 1] {
        assert!(matches!(run(40), Err(DedupError::Cancelled)));
        if change == 0 {
            fs::write(path("texts/7.txt"), "另一个").unwrap();
        } else {
            fs::remove_file(path("texts/9.txt")).unwrap();
        }
        let error = run(u64::MAX).unwrap_err();
        assert!(matches!(&error, DedupError::InputChanged { .. }), "{error}");
        assert_eq!(error.path(), Some(&*path("texts")));
        fs::remove_dir_all(path("tmp")).unwrap();
        fs::create_dir(path("tmp")).unwrap();
    }
}

#[test]
fn folders_of_other_runs_are_told_and_left_alone() {
    let _turn = turn();
    let corpus = Corpus::new(30);
    stopped(&corpus, &corpus.options(0, false));
    let dead = corpus.left();
    // Others of such names are nobody's, or somebody's.
    let foreign = corpus.path("tmp/simhash-run-0123456789abcdef");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("mine"), "").unwrap();
    fs::create_dir(corpus.path("tmp/simhash-run-x")).unwrap();
    fs::write(corpus.path("tmp/simhash-run-fedcba9876543210"), "").unwrap();
    let empty = corpus.path("tmp/simhash-run-0000000000000000");
    fs::create_dir(&empty).unwrap();
    let outputs = |name: &str| Outputs {
        records: Some(Target::File(corpus.path(name))),
        ..Outputs::default()
    };
    let options = corpus.options(0, false);
    // While one is going on nobody takes its folder, and nobody says that it stopped.
    let busy = Mutex::new(Vec::new());
    let report = |_: &simhash_dedup::Progress| {
        let again =
            |name: &str| dedup_files(&corpus.inputs(), &outputs(name), &options, &|_| {}, &NEVER);
        busy.lock().unwrap().push((again("other").unwrap_err(), again("third").unwrap().stopped));
    };
    let done = dedup_files(&corpus.inputs(), &outputs("other"), &options, &report, &NEVER).unwrap();
    let expected = vec![empty, dead[0].clone()];
    assert_eq!(done.stopped, expected);
    for (error, stopped) in busy.into_inner().unwrap() {
        assert!(matches!(&error, DedupError::Checkpoint(FileError::Locked { .. })), "{error}");
        assert_eq!(stopped, expected);
    }
    assert_eq!(corpus.left().len(), 5);
}

#[test]
fn what_cannot_go_on_says_so() {
    let _turn = turn();
    let corpus = Corpus::new(30);
    let outputs = corpus.outputs();
    let refused = |inputs: &[Input], outputs: &Outputs, options: &FileOptions| {
        let error = dedup_files(inputs, outputs, options, &|_| {}, &NEVER).unwrap_err();
        assert!(matches!(&error, DedupError::Option { argument: "resume", .. }), "{error}");
    };
    let options = corpus.options(0, true);
    refused(&corpus.inputs(), &outputs, &FileOptions { tmp: None, ..options.clone() });
    let stream = Input::stream("-", std::io::Cursor::new(records(0, 10)));
    refused(&[stream], &outputs, &options);
    let to_stream =
        Outputs { records: Some(Target::stream("-", std::io::sink())), ..Outputs::default() };
    refused(&corpus.inputs(), &to_stream, &options);
    refused(&corpus.inputs(), &outputs, &FileOptions { dry_run: true, ..options.clone() });
    assert_eq!(corpus.left(), [] as [PathBuf; 0]);
    // A run that fails before it has begun leaves nothing; nor does one that finds no record.
    let missing = [Input::File(corpus.path("none"))];
    assert!(dedup_files(&missing, &outputs, &options, &|_| {}, &NEVER).is_err());
    fs::write(corpus.path("none"), "no record\n").unwrap();
    let error = dedup_files(&missing, &outputs, &options, &|_| {}, &NEVER).unwrap_err();
    assert!(matches!(error, DedupError::NoRecords { .. }));
    assert_eq!(corpus.left(), [] as [PathBuf; 0]);
}

#[cfg(unix)]
#[test]
fn a_folder_of_a_run_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let _turn = turn();
    let corpus = Corpus::new(30);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let seen = Mutex::new(0);
    let look = || {
        for folder in corpus.left() {
            assert_eq!(mode(&folder), 0o700);
            for entry in fs::read_dir(folder).unwrap() {
                assert_eq!(mode(&entry.unwrap().path()), 0o600);
                *seen.lock().unwrap() += 1;
            }
        }
    };
    corpus.run_with(&corpus.options(1, false), &look).unwrap();
    assert!(seen.into_inner().unwrap() > 3);
}
