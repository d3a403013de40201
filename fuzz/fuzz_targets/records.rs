//! JSON lines: whatever the bytes, every record is kept, a duplicate or rejected, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_dedup::{FileOptions, Input, Outputs, dedup_files};
use std::io::Cursor;
use std::sync::atomic::AtomicBool;

fuzz_target!(|bytes: &[u8]| {
    let input = [Input::stream("fuzz", Cursor::new(bytes.to_vec()))];
    let never = AtomicBool::new(false);
    let mut options = FileOptions::default();
    // Tables reach so far without a probe schedule, whose making would dominate.
    options.dedup.method = simhash_dedup::Method::SimHash { max_distance: 3 };
    let run = dedup_files(&input, &Outputs::default(), &options, &|_| {}, &never);
    // Bytes that look like gzip may be damaged gzip: a named error.
    if let Ok(summary) = run {
        assert_eq!(summary.read, summary.kept + summary.duplicates + summary.rejected);
    }
});
