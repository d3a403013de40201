use proptest::prelude::*;

use super::*;
use crate::{Fields, Kind};

const KIND: Kind = Kind { name: "test", made: "entries", advice: "name one" };

type Parts = Vec<(Name, Vec<u8>, Vec<u64>)>;

fn parts() -> impl Strategy<Value = Parts> {
    let name = prop::sample::select(vec![*b"ONE_", *b"TWO_", *b"TABS"]);
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    let words = prop::collection::vec(any::<u64>(), 0..6);
    prop::collection::vec((name, bytes, words), 0..5)
}

fn written(parts: &Parts) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut options = Fields::default();
    options.number(7);
    let mut out = Output::begin(&mut bytes, KIND, "配方", &options).unwrap();
    for (name, first, words) in parts {
        out.words(*name, first, words.chunks(2)).unwrap();
    }
    out.end().unwrap();
    bytes
}

/// The bodies of the frames of these names. Every second frame is read as a stream.
fn read(bytes: &[u8], known: bool, parts: &Parts) -> Result<Vec<Vec<u8>>, FileError> {
    let mut input = Input::new(bytes, known.then_some(bytes.len() as u64));
    let mut head = input.head(KIND, Some("配方"))?;
    assert_eq!(head.number()?, 7);
    head.end()?;
    let mut bodies = Vec::new();
    for (number, (name, first, words)) in parts.iter().enumerate() {
        if number % 2 == 0 {
            bodies.push(input.frame(*name)?.left().to_vec());
            continue;
        }
        let mut stream = input.stream(*name)?;
        let mut body = stream.bytes(first.len() as u64)?;
        stream.has_words(words.len() as u64)?;
        let mut room = vec![0; words.len()];
        stream.words(&mut room)?;
        body.extend(room.iter().flat_map(|word| word.to_le_bytes()));
        stream.end()?;
        bodies.push(body);
    }
    input.end()?;
    Ok(bodies)
}

fn place(error: &FileError) -> u64 {
    match error {
        FileError::Damaged { offset, .. } => *offset,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn frames_are_read_as_written_and_every_cut_and_flip_is_named(parts in parts(), bit in 0..8u8) {
        let sound = written(&parts);
        for known in [false, true] {
            let bodies: Vec<Vec<u8>> = parts.iter().map(|(_, first, words)| {
                [first.clone(), words.iter().flat_map(|word| word.to_le_bytes()).collect()].concat()
            }).collect();
            prop_assert_eq!(read(&sound, known, &parts).unwrap(), bodies);
            for at in 0..sound.len() {
                let offset = place(&read(&sound[..at], known, &parts).unwrap_err());
                prop_assert!(offset <= at as u64, "cut at {at}, named {offset}");
                let mut flipped = sound.clone();
                flipped[at] ^= 1 << bit;
                let offset = place(&read(&flipped, known, &parts).unwrap_err());
                prop_assert!(offset <= at as u64, "byte {at} flipped, named {offset}");
            }
            let longer = [&sound[..], &[0]].concat();
            prop_assert_eq!(place(&read(&longer, known, &parts).unwrap_err()), sound.len() as u64);
        }
    }

    #[test]
    fn any_bytes_are_frames_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        length in any::<u64>(),
    ) {
        let parts = vec![(*b"ONE_", vec![], vec![])];
        prop_assert!(read(&bytes, true, &parts).is_err());
        // Behind a right head, and with a length that lies.
        let mut head = crate::head::bytes(KIND, "配方", &Fields(vec![7, 0, 0, 0, 0, 0, 0, 0]), None).unwrap();
        head.extend(b"ONE_\0\0\0\0");
        head.extend(length.to_le_bytes());
        head.extend(bytes);
        for known in [false, true] {
            prop_assert!(read(&head, known, &parts).is_err());
        }
    }
}

#[test]
fn a_frame_does_not_count_in_another_place() {
    let parts = vec![(*b"ONE_", b"same".to_vec(), vec![]), (*b"ONE_", b"Same".to_vec(), vec![])];
    let mut bytes = written(&parts);
    let frames = bytes.len() - 24 - 2 * 28;
    bytes[frames..frames + 56].rotate_left(28);
    assert_eq!(place(&read(&bytes, true, &parts).unwrap_err()), frames as u64);
}

#[test]
fn other_kinds_recipes_and_formats_are_told_from_damage() {
    let sound = written(&vec![]);
    let head = |bytes: &[u8], kind, recipe| Input::new(bytes, None).head(kind, recipe).unwrap_err();
    let other = Kind { name: "tests", ..KIND };
    assert_eq!(head(&sound, other, None), FileError::mismatch("method", "test", "tests"));
    assert_eq!(head(&sound, KIND, Some("x")), FileError::mismatch("entries", "配方", "x"));
    let mut later = sound.clone();
    later[8] = 9;
    assert_eq!(place(&head(&later, KIND, None)), 0, "a flip");
    let sum = xxhash_rust::xxh3::xxh3_64(&later[..24]);
    later[24..32].copy_from_slice(&sum.to_le_bytes());
    let error = head(&later, KIND, None);
    assert!(error.to_string().contains("saved by a later release (format 9)"), "{error}");
    for earlier in [&b"SIMHASH\n\x02\0\0\0\x80\0\0\0"[..], b"SIMHSEN\n\x01\0\0\0\x90\0\0\0"] {
        let error = head(&[earlier, &[0; 40]].concat(), KIND, None);
        assert!(error.to_string().contains("release 0.1"), "{error}");
    }
    for foreign in [
        &b""[..],
        b"SIMHASH",
        b"PK\x03\x04 something else entirely",
        b"SIMHSEN\n\x07 not ours, though it begins so",
    ] {
        let error = head(foreign, KIND, None);
        assert!(place(&error) == 0 && error.to_string().contains("not a saved index; name one"));
    }
    assert_eq!(crate::head::bytes(KIND, "配方", &Fields::default(), Some(69)).unwrap_err(), 70);
}

#[test]
fn a_length_beyond_the_file_is_refused_before_room_is_made_for_it() {
    let mut bytes = b"TABS\0\0\0\0".to_vec();
    bytes.extend((1u64 << 40).to_le_bytes());
    bytes.extend([0; 100]);
    let mut input = Input::new(&bytes[..], Some(bytes.len() as u64));
    assert_eq!(place(&input.stream(*b"TABS").err().unwrap()), 0);
    let mut unknown = Input::new(&bytes[..], None);
    let stream = unknown.stream(*b"TABS").unwrap();
    assert!(stream.has_words(1 << 37).is_ok() && stream.has_words((1 << 37) + 1).is_err());
}
