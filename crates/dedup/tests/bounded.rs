//! Runs whose memory is bounded: the same bytes, and no more memory than they may take. Linux, where that can be told.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::corpus;
use proptest::prelude::*;
use simhash_dedup::{
    Cluster, DedupError, DedupOptions, Duplicates, EdgeSummary, FileOptions, Input, Keep,
    LEAST_MEMORY, LineOutputs, MatchOptions, Method, Outputs, Summary, Target, decontaminate_files,
    dedup_files, match_files, pairs_files,
};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

/// The memory is that of the process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn run(inputs: &[Input], outputs: &Outputs, options: &FileOptions) -> Result<Summary, DedupError> {
    dedup_files(inputs, outputs, options, &|_| {}, &AtomicBool::new(false))
}

fn outputs(folder: &Path, duplicates: Duplicates) -> Outputs {
    let target = |name: &str| Some(Target::File(folder.join(name)));
    Outputs {
        records: target("kept"),
        clusters: target("clusters"),
        rejects: target("rejects"),
        duplicates,
        ..Outputs::default()
    }
}

fn written(folder: &Path) -> Vec<Vec<u8>> {
    ["kept", "clusters", "rejects"].map(|name| fs::read(folder.join(name)).unwrap()).into()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn bounded_or_not_the_bytes_are_the_same(
        texts in corpus(0..60),
        method in prop_oneof![
            4 => Just(Method::default()),
            1 => Just(Method::SimHash { max_distance: 8 }),
            1 => Just(Method::Sentences { count: 3 }),
            1 => Just(Method::Exact),
        ],
        components in any::<bool>(),
        keep in prop_oneof![
            Just(Keep::First),
            Just(Keep::Last),
            Just(Keep::Longest),
            Just(Keep::Field { path: "date".into(), largest: true }),
        ],
        (mark, gzip, across_files_only) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (split, threads) in (any::<prop::sample::Index>(), prop_oneof![Just(1usize), Just(2), Just(7)]),
    ) {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let lines: Vec<String> = (0..).zip(&texts).map(|(number, text)| match number % 11 {
            10 => "no record\n".to_owned(),
            _ => format!("{}\n", serde_json::json!({ "text": text, "date": number * 7 % 5 })),
        }).collect();
        let (first, second) = lines.split_at(split.index(lines.len() + 1));
        let second = second.concat().into_bytes();
        fs::write(folder.path().join("a"), first.concat()).unwrap();
        fs::write(folder.path().join("b"), if gzip { packed(&second) } else { second }).unwrap();
        let inputs = || ["a", "b"].map(|name| Input::File(folder.path().join(name)));
        let cluster = if components { Cluster::Components } else { Cluster::Representative };
        let dedup = DedupOptions { method, cluster, keep, threads, ..DedupOptions::default() };
        let duplicates = if mark { Duplicates::Mark } else { Duplicates::Remove };
        let options = FileOptions { dedup, across_files_only, ..FileOptions::default() };
        let bounded = FileOptions {
            memory: Some(LEAST_MEMORY),
            tmp: Some(folder.path().to_owned()),
            ..options.clone()
        };
        let outputs = outputs(folder.path(), duplicates);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let [free, held] = [options, bounded].map(|options| {
            let done = pool.install(|| run(&inputs(), &outputs, &options));
            done.map(|summary| {
                let own = Summary { seconds: 0.0, ..summary };
                (format!("{own:?}"), written(folder.path()))
            }).map_err(|error| error.to_string())
        });
        prop_assert_eq!(free, held);
        // Outputs and inputs alone.
        let names = fs::read_dir(folder.path()).unwrap().count();
        prop_assert!(names <= 5, "{names} files");
    }
}

/// Edges of two files in each of the ways in which they are asked for.
fn edges(folder: &Path, way: usize, options: &FileOptions) -> Result<EdgeSummary, DedupError> {
    let [a, b] = ["a", "b"].map(|name| Input::File(folder.join(name)));
    let target = |name: &str| Some(Target::File(folder.join(name)));
    let lines = LineOutputs { lines: target("kept"), rejects: target("rejects") };
    let never = AtomicBool::new(false);
    let matched = MatchOptions { files: options.clone(), limit: Some(2) };
    match way {
        0 => pairs_files(&[a, b], &lines, options, &|_| {}, &never),
        1 => match_files(&[b], &[a], &lines, &matched, &|_| {}, &never),
        _ => {
            let (records, rejects) = (target("kept"), target("rejects"));
            let duplicates = Duplicates::Mark;
            let outputs = Outputs { records, rejects, duplicates, ..Outputs::default() };
            decontaminate_files(&[b], &[a], &outputs, options, &|_| {}, &never)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn bounded_or_not_the_edges_are_the_same(
        texts in corpus(0..60),
        method in prop_oneof![
            2 => Just(Method::default()),
            1 => Just(Method::SimHash { max_distance: 8 }),
            1 => Just(Method::Sentences { count: 3 }),
            1 => Just(Method::BruteForce),
        ],
        (way, gzip) in (0usize..3, any::<bool>()),
        (split, threads) in (any::<prop::sample::Index>(), prop_oneof![Just(1usize), Just(2), Just(7)]),
    ) {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let lines: Vec<String> = (0..)
            .zip(&texts)
            .map(|(id, text): (u32, _)| format!("{}\n", serde_json::json!({ "id": id, "text": text })))
            .collect();
        let (first, second) = lines.split_at(split.index(lines.len() + 1));
        let second = second.concat().into_bytes();
        fs::write(folder.path().join("a"), first.concat()).unwrap();
        fs::write(folder.path().join("b"), if gzip { packed(&second) } else { second }).unwrap();
        let dedup = DedupOptions { method, threads, ..DedupOptions::default() };
        let options = FileOptions { dedup, ..FileOptions::default() };
        let bounded = FileOptions {
            memory: Some(LEAST_MEMORY),
            tmp: Some(folder.path().to_owned()),
            ..options.clone()
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let [free, held] = [options, bounded].map(|options| {
            let done = pool.install(|| edges(folder.path(), way, &options));
            done.map(|summary| {
                let own = EdgeSummary { seconds: 0.0, ..summary };
                let written = ["kept", "rejects"].map(|name| fs::read(folder.path().join(name)).unwrap());
                (format!("{own:?}"), written)
            }).map_err(|error| error.to_string())
        });
        prop_assert_eq!(free, held);
        // Outputs and inputs alone.
        let names = fs::read_dir(folder.path()).unwrap().count();
        prop_assert!(names <= 4, "{names} files");
    }
}

#[test]
fn bounds_that_no_run_can_keep_are_refused() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), "{\"text\":\"a\"}\n").unwrap();
    let refused = |options: &FileOptions| {
        run(&[Input::File(folder.path().join("in"))], &Outputs::default(), options).unwrap_err()
    };
    let error = refused(&FileOptions { memory: Some(LEAST_MEMORY - 1), ..FileOptions::default() });
    assert!(
        matches!(&error, DedupError::OutOfRange { argument: "memory", expected, .. }
            if expected.contains(&LEAST_MEMORY.to_string())),
        "{error}"
    );
    let missing = folder.path().join("missing");
    let options = FileOptions {
        memory: Some(LEAST_MEMORY),
        tmp: Some(missing.clone()),
        ..FileOptions::default()
    };
    let error = refused(&options);
    assert!(matches!(&error, DedupError::Output { path, .. } if *path == missing), "{error}");
}

/// The rest of the process holds more than the run may.
#[test]
fn what_cannot_be_put_into_files_ends_the_run_by_name() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let ballast = vec![7u8; LEAST_MEMORY as usize + (64 << 20)];
    let mut lines = Vec::new();
    for number in 0..120_000 {
        lines.extend(
            format!("{{\"id\":{number},\"text\":\"{}\"}}\n", "一二三四五六七八九十".repeat(9))
                .bytes(),
        );
    }
    fs::write(folder.path().join("in"), &lines).unwrap();
    let options = FileOptions {
        memory: Some(LEAST_MEMORY),
        tmp: Some(folder.path().to_owned()),
        ..FileOptions::default()
    };
    let outputs = outputs(folder.path(), Duplicates::Remove);
    for is_stream in [false, true] {
        let input = if is_stream {
            Input::stream("-", std::io::Cursor::new(lines.clone()))
        } else {
            Input::File(folder.path().join("in"))
        };
        let error = run(&[input], &outputs, &options).unwrap_err();
        let DedupError::Bound { held, most, streamed } = error else { panic!("{error}") };
        assert!(held > most && most == LEAST_MEMORY && streamed == is_stream, "{held} of {most}");
        assert!(!folder.path().join("kept").exists());
    }
    assert_eq!(ballast.iter().map(|&byte| u64::from(byte)).sum::<u64>(), ballast.len() as u64 * 7);
}

/// Documents of a dozen characters, one in nine of them nearly an earlier one.
fn titles(path: &Path, count: u64) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    for number in 0..count {
        let from = if number % 9 == 8 { number / 2 } else { number };
        let mut random = from.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut text = String::new();
        for _ in 0..12 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            text.push(char::from_u32(0x4E00 + (random % 20_000) as u32).unwrap());
        }
        if from != number {
            text.push('!');
        }
        writeln!(file, "{{\"id\":{number},\"text\":\"{text}\"}}").unwrap();
    }
    file.flush().unwrap();
}

/// Texts of one template, which have most of their buckets in common.
fn template(path: &Path, count: u64) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let stem: String = (0..90u32).map(|at| char::from_u32(0x4E00 + at * 37).unwrap()).collect();
    let (head, tail) = stem.split_at(stem.len() / 2);
    for number in 0..count {
        writeln!(file, "{{\"id\":{number},\"text\":\"{head}第{number}号{tail}\"}}").unwrap();
    }
    file.flush().unwrap();
}

/// Most memory that this process has held, in bytes.
fn highest() -> u64 {
    let told = fs::read_to_string("/proc/self/status").unwrap();
    let line = told.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// Runs a test of this name once more, in a process of its own, over documents that `write` makes, by each of these methods: with the least
/// memory, of which it holds no more than a tenth above.
fn holds(name: &str, methods: &[Method], write: impl FnOnce(&Path), check: impl Fn(&Summary)) {
    if let Some(folder) = std::env::var_os("SIMHASH_CHILD") {
        let folder = Path::new(&folder);
        let number = std::env::var("SIMHASH_METHOD").unwrap();
        let method = methods[number.parse::<usize>().unwrap()];
        let dedup = DedupOptions { threads: 2, method, ..DedupOptions::default() };
        let options = FileOptions {
            dedup,
            memory: Some(LEAST_MEMORY),
            tmp: Some(folder.to_owned()),
            ..FileOptions::default()
        };
        let outputs = outputs(folder, Duplicates::Mark);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let done = pool.install(|| run(&[Input::File(folder.join("in"))], &outputs, &options));
        let done = done.unwrap();
        if method == Method::default() {
            check(&done);
        }
        let (held, most) = (highest(), LEAST_MEMORY + LEAST_MEMORY / 10);
        assert!(held <= most, "{held} of {most}");
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("in"));
    for number in 0..methods.len() {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", name, "--nocapture"]).env("SIMHASH_CHILD", folder.path());
        let ended = child.env("SIMHASH_METHOD", number.to_string()).output().unwrap();
        assert!(ended.status.success(), "{number}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

fn is_long() -> bool {
    std::env::var_os("SIMHASH_LONG").is_some()
}

/// What is known of these documents is more than the process may hold. With `SIMHASH_LONG` twenty times as much, and by every method that
/// keeps the bound: of so few documents the others hold less than they may.
#[test]
fn the_process_holds_no_more_than_it_may() {
    let methods = [
        Method::default(),
        Method::SimHash { max_distance: 3 },
        Method::Sentences { count: 5 },
        Method::Exact,
    ];
    holds(
        "the_process_holds_no_more_than_it_may",
        &methods[..if is_long() { methods.len() } else { 1 }],
        |path| titles(path, if is_long() { 26_000_000 } else { 1_300_000 }),
        |done| assert!(done.duplicates > done.read / 20, "{done:?}"),
    );
}

/// Each text of a crowd sees some two hundred buckets. With `SIMHASH_LONG` a crowd that would take gigabytes if that were held.
#[test]
fn a_crowd_holds_no_more_than_it_may() {
    holds(
        "a_crowd_holds_no_more_than_it_may",
        &[Method::default()],
        |path| template(path, if is_long() { 1_000_000 } else { 40_000 }),
        |done| assert_eq!(done.duplicates + 1, done.read),
    );
}
