//! Saved indexes of release 0.1: whatever a file of one holds, with its checksums right or not, it is read as an index that can be asked, or
//! refused with a place within it. A byte changed under a wrong checksum is always refused, but for the tail of a file of sentences.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_dedup::DedupError;
use simhash_dedup::convert::read_old;
use simhash_dedup::live::Search;
use simhash_fuzz::{Edits, edit};
use simhash_index::IndexError;
use simhash_sketch::{ExtractorOptions, Scratch};
use simhash_store::FileError;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const OLD: [&[u8]; 4] = [
    include_bytes!("../../__test__/fixtures/0.1.0/cli.index"),
    include_bytes!("../../__test__/fixtures/0.1.0/fingerprints.index"),
    include_bytes!("../../__test__/fixtures/0.1.0/signatures.index"),
    include_bytes!("../../__test__/fixtures/0.1.0/sentences.index"),
];

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u64::from_le_bytes(*bytes)).ok()
}

/// Writes the checksum of these bytes behind them.
fn seal(image: &mut [u8], from: usize, to: usize, seed: Option<u64>) -> Option<()> {
    let bytes = image.get(from..to)?;
    let sum = seed.map_or_else(|| xxh3_64(bytes), |seed| xxh3_64_with_seed(bytes, seed));
    image.get_mut(to..to.checked_add(8)?)?.copy_from_slice(&sum.to_le_bytes());
    Some(())
}

/// Makes the checksums right, as far as lengths lead.
fn reseal(image: &mut [u8]) -> Option<()> {
    if image.starts_with(b"SIMHSEN\n") {
        seal(image, 0, 3064, None)?;
        for at in [3072, 3584] {
            seal(image, at, at + 16, Some(at as u64))?;
        }
        let mut at = 4096;
        loop {
            let end = number(image, at)?.checked_add(at + 16)?;
            seal(image, at, end, Some(at as u64))?;
            at = end + 8;
        }
    }
    let header = 16 + number(image, 12)? as u32 as usize;
    seal(image, 0, header, None)?;
    let mut at = header + 8;
    if !image.get(at..)?.starts_with(b"SIMHBND\n") {
        let kept = at + 8;
        let end = number(image, at)?.checked_add(kept)?;
        seal(image, kept, end, None)?;
        at = end + 8;
    }
    at += 16;
    loop {
        let end = number(image, at + 8)?.checked_add(at + 16)?;
        seal(image, at, end, None)?;
        at = end + 8;
    }
}

fn read(image: &[u8]) -> bool {
    let words = ExtractorOptions::default();
    match read_old(&mut &*image, image.len() as u64, &words) {
        Ok(None) => true,
        Ok(Some((index, _))) => {
            let document = index.document("今天的天气很好我们去公园散步", &mut Scratch::default());
            let _ = index.search(&document, &Search::default());
            let _ = index.add(&document, None, None);
            false
        }
        Err(DedupError::Index(IndexError::File(FileError::Damaged { offset, .. }))) => {
            assert!(offset <= image.len() as u64);
            true
        }
        // Words that this release does not know.
        Err(DedupError::Index(IndexError::File(FileError::Mismatch { .. }))) => true,
        Err(other) => panic!("{other}"),
    }
}

fuzz_target!(|input: (u8, Edits, u32, bool)| {
    let (which, edits, cut, sealed) = input;
    let old = OLD[which as usize % OLD.len()];
    let mut image = old[..old.len() - cut as usize % old.len().min(200)].to_vec();
    edit(&mut image, 0, &edits);
    if image == old {
        assert!(!read(&image));
        return;
    }
    if sealed {
        let _ = reseal(&mut image);
        let _ = read(&image);
        return;
    }
    let is_refused = read(&image);
    assert!(is_refused, "a changed file opens");
});
