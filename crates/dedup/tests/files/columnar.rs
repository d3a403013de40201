//! Parquet and Arrow: what is kept has all its columns; what is damaged is an error; rows are records as lines are.
#![cfg(feature = "columnar")]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "helpers of tests"
)]

use crate::tables::{self, Doc, Texts, Written};
use arrow_array::BooleanArray;
use arrow_ipc::CompressionType;
use arrow_select::filter::filter_record_batch;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterVersion;
use serde_json::Value;
use simhash_dedup::{
    Cluster, DedupError, DedupOptions, Duplicates, Encoding, Fields, FileOptions, Form, Format,
    Input, Keep, LineOutputs, Outputs, Summary, Target, dedup_files, dedup_new_files, pairs_files,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

fn run(inputs: &[Input], outputs: &Outputs, options: &FileOptions) -> Result<Summary, DedupError> {
    dedup_files(inputs, outputs, options, &|_| {}, &AtomicBool::new(false))
}

fn to(path: PathBuf) -> Outputs {
    Outputs { records: Some(Target::File(path)), ..Outputs::default() }
}

/// Texts of which each third one begins three near-duplicates; every tenth document has none.
fn texts() -> Vec<Option<String>> {
    let words =
        ["城市", "交通", "建设", "发布会", "营业收入", "增长", "记者", "获悉", "最新", "进展"];
    let sentence = |seed: usize| -> String {
        (0..24).map(|n| words[(seed * 7 + n * n + seed * n) % words.len()]).collect()
    };
    let text = |n: usize| {
        let tail = ["", "。", "！"][n % 3];
        (n % 10 != 9).then(|| format!("{}\"{}\"\n{tail}", sentence(n / 3), n / 3))
    };
    (0..60).map(text).collect()
}

fn docs(texts: &[Option<String>]) -> Vec<Doc<'_>> {
    texts.iter().enumerate().map(|(n, text)| (n as i64, text.as_deref())).collect()
}

/// The same as JSON lines, as far as there is text.
fn lines(docs: &[Doc<'_>]) -> String {
    let line = |&(id, text): &Doc<'_>| match text {
        Some(text) => serde_json::json!({ "id": id, "day": -id, "body": { "text": text } }),
        None => serde_json::json!({ "id": id, "day": -id, "body": {} }),
    };
    docs.iter().map(|doc| line(doc).to_string() + "\n").collect()
}

/// What a run over lines keeps.
fn kept(docs: &[Doc<'_>], options: &FileOptions) -> Vec<i64> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("in.jsonl"), lines(docs)).unwrap();
    run(&[Input::File(path("in.jsonl"))], &to(path("out.jsonl")), options).unwrap();
    let out = fs::read_to_string(path("out.jsonl")).unwrap();
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_i64().unwrap();
    out.lines().map(id).collect()
}

fn options(cluster: Cluster, keep: Keep) -> FileOptions {
    FileOptions {
        fields: Fields::new("body.text", "id").unwrap(),
        dedup: DedupOptions { cluster, keep, ..DedupOptions::default() },
        ..FileOptions::default()
    }
}

fn rules() -> [FileOptions; 3] {
    let latest = Keep::Field { path: "day".into(), largest: false };
    [
        options(Cluster::Representative, Keep::First),
        options(Cluster::Components, Keep::Longest),
        options(Cluster::Components, latest),
    ]
}

#[test]
fn rows_of_parquet_are_kept_with_schema_metadata_order_and_values() {
    let (folder, texts) = (tempfile::tempdir().unwrap(), texts());
    let path = |name: &str| folder.path().join(name);
    let docs = docs(&texts);
    let zstd = Compression::ZSTD(ZstdLevel::default());
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        zstd,
        Compression::LZ4_RAW,
        Compression::LZ4,
    ] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for (group, numbered) in [(7, true), (1000, false)] {
                let written = Written { compression, version, group, numbered };
                tables::parquet(&path("in.parquet"), &docs, written);
                let (schema, metadata, packed, rows) = tables::parquet_says(&path("in.parquet"));
                for options in rules() {
                    // The day of a row is the later the lower its number.
                    let expected = kept(&docs, &options);
                    let inputs = [Input::File(path("in.parquet"))];
                    let summary = run(&inputs, &to(path("out.parquet")), &options).unwrap();
                    assert_eq!((summary.read, summary.rejected), (60, 6));
                    assert_eq!(summary.kept, expected.len() as u64);
                    let out = tables::parquet_says(&path("out.parquet"));
                    assert_eq!((&out.0, &out.1), (&schema, &metadata));
                    if compression != Compression::LZ4 {
                        assert_eq!(out.2, packed);
                    }
                    let of = |&id: &i64| rows[id as usize].clone();
                    assert_eq!(out.3, expected.iter().map(of).collect::<Vec<_>>());
                }
            }
        }
    }
}

#[test]
fn rows_of_arrow_are_kept_with_schema_metadata_order_and_values() {
    let (folder, texts) = (tempfile::tempdir().unwrap(), texts());
    let path = |name: &str| folder.path().join(name);
    let docs = docs(&texts);
    for stored in [Texts::Utf8, Texts::Large, Texts::View, Texts::Numbered] {
        let whole = tables::batch(&docs, stored);
        for stream in [false, true] {
            for packed in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
                let parts: Vec<_> =
                    (0..60).step_by(25).map(|at| whole.slice(at, 25.min(60 - at))).collect();
                tables::arrow(&path("in.arrow"), &parts, stream, packed);
                for mut options in rules() {
                    let expected = kept(&docs, &options);
                    if let Keep::Field { path, .. } = &mut options.dedup.keep {
                        *path = "body.day".into();
                    }
                    let inputs = [Input::File(path("in.arrow"))];
                    let summary = run(&inputs, &to(path("out.arrow")), &options).unwrap();
                    assert_eq!((summary.read, summary.rejected), (60, 6), "{stored:?} {packed:?}");
                    let out = tables::arrow_says(&path("out.arrow"), stream);
                    let mask: BooleanArray =
                        (0..60).map(|id| Some(expected.contains(&id))).collect();
                    let expected = filter_record_batch(&whole, &mask).unwrap();
                    assert_eq!(out.schema(), whole.schema());
                    assert_eq!(out, expected, "{stored:?} {packed:?}");
                }
            }
        }
    }
}

#[test]
fn the_text_of_a_row_may_be_several_columns_and_rejects_name_file_and_row() {
    let (folder, texts) = (tempfile::tempdir().unwrap(), texts());
    let path = |name: &str| folder.path().join(name);
    let docs = docs(&texts);
    tables::parquet(&path("in.parquet"), &docs, Written::default());
    tables::arrow(&path("in.arrow"), &[tables::batch(&docs, Texts::View)], false, None);
    for name in ["in.parquet", "in.arrow"] {
        let outputs =
            Outputs { rejects: Some(Target::File(path("rejects"))), ..Outputs::default() };
        let inputs = [Input::File(path(name))];
        let summary = run(&inputs, &outputs, &options(Cluster::default(), Keep::First)).unwrap();
        assert_eq!((summary.read, summary.rejected), (60, 6));
        let rejects = fs::read_to_string(path("rejects")).unwrap();
        let first: Value = serde_json::from_str(rejects.lines().next().unwrap()).unwrap();
        assert!(first["file"].as_str().unwrap().ends_with(name));
        assert_eq!((&first["line"], &first["raw"]), (&10.into(), &"{\"id\":9}".into()));
        assert_eq!(first["reason"], "no field body.text");
        // Where one of several columns is null, the others are the text.
        let other = if name == "in.parquet" { "name" } else { "text" };
        let both = Fields::new("body.text", "id").unwrap().with_more([other]).unwrap();
        let options = FileOptions { fields: both, ..FileOptions::default() };
        let rejected = run(&inputs, &Outputs::default(), &options).unwrap().rejected;
        assert_eq!(rejected, if name == "in.parquet" { 0 } else { 6 });
    }
}

#[test]
fn several_files_known_files_and_pairs_read_as_lines_do() {
    let (folder, texts) = (tempfile::tempdir().unwrap(), texts());
    let path = |name: &str| folder.path().join(name);
    let docs = docs(&texts);
    let (old, new) = docs.split_at(20);
    let options = options(Cluster::Representative, Keep::First);
    for format in ["jsonl", "parquet", "arrow"] {
        for (name, docs) in [("old", old), ("new", new)] {
            let path = path(&format!("{name}.{format}"));
            match format {
                "jsonl" => fs::write(path, lines(docs)).unwrap(),
                "parquet" => tables::parquet(&path, docs, Written::default()),
                _ => tables::arrow(&path, &[tables::batch(docs, Texts::Numbered)], true, None),
            }
        }
    }
    let input = |name: &str, format: &str| [Input::File(path(&format!("{name}.{format}")))];
    let stopped = AtomicBool::new(false);
    let mut expected: Option<(u64, u64, String)> = None;
    for format in ["jsonl", "parquet", "arrow"] {
        let (old, new) = (input("old", format), input("new", format));
        let out = path(&format!("out.{format}"));
        let known = dedup_new_files(&new, &old, &to(out.clone()), &options, &|_| {}, &stopped);
        let known = known.unwrap();
        let both = [old, new].map(|[input]| input);
        let all = run(&both, &to(out.clone()), &options).unwrap();
        let edges = LineOutputs { lines: Some(Target::File(path("pairs"))), ..Default::default() };
        pairs_files(&both, &edges, &options, &|_| {}, &stopped).unwrap();
        let pairs = fs::read_to_string(path("pairs")).unwrap();
        let says = (known.kept, all.kept, pairs);
        match &expected {
            None => expected = Some(says),
            Some(expected) => assert_eq!(&says, expected, "{format}"),
        }
        match format {
            "parquet" => assert_eq!(tables::parquet_says(&out).3.len() as u64, all.kept),
            "arrow" => assert_eq!(tables::arrow_says(&out, true).num_rows() as u64, all.kept),
            _ => {}
        }
    }
    // Known files may have another format than those that are written.
    let news = input("new", "parquet");
    let known = input("old", "jsonl");
    let out = path("mixed.parquet");
    let summary =
        dedup_new_files(&news, &known, &to(out.clone()), &options, &|_| {}, &stopped).unwrap();
    assert_eq!(summary.kept, expected.unwrap().0);
    assert_eq!(tables::parquet_says(&out).3.len() as u64, summary.kept);
}

#[test]
fn what_cannot_be_is_said_before_anything_is_replaced() {
    let (folder, texts) = (tempfile::tempdir().unwrap(), texts());
    let path = |name: &str| folder.path().join(name);
    let docs = docs(&texts);
    tables::parquet(&path("a.parquet"), &docs, Written::default());
    tables::arrow(&path("a.arrow"), &[tables::batch(&docs, Texts::Utf8)], false, None);
    tables::arrow(&path("b.arrow"), &[tables::batch(&docs, Texts::Large)], false, None);
    fs::write(path("x.parquet"), "id,text\n1,x\n").unwrap();
    fs::write(path("x.feather"), "").unwrap();
    fs::write(path("precious.parquet"), "precious").unwrap();
    let fields = |text: &str, id: &str| FileOptions {
        fields: Fields::new(text, id).unwrap(),
        ..FileOptions::default()
    };
    let outputs = || to(path("precious.parquet"));
    let named = |name: &str| to(path(name));
    for (inputs, outputs, options, told) in [
        (
            vec!["a.parquet"],
            outputs(),
            fields("text", "id"),
            "no column text; its columns are id, body.text, name",
        ),
        (
            vec!["a.parquet"],
            outputs(),
            fields("score", "id"),
            "column score is DOUBLE, not text; columns with text are body.text, name",
        ),
        (vec!["a.parquet"], outputs(), fields("name", "price"), "column price is Decimal"),
        (vec!["a.parquet"], outputs(), fields("tags.list.element", "id"), "a list of"),
        (
            vec!["a.arrow"],
            to(path("precious.arrow")),
            fields("id", "id"),
            "column id is Int64, not text; columns with text are body.text, text",
        ),
        (
            vec!["a.arrow"],
            to(path("precious.arrow")),
            fields("texts", "id"),
            "its columns are body.day, body.text, id, text",
        ),
        (vec!["x.parquet"], outputs(), fields("text", "id"), "it does not end with PAR1"),
        (vec!["x.feather"], named("o.arrow"), fields("text", "id"), "it has no schema"),
        (vec!["a.parquet", "a.arrow"], outputs(), fields("body.text", "id"), "files of one format"),
        (vec!["a.arrow", "b.arrow"], named("o.arrow"), fields("text", "id"), "the same columns"),
        (
            vec!["a.parquet"],
            named("o.jsonl"),
            fields("name", "id"),
            "a name for the format of the inputs",
        ),
        (vec!["a.parquet"], named("o.parquet.gz"), fields("name", "id"), "compressed already"),
    ] {
        let inputs: Vec<Input> = inputs.iter().map(|name| Input::File(path(name))).collect();
        let error = run(&inputs, &outputs, &options).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    let marks = Outputs { duplicates: Duplicates::Mark, ..outputs() };
    let encoded = Outputs { encoding: Some(Encoding::UTF_8), ..outputs() };
    for (outputs, argument) in [(marks, "mark"), (encoded, "output_encoding")] {
        let error = run(&[Input::File(path("a.parquet"))], &outputs, &fields("name", "id"));
        let Err(DedupError::Option { argument: refused, .. }) = error else { panic!("{error:?}") };
        assert_eq!(refused, argument);
    }
    for (name, form, argument) in [
        ("a.parquet", Form { header: false, ..Form::default() }, "header"),
        ("a.arrow", Form { delimiter: Some(b';'), ..Form::default() }, "delimiter"),
        ("a.parquet", Form { encoding: Some(Encoding::UTF_8), ..Form::default() }, "encoding"),
        ("a.arrow", Form { encoding: Encoding::named("gbk"), ..Form::default() }, "encoding"),
    ] {
        let text = if name == "a.arrow" { "body.text" } else { "name" };
        let options = FileOptions { form, ..fields(text, "id") };
        let error = run(&[Input::File(path(name))], &outputs(), &options);
        let Err(DedupError::Option { argument: refused, value, .. }) = error else {
            panic!("{error:?}")
        };
        let format = if name == "a.arrow" { "Arrow" } else { "Parquet" };
        assert_eq!((refused, value), (argument, format!("{} ({format})", path(name).display())));
    }
    // Streams cannot be read from their end, and are known by their beginning.
    for (name, form) in [
        ("a.parquet", Form::default()),
        ("a.arrow", Form::default()),
        ("x.parquet", Form { format: Some(Format::Parquet), ..Form::default() }),
    ] {
        let input = [Input::stream("-", fs::File::open(path(name)).unwrap())];
        let options = FileOptions { form, ..FileOptions::default() };
        let error = run(&input, &outputs(), &options).unwrap_err().to_string();
        assert!(error.contains("is read from a file, not from a stream"), "{error}");
    }
    assert_eq!(fs::read_to_string(path("precious.parquet")).unwrap(), "precious");
    assert!(!path("o.arrow").exists() && !path("o.jsonl").exists());
}

/// Runs over what is left of a file after damage: every row is accounted for, or the error names the file.
fn damaged(path: &Path, bytes: &[u8], options: &FileOptions) {
    fs::write(path, bytes).unwrap();
    let out = path.with_file_name("out");
    match run(&[Input::File(path.to_owned())], &to(out.clone()), options) {
        Ok(summary) => {
            assert_eq!(summary.read, summary.kept + summary.duplicates + summary.rejected);
        }
        Err(error) => {
            assert!(
                error.to_string().contains("in.") || matches!(error, DedupError::NoRecords { .. }),
                "{error}"
            );
            assert!(!out.exists(), "{error}");
        }
    }
    let _ = fs::remove_file(out);
}

#[test]
fn damage_is_an_error_or_a_row_that_is_rejected_never_a_panic() {
    let (folder, texts) = (tempfile::tempdir().unwrap(), texts());
    let path = |name: &str| folder.path().join(name);
    let docs = &docs(&texts)[..12];
    let options = options(Cluster::Representative, Keep::First);
    // A generator of its own: the same damage in every run.
    let mut state = 88_172_645_463_325_252u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    let written = Written { group: 5, ..Written::default() };
    tables::parquet(&path("in.parquet"), docs, written);
    tables::arrow(
        &path("in.arrow"),
        &[tables::batch(docs, Texts::Numbered)],
        false,
        Some(CompressionType::ZSTD),
    );
    tables::arrow(&path("in.arrows"), &[tables::batch(docs, Texts::View)], true, None);
    for name in ["in.parquet", "in.arrow", "in.arrows"] {
        let whole = fs::read(path(name)).unwrap();
        for round in 0..300 {
            let mut bytes = whole.clone();
            match round % 3 {
                0 => bytes.truncate(random() % whole.len()),
                1 => {
                    let at = random() % whole.len();
                    bytes[at] ^= 1 << (random() % 8);
                }
                _ => {
                    let at = random() % whole.len();
                    let end = (at + 1 + random() % 8).min(whole.len());
                    bytes[at..end].fill([0, 0x7f, 0xff][random() % 3]);
                }
            }
            damaged(&path(name), &bytes, &options);
        }
    }
}
