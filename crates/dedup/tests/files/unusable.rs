//! Inputs of which nothing can be used: a named error that says what to do, and no output is replaced.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use simhash_dedup::{
    Cluster, DedupError, Duplicates, FileOptions, Form, Input, Keep, Outputs, Summary, Target,
    dedup_files,
};
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;

const GOOD: &str = "{\"text\":\"今天上午北京市召开新闻发布会介绍城市交通建设\"}\n";

/// Decided as records come, at the end by components, at the end in the order of keeping.
fn ways() -> [FileOptions; 3] {
    let mut ways = [(); 3].map(|()| FileOptions::default());
    ways[1].dedup.cluster = Cluster::Components;
    ways[2].dedup.keep = Keep::Longest;
    ways
}

fn outputs(folder: &Path) -> Outputs {
    let target = |name: &str| Some(Target::File(folder.join(name)));
    Outputs {
        records: target("out"),
        clusters: target("clusters"),
        rejects: target("rejects"),
        duplicates: Duplicates::Remove,
        ..Outputs::default()
    }
}

fn run(inputs: &[Input], outputs: &Outputs, way: &FileOptions) -> Result<Summary, DedupError> {
    dedup_files(inputs, outputs, way, &|_| {}, &AtomicBool::new(false))
}

/// The message of the error with which an input of this content is refused.
fn message(content: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), content).unwrap();
    let input = [Input::File(folder.path().join("in"))];
    let error = run(&input, &Outputs::default(), &FileOptions::default()).unwrap_err();
    assert!(matches!(error, DedupError::NoRecords { .. }));
    error.to_string()
}

#[test]
fn an_input_that_is_rejected_whole_replaces_nothing_but_the_rejects() {
    for way in ways() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for name in ["out", "clusters", "rejects"] {
            fs::write(path.join(name), "precious").unwrap();
        }
        fs::write(path.join("in"), "\n第一条\n第二条\n").unwrap();
        let error = run(&[Input::File(path.join("in"))], &outputs(path), &way).unwrap_err();
        assert!(matches!(error, DedupError::NoRecords { .. }));
        assert_eq!((error.path(), error.line()), (Some(&*path.join("in")), Some(2)));
        for name in ["out", "clusters"] {
            assert_eq!(fs::read_to_string(path.join(name)).unwrap(), "precious", "{name}");
        }
        let rejects = fs::read_to_string(path.join("rejects")).unwrap();
        assert_eq!(rejects.lines().count(), 2, "{rejects}");
        assert!(rejects.contains("第二条"));
        assert_eq!(fs::read_dir(path).unwrap().count(), 4, "no temporary file stays");
    }
}

#[test]
fn records_that_are_too_long_say_nothing_of_the_others() {
    let long = format!("{{\"text\":\"{}\"}}\n", "x".repeat(3 << 20));
    for way in ways() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let form = Form { max_record: 1000, ..Form::default() };
        let way = FileOptions { form, ..way };
        fs::write(path.join("in"), format!("{long}{long}{GOOD}")).unwrap();
        let summary = run(&[Input::File(path.join("in"))], &outputs(path), &way).unwrap();
        assert_eq!((summary.read, summary.kept, summary.rejected), (3, 1, 2));
        assert_eq!(fs::read_to_string(path.join("out")).unwrap(), GOOD);
        fs::write(path.join("in"), format!("{long}{long}")).unwrap();
        let error = run(&[Input::File(path.join("in"))], &outputs(path), &way).unwrap_err();
        assert!(matches!(error, DedupError::NoRecords { rejected: 2, .. }));
        assert!(error.to_string().contains("allow longer ones"), "{error}");
        // What others lack is still told.
        fs::write(path.join("in"), format!("{long}{{\"body\":\"a\"}}\n")).unwrap();
        let error = run(&[Input::File(path.join("in"))], &outputs(path), &way).unwrap_err();
        assert!(error.to_string().contains("body"), "{error}");
    }
}

#[test]
fn one_usable_record_or_none_at_all_is_no_error() {
    for way in ways() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for (content, read, kept) in [("", 0, 0), ("\n \n", 0, 0), (GOOD, 1, 1)] {
            fs::write(path.join("in"), content).unwrap();
            let summary = run(&[Input::File(path.join("in"))], &outputs(path), &way).unwrap();
            assert_eq!((summary.read, summary.kept), (read, kept));
        }
        // A run is one: an input of rejects beside one with records is counted, as single rejects are.
        fs::write(path.join("bad"), "x\n").unwrap();
        let inputs = [Input::File(path.join("bad")), Input::File(path.join("in"))];
        let summary = run(&inputs, &outputs(path), &way).unwrap();
        assert_eq!((summary.read, summary.kept, summary.rejected), (2, 1, 1));
    }
}

#[test]
fn the_message_names_the_fields_and_the_likely_fix() {
    let told = message(b"{\"id\":1,\"body\":\"a longer text\",\"title\":\"short\",\"n\":[]}\n{}\n");
    for part in [
        "all 2 records",
        "in:1: no field text",
        "id, body, title, n",
        "in body, set `text_field: 'body'`",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = message(b"{\"doc\":{\"content\":\"nested\",\"n\":1}}\n");
    assert!(told.contains("in doc.content, set `text_field: 'doc.content'`"), "{told}");
    let told = message("第一行\n第二行\n".as_bytes());
    assert!(told.contains("no JSON objects") && told.contains("name that format"), "{told}");
    let told = message(b"[{\"n\":\"a\"},\n{\"n\":\"b\"}]\n");
    assert!(
        told.contains("in:1: no field text") && told.contains("in n, set `text_field: 'n'`"),
        "{told}"
    );
    let told = message(b"{\"text\":\"\xff\xfe\xff\"}\n");
    assert!(told.contains("no UTF-8") && told.contains("name the encoding"), "{told}");
    let told = message(b"{\"n\":1}\n");
    assert!(told.contains("the fields n") && told.contains("none of them holds text"), "{told}");
}

#[test]
fn a_line_beyond_the_limit_is_a_rejected_record() {
    const LIMIT: usize = 64 << 20;
    // A line of spaces inside the text, one byte more than is read; then records go on.
    let head = b"{\"text\":\"";
    let tail = b"\"}\n";
    let long = LIMIT + 1 - head.len() - (tail.len() - 1);
    let first = io::Cursor::new(GOOD).chain(io::Cursor::new(head));
    let middle = io::repeat(b'x').take(long as u64);
    let after = "{\"text\":\"第一季度营业收入同比增长百分之十二\"}\n".to_owned();
    let last = io::Cursor::new(tail).chain(io::Cursor::new(after.clone()));
    let folder = tempfile::tempdir().unwrap();
    let inputs = [Input::stream("-", first.chain(middle).chain(last))];
    let summary = run(&inputs, &outputs(folder.path()), &FileOptions::default()).unwrap();
    assert_eq!((summary.read, summary.kept, summary.rejected), (3, 2, 1));
    assert_eq!(summary.bytes, (GOOD.len() + LIMIT + 2 + after.len()) as u64);
    let rejected = &summary.first_rejected[0];
    assert_eq!(rejected.line, 2);
    assert!(rejected.reason.contains("67,108,865 bytes"), "{}", rejected.reason);
    let rejects = fs::read(folder.path().join("rejects")).unwrap();
    assert!(rejects.len() < 4_096, "the line is not copied");
    let kept = fs::read_to_string(folder.path().join("out")).unwrap();
    assert_eq!(kept, format!("{GOOD}{after}"));
}
