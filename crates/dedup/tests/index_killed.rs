//! The commands on an index, killed at any time; and what `verify` says of every damage.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod daily;

use daily::{Days, NEVER, all, tree};
use simhash_dedup::live::{LiveMethod, LiveOptions, OnSameKey, Stored};
use simhash_dedup::{FileOptions, Input, ReadOptions, SavedIndex, Summary};
use simhash_index::Window;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Documents of a day, many times over with texts of their own. Of three ids one came before, with another text.
fn write_many(path: &Path, from: usize) {
    let mut lines = String::new();
    for row in from..from + 6_000 {
        let text =
            format!("第{row}号通知：{}", "关于做好今年防汛抗旱工作的安排".repeat(row % 5 + 1));
        let id = if row % 3 == 0 { row % 900 } else { row };
        let _ = writeln!(lines, "{{\"id\":{id},\"text\":\"{text}\"}}");
    }
    fs::write(path, lines).unwrap();
}

fn saved(folder: &Path, name: &str) -> SavedIndex {
    let days = Days::at(folder);
    SavedIndex { path: days.path(name), ..days.saved() }
}

/// Indexes of every method: with and without keys, with texts and without, one that documents leave, and ones that repeat what a key
/// was answered, or replace its document.
fn kinds() -> [LiveOptions; 4] {
    let keyed = Stored { keys: true, ..Stored::default() };
    let window = Some(Window { max_age: None, max_count: Some(5_000) });
    let of = |method| LiveOptions { method, ..LiveOptions::default() };
    [
        LiveOptions::default(),
        LiveOptions {
            window,
            stored: keyed,
            on_same_key: OnSameKey::Repeat,
            ..of(LiveMethod::simhash())
        },
        LiveOptions { stored: Stored::NOTHING, verify: None, ..of(LiveMethod::sentences()) },
        LiveOptions { stored: keyed, on_same_key: OnSameKey::Replace, ..of(LiveMethod::Exact) },
    ]
}

fn build(folder: &Path, made: &LiveOptions) -> Summary {
    let inputs = [Input::File(folder.join("first"))];
    let read = ReadOptions::default();
    saved(folder, "index").build(made, &inputs, None, &read, &|_| {}, &NEVER).unwrap().0
}

fn add(folder: &Path) {
    let inputs = [Input::File(folder.join("second"))];
    let read = ReadOptions::default();
    saved(folder, "index").add(&inputs, None, &read, &|_| {}, &NEVER).unwrap();
}

/// A process of its own that does a command.
fn child(command: &str, kind: usize, folder: &Path) -> Child {
    const NAME: &str = "what_a_command_leaves_that_is_killed_is_whole_or_nothing";
    let mut child = Command::new(std::env::current_exe().unwrap());
    let arguments = format!("{command}|{kind}|{}", folder.display());
    child.args(["--exact", NAME]).env("SIMHASH_CHILD", arguments);
    child.stdout(Stdio::null()).spawn().unwrap()
}

/// It is killed after a while. Whether it was still at it.
fn killed(command: &str, kind: usize, folder: &Path, after: Duration) -> bool {
    let mut child = child(command, kind, folder);
    std::thread::sleep(after);
    let is_over = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    !is_over
}

/// Inputs, and an index of the first of them before and after the second was added.
struct Kind {
    folder: tempfile::TempDir,
    first: String,
    both: String,
}

impl Kind {
    fn new(made: &LiveOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_many(&folder.path().join("first"), 0);
        write_many(&folder.path().join("second"), 6_000);
        build(folder.path(), made);
        let first = all(&folder.path().join("index"));
        copy(&folder.path().join("index"), &folder.path().join("before"));
        add(folder.path());
        let both = all(&folder.path().join("index"));
        Self { folder, first, both }
    }

    /// A folder in which a command can be run.
    fn put(&self, command: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["first", "second"] {
            fs::hard_link(self.folder.path().join(name), folder.path().join(name)).unwrap();
        }
        if command != "build" {
            copy(&self.folder.path().join("before"), &folder.path().join("index"));
        }
        folder
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for (name, bytes) in tree(from, &["LOCK"]) {
        fs::write(to.join(name), bytes).unwrap();
    }
}

#[test]
fn what_a_command_leaves_that_is_killed_is_whole_or_nothing() {
    if let Ok(arguments) = std::env::var("SIMHASH_CHILD") {
        let [command, kind, folder] = arguments.splitn(3, '|').collect::<Vec<_>>()[..] else {
            panic!("{arguments}")
        };
        let folder = Path::new(folder);
        match command {
            "build" => drop(build(folder, &kinds()[kind.parse::<usize>().unwrap()])),
            "add" => add(folder),
            "compact" => drop(saved(folder, "index").compact(&NEVER).unwrap()),
            _ => drop(saved(folder, "index").snapshot(&folder.join("copy"), &NEVER).unwrap()),
        }
        return;
    }
    let rounds: u32 = if std::env::var_os("SIMHASH_LONG").is_some() { 200 } else { 12 };
    let made = kinds();
    let kinds = made.each_ref().map(Kind::new);
    // Of 2,000 documents 300 had new ids.
    let [_, repeat, _, replace] = &kinds;
    let (begin, expected) = (["4300 4300\n", "4300 6000\n"], [repeat, replace]);
    assert!(begin.iter().zip(expected).all(|(begin, kind)| kind.first.starts_with(begin)));
    for command in ["build", "add", "snapshot", "compact"] {
        let mut caught = 0;
        // How long each takes: rounds are spread over that.
        let whole = [0, 1, 2, 3].map(|kind: usize| {
            let folder = kinds[kind].put(command);
            let begun = Instant::now();
            assert!(child(command, kind, folder.path()).wait().unwrap().success());
            begun.elapsed()
        });
        for round in 0..rounds {
            let kind = round as usize % 4;
            let Kind { first, both, .. } = &kinds[kind];
            let folder = kinds[kind].put(command);
            let folder = folder.path();
            let index = folder.join("index");
            caught += u32::from(killed(command, kind, folder, whole[kind] * round / rounds));
            match command {
                "build" => {
                    let is_there = saved(folder, "index").open(&NEVER).is_ok();
                    if !is_there {
                        let left = tree(folder, &["LOCK"]);
                        let left: Vec<_> =
                            left.keys().filter(|name| name.starts_with("index/")).collect();
                        let told = build(folder, &made[kind]).leftovers;
                        for name in left {
                            assert!(told.contains(&folder.join(name)), "{name} of {told:?}");
                        }
                    }
                    assert!(all(&index) == *first);
                }
                "add" => {
                    let now = all(&index);
                    assert!(now == *first || now == *both);
                    if now == *first {
                        add(folder);
                    }
                    assert!(all(&index) == *both);
                }
                "compact" => {
                    assert!(all(&index) == *first);
                    saved(folder, "index").compact(&NEVER).unwrap();
                    assert!(all(&index) == *first);
                }
                _ => {
                    let copied = saved(folder, "copy");
                    if copied.open(&NEVER).is_err() {
                        saved(folder, "index").snapshot(&copied.path, &NEVER).unwrap();
                    }
                    assert!(all(&copied.path) == *first && all(&index) == *first);
                    copied.verify(&NEVER).unwrap();
                }
            }
            saved(folder, "index").verify(&NEVER).unwrap();
            assert!(tree(folder, &[]).keys().all(|name| !name.contains(".tmp")));
        }
        // As long as others take no more of the machine than while that was measured nearly all are.
        assert!(caught * 3 >= rounds, "{command} was killed {caught} times of {rounds}");
    }
}

#[test]
fn verify_names_the_file_of_every_damage() {
    let days = Days::new(2);
    let other = Days::new(2);
    for day in 0..2 {
        for days in [&days, &other] {
            days.run_with(day, &FileOptions::default(), &|_| {}).unwrap();
            if day == 0 {
                days.saved().compact(&NEVER).unwrap();
            }
        }
    }
    let index = days.index();
    let files = tree(&index, &["LOCK"]);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    let refused = |name: &str, what: &str| {
        let error = days.saved().verify(&NEVER).unwrap_err().to_string();
        assert!(error.contains(name), "{name}, {what}: {error}");
        error
    };
    days.saved().verify(&NEVER).unwrap();
    for (name, whole) in &files {
        let path = index.join(name);
        let step = (whole.len() / 40).max(1);
        for at in (0..whole.len()).step_by(step) {
            fs::write(&path, &whole[..at]).unwrap();
            assert!(refused(name, "cut").contains("byte"), "{name} cut at {at}");
            let mut bytes = whole.clone();
            bytes[at] ^= 0x04;
            fs::write(&path, bytes).unwrap();
            let error = refused(name, "flipped");
            assert!(error.contains("byte") || error.contains("release"), "{name} at {at}: {error}");
        }
        // Of another index with the same documents, and another file of this one.
        fs::write(&path, fs::read(other.index().join(name)).unwrap()).unwrap();
        // A manifest that is not of the files beside it is found out by the first of them.
        refused(if name == "MANIFEST" { "checkpoint-" } else { name }, "swapped");
        fs::remove_file(&path).unwrap();
        if !name.starts_with("run-") {
            refused(if name == "MANIFEST" { "index" } else { name }, "missing");
        }
        fs::write(&path, whole).unwrap();
    }
    let records: Vec<&&str> = names.iter().filter(|name| name.starts_with("run-")).collect();
    assert_eq!(records.len(), 2);
    days.saved().verify(&NEVER).unwrap();
}
