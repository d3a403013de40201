//! What is left of new documents is what `match_files` finds nothing for; the best of what it finds is what marks name.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::corpus;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use simhash_dedup::live::{LiveMethod, LiveOptions, Search};
use simhash_dedup::{
    DedupError, DedupOptions, Duplicates, EdgeSummary, Encoding, Fields, FileOptions, Input,
    LineOutputs, MatchOptions, Method, Outputs, ReadOptions, SavedIndex, Target,
    decontaminate_files, dedup_files, match_files,
};
use simhash_sketch::ExtractorOptions;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

fn methods() -> [Method; 5] {
    [
        Method::default(),
        Method::SimHash { max_distance: Method::MAX_DISTANCE },
        Method::Sentences { count: 2 },
        Method::BruteForce,
        Method::Exact,
    ]
}

fn lines(texts: &[String], prefix: &str) -> String {
    let line = |(row, text): (usize, &String)| {
        format!("{}\n", json!({ "id": format!("{prefix}{row}"), "text": text }))
    };
    texts.iter().enumerate().map(line).collect()
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> [Input; 1] {
    fs::write(folder.join(name), content).unwrap();
    [Input::File(folder.join(name))]
}

fn records(path: &Path, duplicates: Duplicates) -> Outputs {
    let records = Some(Target::File(path.to_owned()));
    Outputs { records, duplicates, ..Outputs::default() }
}

/// What both ways of asking say of how much there is.
fn figures(summary: &EdgeSummary) -> [u64; 9] {
    let &EdgeSummary { read, documents, against, rejected, edges, .. } = summary;
    let &EdgeSummary { matched, truncated, empty, short, .. } = summary;
    [read, documents, against, rejected, edges, matched, truncated, empty, short]
}

/// A line of matches; what it says as it says it, numbers to the last digit.
#[derive(Deserialize)]
struct Found {
    matches: Vec<BTreeMap<String, Box<RawValue>>>,
}

/// The lines of `news` as they should come, of what was matched with them.
fn expected(news: &str, matches: &str, duplicates: Duplicates) -> String {
    let mut expected = String::new();
    for (record, found) in news.lines().zip(matches.lines()) {
        let found: Found = serde_json::from_str(found).unwrap();
        match (found.matches.first(), duplicates) {
            (None, _) => expected.push_str(record),
            (Some(_), Duplicates::Remove) => continue,
            (Some(best), Duplicates::Mark) => {
                expected.push_str(record.strip_suffix('}').unwrap());
                write!(expected, ",\"duplicateOf\":{}", best["id"]).unwrap();
                for key in ["similarity", "distance"] {
                    if let Some(value) = best.get(key) {
                        write!(expected, ",\"{key}\":{value}").unwrap();
                    }
                }
                expected.push('}');
            }
        }
        expected.push('\n');
    }
    expected
}

/// Compares both ways, for files and for streams.
fn compare(old: &[String], new: &[String], dedup: &DedupOptions) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (old, new) = (lines(old, "o"), lines(new, "n"));
    let against = write(folder, "old", &old);
    let news = write(folder, "new", &new);
    let files = FileOptions { dedup: dedup.clone(), ..FileOptions::default() };
    let how = MatchOptions { files: files.clone(), limit: None };
    let to = LineOutputs { lines: Some(Target::File(folder.join("matches"))), rejects: None };
    let summary = match_files(&news, &against, &to, &how, &|_| {}, &NEVER).unwrap();
    let matches = fs::read_to_string(folder.join("matches")).unwrap();
    for duplicates in [Duplicates::Remove, Duplicates::Mark] {
        let expected = expected(&new, &matches, duplicates);
        let outputs = records(&folder.join("out"), duplicates);
        let stream = || [Input::stream("s", std::io::Cursor::new(new.clone().into_bytes()))];
        for (place, news) in [news.clone(), stream()].into_iter().enumerate() {
            let told = decontaminate_files(&news, &against, &outputs, &files, &|_| {}, &NEVER);
            let told = told.unwrap();
            assert_eq!(figures(&told), figures(&summary), "{dedup:?} {place}");
            let written = fs::read_to_string(folder.join("out")).unwrap();
            for (line, expected) in written.lines().zip(expected.lines()) {
                assert_eq!(line, expected, "{dedup:?} {duplicates:?} {place}");
            }
            assert_eq!(written.len(), expected.len(), "{dedup:?} {duplicates:?} {place}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn what_has_no_match_is_left_and_marks_name_the_best(
        texts in corpus(60),
        least in prop::option::of(prop::sample::select(vec![0.3, 0.8, 0.95])),
        split in 20..40usize,
    ) {
        let (old, new) = texts.split_at(split);
        for method in methods() {
            compare(old, new, &DedupOptions { method, min_similarity: least, ..DedupOptions::default() });
        }
    }
}

#[test]
fn a_text_of_an_earlier_batch_is_answered_as_it_was() {
    let texts = corpus(80).new_tree(&mut TestRunner::deterministic()).unwrap().current();
    let (old, new) = texts.split_at(40);
    // More than two batches of 2,048.
    let new: Vec<String> = new.iter().cycle().take(5_000).cloned().collect();
    compare(old, &new, &DedupOptions::default());
}

#[test]
fn formats_encodings_and_lists_are_those_of_the_new_side() {
    const TEXT: &str = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let against = write(folder, "old.jsonl", json!({ "text": TEXT }).to_string());
    let encode = |text: &str| Encoding::named("gb18030").unwrap().encode(text).unwrap();
    let row = |id: u32, text: &str| format!("{id},\"{text}，共\n两行\"\r\n");
    let other = "另一篇与它无关的文章，讲的是山里的一座老桥和一条小河";
    let table = format!("id,text\r\n{}{}", row(1, TEXT), row(2, other));
    let news = write(folder, "new.csv", encode(&table));
    let options = FileOptions::default();
    let run = |news: &[Input], outputs: &Outputs| {
        decontaminate_files(news, &against, outputs, &options, &|_| {}, &NEVER).unwrap()
    };
    let summary = run(&news, &records(&folder.join("out.csv"), Duplicates::Remove));
    assert_eq!((summary.documents, summary.matched), (2, 1));
    let left = format!("id,text\r\n{}", row(2, other));
    assert_eq!(fs::read(folder.join("out.csv")).unwrap(), encode(&left));

    let texts = folder.join("texts");
    fs::create_dir(&texts).unwrap();
    fs::write(texts.join("a.txt"), TEXT).unwrap();
    fs::write(texts.join("b.txt"), other).unwrap();
    let list = Outputs { list: true, ..records(&folder.join("list"), Duplicates::Remove) };
    run(&[Input::File(texts.clone())], &list);
    let named = format!("{}\n", texts.join("b.txt").display());
    assert_eq!(fs::read_to_string(folder.join("list")).unwrap(), named);
    let copy = Outputs { copy: Some(folder.join("kept")), ..Outputs::default() };
    run(&[Input::File(texts)], &copy);
    let names = fs::read_dir(folder.join("kept")).unwrap();
    assert_eq!(names.map(|it| it.unwrap().file_name()).collect::<Vec<_>>(), ["b.txt"]);
}

#[test]
fn an_index_is_looked_in_too() {
    let texts = corpus(60).new_tree(&mut TestRunner::deterministic()).unwrap().current();
    let (old, new) = texts.split_at(30);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (old, new) = (lines(old, "o"), lines(new, "n"));
    let against = write(folder, "old", &old);
    let news = write(folder, "new", &new);
    let index = SavedIndex { path: folder.join("index"), words: ExtractorOptions::default() };
    let read = ReadOptions::default();
    for method in [LiveMethod::minhash(), LiveMethod::simhash()] {
        let _ = fs::remove_dir_all(&index.path);
        let made = LiveOptions { method, ..LiveOptions::default() };
        index.build(&made, &against, None, &read, &|_| {}, &NEVER).unwrap();
        let to = LineOutputs { lines: Some(Target::File(folder.join("matches"))), rejects: None };
        let search = Search::default();
        let (asked, _) = index.query(&news, &to, &search, &read, &|_| {}, &NEVER).unwrap();
        let matches = fs::read_to_string(folder.join("matches")).unwrap();
        assert!(asked.matched > 0 && asked.matched < asked.documents);
        for duplicates in [Duplicates::Remove, Duplicates::Mark] {
            let outputs = records(&folder.join("out"), duplicates);
            let told = index.decontaminate(&news, &outputs, &search, &read, &|_| {}, &NEVER);
            assert_eq!(figures(&told.unwrap().0), figures(&asked));
            let written = fs::read_to_string(folder.join("out")).unwrap();
            assert_eq!(written, expected(&new, &matches, duplicates));
        }
    }
}

#[test]
fn rejects_are_written_beside_and_clusters_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let good = "{\"text\":\"今天上午北京市召开新闻发布会介绍城市交通建设\"}\n";
    let against = write(folder, "old", "{\"text\":\"与它无关的文章讲的是山里的一座老桥\"}\n");
    let news = write(folder, "new", format!("{good}oops\n"));
    let target = |name: &str| Some(Target::File(folder.join(name)));
    let outputs =
        Outputs { records: target("out"), rejects: target("rejects"), ..Outputs::default() };
    let options = FileOptions::default();
    let summary =
        decontaminate_files(&news, &against, &outputs, &options, &|_| {}, &NEVER).unwrap();
    assert_eq!((summary.documents, summary.rejected, summary.matched), (1, 1, 0));
    assert_eq!(fs::read_to_string(folder.join("out")).unwrap(), good);
    assert_eq!(fs::read_to_string(folder.join("rejects")).unwrap().lines().count(), 1);

    let outputs = Outputs { clusters: target("clusters"), ..outputs };
    let error = decontaminate_files(&news, &against, &outputs, &options, &|_| {}, &NEVER);
    let is_refused = matches!(error, Err(DedupError::Option { argument: "clusters", .. }));
    assert!(is_refused, "{error:?}");

    let dry = FileOptions { dry_run: true, ..options };
    let outputs = records(&folder.join("dry"), Duplicates::Remove);
    decontaminate_files(&news, &against, &outputs, &dry, &|_| {}, &NEVER).unwrap();
    assert!(!folder.join("dry").exists());
}

#[test]
fn fields_that_marks_are_written_to_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = "{\"similarity\":\"今天上午北京市召开新闻发布会介绍城市交通建设\",\"duplicateOf\":\"n1\"}\n";
    let (against, news) = (write(folder, "old", line), write(folder, "new", line));
    let index = SavedIndex { path: folder.join("index"), words: ExtractorOptions::default() };
    let fields = Fields::new("similarity", "duplicateOf").unwrap();
    let read = ReadOptions { fields: fields.clone(), ..ReadOptions::default() };
    index.build(&LiveOptions::default(), &against, None, &read, &|_| {}, &NEVER).unwrap();
    let outputs = records(&folder.join("out"), Duplicates::Mark);
    for dry_run in [false, true] {
        let options = FileOptions { fields: fields.clone(), dry_run, ..FileOptions::default() };
        for error in [
            decontaminate_files(&news, &against, &outputs, &options, &|_| {}, &NEVER).unwrap_err(),
            dedup_files(&news, &outputs, &options, &|_| {}, &NEVER).unwrap_err(),
            index
                .decontaminate(&news, &outputs, &Search::default(), &read, &|_| {}, &NEVER)
                .unwrap_err(),
        ] {
            assert!(
                matches!(error, DedupError::Option { argument: "text_field", .. }),
                "{error:?}"
            );
        }
    }
    assert!(!folder.join("out").exists());
}

#[test]
fn a_dry_run_refuses_what_the_run_would() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let news = write(folder, "new.jsonl", lines(&["今天上午北京市召开新闻发布会".into()], "n"));
    let dry = FileOptions { dry_run: true, ..FileOptions::default() };
    let same = records(&folder.join("new.jsonl"), Duplicates::Remove);
    let target = |name: &str| Some(Target::File(folder.join(name)));
    let named = Outputs { clusters: target("x.parquet"), ..Outputs::default() };
    for (outputs, argument) in [(same, None), (named, Some("clusters"))] {
        let error = dedup_files(&news, &outputs, &dry, &|_| {}, &NEVER).unwrap_err();
        match argument {
            None => assert!(matches!(error, DedupError::SameFile { .. }), "{error:?}"),
            Some(name) => assert!(
                matches!(&error, DedupError::Option { argument, .. } if *argument == name),
                "{error:?}"
            ),
        }
    }
}

/// A writer whose disk is full.
struct Full;

impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn copies_go_away_where_another_output_fails_and_leftovers_are_named() {
    const TEXT: &str = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let texts = folder.join("texts");
    fs::create_dir(&texts).unwrap();
    for name in ["a.txt", "b.txt"] {
        fs::write(texts.join(name), TEXT).unwrap();
    }
    fs::write(texts.join("bad.txt"), b"\xff\xff\xff").unwrap();
    let inputs = [Input::File(texts)];
    let against = write(folder, "old", "{\"text\":\"与它无关的文章讲的是山里的一座老桥\"}\n");
    let options = FileOptions::default();
    let full = || Some(Target::stream("full", Full));
    let copy = || Some(folder.join("copies"));
    let of_clusters = Outputs { copy: copy(), clusters: full(), ..Outputs::default() };
    let of_rejects = Outputs { copy: copy(), rejects: full(), ..Outputs::default() };
    let cluster = dedup_files(&inputs, &of_clusters, &options, &|_| {}, &NEVER);
    assert!(matches!(cluster, Err(DedupError::Output { .. })), "{cluster:?}");
    let reject = dedup_files(&inputs, &of_rejects, &options, &|_| {}, &NEVER);
    assert!(matches!(reject, Err(DedupError::Output { .. })), "{reject:?}");
    let matched = decontaminate_files(&inputs, &against, &of_rejects, &options, &|_| {}, &NEVER);
    assert!(matches!(matched, Err(DedupError::Output { .. })), "{matched:?}");
    assert!(!folder.join("copies").exists());
    // What a killed run had left is removed, and named.
    fs::create_dir(folder.join(".copies.simhash-0.tmp")).unwrap();
    let outputs = Outputs { copy: copy(), ..Outputs::default() };
    let summary =
        decontaminate_files(&inputs, &against, &outputs, &options, &|_| {}, &NEVER).unwrap();
    assert_eq!(folder.join("copies").read_dir().unwrap().count(), 2);
    if cfg!(unix) {
        assert_eq!(summary.leftovers, [folder.join(".copies.simhash-0.tmp")]);
    }
}

#[test]
fn lists_and_copies_have_no_encoding_and_a_list_is_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let texts = folder.join("texts");
    fs::create_dir(&texts).unwrap();
    fs::write(texts.join("a.txt"), "今天上午北京市召开新闻发布会").unwrap();
    let inputs = [Input::File(texts)];
    let encoding = Encoding::named("gbk");
    let list =
        |name: &str| Outputs { list: true, ..records(&folder.join(name), Duplicates::Remove) };
    for (outputs, refused) in [
        (Outputs { encoding, ..list("list") }, "output_encoding"),
        (
            Outputs { encoding, copy: Some(folder.join("c")), ..Outputs::default() },
            "output_encoding",
        ),
        (list("list.csv"), "output"),
    ] {
        let options = FileOptions::default();
        let error = dedup_files(&inputs, &outputs, &options, &|_| {}, &NEVER).unwrap_err();
        assert!(
            matches!(&error, DedupError::Option { argument, .. } if *argument == refused),
            "{error:?}"
        );
    }
}
