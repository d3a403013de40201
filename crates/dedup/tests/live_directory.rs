//! A live index in a directory: what was answered is there after kill -9, damage is named, and who reads follows who writes.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use simhash_dedup::DedupError;
use simhash_dedup::live::{
    Document, LiveIndex, LiveOptions, OnSameKey, OpenOptions, Search, Stored,
};
use simhash_index::durable::{Durability, DurableOptions};
use simhash_index::{IndexError, OnDuplicate, Window};
use simhash_store::directory::{Directory, Manifest};
use simhash_store::log::Log;
use simhash_store::{Fields, FileError};

mod model;

use model::{NEVER, code, document, methods, options};

fn given(method: &str, window: bool) -> LiveOptions {
    let window = window.then_some(Window { max_age: None, max_count: Some(60) });
    // Some texts are longer than what is stored.
    let stored = Stored { keys: true, longest_text: Some(120) };
    LiveOptions { stored, window, ..options(method) }
}

fn how(durability: Durability, checkpoint_bytes: u64) -> OpenOptions {
    let mut durable = DurableOptions::default();
    (durable.durability, durable.checkpoint_bytes) = (durability, checkpoint_bytes);
    OpenOptions { durable, ..OpenOptions::default() }
}

fn open(path: &Path, options: &LiveOptions, how: OpenOptions) -> Result<LiveIndex, DedupError> {
    LiveIndex::open_directory(path, options, how, &NEVER)
}

/// The documents of a step: near copies of a few texts, some long, some short, some equal.
fn documents(index: &LiveIndex, step: u64) -> (Vec<Document>, Vec<Option<String>>) {
    (0..=step % 5)
        .map(|row| {
            let number = step * 7 + row;
            let text = match number % 9 {
                0 => "短".to_owned(),
                1 => String::new(),
                2 => code(number as usize % 5, 60),
                3 => format!("{}改", code(number as usize % 40, 14)),
                _ => code(number as usize % 40, 14),
            };
            let key = (!number.is_multiple_of(3)).then(|| format!("键{}", number % 50));
            (document(index, &text), key)
        })
        .unzip()
}

/// The first part of a step, which has no position.
fn delete(index: &LiveIndex, step: u64) {
    match step % 3 {
        0 => drop(index.delete(step % (index.next_id() + 1)).unwrap()),
        1 if index.window().is_some() => drop(index.expire(step.saturating_sub(3)).unwrap()),
        _ => {}
    }
}

/// The second part: a batch up to this position.
fn add(index: &LiveIndex, step: u64) {
    let (documents, keys) = documents(index, step);
    let times: Vec<u64> = index.window().map(|_| vec![step; documents.len()]).unwrap_or_default();
    if step.is_multiple_of(4) {
        index.add_many_to(Some(step), &documents, &keys, &times, &NEVER).unwrap();
        return;
    }
    let on_duplicate = [OnDuplicate::Skip, OnDuplicate::Touch, OnDuplicate::Add][step as usize % 3];
    let run = (1, &NEVER);
    index.check_and_add_many_to(Some(step), &documents, &keys, &times, on_duplicate, run).unwrap();
}

/// All that can be asked of an index.
fn all(index: &LiveIndex) -> String {
    let mut found = format!("{} {} {:?}\n", index.len(), index.next_id(), index.position());
    for id in (0..index.next_id()).filter(|&id| index.has(id)) {
        let _ = writeln!(found, "{id} {:?} {:?}", index.key_of(id), index.text_of(id));
    }
    for number in 0..50 {
        let _ = writeln!(found, "{:?}", index.id_of(&format!("键{number}")));
    }
    for step in 0..12 {
        for document in documents(index, step).0 {
            let _ = writeln!(found, "{:?}", index.search(&document, &Search::default()).unwrap());
        }
    }
    found
}

/// What keys are answered that come again: of an index that nobody needs any more, for they change it.
fn again(index: &LiveIndex) -> String {
    let position = index.position();
    let mut told = String::new();
    for number in 0..50 {
        // Of half of them the text is another one than before.
        let text = code(number % 40 + number % 2 * 100, 14);
        let documents = [document(index, &text)];
        let keys = [Some(format!("键{number}"))];
        let times: Vec<u64> = index.window().iter().filter_map(|_| position).collect();
        let (on_duplicate, run) = (OnDuplicate::Skip, (1, &NEVER));
        let answers =
            index.check_and_add_many_to(position, &documents, &keys, &times, on_duplicate, run);
        let _ = writeln!(told, "{:?}", answers.unwrap());
    }
    told
}

/// What an index is after so many steps, and the first part of the next if `begun`.
fn twin(options: &LiveOptions, steps: u64, begun: bool) -> LiveIndex {
    let twin = LiveIndex::new(options).unwrap();
    for step in 1..=steps {
        delete(&twin, step);
        add(&twin, step);
    }
    if begun {
        delete(&twin, steps + 1);
    }
    twin
}

fn rounds() -> u64 {
    if std::env::var_os("SIMHASH_LONG").is_some() { 200 } else { 10 }
}

/// What an index does with keys that come again, by its number.
const RULES: [OnSameKey; 3] = [OnSameKey::Add, OnSameKey::Repeat, OnSameKey::Replace];

/// What the child process does until it is killed: steps, each told when it was answered.
fn run(path: &str, options: &LiveOptions, durability: &str) -> ! {
    let durability = match durability {
        "commit" => Durability::Commit,
        "interval" => Durability::Interval(Duration::from_millis(2)),
        _ => Durability::None,
    };
    let index = open(Path::new(path), options, how(durability, 2000)).unwrap();
    let mut out = std::io::stdout();
    for step in index.position().unwrap_or(0) + 1.. {
        delete(&index, step);
        if step.is_multiple_of(4) {
            index.compact(&NEVER).unwrap();
            index.checkpoint(&NEVER).unwrap();
        }
        add(&index, step);
        writeln!(out, "step {step}").unwrap();
        out.flush().unwrap();
    }
    unreachable!()
}

/// Runs this very test in a process of its own and kills it after a while; the last step that it has told.
fn killed(test: &str, arguments: &str, after: Duration) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).env("SIMHASH_CHILD", arguments);
    let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
    let (tell, told) = mpsc::channel();
    let lines = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut last = 0;
        for line in lines.lines().map_while(Result::ok) {
            if let Some(step) = line.strip_prefix("step ") {
                last = step.parse().unwrap();
                let _ = tell.send(());
            }
        }
        last
    });
    // Not before it does something.
    told.recv_timeout(Duration::from_secs(120)).unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

#[test]
fn what_was_answered_is_there_after_kill_9() {
    const NAME: &str = "what_was_answered_is_there_after_kill_9";
    if let Ok(arguments) = std::env::var("SIMHASH_CHILD") {
        let [path, method, durability, window, rule] = arguments.split('|').collect::<Vec<_>>()[..]
        else {
            panic!("{arguments}")
        };
        let on_same_key = RULES[rule.parse::<usize>().unwrap()];
        run(path, &LiveOptions { on_same_key, ..given(method, window == "true") }, durability);
    }
    for (method, window) in
        methods().into_iter().flat_map(|method| [(method, false), (method, true)])
    {
        // An index for each rule, which goes on from round to round.
        let folder = tempfile::tempdir().unwrap();
        let mut told = [0; RULES.len()];
        let mut repeated = 0;
        for round in 0..rounds() {
            let (rule, durability) = (round as usize / 3 % 3, round as usize % 3);
            let path = folder.path().join(format!("index-{rule}"));
            let options = LiveOptions { on_same_key: RULES[rule], ..given(method, window) };
            let durability = ["none", "interval", "commit"][durability];
            let arguments = format!("{}|{method}|{durability}|{window}|{rule}", path.display());
            let after = Duration::from_millis(3 + 17 * (round % 5));
            told[rule] = told[rule].max(killed(NAME, &arguments, after));
            let index = open(&path, &options, how(Durability::None, 2000)).unwrap();
            let position = index.position().unwrap_or(0);
            let answered = told[rule];
            assert!(position >= answered, "{method}: {answered} steps answered, {position} there");
            let found = all(&index);
            let is = |begun| {
                let twin = twin(&options, position, begun);
                (all(&twin) == found).then_some(twin)
            };
            let twin = is(false).or_else(|| is(true));
            let twin = twin.unwrap_or_else(|| panic!("{method}, {rule}, after {position} steps"));
            drop(index);
            // On a copy: the next round goes on.
            let copy = folder.path().join("copy");
            let _ = fs::remove_dir_all(&copy);
            fs::create_dir(&copy).unwrap();
            for entry in fs::read_dir(&path).unwrap().map(Result::unwrap) {
                if entry.file_name() != "LOCK" {
                    fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
                }
            }
            let told = again(&open(&copy, &options, how(Durability::None, 2000)).unwrap());
            assert_eq!(told, again(&twin), "{method}, {rule}, after {position} steps");
            repeated += told.matches("repeated: true").count();
        }
        // How many depends on how far each process came.
        assert!(repeated > 0, "{method}, window {window}: {repeated} answers were repeated");
    }
}

#[test]
fn a_torn_tail_is_cut_off_and_told_and_all_other_damage_is_named() {
    for method in methods() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let options = given(method, true);
        let index = open(&path, &options, how(Durability::None, 1 << 20)).unwrap();
        for step in 1..9 {
            delete(&index, step);
            add(&index, step);
        }
        // As another process finds them.
        let copy = folder.path().join("copy");
        let restore = |without: Option<&str>| {
            let _ = fs::remove_dir_all(&copy);
            fs::create_dir(&copy).unwrap();
            for name in ["MANIFEST", "checkpoint-0000000001", "log-0000000001"] {
                if Some(name) != without {
                    fs::copy(path.join(name), copy.join(name)).unwrap();
                }
            }
        };
        let reopened = || open(&copy, &options, how(Durability::None, 1 << 20));
        restore(None);
        assert_eq!(all(&reopened().unwrap()), all(&index), "{method}");

        let log = fs::read(path.join("log-0000000001")).unwrap();
        for less in [1, 9, 30] {
            restore(None);
            fs::write(copy.join("log-0000000001"), &log[..log.len() - less]).unwrap();
            let cut = reopened().unwrap();
            let (position, torn) = (cut.position(), cut.durable_stats().unwrap().torn_bytes);
            assert_eq!(position, Some(7), "{method}");
            assert!(torn > 0);
            let found = all(&cut);
            let is = |begun| all(&twin(&options, 7, begun)) == found;
            assert!(is(false) || is(true), "{method}, cut by {less}");
            // It goes on, and the next opener finds nothing torn.
            add(&cut, 8);
            drop(cut);
            assert_eq!(reopened().unwrap().durable_stats().unwrap().torn_bytes, 0);
        }
        for name in ["MANIFEST", "checkpoint-0000000001", "log-0000000001"] {
            restore(Some(name));
            let error = match reopened() {
                Err(error) => error.to_string(),
                Ok(_) => panic!("{method} without {name} is opened"),
            };
            assert!(error.contains(copy.to_str().unwrap()), "{method} without {name}: {error}");
            let bytes = fs::read(path.join(name)).unwrap();
            for at in (0..bytes.len()).step_by(1 + bytes.len() / 150) {
                restore(None);
                let mut flipped = bytes.clone();
                flipped[at] ^= 0x20;
                fs::write(copy.join(name), &flipped).unwrap();
                match reopened() {
                    Err(DedupError::Index(IndexError::File(
                        FileError::Damaged { path, .. } | FileError::Format { path, .. },
                    ))) => assert_eq!(path, copy.join(name)),
                    other => panic!("{method}, {name} flipped at {at}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn files_of_another_index_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let options = given("exact", false);
    let paths = ["one", "other"].map(|name| folder.path().join(name));
    for path in &paths {
        add(&open(path, &options, how(Durability::None, 1 << 20)).unwrap(), 5);
    }
    for name in ["checkpoint-0000000001", "log-0000000001"] {
        let [own, other] = [0, 1].map(|at: usize| fs::read(paths[at].join(name)).unwrap());
        fs::write(paths[0].join(name), other).unwrap();
        let error = open(&paths[0], &options, OpenOptions::default()).unwrap_err().to_string();
        assert!(error.contains("another index") && error.contains(name), "{error}");
        fs::write(paths[0].join(name), own).unwrap();
    }
    assert!(open(&paths[0], &options, OpenOptions::default()).is_ok());
}

#[test]
fn one_writes_and_others_follow() {
    for method in methods() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let options = given(method, true);
        let writer = open(&path, &options, how(Durability::None, 1 << 20)).unwrap();
        match open(&path, &options, OpenOptions::default()).unwrap_err() {
            DedupError::Index(IndexError::File(FileError::Locked { by, .. })) => {
                assert_eq!(by, format!("process {}", std::process::id()));
            }
            other => panic!("{other}"),
        }
        let read = || {
            let how = OpenOptions { read_only: true, ..OpenOptions::default() };
            open(&path, &options, how).unwrap()
        };
        let mut follower = read();
        for step in 1..60 {
            delete(&writer, step);
            add(&writer, step);
            match step % 10 {
                // Two at once: the follower has missed one.
                4 if step > 40 => {
                    writer.checkpoint(&NEVER).unwrap();
                    add(&writer, step);
                    writer.checkpoint(&NEVER).unwrap();
                }
                4 => writer.checkpoint(&NEVER).unwrap(),
                _ => {}
            }
            if step % 7 == 0 || step == 59 {
                if !follower.refresh().unwrap() {
                    assert!(step > 40, "{method}: one checkpoint is no reason to open again");
                    follower = read();
                }
                assert_eq!(all(&follower), all(&writer), "{method}, step {step}");
            }
        }
        let refused = follower.add(&document(&follower, "文"), None, Some(99)).unwrap_err();
        assert!(matches!(refused, DedupError::Index(IndexError::ReadOnly { .. })), "{refused}");
        drop(writer);
        assert_eq!(all(&follower), all(&open(&path, &options, OpenOptions::default()).unwrap()));
    }
}

#[test]
fn of_processes_that_make_one_folder_one_has_it_at_a_time_and_nothing_is_lost() {
    const NAME: &str = "of_processes_that_make_one_folder_one_has_it_at_a_time_and_nothing_is_lost";
    const EACH: u64 = 5;
    let options = given("exact", false);
    if let Ok(arguments) = std::env::var("SIMHASH_CHILD") {
        let (path, own) = arguments.split_once('|').unwrap();
        for number in 0..EACH {
            let index = loop {
                match open(Path::new(path), &options, how(Durability::Commit, 1 << 20)) {
                    Ok(index) => break index,
                    Err(DedupError::Index(IndexError::File(FileError::Locked { .. }))) => {
                        std::thread::sleep(Duration::from_micros(300));
                    }
                    Err(other) => panic!("{other}"),
                }
            };
            let name = format!("{own} {number}");
            index.add(&document(&index, &name), Some(&name), None).unwrap();
        }
        return;
    }
    for _ in 0..rounds() / 2 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let children: Vec<_> = (0..4)
            .map(|own| {
                let mut child = Command::new(std::env::current_exe().unwrap());
                let arguments = format!("{}|{own}", path.display());
                child.args(["--exact", NAME]).env("SIMHASH_CHILD", arguments);
                child.stdout(Stdio::null()).spawn().unwrap()
            })
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let index = open(&path, &options, OpenOptions::default()).unwrap();
        assert_eq!(index.len(), 4 * EACH);
        for (own, number) in (0..4).flat_map(|own| (0..EACH).map(move |number| (own, number))) {
            assert!(index.id_of(&format!("{own} {number}")).is_some(), "{own} {number}");
        }
    }
}

/// The identity of a directory's files and the end of a log, as the first frame of the next log says it.
fn begin_log(path: &Path, number: u64, after: Option<u64>) {
    let (directory, manifest) = Directory::look(path).unwrap();
    let log = Log::create(&directory.log(number), &manifest.mark(number)).unwrap();
    if let Some(end) = after {
        let mut frame = Fields(vec![10]);
        frame.number(end);
        log.append(&frame.0).unwrap();
    }
    let logs = [&manifest.logs[..], &[number]].concat();
    directory.publish(&Manifest { logs, ..manifest }).unwrap();
}

#[test]
fn who_follows_passes_over_a_log_that_was_made_and_never_begun() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let options = given("exact", false);
    let writer = open(&path, &options, how(Durability::None, 1 << 20)).unwrap();
    add(&writer, 5);
    drop(writer);
    let reader = OpenOptions { read_only: true, ..OpenOptions::default() };
    let follower = open(&path, &options, reader).unwrap();
    // As when the writing of a checkpoint has failed between the two, and another has begun.
    let end = fs::metadata(path.join("log-0000000001")).unwrap().len();
    begin_log(&path, 2, None);
    assert!(follower.refresh().unwrap());
    begin_log(&path, 3, Some(end));
    let writer = open(&path, &options, how(Durability::None, 1 << 20)).unwrap();
    add(&writer, 6);
    assert!(follower.refresh().unwrap());
    assert_eq!(all(&follower), all(&writer));
}

/// After a power cut: the second log lacks what it goes on from, and the third says by chance that it goes on from the first.
#[test]
fn behind_a_log_that_does_not_go_on_none_counts_and_none_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let options = given("exact", false);
    let writer = open(&path, &options, how(Durability::None, 1 << 20)).unwrap();
    add(&writer, 5);
    let mut before = all(&writer);
    drop(writer);
    let end = fs::metadata(path.join("log-0000000001")).unwrap().len();
    begin_log(&path, 2, Some(end + 1));
    begin_log(&path, 3, Some(end));
    for step in [6, 7, 9] {
        let writer = open(&path, &options, how(Durability::None, 1 << 20)).unwrap();
        assert_eq!(all(&writer), before, "{step}");
        add(&writer, step);
        before = all(&writer);
    }
}

#[test]
fn a_search_sees_a_frame_whole_or_not_at_all() {
    const BATCH: u64 = 700;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let options = given("exact", false);
    let writer = open(&path, &options, how(Durability::None, 64 << 20)).unwrap();
    let reader = OpenOptions { read_only: true, ..OpenOptions::default() };
    let follower = open(&path, &options, reader).unwrap();
    let (done, mut seen) = (AtomicBool::new(false), BTreeSet::new());
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !done.load(Ordering::Relaxed) {
                seen.insert(follower.len());
            }
            seen
        });
        for batch in 0..40 {
            let all: Vec<Document> =
                (0..BATCH).map(|row| document(&writer, &format!("第{batch}批第{row}篇"))).collect();
            writer.add_many_to(Some(batch), &all, &[], &[], &NEVER).unwrap();
            follower.refresh().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        seen = looking.join().unwrap();
    });
    assert!(seen.iter().all(|len| len % BATCH == 0), "{seen:?}");
    assert_eq!(follower.len(), 40 * BATCH);
}

#[test]
fn time_goes_on_from_the_latest_whatever_the_clock_says_at_opening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let window = Some(Window { max_age: Some(1_000), max_count: None });
    let options = LiveOptions { window, ..given("exact", true) };
    let index = open(&path, &options, how(Durability::None, 1 << 20)).unwrap();
    let clock = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
    let ahead = clock + 3_600_000;
    index.add(&document(&index, "甲"), None, Some(ahead)).unwrap();
    let refused = index.add(&document(&index, "乙"), None, Some(clock + 3 * 86_400_000));
    assert!(matches!(refused, Err(DedupError::Index(IndexError::Skew { .. }))), "{refused:?}");
    drop(index);
    let index = open(&path, &options, how(Durability::None, 1 << 20)).unwrap();
    // The clock is an hour behind what was added last: the time of both is the later one.
    index.add(&document(&index, "丙"), None, None).unwrap();
    assert_eq!((index.len(), index.expire(ahead).unwrap()), (2, 0));
    drop(index);
    let index = open(&path, &options, how(Durability::None, 1 << 20)).unwrap();
    index.add(&document(&index, "丁"), None, Some(ahead + 1_001)).unwrap();
    assert_eq!(index.len(), 1);
}

#[test]
fn a_snapshot_is_the_index_at_the_call_in_a_directory_of_its_own() {
    for method in methods() {
        let folder = tempfile::tempdir().unwrap();
        let options = given(method, false);
        let index = open(&folder.path().join("index"), &options, OpenOptions::default()).unwrap();
        for step in 1..20 {
            add(&index, step);
        }
        let (before, snapshot) = (all(&index), index.snapshot());
        add(&index, 20);
        let backup = folder.path().join("backup");
        snapshot.write_directory(&backup, &NEVER).unwrap();
        let restored = open(&backup, &options, OpenOptions::default()).unwrap();
        assert_eq!(all(&restored), before, "{method}");
        // It is an index of its own.
        add(&restored, 20);
        assert_eq!(all(&restored), all(&index));
        let taken = index.snapshot().write_directory(&backup, &NEVER).unwrap_err();
        assert!(taken.to_string().contains(backup.to_str().unwrap()), "{taken}");
    }
}

#[test]
fn a_position_never_falls_and_a_closed_index_refuses_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let index = open(&path, &given("exact", false), OpenOptions::default()).unwrap();
    add(&index, 8);
    let (documents, keys) = documents(&index, 3);
    let lower = index.add_many_to(Some(7), &documents, &keys, &[], &NEVER).unwrap_err();
    assert!(matches!(lower, DedupError::Index(IndexError::Position { given: 7, before: 8 })));
    let before = all(&index);
    index.close().unwrap();
    assert!(index.add(&documents[0], None, None).is_err());
    // Others may have it from now on, and it still answers.
    let again = open(&path, &given("exact", false), OpenOptions::default()).unwrap();
    assert_eq!((all(&again), all(&index)), (before.clone(), before));
}
