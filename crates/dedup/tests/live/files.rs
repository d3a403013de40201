//! A live index in a file: damage is named, what made it is checked, and it is the index at the call.

use simhash_dedup::DedupError;
use simhash_dedup::live::{LiveIndex, LiveOptions, OpenOptions, Stored};
use simhash_index::{IndexError, Window};
use simhash_sketch::{ExtractorOptions, FingerprinterOptions};
use simhash_store::FileError;
use std::sync::atomic::AtomicBool;

use crate::model::{NEVER, code, document, methods, options, saved};
use crate::sealed::{frames, seal};

#[test]
fn every_damage_to_a_file_is_named() {
    for method in methods() {
        let stored = Stored { keys: true, longest_text: Some(40) };
        let given = LiveOptions { stored, ..options(method) };
        let index = LiveIndex::new(&given).unwrap();
        for number in 0..4 {
            let document = document(&index, &code(number, 8 + 4 * number));
            index.add(&document, Some(&format!("键{number}")), None).unwrap();
        }
        let bytes = saved(&index);
        assert!(LiveIndex::open(&mut bytes.as_slice(), &given).is_ok());
        let damaged = |opened: Result<LiveIndex, DedupError>| {
            matches!(
                opened,
                Err(DedupError::Index(IndexError::File(
                    FileError::Damaged { .. } | FileError::Format { .. }
                )))
            )
        };
        // Minhash writes all its segments.
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 3000) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            assert!(
                damaged(LiveIndex::open(&mut flipped.as_slice(), &given)),
                "{method} byte {at}"
            );
            assert!(damaged(LiveIndex::open(&mut &bytes[..at], &given)), "{method} cut at {at}");
        }
    }
}

#[test]
fn a_file_names_what_made_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for method in methods() {
        let window = Some(Window::default());
        let stored = Stored { keys: true, ..Stored::default() };
        let given = LiveOptions { stored, window, ..options(method) };
        let index = LiveIndex::new(&given).unwrap();
        let text = "床前明月光，疑是地上霜。举头望明月，低头思故乡。";
        index.add(&document(&index, text), Some("李白"), Some(1)).unwrap();
        index.snapshot().write_file(&path, &NEVER).unwrap();
        let opened = LiveIndex::open_file(&path, &options(method), &NEVER).unwrap();
        assert_eq!((opened.len(), opened.options().stored), (1, index.options().stored));
        assert_eq!((opened.key_of(0).as_deref(), opened.window()), (Some("李白"), window));
        let refused = |options: &LiveOptions| match LiveIndex::open_file(&path, options, &NEVER) {
            Err(DedupError::Index(IndexError::File(FileError::Mismatch {
                path: named,
                option,
                ..
            }))) => {
                assert_eq!(named, path);
                option
            }
            other => panic!("{other:?}"),
        };
        let by = FingerprinterOptions { min_features: Some(7), ..Default::default() };
        refused(&LiveOptions { fingerprinter: by, ..options(method) });
        let another = methods().into_iter().find(|other| *other != method).unwrap();
        assert_eq!(refused(&options(another)), "method");
    }
    let raised = AtomicBool::new(true);
    let given = LiveOptions::default();
    let index = LiveIndex::new(&given).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(index.snapshot().write_file(&path, &raised), Err(DedupError::Cancelled)));
    assert!(matches!(LiveIndex::open_file(&path, &given, &raised), Err(DedupError::Cancelled)));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// A file whose recipe says this in place of `specification 1; `, which is as long.
fn stating(bytes: &[u8], words: &str) -> Vec<u8> {
    let (head, mut bytes) = (frames(bytes).swap_remove(0), bytes.to_vec());
    let from = head.content.start + 8;
    assert_eq!(&bytes[from..from + words.len()], b"specification 1; ");
    bytes[from..from + words.len()].copy_from_slice(words.as_bytes());
    seal(&mut bytes, &head);
    bytes
}

#[test]
fn a_file_states_the_version_of_the_specification_and_another_one_is_refused_by_that_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for method in methods() {
        let given = options(method);
        let index = LiveIndex::new(&given).unwrap();
        index.add(&document(&index, &code(3, 14)), None, None).unwrap();
        assert!(index.made_by().starts_with("specification 1; "), "{}", index.made_by());
        let bytes = saved(&index);
        assert!(
            LiveIndex::open(&mut stating(&bytes, "specification 1; ").as_slice(), &given).is_ok()
        );
        std::fs::write(&path, stating(&bytes, "specification 2; ")).unwrap();
        for opened in [
            LiveIndex::open_file(&path, &given, &NEVER),
            LiveIndex::open_described(&path, &ExtractorOptions::default(), &NEVER),
        ] {
            match opened {
                Err(DedupError::Index(IndexError::File(error))) => {
                    let mut expected = FileError::mismatch("specification", "2", "1");
                    expected = expected.in_file(&path);
                    assert_eq!(error, expected, "{method}");
                }
                other => panic!("{method}: {other:?}"),
            }
        }
    }
}

#[test]
fn only_an_index_of_fingerprints_is_mapped_and_the_others_say_so() {
    let folder = tempfile::tempdir().unwrap();
    for method in methods() {
        let path = folder.path().join(method);
        let how = OpenOptions { mmap: true, ..OpenOptions::default() };
        match LiveIndex::open_directory(&path, &options(method), how, &NEVER) {
            Ok(index) => assert_eq!((method, index.is_durable()), ("simhash", true)),
            Err(DedupError::Option { argument: "mmap", .. }) => assert_ne!(method, "simhash"),
            Err(other) => panic!("{method}: {other}"),
        }
        assert_eq!(path.exists(), method == "simhash");
    }
}

/// Keys and texts belong to the moment of the sketches: that of the call.
#[test]
fn a_snapshot_has_the_keys_and_texts_of_its_moment() {
    for method in methods() {
        let window = Some(Window { max_age: Some(1_000_000), max_count: None });
        let stored = Stored { keys: true, ..Stored::default() };
        let given = LiveOptions { stored, window, ..options(method) };
        let index = LiveIndex::new(&given).unwrap();
        let add = |number: u64, key: &str| {
            let document = document(&index, &format!("短{number}"));
            index.add(&document, Some(key), Some(number)).unwrap()
        };
        for number in 0..3000 {
            assert_eq!(add(number, &format!("key {}", number % 2000)), number);
        }
        let expected = saved(&index);
        let snapshot = index.snapshot();
        // An earlier use of a key, many later ones, and enough deletions for chunks to be looked through.
        assert!(index.delete(2500).unwrap());
        for number in 3000..6000 {
            add(number, "key 7");
        }
        assert_eq!(index.expire(2900).unwrap(), 2899);
        let mut written = Vec::new();
        snapshot.write(&mut written, &NEVER).unwrap();
        let opened = LiveIndex::open(&mut written.as_slice(), &given).unwrap();
        assert_eq!(opened.len(), 3000);
        for number in 0..3000_u64 {
            assert_eq!(opened.key_of(number), Some(format!("key {}", number % 2000)));
            let text = (method != "exact").then(|| format!("短{number}"));
            assert_eq!(opened.text_of(number), text);
        }
        let ids = ["key 7", "key 500", "key 1500"].map(|key| opened.id_of(key));
        assert_eq!(ids, [Some(2007), Some(2500), Some(1500)]);
        assert!(written == expected, "{method}");
    }
}
