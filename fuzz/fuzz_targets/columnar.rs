//! Parquet and Arrow: whatever the bytes, every row is kept, a duplicate or rejected, kept rows can be written, and nothing panics
//! beyond the reader. The first byte chooses the format, and whether one is named.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_dedup::{FileOptions, Form, Format, Input, Outputs, Target, dedup_files};
use std::sync::atomic::AtomicBool;

/// A panic of a library that is caught is an error; only one that is not ends the process.
fn panics_may_be_caught() {
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
}

fuzz_target!(init: panics_may_be_caught(), |bytes: &[u8]| {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fuzz");
    std::fs::write(&path, bytes).expect("a file");
    let format = [None, Some(Format::Parquet), Some(Format::Arrow)][usize::from(how % 3)];
    let form = Form { format, max_record: 200, ..Form::default() };
    let mut options = FileOptions { form, ..FileOptions::default() };
    // Tables reach so far without a probe schedule, whose making would dominate.
    options.dedup.method = simhash_dedup::Method::SimHash { max_distance: 3 };
    let records = Some(Target::File(folder.path().join("kept")));
    let outputs = Outputs { records, ..Outputs::default() };
    let never = AtomicBool::new(false);
    // What is no such format, or damaged, is a named error.
    if let Ok(summary) = dedup_files(&[Input::File(path)], &outputs, &options, &|_| {}, &never) {
        assert_eq!(summary.read, summary.kept + summary.duplicates + summary.rejected);
    }
});
