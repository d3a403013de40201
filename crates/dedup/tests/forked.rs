//! A fork of a process that has an index open does not write to it. A test binary of its own: a fork has one thread only.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use simhash_dedup::live::{LiveIndex, OpenOptions};
use simhash_index::durable::{Durability, DurableOptions};

mod model;

use model::{NEVER, document, options};

#[test]
fn a_fork_of_the_process_is_refused_and_leaves_the_files_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let open = || {
        let mut durable = DurableOptions::default();
        durable.durability = Durability::Commit;
        let how = OpenOptions { durable, ..OpenOptions::default() };
        LiveIndex::open_directory(&path, &options("exact"), how, &NEVER).unwrap()
    };
    let index = open();
    index.add(&document(&index, "甲"), None, None).unwrap();
    let (one, two) = (document(&index, "乙"), document(&index, "丙"));
    // SAFETY: the child calls what needs no other thread, and ends without running anything of this process's.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = index.add(&one, None, None);
        let said = refused.err().map(|error| error.to_string()).unwrap_or_default();
        let flushed = index.flush().is_err() && index.close().is_err();
        drop(index);
        let as_expected = said.contains("fork") && flushed;
        // SAFETY: it ends the child.
        unsafe { libc::_exit(i32::from(!as_expected)) };
    }
    let mut status = -1;
    // SAFETY: the child is this process's, and the place for its status outlives the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child could write, or was not told why not");
    // It still names the process that has it, and that one goes on.
    let lock = std::fs::read_to_string(path.join("LOCK")).unwrap();
    assert_eq!(lock.trim(), format!("process {}", std::process::id()));
    index.add(&two, None, None).unwrap();
    drop(index);
    assert_eq!(open().len(), 2);
}
