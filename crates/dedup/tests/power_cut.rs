//! All that changes a folder as a whole (a run into an index, additions from files, a checkpoint, a compaction, a snapshot, a conversion)
//! with the power cut after every call that is made of the file system: what the disk may hold then is all of it or nothing, and it goes on
//! from there as if nothing had happened. In a process of its own: all calls are recorded.
#![cfg(all(unix, debug_assertions))]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod daily;
mod power;

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use daily::{Days, NEVER, Twin, all, outputs, whole_or_nothing};
use power::{Cut, cuts, put};
use simhash_dedup::convert::convert;
use simhash_dedup::live::{LiveIndex, LiveOptions, OpenOptions};
use simhash_dedup::{DedupOptions, FileOptions, Input, Method, ReadOptions, Target};
use simhash_index::durable::{Durability, DurableOptions};
use simhash_sketch::{ExtractorOptions, Scratch};
use simhash_store::directory::Directory;

/// One test at a time: the calls of all threads are recorded.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn methods() -> [Method; 2] {
    [Method::SimHash { max_distance: Method::MAX_DISTANCE }, Method::Exact]
}

fn given(method: Method) -> FileOptions {
    FileOptions {
        dedup: DedupOptions { method, ..DedupOptions::default() },
        ..FileOptions::default()
    }
}

/// Opens the index for writing, each change on the disk before it is answered.
fn open(days: &Days) -> LiveIndex {
    let made = LiveOptions::of_saved(&days.index(), &days.saved().words, &NEVER).unwrap();
    let mut durable = DurableOptions::default();
    durable.durability = Durability::Commit;
    let how = OpenOptions { create: false, durable, ..OpenOptions::default() };
    LiveIndex::open_directory(&days.index(), &made, how, &NEVER).unwrap()
}

/// Deletes some, and adds one; what there is then.
fn changed(days: &Days) -> String {
    let live = open(days);
    for id in (0..live.next_id()).step_by(3) {
        live.delete(id).unwrap();
    }
    let text = format!("第{}篇与此无关的文章，谈的是今年的收成", live.next_id());
    let document = live.document(&text, &mut Scratch::default());
    live.add(&document, None, None).unwrap();
    live.close().unwrap();
    all(&days.index())
}

/// After a cut at any time all of the second day is there, or nothing; after the end, all.
fn check(days: &Days, options: &FileOptions, twin: &Twin, (meanwhile, end): &(Vec<Cut>, Vec<Cut>)) {
    for cut in meanwhile {
        cut.put(&days.folder());
        whole_or_nothing(days, options, twin, &cut.after);
    }
    for cut in end {
        cut.put(&days.folder());
        let counts = whole_or_nothing(days, options, twin, &cut.after);
        assert!(counts, "it was said to be done, and a power cut undoes it");
    }
}

/// A cut at which the run is about to count: no output has its name yet.
fn about_to_count<'a>(days: &Days, meanwhile: &'a [Cut]) -> &'a Cut {
    let commit = days.index().join("COMMIT");
    let staged = days.path(".out-1.simhash-0.tmp");
    let is_it = |cut: &&Cut| cut.files.contains_key(&commit) && cut.files.contains_key(&staged);
    meanwhile.iter().find(is_it).unwrap()
}

#[test]
fn a_run_counts_whole_or_not_at_all_after_a_power_cut() {
    let _turn = turn();
    for method in methods() {
        let options = given(method);
        let twin = Twin::new(&options);
        let days = Days::new(3);
        days.run_with(0, &options, &|_| {}).unwrap();
        let of_run = cuts(&days.folder(), || {
            drop(days.run_with(1, &options, &|_| {}).unwrap());
        });
        assert!(of_run.0.len() > 20, "{} cuts", of_run.0.len());
        check(&days, &options, &twin, &of_run);

        // So does the opening that finishes it.
        about_to_count(&days, &of_run.0).put(&days.folder());
        let of_opening = cuts(&days.folder(), || {
            let live = open(&days);
            assert!(live.settled().unwrap().counts);
            live.close().unwrap();
        });
        assert!(of_opening.0.len() > 8, "{} cuts", of_opening.0.len());
        check(&days, &options, &twin, &of_opening);
    }
}

#[test]
fn a_run_that_was_undone_stays_so_after_a_power_cut() {
    let _turn = turn();
    for method in methods() {
        let options = given(method);
        let days = Days::new(3);
        days.run_with(0, &options, &|_| {}).unwrap();
        let before = all(&days.index());
        let (meanwhile, _) = cuts(&days.folder(), || {
            drop(days.run_with(1, &options, &|_| {}).unwrap());
        });
        let mut files = about_to_count(&days, &meanwhile).files.clone();
        assert!(files.remove(&days.path(".clusters-1.simhash-0.tmp")).is_some());
        put(&days.folder(), &files);
        let (meanwhile, end) = cuts(&days.folder(), || {
            let live = open(&days);
            assert!(!live.settled().unwrap().counts);
            // Nothing of this flushes the names of the folder.
            let text = "另一篇与此无关的文章，谈的是今年的收成";
            let document = live.document(text, &mut Scratch::default());
            live.add(&document, Some("别的"), None).unwrap();
            live.close().unwrap();
        });
        let after = all(&days.index());
        assert_ne!(before, after);
        let meanwhile = meanwhile.iter().map(|cut| (cut, false));
        for (cut, is_over) in meanwhile.chain(end.iter().map(|cut| (cut, true))) {
            cut.put(&days.folder());
            open(&days).close().unwrap();
            let now = all(&days.index());
            assert!(now == after || !is_over && now == before, "{}", cut.after);
            assert!(outputs(&days, 1).is_empty(), "{}", cut.after);
            let again = days.run_with(1, &options, &|_| {}).unwrap();
            assert!(!again.repeated, "{}: it never counted", cut.after);
            assert_eq!(outputs(&days, 1).len(), 3, "{}", cut.after);
        }
    }
}

#[test]
fn documents_that_are_added_from_files_count_all_or_none_after_a_power_cut() {
    let _turn = turn();
    for method in methods() {
        let days = Days::new(2);
        days.run_with(0, &given(method), &|_| {}).unwrap();
        let before = all(&days.index());
        let add = || {
            let (inputs, rejects) = ([Input::File(days.input(1))], days.output(1, "rejects"));
            let (rejects, read) = (Target::File(rejects), ReadOptions::default());
            drop(days.saved().add(&inputs, Some(&rejects), &read, &|_| {}, &NEVER).unwrap());
        };
        let (meanwhile, end) = cuts(&days.folder(), add);
        let (after, rejects) = (all(&days.index()), outputs(&days, 1));
        assert_eq!(rejects.len(), 1);
        let (mut done, mut undone) = (0, 0);
        for (cut, is_over) in
            meanwhile.iter().map(|cut| (cut, false)).chain(end.iter().map(|cut| (cut, true)))
        {
            cut.put(&days.folder());
            open(&days).close().unwrap();
            let now = all(&days.index());
            if now == after {
                done += 1;
            } else {
                assert!(now == before && !is_over, "{}", cut.after);
                assert!(outputs(&days, 1).is_empty(), "{}", cut.after);
                undone += 1;
                add();
                assert!(all(&days.index()) == after, "{}", cut.after);
            }
            assert!(outputs(&days, 1) == rejects, "{}", cut.after);
            days.saved().verify(&NEVER).unwrap();
            // So it is for who adds at once, with the same output: it settles before it removes what was left beside that.
            cut.put(&days.folder());
            add();
            let twice = all(&days.index());
            assert_eq!(twice.len() > after.len(), now == after, "{}", cut.after);
            assert!(outputs(&days, 1) == rejects, "{}", cut.after);
        }
        assert!(done > 3 && undone > 1, "{done} and {undone}");
    }
}

#[test]
fn nothing_is_lost_by_a_power_cut_while_a_checkpoint_replaces_the_logs_or_the_folder_is_compacted()
{
    let _turn = turn();
    let checkpoint = |days: &Days| {
        let live = open(days);
        live.checkpoint(&NEVER).unwrap();
        live.close().unwrap();
    };
    let compact = |days: &Days| drop(days.saved().compact(&NEVER).unwrap());
    for method in methods() {
        let days = Days::new(1);
        days.run_with(0, &given(method), &|_| {}).unwrap();
        for work in [&checkpoint as &dyn Fn(&Days), &compact] {
            let kept = changed(&days);
            let (meanwhile, end) = cuts(&days.folder(), || work(&days));
            assert!(meanwhile.len() > 8, "{} cuts", meanwhile.len());
            for cut in meanwhile.iter().chain(&end) {
                cut.put(&days.folder());
                // A reader sees it, and a writer, which removes what was left, leaves it as it is.
                assert!(all(&days.index()) == kept, "{}", cut.after);
                open(&days).close().unwrap();
                assert!(all(&days.index()) == kept, "{}", cut.after);
                days.saved().verify(&NEVER).unwrap();
            }
            // A writer goes on wherever that was.
            for cut in [&meanwhile[meanwhile.len() / 2], &end[end.len() - 1]] {
                cut.put(&days.folder());
                assert!(changed(&days) != kept, "{}", cut.after);
            }
        }
    }
}

#[test]
fn a_snapshot_is_whole_or_can_be_made_again_after_a_power_cut() {
    let _turn = turn();
    for method in methods() {
        let days = Days::new(1);
        days.run_with(0, &given(method), &|_| {}).unwrap();
        let (kept, backup) = (changed(&days), days.path("backup"));
        let snapshot = || drop(days.saved().snapshot(&backup, &NEVER).unwrap());
        let (meanwhile, end) = cuts(&days.folder(), snapshot);
        let mut unfinished = 0;
        for cut in &meanwhile {
            cut.put(&days.folder());
            assert!(all(&days.index()) == kept, "{}", cut.after);
            if !Directory::is_there(&backup).unwrap() {
                unfinished += 1;
                snapshot();
            }
            assert!(all(&backup) == kept, "{}", cut.after);
        }
        assert!(unfinished > 3 && meanwhile.len() > unfinished, "{unfinished} unfinished");
        for cut in &end {
            cut.put(&days.folder());
            assert!(all(&backup) == kept, "{}", cut.after);
        }
    }
}

#[test]
fn a_conversion_counts_whole_or_not_at_all_after_a_power_cut() {
    let _turn = turn();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../__test__/fixtures/0.1.0");
    let words = ExtractorOptions::default();
    for name in ["fingerprints.index", "sentences.index"] {
        let folder = tempfile::tempdir().unwrap();
        let [old, made] = ["old", "made"].map(|name| folder.path().join(name));
        let before = fs::read(fixtures.join(name)).unwrap();
        fs::write(&old, &before).unwrap();
        let (meanwhile, end) = cuts(folder.path(), || {
            convert(&old, &made, &words, &NEVER).unwrap();
        });
        let expected = all(&made);
        let mut unfinished = 0;
        for cut in &meanwhile {
            cut.put(folder.path());
            assert!(fs::read(&old).unwrap() == before, "{name}, {}", cut.after);
            if !Directory::is_there(&made).unwrap() {
                unfinished += 1;
                convert(&old, &made, &words, &NEVER).unwrap();
            }
            assert!(all(&made) == expected, "{name}, {}", cut.after);
        }
        assert!(unfinished > 3 && meanwhile.len() > unfinished, "{unfinished} unfinished");
        for cut in &end {
            cut.put(folder.path());
            assert!(all(&made) == expected, "{name}, {}", cut.after);
        }
    }
}
