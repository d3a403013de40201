//! An index of signatures, as release 0.1 saved it.
//!
//! ```text
//! "SIMHBND\n"  1 u64  sections PLAN  IDS_  DOCS …  AGES  TABS …  END!
//! PLAN  bands, rows, hashes (0: no signatures), bits of the threshold, bucket limit, window
//! ```
//! The sections hold what the frames of their names hold now.

use std::io::Read;

use simhash_index::Whole as _;
use simhash_index::bands::Bands;
use simhash_sketch::ExtractorOptions;
use simhash_store::{Fields, FileError, Input, Section};

use super::anew::Anew;
use super::sections::{RECIPE, Sections};
use crate::error::DedupError;
use crate::live::{LiveIndex, LiveMethod, LiveOptions, Made, OnSameKey, Stored, Verify};
use crate::options::Measure;

/// Ids of a frame of documents.
const CHUNK: u64 = 1024;
/// Frames that a table is written in.
const GROUPS: usize = 16;

pub(super) fn read<R: Read>(
    mut input: Input<R>,
    old: &str,
    words: &ExtractorOptions,
) -> Result<LiveIndex, DedupError> {
    let recipe = Recipe::of(old)?;
    let options = LiveOptions::described("minhash", &recipe.present, words)?;
    let (anew, numbers) = image(&mut input, &recipe.present)?;
    let [hashes, threshold] = numbers;
    // Of an index without signatures those of its texts are longer than its bands need, or as long.
    let hashes = if hashes > 0 { hashes } else { recipe.hashes };
    let hashes = usize::try_from(hashes).unwrap_or(usize::MAX);
    let least = f64::from_bits(threshold);
    let least = if least > 0.0 && least <= 1.0 { least } else { Verify::default().least };
    let verify = Some(Verify { measure: Measure::Auto, least });
    let (stored, max_verifications) = (Stored::NOTHING, options.max_verifications);
    let on_same_key = OnSameKey::default();
    let made = Made { stored, on_same_key, verify, max_verifications, hashes };
    let options = with_hashes(options, hashes);
    anew.open(&made, (&[], 0, 0), &options)
}

/// Signatures of so many positions.
fn with_hashes(mut options: LiveOptions, hashes: usize) -> LiveOptions {
    if let LiveMethod::MinHash { minhash, .. } = &mut options.method {
        minhash.hashes = hashes;
    }
    options
}

/// What made signatures of texts, in words: now without how many positions they have.
struct Recipe {
    present: String,
    hashes: u64,
}

impl Recipe {
    fn of(old: &str) -> Result<Self, FileError> {
        let unknown = || FileError::damaged(RECIPE, format!("signatures that are unknown: {old}"));
        let (scheme, rest) = old.split_once(", hashes ").ok_or_else(unknown)?;
        let (hashes, rest) = rest.split_once(", ").ok_or_else(unknown)?;
        let hashes = hashes.parse().map_err(|_| unknown())?;
        Ok(Self { present: format!("{scheme}, {rest}"), hashes })
    }
}

/// The index, written anew; positions of its signatures and their threshold.
fn image<R: Read>(input: &mut Input<R>, recipe: &str) -> Result<(Anew, [u64; 2]), FileError> {
    let mut sections = Sections::begin(input, *b"SIMHBND\n")?;
    let from = sections.offset();
    let options = Fields(sections.section(*b"PLAN")?.left().to_vec());
    let mut plan = Section::new(options.0.clone(), from + 16);
    plan.bytes(16)?;
    let numbers = [plan.number()?, plan.number()?];
    let mut anew = Anew::begin(Bands::FILE, recipe, (&options, from))?;
    let mut pass = |name: [u8; 4]| -> Result<Vec<u8>, FileError> {
        let from = sections.offset();
        let body = sections.section(name)?.left().to_vec();
        anew.frame(name, (&body, from))?;
        Ok(body)
    };
    let ids = pass(*b"IDS_")?;
    let number = |at: usize| simhash_store::fields::number(ids.get(at..).unwrap_or_default());
    for _ in 0..number(8).saturating_sub(number(0)).div_ceil(CHUNK) {
        pass(*b"DOCS")?;
    }
    pass(*b"AGES")?;
    for _ in 0..GROUPS {
        pass(*b"TABS")?;
    }
    sections.end()?;
    Ok((anew, numbers))
}
