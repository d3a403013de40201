//! Turns the packed dictionary of `data/jieba` into the tables that the segmenter reads in place.
//!
//! Output in `OUT_DIR`, each an array in the byte order of the target: `nodes.u64` (the double array), `codes.u16` (code point
//! to code), `characters.u16` (code to character), `scores.f64` (ln f − ln total by frequency index), `logs.f64` (ln f),
//! `frequencies.u32`, `idfs.f64` and `totals.rs` (the total frequency and its logarithm). The formats are described where
//! they are read: `src/segment/dictionary.rs`. What follows from these tables in microseconds is made at first use and takes
//! no place in the package.

#[path = "build/double_array.rs"]
mod double_array;
#[path = "build/words.rs"]
mod words;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

/// The characters that the HMM knows: U+4E00 to U+9FD5.
const HAN: std::ops::RangeInclusive<u16> = 0x4E00..=0x9FD5;
/// The ASCII characters that jieba segments, letters and digits first.
const ASCII: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+#&._%-";

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

    let mut words = words::read(&fs::read("data/jieba/words.bin")?)?;
    let characters = code_order(&words.characters);
    words.recode(&codes(&characters));
    let nodes = double_array::build(&words.trie, characters.len());
    write("nodes.u64", integers(&nodes), 8)?;
    write("codes.u16", integers(&codes(&characters)), 2)?;
    let of_codes: Vec<u64> = characters.iter().map(|&character| u64::from(character)).collect();
    write("characters.u16", integers(&of_codes), 2)?;
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
    let totals = format!(
        "pub(crate) const TOTAL: u64 = {};\npub(crate) const LN_TOTAL: f64 = {:?};\n",
        words.total, words.ln_total
    );
    fs::write(out.join("totals.rs"), totals)?;
    Ok(())
}

/// Every character of the class that jieba segments by code: none for code 0, then [`ASCII`], then the ideographs, those of the
/// dictionary in its own order (the frequent ones first, so that what is used together lies together).
///
/// The check of an empty slot is no code: its place holds a character that occurs in no text of jieba's class.
fn code_order(dictionary: &[u16]) -> Vec<u16> {
    let mut order = vec![0];
    order.extend(ASCII.iter().copied().map(u16::from));
    order.extend(dictionary.iter().filter(|&&character| character >= 128));
    let known: std::collections::BTreeSet<u16> = order.iter().copied().collect();
    order.extend(HAN.filter(|character| !known.contains(character)));
    if order.len() > double_array::EMPTY as usize {
        order.insert(double_array::EMPTY as usize, 0);
    }
    order
}

/// The code of every code point of 16 bits; 0 for what jieba does not segment.
fn codes(characters: &[u16]) -> Vec<u64> {
    let mut codes = vec![0; 1 << 16];
    for (code, &character) in characters.iter().enumerate().filter(|&(_, &character)| character > 0)
    {
        codes[usize::from(character)] = code as u64;
    }
    codes
}
