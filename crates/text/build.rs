//! Makes of jieba's words the double array that the segmenter walks, packed.
//!
//! Output in `OUT_DIR`: `dictionary.bin`, the tables that stand before the words in `data/jieba/words.bin`, then the slots. Of
//! each 64 slots which are used (8 bytes, the first slot in the lowest bit), then for each that is:
//!
//! ```text
//! u16 check (14 bits), whether it has a frequency or an idf (bit 14), whether it has children (bit 15)
//! if so: varint frequency index, varint idf index
//! of a prefix with children: their base (3 bytes)
//! ```
//!
//! All little-endian. `src/segment/tables.rs` reads it; `src/segment/dictionary.rs` describes the array.

#[path = "build/double_array.rs"]
mod double_array;
#[expect(dead_code, reason = "the library reads what belongs to words")]
#[path = "src/segment/packed.rs"]
mod packed;
#[path = "build/words.rs"]
mod words;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/segment/packed.rs");
    println!("cargo::rerun-if-changed=data/jieba");
    let bytes = fs::read("data/jieba/words.bin")?;
    let packed = packed::Packed::read(&bytes).ok_or("words.bin: unexpected end of file")?;
    let prefixes = words::prefixes(&packed).ok_or("words.bin: broken words")?;

    // The codes of each prefix's children.
    let mut children = vec![Vec::new(); prefixes.len() + 1];
    for prefix in &prefixes {
        children[prefix.parent].push(u32::from(prefix.code));
    }
    for codes in &mut children {
        codes.sort_unstable();
    }
    let bases = double_array::build(&children);
    // Base and code of any character lead to a slot, most of them empty.
    let last = bases.iter().max().map_or(0, |&base| base as usize) + packed.characters.len();
    let mut slots = vec![None; last.next_multiple_of(64)];
    for (prefix, base) in prefixes.iter().zip(&bases[1..]) {
        slots[bases[prefix.parent] as usize + usize::from(prefix.code)] = Some((prefix, *base));
    }

    let mut out = bytes[..bytes.len() - packed.rest.len()].to_vec();
    for slots in slots.chunks(64) {
        let used = |(place, slot): (usize, &Option<_>)| u64::from(slot.is_some()) << place;
        out.extend(slots.iter().enumerate().map(used).sum::<u64>().to_le_bytes());
        for &(prefix, base) in slots.iter().flatten() {
            let has_values = prefix.frequency > 0 || prefix.idf > 0;
            assert!(prefix.code < packed::EMPTY && prefix.frequency < 1 << 13);
            assert!(prefix.idf < 1 << 12);
            let flags = u16::from(has_values) << 14 | u16::from(base > 0) << 15;
            out.extend((prefix.code | flags).to_le_bytes());
            if has_values {
                varint(&mut out, prefix.frequency);
                varint(&mut out, prefix.idf);
            }
            if base > 0 {
                out.extend(&base.to_le_bytes()[..3]);
            }
        }
    }
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("dictionary.bin"), out)?;
    Ok(())
}

/// Groups of 7 bits, the lowest first.
fn varint(out: &mut Vec<u8>, mut value: u16) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
