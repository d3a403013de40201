//! Turns the packed dictionary and HMM of `data/jieba` into the tables that the segmenter reads in place.
//!
//! Output in `OUT_DIR`, each an array in the byte order of the target: `nodes.u64` (the double array), `codes.u16` (character
//! to code), `scores.f64` (ln f − ln total by frequency index), `logs.f64` (ln f), `frequencies.u32`, `idfs.f64`,
//! `emissions.f64` (by character, then state) and `totals.rs` (the total frequency and its logarithm). The formats are described where they are
//! read: `src/segment/dictionary.rs` and `src/segment/hmm.rs`.

#[path = "build/double_array.rs"]
mod double_array;
#[path = "build/words.rs"]
mod words;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

/// The characters that the HMM knows: U+4E00 to U+9FD5.
const HAN: std::ops::RangeInclusive<u16> = 0x4E00..=0x9FD5;
/// The emission of a character that a state never emits, as jieba has it.
const MISSING: f64 = -3.14e100;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=data/jieba");
    let big_endian = env::var("CARGO_CFG_TARGET_ENDIAN")? == "big";
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let write = |name: &str, words: Vec<[u8; 8]>, width: usize| {
        // Little-endian words of 8 bytes, of which the first `width` count.
        let bytes = words.into_iter().flat_map(|mut word| {
            if big_endian {
                word[..width].reverse();
            }
            word.into_iter().take(width)
        });
        fs::write(out.join(name), bytes.collect::<Vec<u8>>())
    };
    let f64s = |values: &[f64]| values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let integers = |values: &[u64]| values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>();

    let words = words::read(&fs::read("data/jieba/words.bin")?)?;
    write("nodes.u64", integers(&double_array::build(&words.trie)), 8)?;
    write("codes.u16", integers(&codes(&words.characters)), 2)?;
    // Index 0 is "no word": never an edge, so its score loses against everything.
    let scores = |of: &dyn Fn(f64) -> f64| {
        let known = words.frequencies.iter().map(|&(_, ln)| of(ln));
        std::iter::once(f64::NEG_INFINITY).chain(known).collect::<Vec<_>>()
    };
    write("scores.f64", f64s(&scores(&|ln| ln - words.ln_total)), 8)?;
    write("logs.f64", f64s(&scores(&|ln| ln)), 8)?;
    let frequencies = words.frequencies.iter().map(|&(f, _)| u64::from(f));
    write(
        "frequencies.u32",
        integers(&std::iter::once(0).chain(frequencies).collect::<Vec<_>>()),
        4,
    )?;
    // Index 0 is "no idf": the median stands in.
    let idfs: Vec<f64> = std::iter::once(words.median).chain(words.idfs).collect();
    write("idfs.f64", f64s(&idfs), 8)?;
    write("emissions.f64", f64s(&emissions(&fs::read("data/jieba/hmm.bin")?)?), 8)?;
    let totals = format!(
        "pub(crate) const TOTAL: u64 = {};\npub(crate) const LN_TOTAL: f64 = {:?};\n",
        words.total, words.ln_total
    );
    fs::write(out.join("totals.rs"), totals)?;
    Ok(())
}

/// Codes by position: 128 for ASCII, then one for each character of [`HAN`]; 0 for a character of no word.
fn codes(characters: &[u16]) -> Vec<u64> {
    let mut codes = vec![0; 128 + HAN.len()];
    for (index, &character) in characters.iter().enumerate() {
        let at = if character < 128 { character } else { character - HAN.start() + 128 };
        codes[usize::from(at)] = index as u64 + 1;
    }
    codes
}

/// Four emissions (B, E, M, S) for each character of [`HAN`].
fn emissions(mut bytes: &[u8]) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut table = vec![MISSING; 4 * HAN.len()];
    while !bytes.is_empty() {
        let character = u16::from_le_bytes(words::take(&mut bytes)?);
        let [mask] = words::take(&mut bytes)?;
        for state in 0..4 {
            if mask >> state & 1 == 1 {
                let at = 4 * usize::from(character - HAN.start()) + state;
                table[at] = f64::from_le_bytes(words::take(&mut bytes)?);
            }
        }
    }
    Ok(table)
}
