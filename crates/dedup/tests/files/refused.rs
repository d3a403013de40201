//! What cannot be read or written is refused, and named.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::forms::{json_lines, packed, run, sample, to};
use simhash_dedup::{
    DedupError, Fields, FileOptions, FingerprintOptions, Form, Input, LineOutputs, MatchOptions,
    Outputs, SegmentOptions, Target, dedup_new_files, fingerprint_files, match_files, pairs_files,
    segment_files,
};
use std::fs;
use std::sync::atomic::AtomicBool;

#[test]
fn a_column_that_is_not_there_says_what_to_set() {
    let folder = tempfile::tempdir().unwrap();
    let run = |header: &str, fields: Fields| {
        let file = folder.path().join("a.csv");
        fs::write(&file, format!("{header}\n1\n")).unwrap();
        let options = FileOptions { fields, dry_run: true, ..FileOptions::default() };
        run(&[Input::File(file)], &Outputs::default(), &options).unwrap_err().to_string()
    };
    let keyed = Fields::new("text", "no").unwrap();
    let ranked = Fields::default().with_key("day").unwrap();
    for (header, fields, said) in [
        (
            "no,title,body",
            Fields::default(),
            "no column text; its columns are no, title, body; name a column by `text_field: 'NAME'`, or set \
             `header: false` if the first row is a record",
        ),
        (
            "no;text",
            Fields::default(),
            "no column text; its only column is \"no;text\"; set `delimiter: ';'` if that is between the fields, name \
             a column by `text_field: 'NAME'`, or set `header: false` if the first row is a record",
        ),
        ("no\ttext", Fields::default(), "is \"no\\ttext\"; set `delimiter: '\\t'` if"),
        ("no|text", Fields::default(), "set `delimiter: '|'` if that is between the fields"),
        ("text", keyed, "name a column by `id_field: 'NAME'`, or set `header: false`"),
        (
            "text",
            ranked,
            "only column is \"text\"; set `header: false` if the first row is a record",
        ),
    ] {
        let told = run(header, fields);
        assert!(told.contains(said), "{told}");
    }
    let long = run(&"长".repeat(500), Fields::default());
    assert!(long.chars().count() < 400, "{long}");
}

#[test]
fn archives_are_called_what_they_are_wherever_they_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let mut tar = vec![0; 1024];
    tar[..5].copy_from_slice(b"a.txt");
    tar[257..262].copy_from_slice(b"ustar");
    let zip = [b"PK\x03\x04", &[0; 26][..], b"a.jsonl{}"].concat();
    let lines = json_lines(&sample());
    for (name, bytes, said) in [
        ("a.zip", zip.clone(), "it is a ZIP archive; unpack it first, and give the files in it"),
        ("a.csv", zip, "it is a ZIP archive"),
        ("a.tar", tar.clone(), "it is a tar archive; unpack it first"),
        ("a.tar.gz", packed(&tar, "gz"), "it is a tar archive; unpack it first"),
        (
            "a.jsonl.gz",
            packed(&packed(lines.as_bytes(), "gz"), "gz"),
            "it is compressed twice: unpacked it is gzip; unpack it once first",
        ),
        ("a.jsonl.zst", packed(&packed(lines.as_bytes(), "gz"), "zst"), "unpacked it is gzip"),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, &bytes).unwrap();
        let stream = Input::stream("-", std::io::Cursor::new(bytes));
        for input in [Input::File(file), stream] {
            let told = run(&[input], &Outputs::default(), &FileOptions::default()).unwrap_err();
            assert!(matches!(told, DedupError::Input { .. }));
            assert!(told.to_string().contains(said), "{told}");
        }
    }
}

#[test]
fn an_option_that_is_for_none_of_the_inputs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, bytes) in [
        ("a.jsonl", "{\"text\":\"甲\"}\n"),
        ("unnamed", "{\"text\":\"甲\"}\n"),
        ("array", "[{\"text\":\"甲\"}]"),
        ("a.txt", "甲\n"),
        ("a.tsv", "id\ttext\n1\t甲\n"),
        ("a.csv", "id;text\n1;甲\n"),
        ("empty.jsonl", ""),
    ] {
        fs::write(path(name), bytes).unwrap();
    }
    fs::create_dir(path("texts")).unwrap();
    fs::write(path("texts/a.txt"), "甲").unwrap();
    let run = |inputs: &[Input], form: &Form, fields: &Fields| {
        let (form, fields) = (form.clone(), fields.clone());
        let options = FileOptions { form, fields, dry_run: true, ..FileOptions::default() };
        run(inputs, &Outputs::default(), &options)
    };
    let headless = Form { header: false, ..Form::default() };
    let between = |sign| Form { delimiter: Some(sign), ..Form::default() };
    let named = Fields::new("content", "id").unwrap();
    let keyed = Fields::new("text", "no").unwrap();
    let usual = Fields::default();
    let ranked = Fields::default().with_key("day").unwrap();
    for (name, form, fields, argument, format) in [
        ("a.jsonl", &headless, &usual, "header", "JSON lines"),
        ("empty.jsonl", &headless, &usual, "header", "JSON lines"),
        ("unnamed", &headless, &usual, "header", "JSON lines"),
        ("array", &headless, &usual, "header", "a JSON array"),
        ("a.txt", &headless, &usual, "header", "lines of text"),
        ("texts", &headless, &usual, "header", "files of text"),
        ("a.jsonl", &between(b';'), &usual, "delimiter", "JSON lines"),
        ("unnamed", &between(b'\t'), &usual, "delimiter", "JSON lines"),
        ("array", &between(b';'), &usual, "delimiter", "a JSON array"),
        ("a.txt", &between(b';'), &usual, "delimiter", "lines of text"),
        ("texts", &between(b';'), &usual, "delimiter", "files of text"),
        ("a.tsv", &between(b';'), &usual, "delimiter", "TSV"),
        ("a.txt", &Form::default(), &named, "text_field", "lines of text"),
        ("texts", &Form::default(), &named, "text_field", "files of text"),
        ("a.txt", &Form::default(), &keyed, "id_field", "lines of text"),
        ("texts", &Form::default(), &ranked, "keep", "files of text"),
    ] {
        let file = path(name);
        let told = run(&[Input::File(file.clone())], form, fields).unwrap_err();
        let said = told.to_string();
        assert!(matches!(told, DedupError::Option { argument: about, .. } if about == argument));
        assert!(said.starts_with(&format!("{argument} must be left out")), "{said}");
        assert!(said.ends_with(&format!("got {} ({format})", file.display())), "{said}");
        // A stream says what it is when it is read.
        if file.is_file() && name != "empty.jsonl" {
            let stream = Input::stream(name, fs::File::open(&file).unwrap());
            let told = run(&[stream], form, fields).unwrap_err().to_string();
            assert!(told.ends_with(&format!("got {name} ({format})")), "{told}");
        }
    }
    let file = |name: &str| Input::File(path(name));
    assert_eq!(run(&[file("a.tsv")], &between(b'\t'), &usual).unwrap().kept, 1);
    // What is for the new documents need not be for the known ones, nor the other way round.
    for (new, known) in [("a.csv", "a.jsonl"), ("unnamed", "a.csv")] {
        let options = FileOptions { form: between(b';'), dry_run: true, ..FileOptions::default() };
        let (new, known, never) = ([file(new)], [file(known)], AtomicBool::new(false));
        let outputs = Outputs::default();
        let summary = dedup_new_files(&new, &known, &outputs, &options, &|_| {}, &never).unwrap();
        assert_eq!((summary.known, summary.read), (1, 1));
    }
}

#[test]
fn an_output_holds_what_its_name_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("in.jsonl"), json_lines(&sample())).unwrap();
    let (input, never) = ([Input::File(path("in.jsonl"))], AtomicBool::new(false));
    let lines = |name: &str| LineOutputs { lines: Some(Target::File(path(name))), rejects: None };
    let pairs = |name: &str| {
        pairs_files(&input, &lines(name), &FileOptions::default(), &|_| {}, &never).map(|_| ())
    };
    let matches = |name: &str| {
        let options = MatchOptions::default();
        match_files(&input, &input, &lines(name), &options, &|_| {}, &never).map(|_| ())
    };
    let segments = |name: &str, json| {
        let options = SegmentOptions { json, ..SegmentOptions::default() };
        segment_files(&input, &lines(name), &options, &|_| {}, &never).map(|_| ())
    };
    let fingerprints = |name: &str, json| {
        let options = FingerprintOptions { json, ..FingerprintOptions::default() };
        fingerprint_files(&input, &lines(name), &options, &|_| {}, &never).map(|_| ())
    };
    let clusters = |name: &str| {
        let outputs = Outputs { clusters: Some(Target::File(path(name))), ..Outputs::default() };
        run(&input, &outputs, &FileOptions::default()).map(|_| ())
    };
    let rejects = |name: &str| {
        let outputs = Outputs { rejects: Some(Target::File(path(name))), ..Outputs::default() };
        run(&input, &outputs, &FileOptions::default()).map(|_| ())
    };
    let refused = |done: Result<(), DedupError>, name: &str, about: &str, says: &str| {
        let Err(error @ DedupError::Option { argument, .. }) = done else {
            panic!("{name}: {done:?}")
        };
        assert_eq!(argument, about);
        assert!(error.to_string().contains(says) && !path(name).exists(), "{error}");
    };
    for name in ["x.csv", "x.tsv.gz", "x.parquet", "x.arrow"] {
        refused(matches(name), name, "output", "JSON lines, as x.jsonl: nothing else");
        refused(segments(name, true), name, "output", "JSON lines, as x.jsonl: nothing else");
        refused(segments(name, false), name, "output", "lines of text, as x.txt: nothing else");
        refused(rejects(name), name, "rejects", "JSON lines, as x.jsonl: nothing else");
    }
    for name in ["x.parquet", "x.feather"] {
        refused(pairs(name), name, "output", "JSON lines, CSV or TSV");
        refused(clusters(name), name, "clusters", "JSON lines, CSV or TSV");
    }
    for name in ["x.jsonl", "x.ndjson.zst"] {
        refused(segments(name, false), name, "output", "unless JSON lines are asked for");
        refused(fingerprints(name, false), name, "output", "unless JSON lines are asked for");
    }
    for (done, name) in [
        (pairs("p.csv"), "p.csv"),
        (clusters("c.tsv"), "c.tsv"),
        (matches("m.jsonl"), "m.jsonl"),
        (matches("m.txt"), "m.txt"),
        (segments("s.jsonl.gz", true), "s.jsonl.gz"),
        (segments("s.txt", false), "s.txt"),
        (fingerprints("f.tsv", false), "f.tsv"),
        (fingerprints("f", true), "f"),
        (rejects("r.ndjson"), "r.ndjson"),
    ] {
        done.unwrap();
        assert!(path(name).exists(), "{name}");
    }
}

#[test]
fn a_first_block_without_a_record_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // Three megabytes of rows of no use, and one record behind them.
    let mut lines = "{\"title\":\"a title of some words\",\"n\":1}\n".repeat(80_000);
    lines.push_str("{\"text\":\"a text\"}\n");
    fs::write(path("in.jsonl"), &lines).unwrap();
    let rejects = Some(Target::File(path("rejects")));
    let outputs = Outputs { rejects, ..to(path("precious")) };
    let input = |name: &str| [Input::File(path(name))];
    let stream = || [Input::stream("x", std::io::Cursor::new(lines.clone().into_bytes()))];
    for inputs in [&input("in.jsonl"), &stream()] {
        let error = run(inputs, &outputs, &FileOptions::default()).unwrap_err();
        let DedupError::NoRecords { rejected, text_in, .. } = &error else { panic!("{error}") };
        assert!((20_000..40_000).contains(rejected), "{rejected}");
        assert_eq!(text_in.as_deref(), Some("title"));
        assert!(error.to_string().contains("what follows was not read"), "{error}");
        let read = fs::read_to_string(path("rejects")).unwrap().lines().count();
        assert_eq!(read as u64, *rejected);
        assert!(!path("precious").exists());
    }
    // One record is enough to go on.
    fs::write(path("good.jsonl"), format!("{{\"text\":\"first\"}}\n{lines}")).unwrap();
    let summary = run(&input("good.jsonl"), &outputs, &FileOptions::default()).unwrap();
    assert_eq!((summary.read, summary.rejected), (80_002, 80_000));
}

#[test]
fn inputs_of_other_formats_or_columns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, content) in [
        ("a.csv", "id,text\n1,x\n"),
        ("b.csv", "text,id\nx,1\n"),
        ("c.jsonl", "{\"text\":\"x\"}\n"),
        ("d.json", "[{\"text\":\"x\"}]"),
    ] {
        fs::write(path(name), content).unwrap();
    }
    for (a, b, told) in [
        ("a.csv", "b.csv", "same columns"),
        ("a.csv", "c.jsonl", "one format"),
        ("c.jsonl", "d.json", "one format"),
    ] {
        let inputs = [Input::File(path(a)), Input::File(path(b))];
        let error = run(&inputs, &to(path("out")), &FileOptions::default()).unwrap_err();
        assert!(matches!(error, DedupError::Option { argument: "inputs", .. }), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
    let error = run(&[Input::File(path("a.csv"))], &to(path("out.jsonl")), &FileOptions::default());
    assert!(matches!(error, Err(DedupError::Option { argument: "output", .. })));
    assert!(!path("out").exists() && !path("out.jsonl").exists());
}
