//! A disk that is full, or read only: what is there is answered, what cannot be kept is refused by its reason, and things go on when
//! there is room again, without opening anew. On a small file system in memory, mounted in a name space of its own; where that is not
//! allowed the tests say so; what can be proved of an index without one is, by the layer that records what is asked of the system.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(clippy::print_stderr, reason = "whether the test could run")]

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use simhash_dedup::live::{LiveIndex, LiveOptions, OpenOptions, Stored};
use simhash_dedup::{DedupError, FileOptions, Input, LEAST_MEMORY, Outputs, Target, dedup_files};
use simhash_index::durable::{Durability, DurableOptions};
use simhash_index::{IndexError, Window};
use simhash_store::FileError;
#[cfg(debug_assertions)]
use simhash_store::record;

mod model;

use model::{NEVER, document, options};

/// Runs this very test in a process whose `folder` is a file system of so many bytes. False: that is not allowed here.
fn in_small_file_system(test: &str, folder: &Path, size: &str) -> bool {
    let own = std::env::current_exe().unwrap();
    let mount = "mount -t tmpfs -o size=$SIZE none \"$SIMHASH_CHILD\" || exit 77; exec \"$0\" --exact \"$1\" --nocapture";
    let mut child = Command::new("unshare");
    child.args(["--user", "--map-root-user", "--mount", "sh", "-c", mount]).arg(own).arg(test);
    child.env("SIMHASH_CHILD", folder).env("SIZE", size);
    let Ok(ended) = child.output() else { return false };
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr)
    );
    let is_refused = ended.status.code() == Some(77) || said.contains("unshare failed");
    assert!(is_refused || ended.status.success(), "{said}");
    !is_refused
}

fn given() -> LiveOptions {
    let stored = Stored { keys: true, ..Stored::default() };
    LiveOptions { stored, window: Some(Window::default()), ..options("exact") }
}

fn open(path: &Path, read_only: bool) -> Result<LiveIndex, DedupError> {
    let mut durable = DurableOptions::default();
    (durable.durability, durable.checkpoint_bytes) = (Durability::None, 1 << 30);
    let how = OpenOptions { durable, read_only, ..OpenOptions::default() };
    LiveIndex::open_directory(path, &given(), how, &NEVER)
}

fn why(error: DedupError) -> ErrorKind {
    match error {
        DedupError::Index(IndexError::File(FileError::Write { source, .. })) => source.kind(),
        other => panic!("{other}"),
    }
}

/// Adds documents of one time until that is refused; how many they were.
fn fill(index: &LiveIndex, at: u64, most: u64) -> (u64, Option<ErrorKind>) {
    for added in 0..most {
        let text = format!("{at}/{added}");
        if let Err(error) = index.add(&document(index, &text), Some(&text), Some(at)) {
            return (added, Some(why(error)));
        }
    }
    (most, None)
}

fn live(index: &LiveIndex) -> Vec<(u64, Option<String>)> {
    let alive = (0..index.next_id()).filter(|&id| index.has(id));
    alive.map(|id| (id, index.key_of(id))).collect()
}

/// Takes all room that is left.
fn crowd(folder: &Path) {
    for (number, size) in [1 << 16, 4096, 1].into_iter().enumerate() {
        let mut bytes = Vec::new();
        loop {
            bytes.resize(bytes.len() + size, 7);
            if fs::write(folder.join(format!("filler{number}")), &bytes).is_err() {
                break;
            }
        }
    }
}

fn uncrowd(folder: &Path) {
    (0..3).for_each(|number| fs::remove_file(folder.join(format!("filler{number}"))).unwrap());
}

fn run(folder: &Path) {
    let path = folder.join("index");
    let index = open(&path, false).unwrap();
    assert_eq!(fill(&index, 1, 30_000), (30_000, None));
    index.delete(7).unwrap();
    let spare = folder.join("spare");
    fs::write(&spare, vec![7; 160 << 10]).unwrap();
    let crumb = folder.join("crumb");
    fs::write(&crumb, vec![7; 96 << 10]).unwrap();
    crowd(folder);
    // The log may have some room left, which it took before.
    let (_, refused) = fill(&index, 2, 100_000);
    assert_eq!(refused, Some(ErrorKind::StorageFull));
    assert_eq!(index.id_of("1/20"), Some(20));
    // A deletion that the log has no room for is not done either.
    fs::remove_file(crumb).unwrap();
    let mut ids = 1000..index.next_id();
    let refused = ids.find_map(|id| index.delete(id).err().map(|error| (id, why(error))));
    let (id, kind) = refused.unwrap();
    assert_eq!((kind, index.has(id), id > 1000), (ErrorKind::StorageFull, true, true));
    assert!(!index.has(id - 1));
    assert!(index.checkpoint(&NEVER).is_err());
    assert!(index.durable_stats().unwrap().checkpoint_error.is_some());
    assert_eq!(why(index.expire(2).unwrap_err()), ErrorKind::StorageFull);
    // There is some room, but not for all that is to leave.
    let before = index.len();
    fs::remove_file(spare).unwrap();
    assert_eq!(why(index.expire(2).unwrap_err()), ErrorKind::StorageFull);
    assert!(index.len() < before && !index.is_empty());
    assert_eq!(why(index.expire(2).unwrap_err()), ErrorKind::StorageFull);
    assert_eq!(fill(&index, 2, 1), (0, Some(ErrorKind::StorageFull)));
    // There is room again.
    uncrowd(folder);
    assert_eq!(fill(&index, 3, 10), (10, None));
    index.expire(2).unwrap();
    assert_eq!(index.id_of("1/20"), None);
    index.flush().unwrap();
    let there = live(&index);
    drop(index);
    let index = open(&path, false).unwrap();
    assert_eq!(live(&index), there);
    index.checkpoint(&NEVER).unwrap();
    drop(index);

    // The same folder, read only.
    let mount = |how: &str| {
        let done = Command::new("mount").args(["-o", how]).arg(folder).status().unwrap();
        assert!(done.success());
    };
    mount("remount,ro");
    assert_eq!(why(open(&path, false).unwrap_err()), ErrorKind::ReadOnlyFilesystem);
    assert_eq!(live(&open(&path, true).unwrap()), there);
    assert_eq!(why(open(&folder.join("new"), false).unwrap_err()), ErrorKind::ReadOnlyFilesystem);
    mount("remount,rw");
    assert_eq!(live(&open(&path, false).unwrap()), there);
}

#[test]
fn a_full_disk_refuses_and_things_go_on_when_there_is_room() {
    if let Some(folder) = std::env::var_os("SIMHASH_CHILD") {
        return run(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let name = "a_full_disk_refuses_and_things_go_on_when_there_is_room";
    if !in_small_file_system(name, folder.path(), "16m") {
        eprintln!("SKIPPED: no file system can be mounted here, nothing was proved of a full disk");
    }
}

/// The same of an index by the layer that tests can have refuse, wherever this runs.
#[cfg(debug_assertions)]
#[test]
fn where_no_file_gets_more_room_additions_are_refused_until_there_is_some() {
    const NAME: &str = "where_no_file_gets_more_room_additions_are_refused_until_there_is_some";
    // All files of the process have none.
    let Some(folder) = std::env::var_os("SIMHASH_CHILD") else {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", NAME, "--nocapture"]).env("SIMHASH_CHILD", folder.path());
        let ended = child.output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        return;
    };
    let path = Path::new(&folder).join("index");
    let index = open(&path, false).unwrap();
    assert_eq!(fill(&index, 1, 100), (100, None));
    record::fill(true);
    let (more, refused) = fill(&index, 2, 1_000_000);
    assert_eq!(refused, Some(ErrorKind::StorageFull));
    assert_eq!((index.len(), index.id_of("1/20")), (100 + more, Some(20)));
    assert!(index.checkpoint(&NEVER).is_err());
    assert!(index.durable_stats().unwrap().checkpoint_error.is_some());
    assert_eq!(fill(&index, 2, 1), (0, Some(ErrorKind::StorageFull)));
    assert_eq!(
        why(open(&Path::new(&folder).join("other"), false).unwrap_err()),
        ErrorKind::StorageFull
    );
    record::fill(false);
    assert_eq!(fill(&index, 3, 100), (100, None));
    index.checkpoint(&NEVER).unwrap();
    assert!(index.durable_stats().unwrap().checkpoint_error.is_none());
    let there = live(&index);
    assert_eq!(there.len() as u64, 200 + more);
    drop(index);
    assert_eq!(live(&open(&path, false).unwrap()), there);
}

/// Makes the file system of this test larger.
fn enlarge(folder: &Path) {
    let mut mount = Command::new("mount");
    assert!(mount.args(["-o", "remount,size=64m"]).arg(folder).status().unwrap().success());
}

/// A run whose folder of temporary files is full, or that of its outputs: which one is named, nothing is half there, and it goes on.
#[test]
fn a_run_that_ends_at_a_full_disk_goes_on_when_there_is_room() {
    const NAME: &str = "a_run_that_ends_at_a_full_disk_goes_on_when_there_is_room";
    if let Some(folder) = std::env::var_os("SIMHASH_CHILD") {
        let small = Path::new(&folder);
        let large = tempfile::tempdir().unwrap();
        let lines: Vec<String> = (0..40_000)
            .map(|number| format!("{{\"text\":\"{number} {}\"}}\n", number * 7))
            .collect();
        fs::write(large.path().join("in"), lines.concat()).unwrap();
        let run = |out: &Path, tmp: Option<&Path>, memory: Option<u64>, resume: bool| {
            let inputs = [Input::File(large.path().join("in"))];
            let target = Some(Target::File(out.join("out")));
            let outputs = Outputs { records: target, ..Outputs::default() };
            let tmp = tmp.map(Path::to_owned);
            let options = FileOptions { memory, tmp, resume, ..FileOptions::default() };
            dedup_files(&inputs, &outputs, &options, &|_| {}, &NEVER)
        };
        run(large.path(), None, None, false).unwrap();
        let expected = fs::read(large.path().join("out")).unwrap();
        fs::remove_file(large.path().join("out")).unwrap();
        let bound = Some(LEAST_MEMORY);

        // Temporary files without a checkpoint: nothing is left of them.
        let to_nobody = || {
            let inputs = [Input::File(large.path().join("in"))];
            let options = FileOptions {
                memory: bound,
                tmp: Some(small.to_owned()),
                ..FileOptions::default()
            };
            dedup_files(&inputs, &Outputs::default(), &options, &|_| {}, &NEVER)
        };
        let refused = to_nobody().unwrap_err();
        let DedupError::Output { path, source } = &refused else { panic!("{refused}") };
        assert_eq!((path.as_path(), source.kind()), (small, ErrorKind::StorageFull));
        assert!(refused.to_string().contains("temporary file"), "{refused}");
        assert_eq!(fs::read_dir(small).unwrap().count(), 0);

        // The output.
        fs::write(small.join("filler"), vec![7; 5 << 19]).unwrap();
        let refused = run(small, Some(large.path()), None, false).unwrap_err();
        let DedupError::Output { path, source } = &refused else { panic!("{refused}") };
        assert_eq!(path.as_path(), small.join("out"));
        assert_eq!(source.kind(), ErrorKind::StorageFull);
        assert_eq!(fs::read_dir(small).unwrap().count(), 1);
        fs::remove_file(small.join("filler")).unwrap();
        let went_on = run(small, Some(large.path()), None, true).unwrap();
        assert_eq!(went_on.resumed, 40_000);
        assert_eq!(fs::read(small.join("out")).unwrap(), expected);
        assert_eq!(fs::read_dir(large.path()).unwrap().count(), 1);
        fs::remove_file(small.join("out")).unwrap();

        // What is kept of the run, or its temporary files, whichever comes first.
        for (memory, resumed) in [(None, false), (bound, false), (bound, true)] {
            let refused = run(large.path(), Some(small), memory, resumed).unwrap_err();
            let (path, kind) = match &refused {
                DedupError::Checkpoint(FileError::Write { path, source }) => (path, source.kind()),
                DedupError::Output { path, source } => (path, source.kind()),
                other => panic!("{other}"),
            };
            assert!(path.starts_with(small) && *path != *small, "{refused}");
            assert_eq!(kind, ErrorKind::StorageFull);
            let message = refused.to_string();
            let is_named = message.contains("of the checkpoint") || message.contains("temporary");
            assert!(is_named && message.contains("free some space"), "{message}");
            assert!(!large.path().join("out").exists());
        }
        enlarge(small);
        run(large.path(), Some(small), bound, true).unwrap();
        assert_eq!(fs::read(large.path().join("out")).unwrap(), expected);
        assert_eq!(fs::read_dir(small).unwrap().count(), 0);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    if !in_small_file_system(NAME, folder.path(), "3m") {
        eprintln!("SKIPPED: no file system can be mounted here, nothing was proved of a full disk");
    }
}
