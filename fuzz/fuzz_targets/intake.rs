//! Any UTF-16 and any bytes become the text that the standard library's lossy decoders make of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_text::intake;

fuzz_target!(|bytes: &[u8]| {
    let (pairs, _) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    let mut text = String::from("left over");
    intake::utf16(&units, &mut text);
    assert_eq!(text, String::from_utf16_lossy(&units));
    assert_eq!(intake::utf8(bytes, &mut text), String::from_utf8_lossy(bytes));
});
