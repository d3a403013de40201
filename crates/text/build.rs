//! Finds the places of jieba's words in the double array that the segmenter reads.
//!
//! Output in `OUT_DIR`: `bases.u24`, for every prefix with children, in the order of `data/jieba/words.bin`, where these are (3
//! bytes, little-endian). `src/segment/tables.rs` reads it; `src/segment/dictionary.rs` describes the array.

#[path = "build/double_array.rs"]
mod double_array;
#[expect(dead_code, reason = "the library reads what belongs to words")]
#[path = "src/segment/packed.rs"]
mod packed;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/segment/packed.rs");
    println!("cargo::rerun-if-changed=data/jieba");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let bytes = fs::read("data/jieba/words.bin")?;
    let packed = packed::Packed::read(&bytes).ok_or("words.bin: unexpected end of file")?;

    // The codes of each prefix's children; prefix 0 is the root.
    let mut children: Vec<Vec<u32>> = vec![Vec::new()];
    // The parent of each but the root, and its code.
    let mut prefixes: Vec<(usize, u32)> = Vec::new();
    let mut path = vec![0];
    packed
        .for_each_prefix(|prefix| {
            assert!(
                prefix.code < packed::EMPTY && prefix.frequency < 1 << 13 && prefix.idf < 1 << 12
            );
            path.truncate(prefix.depth + 1);
            let parent = path[prefix.depth];
            children[parent].push(u32::from(prefix.code));
            path.push(children.len());
            children.push(Vec::new());
            prefixes.push((parent, u32::from(prefix.code)));
        })
        .ok_or("words.bin: broken words")?;
    for codes in &mut children {
        codes.sort_unstable();
    }
    let bases = double_array::build(&children);
    let inner = bases.iter().filter(|&&base| base > 0);
    fs::write(
        out.join("bases.u24"),
        inner.flat_map(|base| base.to_le_bytes().into_iter().take(3)).collect::<Vec<u8>>(),
    )?;
    Ok(())
}
