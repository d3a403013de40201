//! Memory: never above the formula of `Stats`, merges included, by the index's own count and by the system's.

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use common::Random;
use simhash_index::{Index, IndexOptions, Item, Stats};

const COUNT: usize = 1_500_000;

/// The formula's worst case with merges on one thread.
fn bound(fingerprints: usize, tables: usize) -> usize {
    let n = fingerprints.max(8 * 2048);
    let sealed = n * tables * 17 / 2;
    // The last 16 KiB that each table of a front has asked for may be all but empty.
    let fronts = n * (33 * tables + 32) / 4 + 4 * tables * (16 << 10);
    let fresh = n * 3 / 8;
    let merge = n * 17 / 2 + fresh * (33 + 16) / 2;
    sealed + fronts + merge
}

/// A line of `/proc/self/status`, in bytes; none on other systems.
fn system(name: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kib| kib * 1024)
}

// One test: the system counts for the whole process.
#[test]
fn a_growing_index_never_takes_more_than_the_formula_says() {
    let before = system("VmRSS");
    let index = Index::new(&IndexOptions::default()).unwrap();
    let (done, looks, merging) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let held = |stats: &Stats| stats.table_bytes + stats.merge_bytes;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                let stats = index.stats();
                let (held, bound) = (held(&stats), bound(stats.fingerprints, stats.tables));
                assert!(held <= bound, "{held} bytes where {bound} are allowed: {stats:?}");
                looks.fetch_add(1, Ordering::SeqCst);
                merging.fetch_add(usize::from(stats.merge_bytes > 0), Ordering::SeqCst);
                thread::yield_now();
            }
        });
        let mut random = Random(1);
        for _ in 0..COUNT {
            index.add(Item::Fingerprint(random.next())).unwrap();
        }
        done.store(true, Ordering::SeqCst);
    });
    assert!(looks.into_inner() > 1000 && merging.into_inner() > 100);
    if let (Some(before), Some(peak)) = (before, system("VmHWM")) {
        // Huge pages round each array up: some twenty of two megabytes.
        let ids = index.stats().id_bytes;
        let allowed = bound(COUNT, 6) + ids + (48 << 20);
        assert!(peak - before <= allowed, "{} bytes, {allowed} allowed", peak - before);
    } else {
        println!("the system does not say how much memory a process has had");
    }

    // Sealed, there are tables and nothing else; one more fingerprint does not bring much back.
    index.compact();
    let stats = index.stats();
    assert_eq!((stats.memtable, stats.merge_bytes), (0, 0));
    assert!(
        stats.table_bytes <= COUNT * 52,
        "{} bytes each",
        stats.table_bytes as f64 / COUNT as f64
    );
    index.add(Item::Fingerprint(1)).unwrap();
    assert!(index.stats().table_bytes <= COUNT * 52 + 64);

    let batch = Index::new(&IndexOptions::default()).unwrap();
    let mut random = Random(2);
    let items: Vec<Item> = (0..COUNT).map(|_| Item::Fingerprint(random.next())).collect();
    batch.add_many(&items, &[], &AtomicBool::new(false)).unwrap();
    let stats = batch.stats();
    assert!(
        stats.table_bytes <= COUNT * 52,
        "{} bytes each",
        stats.table_bytes as f64 / COUNT as f64
    );
}
