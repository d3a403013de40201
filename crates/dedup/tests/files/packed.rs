//! Gzip in and out, and what becomes of little far too much.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use simhash_dedup::{
    Cluster, DedupError, Duplicates, FileOptions, Input, Outputs, Summary, Target, dedup_files,
};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn run(inputs: &[Input], outputs: &Outputs, way: &FileOptions) -> Result<Summary, DedupError> {
    dedup_files(inputs, outputs, way, &|_| {}, &AtomicBool::new(false))
}

fn outputs(folder: &Path, ending: &str, duplicates: Duplicates) -> Outputs {
    let target = |name: &str| Some(Target::File(folder.join(format!("{name}{ending}"))));
    Outputs {
        records: target("out"),
        clusters: target("clusters"),
        rejects: target("rejects"),
        duplicates,
        ..Outputs::default()
    }
}

/// A megabyte or two with duplicates and rejects.
fn corpus() -> Vec<u8> {
    let lines = (0..12_000).map(|n| match n % 10 {
        0 => "no record\n".to_owned(),
        1 => format!("{{\"text\":\"第{}号公告于当日发布，请有关各方遵照执行\"}}\n", n / 100),
        _ => format!("{{\"id\":{n},\"text\":\"第{n}号公告于{}发布，请有关各方\"}}\n", n * 7919),
    });
    lines.collect::<String>().into_bytes()
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = bytes;
    GzDecoder::new(&mut rest).read_to_end(&mut text).unwrap();
    assert_eq!(rest.len(), 0, "one member, and nothing behind it");
    text
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn names_that_end_in_gz_are_one_gzip_member_of_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("in"), corpus()).unwrap();
    let input = || [Input::File(path.join("in"))];
    let mut components = FileOptions::default();
    components.dedup.cluster = Cluster::Components;
    for way in [FileOptions::default(), components] {
        for duplicates in [Duplicates::Remove, Duplicates::Mark] {
            run(&input(), &outputs(path, ".jsonl", duplicates), &way).unwrap();
            for ending in [".jsonl.gz", ".GZ"] {
                run(&input(), &outputs(path, ending, duplicates), &way).unwrap();
            }
            for name in ["out", "clusters", "rejects"] {
                let plain = fs::read(path.join(format!("{name}.jsonl"))).unwrap();
                let zipped = fs::read(path.join(format!("{name}.jsonl.gz"))).unwrap();
                assert!(plain.len() > 1_000, "{name}");
                assert!(unpacked(&zipped) == plain, "{name}");
                assert_eq!(zipped[4..8], [0; 4], "no time of writing");
                assert!(zipped == fs::read(path.join(format!("{name}.GZ"))).unwrap(), "{name}");
            }
        }
    }
    // And back: what was kept is kept.
    let once = Outputs { rejects: None, clusters: None, ..outputs(path, "2", Duplicates::Remove) };
    run(&input(), &outputs(path, ".jsonl.gz", Duplicates::Remove), &FileOptions::default())
        .unwrap();
    run(&[Input::File(path.join("out.jsonl.gz"))], &once, &FileOptions::default()).unwrap();
    let kept = fs::read(path.join("out.jsonl.gz")).unwrap();
    assert!(fs::read(path.join("out2")).unwrap() == unpacked(&kept));
}

#[test]
fn an_empty_gzip_output_is_a_member_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("in"), "").unwrap();
    let to = outputs(path, ".gz", Duplicates::Remove);
    run(&[Input::File(path.join("in"))], &to, &FileOptions::default()).unwrap();
    assert_eq!(unpacked(&fs::read(path.join("out.gz")).unwrap()), b"");
}

#[test]
fn padding_after_gzip_is_ignored_and_anything_else_named_with_its_offset() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let member = packed(b"{\"text\":\"a text of one member\"}\n");
    let mut both = member.clone();
    both.extend(packed(b"{\"text\":\"the words in another\"}\n"));
    let input = |tail: &[u8], streamed: bool| {
        let bytes = [&both, tail].concat();
        fs::write(path.join("in"), &bytes).unwrap();
        if streamed {
            Input::stream("in", std::io::Cursor::new(bytes))
        } else {
            Input::File(path.join("in"))
        }
    };
    for streamed in [false, true] {
        for zeros in [0, 1, 2, 511, 100_000] {
            let inputs = [input(&vec![0; zeros], streamed)];
            let summary = run(&inputs, &Outputs::default(), &FileOptions::default()).unwrap();
            assert_eq!(summary.kept, 2, "{zeros} zeros");
        }
        for tail in [&b"garbage"[..], b"\0\0\0x", b"\x1f", &member[..1]] {
            let at = both.len() + tail.iter().take_while(|&&byte| byte == 0).count();
            let inputs = [input(tail, streamed)];
            let error = run(&inputs, &Outputs::default(), &FileOptions::default()).unwrap_err();
            assert!(matches!(error, simhash_dedup::DedupError::Input { .. }));
            let told = error.to_string();
            assert!(told.contains("in: ") && told.contains(&format!("byte {at}")), "{told}");
        }
        // Cut or flipped inside a member: an error, with the place.
        let mut flipped = both.clone();
        flipped[member.len() + 14] ^= 0xff;
        let mut cut = both.clone();
        cut.truncate(member.len() + 20);
        for bytes in [flipped, cut] {
            fs::write(path.join("in"), bytes).unwrap();
            let inputs = [Input::File(path.join("in"))];
            let error = run(&inputs, &Outputs::default(), &FileOptions::default()).unwrap_err();
            assert!(matches!(error, simhash_dedup::DedupError::Input { .. }));
            assert!(error.to_string().contains("byte"), "{error}");
        }
    }
}

/// A frame of zstd, of so many blocks of 128 KiB that are one letter again and again, four bytes each.
fn letters(blocks: usize) -> Vec<u8> {
    let mut frame = b"\x28\xb5\x2f\xfd\0\x38".to_vec();
    for number in 1..=blocks {
        let head = u32::from(number == blocks) | 1 << 1 | (128 << 10) << 3;
        frame.extend(&head.to_le_bytes()[..3]);
        frame.push(b'a');
    }
    frame
}

#[test]
fn some_kilobytes_that_become_gigabytes_are_an_error_that_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let bomb = letters(3 << 13);
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    fs::write(path.join("in.jsonl"), &bomb).unwrap();
    fs::write(path.join("out"), "what stands there").unwrap();
    let inputs =
        [Input::File(path.join("in.jsonl")), Input::stream("in.jsonl", std::io::Cursor::new(bomb))];
    for input in inputs {
        let to = outputs(path, "", Duplicates::Remove);
        let error = run(&[input], &to, &FileOptions::default()).unwrap_err();
        assert!(matches!(error, DedupError::Input { .. }), "{error}");
        let told = error.to_string();
        assert!(told.contains("in.jsonl: zstd, decompressed, after 107"), "{told}");
        assert!(told.contains("more than 1000 times as much"), "{told}");
        assert_eq!(fs::read(path.join("out")).unwrap(), b"what stands there");
        assert_eq!(fs::read_dir(path).unwrap().count(), 2);
    }
}

#[test]
fn a_text_in_a_folder_that_becomes_too_much_is_rejected_and_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (path, texts) = (folder.path(), folder.path().join("in"));
    fs::create_dir(&texts).unwrap();
    fs::write(texts.join("a.txt"), letters(200)).unwrap();
    fs::write(texts.join("b.txt"), packed("今天上午，北京市召开新闻发布会".as_bytes())).unwrap();
    // As many bytes as are free, and far less than a record may have.
    fs::write(texts.join("c.txt"), letters(128)).unwrap();
    let to = outputs(path, "", Duplicates::Remove);
    let summary = run(&[Input::File(texts)], &to, &FileOptions::default()).unwrap();
    assert_eq!((summary.read, summary.kept, summary.rejected), (3, 2, 1));
    let rejected = fs::read_to_string(path.join("rejects")).unwrap();
    assert!(rejected.contains("a.txt: zstd, decompressed, after 16"), "{rejected}");
}
