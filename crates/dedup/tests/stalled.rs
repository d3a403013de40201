//! A run that is cancelled ends, whatever its reader and its writer do. Nothing here is timed: a run that waits for the
//! other end never ends, and the limit against that is far above what any run takes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use simhash_dedup::{
    Cluster, DedupError, FileOptions, Input, Outputs, Progress, Summary, Target, dedup_files,
};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Against hanging only.
const LIMIT: Duration = Duration::from_secs(60);

fn fifo(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// Many blocks of records that no two are duplicates.
fn corpus() -> String {
    let text = |n: u32| char::from_u32(0x4e00 + n).unwrap().to_string().repeat(130);
    let line = |n| format!("{{\"text\":\"{}\"}}\n", text(n));
    (0..10_000).map(line).collect::<Vec<_>>().concat()
}

/// Runs on a thread of its own, cancels after `until` has come, and gives the result.
fn cancelled(
    input: impl FnOnce() -> Input + Send + 'static,
    output: impl FnOnce() -> Target + Send + 'static,
    cluster: Cluster,
    until: impl FnOnce(),
) -> Result<Summary, DedupError> {
    let cancel = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let flag = cancel.clone();
    std::thread::spawn(move || {
        let mut options = FileOptions::default();
        options.dedup.cluster = cluster;
        options.dedup.threads = 1;
        let outputs = Outputs { records: Some(output()), ..Outputs::default() };
        let report = |_: &Progress| {};
        let _ = sender.send(dedup_files(&[input()], &outputs, &options, &report, &flag));
    });
    until();
    cancel.store(true, Ordering::Relaxed);
    receiver.recv_timeout(LIMIT).expect("the run does not end")
}

fn assert_cancelled(result: Result<Summary, DedupError>) {
    assert!(matches!(result.unwrap_err(), DedupError::Cancelled));
}

/// Long enough for a run to fill a pipe and both queues; where it does not, the test is easier to pass, not harder.
fn a_while() {
    std::thread::sleep(Duration::from_millis(500));
}

#[test]
fn a_reader_that_does_not_read_does_not_hold_up_a_cancelled_run() {
    for cluster in [Cluster::Representative, Cluster::Components] {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in"), fifo(folder.path(), "out"));
        fs::write(&input, corpus()).unwrap();
        // Open for both, so that it opens at once and nothing is ever read.
        let reader = OpenOptions::new().read(true).write(true).open(&output).unwrap();
        let target = output.clone();
        let end = cancelled(|| Input::File(input), || Target::File(target), cluster, a_while);
        assert_cancelled(end);
        drop(reader);
    }
}

#[test]
fn a_fifo_that_nobody_opens_for_reading_does_not_hold_up_a_cancelled_run() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), fifo(folder.path(), "out"));
    fs::write(&input, corpus()).unwrap();
    let (from, to) = (|| Input::File(input), || Target::File(output));
    assert_cancelled(cancelled(from, to, Cluster::Representative, a_while));
}

#[test]
fn a_stream_that_takes_nothing_does_not_hold_up_a_cancelled_run() {
    struct Stuck;
    impl Write for Stuck {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            loop {
                std::thread::park();
            }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for cluster in [Cluster::Representative, Cluster::Components] {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in");
        fs::write(&input, corpus()).unwrap();
        let to = || Target::stream("-", Stuck);
        assert_cancelled(cancelled(|| Input::File(input), to, cluster, a_while));
    }
}

#[test]
fn a_fifo_that_nobody_writes_does_not_hold_up_a_cancelled_run() {
    for opened in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (fifo(folder.path(), "in"), folder.path().join("out"));
        let writer =
            opened.then(|| OpenOptions::new().read(true).write(true).open(&input).unwrap());
        let to = output.clone();
        let (from, to) = (|| Input::File(input), || Target::File(to));
        assert_cancelled(cancelled(from, to, Cluster::Representative, a_while));
        assert!(!output.exists());
        drop(writer);
    }
}

#[test]
fn fifos_on_both_sides_carry_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (fifo(folder.path(), "in"), fifo(folder.path(), "out"));
    let (from, to) = (input.clone(), output.clone());
    let writing = std::thread::spawn(move || fs::write(from, corpus()).unwrap());
    let reading = std::thread::spawn(move || fs::read(to).unwrap());
    let outputs = Outputs { records: Some(Target::File(output)), ..Outputs::default() };
    let mut options = FileOptions::default();
    options.dedup.min_similarity = Some(1.0);
    let cancel = AtomicBool::new(false);
    dedup_files(&[Input::File(input)], &outputs, &options, &|_| {}, &cancel).unwrap();
    writing.join().unwrap();
    assert!(reading.join().unwrap() == corpus().into_bytes());
}
