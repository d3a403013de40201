use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use tempfile::TempDir;

use super::region::{Region, reading};
use super::*;
use crate::{Fields, Kind};

const KIND: Kind = Kind { name: "test", made: "entries", advice: "name one" };

/// A file of two frames of words with a small frame between them.
fn written(folder: &TempDir, recipe: &str, one: &[u64], two: &[u64]) -> PathBuf {
    let mut bytes = Vec::new();
    let mut out = Output::begin(&mut bytes, KIND, recipe, &Fields::default()).unwrap();
    out.blocks(*b"ONE_", one.chunks(300)).unwrap();
    out.frame(*b"BETW", recipe.as_bytes()).unwrap();
    out.blocks(*b"TWO_", std::iter::once(two)).unwrap();
    out.end().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn mapped(path: &Path) -> Result<(Arc<Mapped>, Blocks, Blocks), FileError> {
    let open = || {
        let (map, mut input) = Mapped::open(path)?;
        input.head(KIND, None)?;
        let one = input.blocks(*b"ONE_", &map)?;
        input.frame(*b"BETW")?;
        let two = input.blocks(*b"TWO_", &map)?;
        input.end()?;
        Ok((map, one, two))
    };
    open().map_err(|error: FileError| error.in_file(path))
}

fn read(bytes: &[u8]) -> Result<Vec<u64>, FileError> {
    let mut input = Input::new(bytes, Some(bytes.len() as u64));
    input.head(KIND, None)?;
    let mut all = Vec::new();
    for name in [*b"ONE_", *b"TWO_"] {
        let (_, words) = input.words_of(name, |stream, count| {
            let mut words = vec![0; count as usize];
            stream.words(&mut words)?;
            Ok(words)
        })?;
        all.extend(words);
        if name == *b"ONE_" {
            input.frame(*b"BETW")?;
        }
    }
    input.end()?;
    Ok(all)
}

fn numbers(count: usize, first: u64) -> Vec<u64> {
    (first..first + count as u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

/// The path and the offset of a damage.
fn place(error: FileError) -> (PathBuf, u64) {
    match error {
        FileError::Damaged { path, offset, .. } => (path, offset),
        other => panic!("{other:?}"),
    }
}

#[test]
fn mapped_words_are_those_that_were_written_and_only_touched_blocks_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for counts in [(0, 0), (1, 0), (8191, 8192), (8193, 70_000)] {
        let (one, two) = (numbers(counts.0, 5), numbers(counts.1, 7));
        let path = written(&folder, "配方", &one, &two);
        let (map, first, second) = mapped(&path).unwrap();
        assert_eq!((first.len(), second.len()), counts);
        assert_eq!(first.all().unwrap(), one);
        assert!(first.at.is_multiple_of(64) && second.at.is_multiple_of(64));
        for at in (0..two.len()).step_by(2999) {
            let to = (at + 5000).min(two.len());
            assert_eq!(second.get(at..to), Some(&two[at..to]));
        }
        assert_eq!(second.get(0..0), Some(&[][..]));
        assert!(map.check().is_ok());
        assert_eq!(read(&std::fs::read(&path).unwrap()).unwrap(), [one, two].concat());
        // Published files are unlinked while they are mapped.
        std::fs::remove_file(&path).unwrap();
        assert_eq!(second.all().unwrap().len(), counts.1);
    }
}

#[test]
fn words_that_are_not_there_are_a_damage_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, "", &numbers(10, 0), &numbers(10, 0));
    #[expect(clippy::reversed_empty_ranges, reason = "as a file may say")]
    for range in [0..11, 10..11, 11..11, usize::MAX - 1..usize::MAX, 5..4] {
        let (map, one, _) = mapped(&path).unwrap();
        assert_eq!(one.get(range.clone()), None, "{range:?}");
        assert_eq!(place(map.check().unwrap_err()).0, path);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever byte is changed: a block that has passed holds what was written, and everything else is an error that names
    /// the file and a place at or before the byte, in the same block or frame.
    #[test]
    fn no_word_comes_from_a_block_that_was_changed(
        counts in (0..20_000_usize, 0..3000_usize),
        at in any::<prop::sample::Index>(),
        bit in 0..8_u32,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (numbers(counts.0, 5), numbers(counts.1, 7));
        let path = written(&folder, "r", &one, &two);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        std::fs::write(&path, &bytes).unwrap();
        prop_assert!(read(&bytes).is_err());
        let named = |error: FileError| match error {
            FileError::Damaged { path: named, offset, .. } => {
                assert!(named == path && offset <= at as u64 + 8, "{at}: {offset}");
            }
            FileError::Format { .. } => assert!((8..12).contains(&at)),
            other => panic!("{other:?}"),
        };
        match mapped(&path) {
            Err(error) => named(error),
            Ok((map, first, second)) => {
                for (blocks, words) in [(&first, &one), (&second, &two)] {
                    for (number, written) in words.chunks(BLOCK).enumerate() {
                        let from = number * BLOCK;
                        match blocks.get(from..from + written.len()) {
                            Some(read) => prop_assert_eq!(read, written),
                            None => named(map.check().unwrap_err()),
                        }
                    }
                    if let Ok(all) = blocks.all() {
                        prop_assert_eq!(all, words);
                    }
                }
                // Padding and the frame's own checksum are not touched.
                let start = first.at as usize..first.at as usize + counts.0 * 8;
                let end = second.at as usize..second.at as usize + counts.1 * 8;
                prop_assert_eq!(map.check().is_err(), start.contains(&at) || end.contains(&at));
            }
        }
    }

    #[test]
    fn a_cut_or_longer_file_is_refused(counts in (0..9000_usize, 0..100_usize), cut in 1..200_usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = written(&folder, "r", &numbers(counts.0, 5), &numbers(counts.1, 7));
        let bytes = std::fs::read(&path).unwrap();
        for length in [bytes.len() - cut, bytes.len() * cut / 201, 0] {
            std::fs::write(&path, &bytes[..length]).unwrap();
            prop_assert_eq!(place(mapped(&path).unwrap_err()).0, path.clone());
        }
        std::fs::write(&path, [&bytes[..], &[0]].concat()).unwrap();
        prop_assert!(mapped(&path).is_err());
    }

    /// The mapping against its safe twin.
    #[test]
    fn a_mapping_is_what_reading_finds(
        bytes in prop::collection::vec(any::<u8>(), 0..70_000),
        at in 0..9000_u64,
        count in 0..9000_u64,
        seed: u64,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, &bytes).unwrap();
        let file = File::open(&path).unwrap();
        let length = bytes.len() as u64;
        let (mapped, twin) =
            (Region::of(&file, length).unwrap(), reading::Region::of(&file, length).unwrap());
        prop_assert_eq!(mapped.len(), twin.len());
        for at in [at, at * 8] {
            prop_assert_eq!(mapped.has(at, count), twin.has(at, count));
            if mapped.has(at, count) {
                let count = count as usize;
                prop_assert_eq!(mapped.words(at, count), twin.words(at, count));
                prop_assert_eq!(mapped.sum(at, count, seed), twin.sum(at, count, seed));
            }
        }
    }
}

#[test]
fn a_whole_frame_from_elsewhere_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, "r", &numbers(100, 5), &numbers(100, 7));
    let bytes = std::fs::read(&path).unwrap();
    let other = written(&folder, "r", &numbers(100, 6), &numbers(100, 7));
    let others = std::fs::read(&other).unwrap();
    let (_, one, _) = mapped(&other).unwrap();
    // The words of another file at the same place, then with the sums of that file.
    let (from, to) = (one.at as usize, one.at as usize + 800);
    let mut mixed = bytes.clone();
    mixed[from..to].copy_from_slice(&others[from..to]);
    std::fs::write(&path, &mixed).unwrap();
    let (map, one, two) = mapped(&path).unwrap();
    assert_eq!(two.all().unwrap(), numbers(100, 7));
    assert_eq!(one.get(3..4), None);
    assert_eq!(place(map.check().unwrap_err()), (path.clone(), from as u64));
    assert!(one.all().is_err());
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_mapped() {
    assert!(matches!(Mapped::open(Path::new("/dev/null")), Err(FileError::Read { .. })));
    assert!(matches!(Mapped::open(Path::new("/nowhere/at/all")), Err(FileError::Read { .. })));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty");
    std::fs::write(&path, b"").unwrap();
    let (map, mut input) = Mapped::open(&path).unwrap();
    assert!(map.is_empty() && input.head(KIND, None).is_err());
}
