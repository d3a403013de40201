//! Gzip in and out.
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
