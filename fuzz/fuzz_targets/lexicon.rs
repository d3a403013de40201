//! Dictionaries, stop words and idf tables: any bytes load or are refused with a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_text::lexicon::{Dictionary, Idf, StopWords};

fuzz_target!(|bytes: &[u8]| {
    let refused = [
        Dictionary::new().load(bytes).err(),
        StopWords::none().load(bytes).err(),
        Idf::load(bytes).err(),
    ];
    for error in refused.into_iter().flatten() {
        assert!(!error.to_string().is_empty());
    }
});
