//! Corpora that are hard for a run: the same bytes by one thread and by seven, in memory and within the least of it, and after kills in
//! every stage. Small ones every day; of full size with `SIMHASH_LONG` (`npm run test:long -- corpora`).
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::json;
use simhash_dedup::{
    Cluster, DedupOptions, Duplicates, FileOptions, Input, Keep, LEAST_MEMORY, Method, Outputs,
    Summary, Target, dedup_files,
};
use simhash_store::record;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The memory is that of the process, and a process that another test starts holds the locks of this one: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Names the folder, the kind of run and how it ends in a process that is to be killed.
const CHILD: &str = "SIMHASH_CHILD";

/// Calls of the file system between two kills.
const STRIDE: u64 = 11;

fn is_long() -> bool {
    std::env::var_os("SIMHASH_LONG").is_some()
}

/// So many, or so many in a long run.
fn sized(small: usize, long: usize) -> usize {
    if is_long() { long } else { small }
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }

    fn ideograph(&mut self) -> char {
        char::from_u32(0x4E00 + self.below(6_000) as u32).unwrap()
    }

    fn text(&mut self, length: usize) -> Vec<char> {
        (0..length).map(|_| self.ideograph()).collect()
    }
}

fn joined(text: &[char]) -> String {
    text.iter().collect()
}

/// Each text is the one before it with a character changed.
fn chains() -> Vec<String> {
    let (chains, edits) = (sized(3, 100), sized(150, 1_000));
    let mut dice = Dice(1);
    (0..chains)
        .flat_map(|_| {
            let mut text = dice.text(60);
            let chain: Vec<String> = (0..edits)
                .map(|_| {
                    let at = dice.below(text.len());
                    text[at] = dice.ideograph();
                    joined(&text)
                })
                .collect();
            chain
        })
        .collect()
}

/// Texts that share a sentence and some bands, and are no duplicates for the most part.
fn one_bucket() -> Vec<String> {
    let mut dice = Dice(2);
    let shared = joined(&dice.text(40));
    let texts = (0..sized(500, 100_000)).map(|_| {
        let own = 5 + dice.below(12);
        format!("{shared}。{}", joined(&dice.text(own)))
    });
    texts.collect()
}

/// Copies of one text, and others among them.
fn copies() -> Vec<String> {
    let mut dice = Dice(3);
    let text = joined(&dice.text(50));
    let other = |dice: &mut Dice| joined(&dice.text(50));
    let count = sized(400, 40_000);
    (0..count).map(|at| if at % 50 == 7 { other(&mut dice) } else { text.clone() }).collect()
}

/// Texts without anything in them, or with too little.
fn empties() -> Vec<String> {
    let some = ["", " ", "\u{3000}\n", "。", "\u{200B}", "好", "好的", "第1集", "第2集"];
    (0..sized(300, 50_000)).map(|at| some[at * 7 % some.len()].to_owned()).collect()
}

/// All are nearly one text.
fn giant_cluster() -> Vec<String> {
    let mut dice = Dice(4);
    let center = dice.text(80);
    let near = |_| {
        let mut text = center.clone();
        for _ in 0..=dice.below(3) {
            let at = dice.below(text.len());
            text[at] = dice.ideograph();
        }
        joined(&text)
    };
    (0..sized(400, 100_000)).map(near).collect()
}

/// All are of one length; one in ten is nearly an earlier one.
fn one_length() -> Vec<String> {
    let mut dice = Dice(5);
    let mut texts: Vec<Vec<char>> = Vec::new();
    for at in 0..sized(500, 200_000) {
        let mut text = dice.text(32);
        if at % 10 == 9 {
            text.clone_from(&texts[dice.below(texts.len())]);
            let at = dice.below(text.len());
            text[at] = dice.ideograph();
        }
        texts.push(text);
    }
    texts.iter().map(|text| joined(text)).collect()
}

fn kinds() -> Vec<DedupOptions> {
    let new = DedupOptions::default;
    vec![
        new(),
        DedupOptions { method: Method::SimHash { max_distance: 8 }, ..new() },
        DedupOptions { method: Method::Sentences { count: 3 }, min_similarity: Some(0.6), ..new() },
        DedupOptions { cluster: Cluster::Components, keep: Keep::Longest, ..new() },
    ]
}

/// How a run is made.
#[derive(Clone, Copy, Default)]
struct Way {
    threads: usize,
    bounded: bool,
    resume: bool,
    /// With a folder in which it keeps what it has done.
    kept: bool,
}

fn run(folder: &Path, kind: usize, way: Way) -> Summary {
    let dedup = DedupOptions { threads: way.threads, ..kinds().swap_remove(kind) };
    let options = FileOptions {
        dedup,
        memory: (way.bounded && cfg!(target_os = "linux")).then_some(LEAST_MEMORY),
        tmp: way.kept.then(|| folder.join("tmp")),
        resume: way.resume,
        ..FileOptions::default()
    };
    let target = |name: &str| Some(Target::File(folder.join(name)));
    let outputs = Outputs {
        records: target("out"),
        clusters: target("clusters"),
        duplicates: Duplicates::Mark,
        ..Outputs::default()
    };
    let inputs = ["in-0", "in-1"].map(|name| Input::File(folder.join(name)));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(way.threads).build().unwrap();
    let never = AtomicBool::new(false);
    pool.install(|| dedup_files(&inputs, &outputs, &options, &|_| {}, &never)).unwrap()
}

/// What came out, which is taken away, and the figures.
fn result(folder: &Path, summary: Summary) -> (Vec<Vec<u8>>, String) {
    let outputs = ["out", "clusters"].map(|name| {
        let bytes = fs::read(folder.join(name)).unwrap();
        fs::remove_file(folder.join(name)).unwrap();
        bytes
    });
    let own = Summary { seconds: 0.0, resumed: 0, ..summary };
    (outputs.into(), format!("{own:?}"))
}

/// Runs in a process that ends after so many calls of the file system (0: when it is killed).
fn started(folder: &Path, test: &str, kind: usize, after: u64) -> Command {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test]).env(CHILD, format!("{}|{kind}|{after}", folder.display()));
    child.stdout(Stdio::null()).stderr(Stdio::null());
    child
}

/// In such a process.
fn child() -> bool {
    let Ok(arguments) = std::env::var(CHILD) else { return false };
    let [folder, kind, after] = arguments.split('|').collect::<Vec<_>>()[..] else {
        panic!("{arguments}")
    };
    record::end_after(after.parse().unwrap());
    let way = Way { threads: 2, bounded: true, kept: true, ..Way::default() };
    run(Path::new(folder), kind.parse().unwrap(), way);
    true
}

/// Kills runs in every stage; `goes_on` is called after each.
fn kill(folder: &Path, test: &str, kind: usize, mut goes_on: impl FnMut(u64)) {
    if cfg!(debug_assertions) {
        let mut after = 2;
        while !started(folder, test, kind, after).status().unwrap().success() {
            goes_on(after);
            after += STRIDE;
        }
        assert!(after > 2 * STRIDE, "no run was killed in a later stage");
        return;
    }
    // Builds without debug assertions count no calls: a stage is known by the checkpoint that there is while a run works on it.
    let has = |name: &str| {
        let runs = fs::read_dir(folder.join("tmp")).unwrap().flatten();
        runs.map(|run| run.path().join(name)).any(|path: PathBuf| path.exists())
    };
    for stage in 1..=4 {
        let mut child = started(folder, test, kind, 0).spawn().unwrap();
        while child.try_wait().unwrap().is_none() && !has(&format!("checkpoint-{stage:010}")) {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        goes_on(stage);
    }
}

fn check(test: &str, texts: fn() -> Vec<String>) {
    if child() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    fs::create_dir(folder.join("tmp")).unwrap();
    let texts = texts();
    let lines: Vec<String> = (0..)
        .zip(texts)
        .map(|(number, text): (u64, _)| format!("{}\n", json!({ "id": number, "text": text })))
        .collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    fs::write(folder.join("in-0"), first.concat()).unwrap();
    fs::write(folder.join("in-1"), second.concat()).unwrap();
    drop(lines);
    for kind in 0..kinds().len() {
        let one = Way { threads: 1, ..Way::default() };
        let expected = result(folder, run(folder, kind, one));
        for threads in [2, 7] {
            let found = result(folder, run(folder, kind, Way { threads, ..one }));
            assert!(found == expected, "{kind}, {threads} threads: {} {}", found.1, expected.1);
        }
        let bounded = Way { threads: 2, bounded: true, ..one };
        let found = result(folder, run(folder, kind, bounded));
        assert!(found == expected, "{kind}, bounded: {} {}", found.1, expected.1);
        kill(folder, test, kind, |at| {
            // It may have been killed behind its end.
            let way = Way { threads: 2, bounded: at % 2 == 0, resume: true, kept: true };
            let found = result(folder, run(folder, kind, way));
            assert!(found == expected, "{kind}, killed at {at}: {} {}", found.1, expected.1);
        });
        for name in ["out", "clusters"] {
            let _ = fs::remove_file(folder.join(name));
        }
        assert_eq!(fs::read_dir(folder.join("tmp")).unwrap().count(), 0);
    }
}

#[test]
fn chains_that_are_edited_a_thousand_times() {
    check("chains_that_are_edited_a_thousand_times", chains);
}

#[test]
fn one_bucket_of_all_texts() {
    check("one_bucket_of_all_texts", one_bucket);
}

#[test]
fn copies_of_one_text() {
    check("copies_of_one_text", copies);
}

#[test]
fn texts_without_anything_in_them() {
    check("texts_without_anything_in_them", empties);
}

#[test]
fn one_giant_cluster() {
    check("one_giant_cluster", giant_cluster);
}

#[test]
fn texts_of_one_length() {
    check("texts_of_one_length", one_length);
}
