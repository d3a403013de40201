//! The frames and the head of a saved file: any bytes are read or refused with a place within them, what was written is read
//! again, and any damage to it is refused at or before its place. Bytes behind a mark are damage or a torn tail.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_store::{Fields, FileError, Frame, Input, Kind, Output, Section, tail};

const KIND: Kind = Kind { name: "fuzz", made: "entries", advice: "name one" };
const NAMES: [[u8; 4]; 2] = [*b"ONE_", *b"TWO_"];

fn written(bodies: &[Vec<u8>]) -> Vec<u8> {
    let (mut bytes, mut options) = (Vec::new(), Fields::default());
    options.text("options");
    let mut out = Output::begin(&mut bytes, KIND, "recipe", &options).expect("a vector takes all");
    for (number, body) in bodies.iter().enumerate() {
        out.frame(NAMES[number % 2], body).expect("a vector takes all");
    }
    out.end().expect("a vector takes all");
    bytes
}

fn read(bytes: &[u8], length: Option<u64>, count: usize) -> Result<Vec<Vec<u8>>, FileError> {
    let mut input = Input::new(bytes, length);
    let mut head = input.head(KIND, Some("recipe"))?;
    head.text()?;
    head.end()?;
    let frame = |number: usize| Ok(input.frame(NAMES[number % 2])?.left().to_vec());
    let bodies = (0..count).map(frame).collect::<Result<_, FileError>>()?;
    input.end()?;
    Ok(bodies)
}

/// Every verb of a reader, in an order that the bytes choose.
fn walk(bytes: &[u8]) -> Result<(), FileError> {
    let mut section = Section::new(bytes.to_vec(), 100);
    loop {
        let before = section.offset();
        match section.byte()? % 8 {
            0 => drop(section.number()?),
            1 => drop(section.numbers()?),
            2 => drop(section.half()?),
            3 => drop(section.small()?),
            4 => drop(section.smalls()?),
            5 => drop(section.text()?.len()),
            6 => drop(section.bytes(3)?.len()),
            _ => return section.end(),
        }
        assert!(section.offset() > before);
    }
}

fn check(error: &FileError, most: u64) {
    match error {
        FileError::Damaged { offset, .. } => assert!(*offset <= most, "{error}"),
        FileError::Format { .. } | FileError::Mismatch { .. } => {}
        other => panic!("{other}"),
    }
}

fuzz_target!(|input: (&[u8], Vec<Vec<u8>>, u32, u8)| {
    let (bytes, bodies, at, flip) = input;
    let length = bytes.len() as u64;
    for known in [None, Some(length)] {
        if let Err(error) = read(bytes, known, 2) {
            check(&error, length);
        }
    }
    if let Err(error) = walk(bytes) {
        check(&error, 100 + length);
    }
    let _ = tail::damage(bytes, Frame { name: NAMES[0], at: u64::from(at) });

    let mut image = written(&bodies);
    let at = at as usize % image.len();
    for known in [None, Some(image.len() as u64)] {
        assert_eq!(read(&image, known, bodies.len()).expect("what was written is read"), bodies);
        let cut = read(&image[..at], known.map(|_| at as u64), bodies.len());
        check(&cut.expect_err("a cut is noticed"), at as u64);
    }
    image[at] ^= flip;
    match read(&image, None, bodies.len()) {
        Ok(_) => assert_eq!(flip, 0, "damage at byte {at} went unnoticed"),
        Err(error) => check(&error, at as u64),
    }
});
