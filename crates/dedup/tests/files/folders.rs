//! Texts in files: what of folders and patterns is read, listed and copied.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::forms::{encoding, json_lines, run, sample, to};
use serde_json::Value;
use simhash_dedup::{DedupError, FileOptions, Form, Format, Input, Outputs, dedup_files};
use std::fs;
use std::io::Write;
use std::sync::atomic::AtomicBool;

#[test]
fn a_folder_becomes_json_lines_or_a_list_of_paths() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("texts");
    fs::create_dir(&root).unwrap();
    for doc in sample() {
        fs::write(root.join(format!("{}.txt", doc.id)), &doc.text).unwrap();
    }
    fs::write(root.join("x.txt"), b"\xff\xff\xff\xff").unwrap();
    let out = folder.path().join("out.jsonl");
    let input = || [Input::File(root.clone())];
    let summary = run(&input(), &to(out.clone()), &FileOptions::default()).unwrap();
    assert_eq!((summary.read, summary.kept, summary.rejected), (61, 20, 1));
    let lines = fs::read_to_string(&out).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["text"], sample()[0].text);
    let list = Outputs { list: true, ..to(folder.path().join("list.txt")) };
    run(&input(), &list, &FileOptions::default()).unwrap();
    let list = fs::read_to_string(folder.path().join("list.txt")).unwrap();
    assert_eq!(list.lines().count(), 20);
    assert!(list.lines().all(|path| fs::metadata(path).is_ok()), "{list}");
}

#[test]
fn kept_files_are_copied_and_nothing_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let docs = sample();
    for (number, doc) in docs.iter().enumerate() {
        let below = path(&format!("texts/{}", number / 25));
        fs::create_dir_all(&below).unwrap();
        let bytes = encoding("gb18030").encode(&doc.text).unwrap();
        fs::write(below.join(format!("{}.txt", doc.id)), bytes).unwrap();
    }
    let copy = |name: &str| Outputs { copy: Some(path(name)), ..Outputs::default() };
    let options = FileOptions {
        form: Form { encoding: Some(encoding("gbk")), ..Form::default() },
        ..FileOptions::default()
    };
    let below = |name: &str| {
        let mut all: Vec<String> = Vec::new();
        for number in 0..3 {
            let Ok(entries) = fs::read_dir(path(&format!("{name}/{number}"))) else { continue };
            for entry in entries {
                let file = entry.unwrap().path();
                let as_it_was = path(&format!("texts/{number}")).join(file.file_name().unwrap());
                assert_eq!(fs::read(&file).unwrap(), fs::read(as_it_was).unwrap());
                all.push(file.file_stem().unwrap().to_string_lossy().into_owned());
            }
        }
        all.sort();
        all
    };
    let expected: Vec<String> = docs.iter().step_by(3).map(|doc| doc.id.clone()).collect();
    for (from, to) in [("texts", "a"), ("texts/**/*.txt", "b")] {
        let inputs = [Input::File(path(from))];
        let summary = run(&inputs, &copy(to), &options).unwrap();
        assert_eq!((summary.read, summary.kept), (60, 20));
        assert_eq!(below(to), expected);
        // Once more: all of it is there, and stays.
        let told = run(&inputs, &copy(to), &options).unwrap_err().to_string();
        assert!(told.contains("nothing is replaced"), "{told}");
        assert_eq!(below(to), expected);
    }
    // One that is there is enough, and nothing is copied.
    fs::create_dir_all(path("c/2")).unwrap();
    fs::write(path("c/2/d057.txt"), "precious").unwrap();
    let error = run(&[Input::File(path("texts"))], &copy("c"), &options).unwrap_err();
    assert!(matches!(error, DedupError::Output { .. }), "{error}");
    assert!(!path("c/0").exists());
    assert_eq!(fs::read_to_string(path("c/2/d057.txt")).unwrap(), "precious");
    // Two inputs with a file of one name.
    let twice = [Input::File(path("texts")), Input::File(path("texts"))];
    let options = FileOptions {
        dedup: simhash_dedup::DedupOptions {
            keep: simhash_dedup::Keep::Last,
            ..Default::default()
        },
        ..options
    };
    assert_eq!(run(&twice, &copy("d"), &options).unwrap().kept, 20);
    // What is no file of text, and what has another output.
    fs::write(path("a.jsonl"), json_lines(&docs)).unwrap();
    let both = Outputs { copy: Some(path("e")), ..to(path("out.jsonl")) };
    for (input, outputs) in [("a.jsonl", copy("e")), ("texts", both)] {
        let error = run(&[Input::File(path(input))], &outputs, &options).unwrap_err();
        assert!(matches!(error, DedupError::Option { argument: "copy", .. }), "{error}");
    }
    assert!(!path("e").exists() && !path("out.jsonl").exists());
}

#[cfg(unix)]
#[test]
fn a_new_folder_of_copies_appears_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("texts/a/b")).unwrap();
    for doc in sample() {
        fs::write(path(&format!("texts/a/b/{}.txt", doc.id)), &doc.text).unwrap();
    }
    let copy = |name: &str| Outputs { copy: Some(path(name)), ..Outputs::default() };
    let input = [Input::File(path("texts"))];
    let run = |to: &str| run(&input, &copy(to), &FileOptions::default());
    // What a killed run has left goes, and is told.
    let left = path("new/.out.simhash-0.tmp");
    fs::create_dir_all(left.join("a")).unwrap();
    fs::write(left.join("a/half.txt"), "half").unwrap();
    assert_eq!(run("new/out").unwrap().leftovers, [left]);
    assert_eq!(fs::read_dir(path("new")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(path("new/out/a/b")).unwrap().count(), 20);
    // A link to nothing, and a file, are names that somebody has.
    std::os::unix::fs::symlink("nothing", path("link")).unwrap();
    fs::write(path("file"), "precious").unwrap();
    for name in ["link", "file", "file/below"] {
        let told = run(name).unwrap_err().to_string();
        assert!(told.contains("is no folder"), "{told}");
    }
    // In what is read, under whatever name: the next run would find the copies there.
    std::os::unix::fs::symlink(path("texts/a"), path("alias")).unwrap();
    for name in ["texts", "texts/kept", "texts/a/b/c", "alias/kept"] {
        let told = run(name).unwrap_err().to_string();
        assert!(told.contains("it lies in the input"), "{told}");
    }
    let told = run("none/../texts/kept").unwrap_err().to_string();
    assert!(told.contains("by ..; name it without that"), "{told}");
    let pattern = [Input::File(path("texts/**/*.txt"))];
    let told = crate::forms::run(&pattern, &copy("texts/kept"), &FileOptions::default());
    assert!(told.unwrap_err().to_string().contains("it lies in the input"));
    assert_eq!(fs::read_dir(path("texts/a/b")).unwrap().count(), sample().len());
    // In a folder that is there, beside what is in it; an error in the middle takes back what has a name already.
    fs::create_dir_all(path("old/a")).unwrap();
    fs::write(path("old/mine"), "precious").unwrap();
    assert!(run("old").unwrap().leftovers.is_empty());
    assert_eq!(fs::read_dir(path("old")).unwrap().count(), 2);
    assert_eq!(fs::read_dir(path("old/a/b")).unwrap().count(), 20);
    fs::create_dir_all(path("taken")).unwrap();
    fs::write(path("taken/a"), "precious").unwrap();
    assert!(run("taken").is_err());
    let names: Vec<_> =
        fs::read_dir(path("taken")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["a"]);
}

/// Names are bytes on Unix: these are no UTF-8, or would be two lines.
#[cfg(target_os = "linux")]
#[test]
fn any_name_is_listed_and_copied() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("texts");
    fs::create_dir(&root).unwrap();
    let names: [&[u8]; 4] = [b"a\xff.txt", b"a\xfe.txt", b"b\nc\"\\.txt", b"\xd6\xec.txt"];
    let docs = sample();
    for (name, doc) in names.iter().zip(docs.iter().step_by(3)) {
        fs::write(root.join(OsStr::from_bytes(name)), &doc.text).unwrap();
    }
    let input = [Input::File(root.clone())];
    let to = folder.path().join("copies");
    let copy = Outputs { copy: Some(to.clone()), ..Outputs::default() };
    assert_eq!(run(&input, &copy, &FileOptions::default()).unwrap().kept, 4);
    for (name, doc) in names.iter().zip(docs.iter().step_by(3)) {
        assert_eq!(fs::read_to_string(to.join(OsStr::from_bytes(name))).unwrap(), doc.text);
    }
    let out = folder.path().join("list.txt");
    let list = Outputs { list: true, ..crate::forms::to(out.clone()) };
    run(&input, &list, &FileOptions::default()).unwrap();
    let list = fs::read(out).unwrap();
    let lines: Vec<&[u8]> = list.split(|&byte| byte == b'\n').collect();
    let below = |name: &[u8]| [root.as_os_str().as_bytes(), b"/", name].concat();
    let quoted = [&b"\""[..], &below(b"b\\nc\\\"\\\\.txt"), b"\""].concat();
    assert_eq!(lines, [&*below(names[1]), &below(names[0]), &quoted, &below(names[3]), b""]);
    // What stands there is the name again.
    let name: String = serde_json::from_slice(&quoted).unwrap();
    assert_eq!(name.as_bytes(), below(names[2]));
}

#[test]
fn files_of_a_pattern_are_read_in_the_order_of_their_paths() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let docs = sample();
    for (place, docs) in docs.chunks(20).enumerate() {
        fs::create_dir_all(path(&format!("{place}"))).unwrap();
        fs::write(path(&format!("{place}/part.jsonl")), json_lines(docs)).unwrap();
        for doc in docs {
            fs::write(path(&format!("{place}/{}.txt", doc.id)), &doc.text).unwrap();
        }
    }
    let input = |name: &str| [Input::File(path(name))];
    let out = path("out.jsonl");
    let summary = run(&input("*/part.jsonl"), &to(out.clone()), &FileOptions::default()).unwrap();
    assert_eq!((summary.read, summary.kept), (60, 20));
    let expected: String =
        docs.iter().step_by(3).map(|doc| json_lines(std::slice::from_ref(doc))).collect();
    assert_eq!(fs::read_to_string(&out).unwrap(), expected);
    // Texts are a document each, as in a folder; named as lines they are not.
    let summary = run(&input("**/*.txt"), &to(out.clone()), &FileOptions::default()).unwrap();
    assert_eq!((summary.read, summary.kept), (60, 20));
    let first = fs::read_to_string(&out).unwrap();
    assert!(first.lines().next().unwrap().contains("/0/d000.txt"), "{first}");
    let lines = Form { format: Some(Format::Lines), ..Form::default() };
    let options = FileOptions { form: lines, ..FileOptions::default() };
    assert_eq!(run(&input("**/*.txt"), &Outputs::default(), &options).unwrap().read, 120);
    let told = run(&input("*.csv"), &to(out.clone()), &FileOptions::default()).unwrap_err();
    assert!(told.to_string().contains("no file has a name like this"), "{told}");
}

#[test]
fn what_comes_after_a_pattern_is_not_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let text = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    let line = |end: &str| format!("{{\"text\":\"{text}责任编辑：{end}\"}}\n");
    let ends = ["某某某，转载请注明出处，版权所有", "另一位，本文来自网络，观点不代表本站立场"];
    fs::write(folder.path().join("in.jsonl"), ends.map(line).concat()).unwrap();
    let input = || [Input::File(folder.path().join("in.jsonl"))];
    let count = |form: Form| {
        let options = FileOptions { form, ..FileOptions::default() };
        run(&input(), &to(folder.path().join("out.jsonl")), &options).unwrap().kept
    };
    assert_eq!(count(Form::default()), 2);
    assert_eq!(count(Form { cut_after: vec!["责任编辑".into()], ..Form::default() }), 1);
    let out = fs::read_to_string(folder.path().join("out.jsonl")).unwrap();
    assert_eq!(out, line(ends[0]), "written whole");
}

#[test]
fn a_file_that_is_damaged_or_no_text_is_a_record_that_is_rejected() {
    const TEXT: &str = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    let folder = tempfile::tempdir().unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(TEXT.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let mut tar = vec![0; 512];
    tar[..5].copy_from_slice(b"a.txt");
    tar[257..262].copy_from_slice(b"ustar");
    for (name, bytes) in [
        ("1.txt", TEXT.as_bytes()),
        ("2.txt", &packed),
        ("3.txt", &packed[..20]),
        ("4.txt", &tar),
        ("5.txt", b"PK\x03\x04 \"a\\ zip"),
        ("6.txt", b"\xff\xfe\0\0a\0\0\0"),
        ("7.txt", b"\xff\xff\xff"),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let inputs = [Input::File(folder.path().to_owned())];
    let outputs = Outputs::default();
    for threads in [1, 3] {
        let mut options = FileOptions::default();
        options.dedup.threads = threads;
        let summary =
            dedup_files(&inputs, &outputs, &options, &|_| {}, &AtomicBool::new(false)).unwrap();
        assert_eq!((summary.read, summary.kept, summary.rejected), (7, 1, 5));
        let reasons: Vec<&str> =
            summary.first_rejected.iter().map(|it| it.reason.as_str()).collect();
        for (reason, says) in reasons.iter().zip([
            "3.txt: damaged gzip at byte",
            "4.txt: it is a tar archive; unpack it first",
            "5.txt: it is a ZIP archive; unpack it first",
            "6.txt: it is text in UTF-32",
            "7.txt: its bytes are no text",
        ]) {
            assert!(reason.contains(says), "{reason}");
        }
    }
}
