//! Every format, encoding and compression: whatever the bytes, every record is kept, a duplicate or rejected, and nothing panics.
//! The first byte chooses how they are read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_dedup::{Encoding, Fields, FileOptions, Form, Format, Input, Outputs, dedup_files};
use std::io::Cursor;
use std::sync::atomic::AtomicBool;

fuzz_target!(|bytes: &[u8]| {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let (_, format) = Format::NAMES[usize::from(how % 5)];
    let header = how & 0x10 == 0;
    let encodings =
        ["utf-8", "gb18030", "big5", "utf-16le", "utf-16be", "shift_jis", "windows-1252"];
    // A number beyond them: found.
    let encoding = encodings.get(usize::from(how >> 5)).and_then(|name| Encoding::named(name));
    let form = Form { format: Some(format), header, encoding, max_record: 200, ..Form::default() };
    let fields = Fields::new(if header { "text" } else { "1" }, "id").expect("names of fields");
    let mut options = FileOptions { form, fields, ..FileOptions::default() };
    // Tables reach so far without a probe schedule, whose making would dominate.
    options.dedup.method = simhash_dedup::Method::SimHash { max_distance: 3 };
    let input = [Input::stream("fuzz", Cursor::new(bytes.to_vec()))];
    let never = AtomicBool::new(false);
    // What is no such format, or damaged, is a named error.
    if let Ok(summary) = dedup_files(&input, &Outputs::default(), &options, &|_| {}, &never) {
        assert_eq!(summary.read, summary.kept + summary.duplicates + summary.rejected);
    }
});
