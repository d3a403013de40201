//! An index made of files answers with the edges that `match_files` finds, and loses no id.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::corpus;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_ipc::reader::FileReader;
use proptest::prelude::*;
use serde_json::{Value, json};
use simhash_dedup::live::{LiveIndex, LiveMethod, LiveOptions, Search, Verify};
use simhash_dedup::{
    DedupError, DedupOptions, ExportFormat, FileOptions, FingerprintOptions, Input, LineOutputs,
    MatchOptions, Method, ReadOptions, SavedIndex, Summary, Target, fingerprint_files, match_files,
};
use simhash_index::bands::BandPlan;
use simhash_sketch::{ExtractorOptions, Fingerprinter, FingerprinterOptions, Scratch};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

static CANCEL: AtomicBool = AtomicBool::new(false);

/// The same method for a batch and for an index.
fn methods() -> [(Method, LiveMethod); 4] {
    let mut bands = LiveMethod::minhash();
    let few = BandPlan { bands: 20, rows: 4 };
    if let LiveMethod::MinHash { plan, .. } = &mut bands {
        *plan = Some(few);
    }
    let mut longest = LiveMethod::sentences();
    if let LiveMethod::Sentences { count, .. } = &mut longest {
        *count = 2;
    }
    let mut near = LiveMethod::simhash();
    if let LiveMethod::SimHash { max_distance, .. } = &mut near {
        *max_distance = Some(Method::MAX_DISTANCE);
    }
    [
        (Method::MinHash { plan: Some(few) }, bands),
        (Method::SimHash { max_distance: Method::MAX_DISTANCE }, near),
        (Method::Sentences { count: 2 }, longest),
        (Method::Exact, LiveMethod::Exact),
    ]
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> [Input; 1] {
    fs::write(folder.join(name), content).unwrap();
    [Input::File(folder.join(name))]
}

/// Records whose ids are in turn strings, numbers, digits, and absent.
fn records(texts: &[String], prefix: &str) -> String {
    let line = |(row, text): (usize, &String)| {
        let record = match row % 4 {
            0 => json!({ "id": format!("{prefix}{row}"), "text": text }),
            1 => json!({ "id": row, "text": text }),
            2 => json!({ "id": row.to_string(), "text": text }),
            _ => json!({ "text": text }),
        };
        format!("{record}\n")
    };
    texts.iter().enumerate().map(line).collect::<Vec<_>>().concat()
}

/// The id that a row has there.
fn id(row: usize, prefix: &str) -> Value {
    match row % 4 {
        0 => json!(format!("{prefix}{row}")),
        1 => json!(row),
        2 => json!(row.to_string()),
        _ => json!(row + 1),
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn saved(folder: &Path) -> SavedIndex {
    SavedIndex { path: folder.join("index"), words: ExtractorOptions::default() }
}

fn build(folder: &Path, made: &LiveOptions, inputs: &[Input]) -> Result<Summary, DedupError> {
    let options = ReadOptions::default();
    let _ = fs::remove_dir_all(folder.join("index"));
    let built = saved(folder).build(made, inputs, None, &options, &|_| {}, &CANCEL);
    built.map(|(summary, _)| summary)
}

fn query(folder: &Path, inputs: &[Input], search: &Search) -> Vec<Value> {
    let lines_to = Some(Target::File(folder.join("found")));
    let outputs = LineOutputs { lines: lines_to, rejects: None };
    let options = ReadOptions::default();
    saved(folder).query(inputs, &outputs, search, &options, &|_| {}, &CANCEL).unwrap();
    lines(&folder.join("found"))
}

/// Of what an index answers what is left where the first of equal texts stands for all.
fn firsts(mut line: Value, text: &str, old: &[String], first: &BTreeMap<String, usize>) -> Value {
    let normal = |text: &str| {
        let by = Fingerprinter::new(&FingerprinterOptions::default()).unwrap();
        by.normalize(text, &mut Scratch::default()).to_owned()
    };
    let copies: BTreeSet<String> = (0..old.len())
        .filter(|&row| first.get(&normal(&old[row])).is_some_and(|&first| first != row))
        .map(|row| id(row, "o").to_string())
        .collect();
    let found = line["matches"].as_array_mut().unwrap();
    found.retain(|found| !copies.contains(&found["id"].to_string()));
    if let Some(&row) = first.get(&normal(text)) {
        found.retain(|found| found["id"] == id(row, "o"));
    }
    line
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_query_of_an_index_finds_the_edges_that_matching_files_finds(
        texts in corpus(60),
        least in prop::option::of(prop::sample::select(vec![0.3, 0.8, 0.95])),
        split in 20..40usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (old, new) = texts.split_at(split);
        let against = write(folder, "old", records(old, "o"));
        let news = write(folder, "new", records(new, "n"));
        let by = Fingerprinter::new(&FingerprinterOptions::default()).unwrap();
        let mut first = BTreeMap::new();
        for (row, text) in old.iter().enumerate() {
            first.entry(by.normalize(text, &mut Scratch::default()).to_owned()).or_insert(row);
        }
        first.remove("");
        for (batch, live) in methods() {
            let dedup = DedupOptions { method: batch, min_similarity: least, ..DedupOptions::default() };
            let files = FileOptions { dedup, ..FileOptions::default() };
            let outputs = LineOutputs { lines: Some(Target::File(folder.join("out"))), rejects: None };
            let how = MatchOptions { files, limit: None };
            match_files(&news, &against, &outputs, &how, &|_| {}, &CANCEL).unwrap();
            let expected = lines(&folder.join("out"));
            let verify = least.map(|least| Verify { least, ..Verify::default() });
            let made = LiveOptions { method: live, verify, ..LiveOptions::default() };
            let summary = build(folder, &made, &against).unwrap();
            prop_assert_eq!((summary.read, summary.kept), (split as u64, split as u64));
            let found = query(folder, &news, &Search::default());
            prop_assert_eq!(found.len(), expected.len());
            for ((found, expected), text) in found.into_iter().zip(expected).zip(new) {
                if by.normalize(text, &mut Scratch::default()).is_empty() {
                    prop_assert_eq!(found, expected);
                    continue;
                }
                let mut found = firsts(found, text, old, &first);
                let mut expected = expected;
                if least.is_none() {
                    // Nobody has compared the texts: equal ones are told by the files alone, and the order is that of the method.
                    for line in [&mut found, &mut expected] {
                        let matches = line["matches"].as_array_mut().unwrap();
                        for found in matches.iter_mut() {
                            found.as_object_mut().unwrap().remove("similarity");
                        }
                        matches.sort_by_key(Value::to_string);
                    }
                }
                prop_assert_eq!(found, expected, "{:?} {:?}", batch, text);
            }
        }
    }
}

#[test]
fn adding_is_building_with_both_and_ids_stay_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let texts: Vec<String> = (0..12)
        .map(|row| format!("第{row}季度营业收入同比增长百分之十二净利润同比增长{row}"))
        .collect();
    let (first, second) = texts.split_at(5);
    let one = write(folder, "one", records(first, "x"));
    let two = write(folder, "two", records(second, "y"));
    let both = [&one[..], &two[..]].concat_names();
    let made = LiveOptions::default();
    build(folder, &made, &both).unwrap();
    let whole = query(folder, &both, &Search::default());
    build(folder, &made, &one).unwrap();
    let options = ReadOptions::default();
    let (summary, live) = saved(folder).add(&two, None, &options, &|_| {}, &CANCEL).unwrap();
    assert_eq!((summary.read, live.len()), (7, 12));
    assert!(live.options().stored.keys);
    let found = query(folder, &two, &Search::default());
    // Ids made of positions name the file where there are several.
    let same = |line: &Value| line["id"].as_str().is_none_or(|id| !id.contains(':'));
    let expected: Vec<&Value> = whole[5..].iter().filter(|line| same(line)).collect();
    assert!(expected.len() > 4);
    for line in expected {
        let again = found.iter().find(|found| found["id"] == line["id"]).unwrap();
        assert_eq!(
            again["matches"].as_array().map(Vec::len),
            line["matches"].as_array().map(Vec::len)
        );
    }
}

/// Inputs again, by their names.
trait Named {
    fn concat_names(&self) -> Vec<Input>;
}

impl Named for [&[Input]; 2] {
    fn concat_names(&self) -> Vec<Input> {
        self.iter()
            .flat_map(|inputs| inputs.iter())
            .map(|input| Input::File(input.name()))
            .collect()
    }
}

/// Every file of a folder, by its path there.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            let within = tree(&entry.path()).into_iter();
            files.extend(within.map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        } else {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    files
}

#[test]
fn an_index_is_made_and_added_to_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let good = write(folder, "good", records(&["今天多云转小雨".to_owned()], "a"));
    let bad = write(folder, "bad", "x\ny\n");
    let made = LiveOptions::default();
    let rejects = || Some(Target::File(folder.join("rejects")));
    let options = ReadOptions::default();
    let none = |_: &simhash_dedup::Progress| {};
    let cancelled = AtomicBool::new(true);
    let error = saved(folder).build(&made, &good, None, &options, &none, &cancelled).unwrap_err();
    assert!(matches!(error, DedupError::Cancelled), "{error:?}");
    let error = build(folder, &made, &bad).unwrap_err();
    assert!(matches!(error, DedupError::NoRecords { rejected: 2, .. }), "{error:?}");
    assert!(!folder.join("index").exists());

    build(folder, &made, &good).unwrap();
    let before = tree(&folder.join("index"));
    let error = saved(folder).build(&made, &good, None, &options, &none, &CANCEL).unwrap_err();
    assert!(error.to_string().contains("holds an index already"), "{error}");
    let error = saved(folder).add(&bad, rejects().as_ref(), &options, &none, &CANCEL).unwrap_err();
    assert!(matches!(error, DedupError::NoRecords { rejected: 2, .. }), "{error:?}");
    let error = saved(folder).add(&good, None, &options, &none, &cancelled).unwrap_err();
    assert!(matches!(error, DedupError::Cancelled), "{error:?}");
    assert_eq!(lines(&folder.join("rejects")).len(), 2);
    // Nothing is written among its own files.
    let own = || Some(Target::File(folder.join("index").join("own")));
    let outputs = LineOutputs { lines: own(), rejects: None };
    let search = Search::default();
    for error in [
        saved(folder).add(&good, own().as_ref(), &options, &none, &CANCEL).map(|_| ()),
        saved(folder).query(&good, &outputs, &search, &options, &none, &CANCEL).map(|_| ()),
        saved(folder).export(&own().unwrap(), ExportFormat::Csv, &CANCEL).map(|_| ()),
    ] {
        let error = error.unwrap_err().to_string();
        assert!(error.contains("in the folder of the index"), "{error}");
    }
    let mut after = tree(&folder.join("index"));
    after.remove("LOCK");
    assert_eq!(after, before.into_iter().filter(|(name, _)| name != "LOCK").collect());
    let left: Vec<String> = tree(folder).into_keys().filter(|name| !name.contains('/')).collect();
    assert_eq!(left, ["bad", "good", "rejects"]);
}

#[test]
fn a_folder_that_holds_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let inputs = write(folder, "in", records(&["今天多云转小雨".to_owned()], "a"));
    let (options, none) = (ReadOptions::default(), |_: &simhash_dedup::Progress| {});
    let at = folder.join("index");
    let build = || {
        let built =
            saved(folder).build(&LiveOptions::default(), &inputs, None, &options, &none, &CANCEL);
        built.map(|(summary, _)| summary)
    };
    let add = || saved(folder).add(&inputs, None, &options, &none, &CANCEL).map(|_| ());
    let says = |error: DedupError, what: &str| {
        assert!(error.to_string().contains(what), "{error}");
    };
    says(add().unwrap_err(), "cannot read");
    fs::write(&at, "a file").unwrap();
    says(build().unwrap_err(), "it is a file; name the folder of an index");
    fs::remove_file(&at).unwrap();
    fs::create_dir(&at).unwrap();
    says(add().unwrap_err(), "it holds no index");
    fs::write(at.join("letter"), "foreign").unwrap();
    says(build().unwrap_err(), "other files (letter)");
    says(add().unwrap_err(), "it holds no index");
    assert_eq!(tree(&at).len(), 1);
    fs::remove_file(at.join("letter")).unwrap();
    // An empty folder is as good as none.
    assert_eq!(build().unwrap().kept, 1);
    let how = simhash_dedup::live::OpenOptions::default();
    let held = LiveIndex::open_directory(&at, &LiveOptions::default(), how, &CANCEL).unwrap();
    says(add().unwrap_err(), &format!("process {}", std::process::id()));
    // Readers need no lock.
    assert_eq!(query(folder, &inputs, &Search::default()).len(), 1);
    assert_eq!(saved(folder).verify(&CANCEL).unwrap().live.len(), 1);
    drop(held);
    add().unwrap();
    assert_eq!(saved(folder).open(&CANCEL).unwrap().len(), 2);
}

/// What was exported, without the line of names.
fn exported(folder: &Path, format: ExportFormat) -> Vec<String> {
    let output = Target::File(folder.join("exported"));
    let (count, _, live) = saved(folder).export(&output, format, &CANCEL).unwrap();
    assert_eq!(count, live.len());
    let text = fs::read_to_string(folder.join("exported")).unwrap();
    let skipped = usize::from(format == ExportFormat::Csv);
    text.lines().skip(skipped).map(str::to_owned).collect()
}

/// What was exported as a file of Arrow, as lines of JSON would have it behind the id.
fn columns(folder: &Path) -> Vec<String> {
    let output = Target::File(folder.join("exported.arrow"));
    let format = ExportFormat::of(&output);
    assert_eq!(format, ExportFormat::Arrow);
    let (count, _, live) = saved(folder).export(&output, format, &CANCEL).unwrap();
    let file = fs::File::open(folder.join("exported.arrow")).unwrap();
    let reader = FileReader::try_new(file, None).unwrap();
    assert_eq!(reader.schema().metadata()["simhash.recipe"], live.made_by());
    let mut found = Vec::new();
    for batch in reader.map(Result::unwrap) {
        let column = |name: &str| batch.column_by_name(name);
        let hex = |what: &str, row: usize| -> Option<String> {
            let cells = column(what).filter(|cells| cells.is_valid(row))?;
            Some(match what {
                "fingerprint" => format!("{:016x}", cells.as_primitive::<UInt64Type>().value(row)),
                "hash" => {
                    let bytes = cells.as_fixed_size_binary().value(row);
                    format!("={:032x}", u128::from_be_bytes(bytes.try_into().unwrap()))
                }
                "signature" => {
                    let list = cells.as_list::<i32>().value(row);
                    let list = list.as_primitive::<UInt32Type>().values().iter();
                    list.fold(String::new(), |text, one| text + &format!("{one:08x}"))
                }
                _ => {
                    let list = cells.as_list::<i32>().value(row);
                    let list = list.as_primitive::<UInt64Type>().values().iter();
                    list.fold(String::new(), |text, one| text + &format!("{one:016x}"))
                }
            })
        };
        let own = ["fingerprint", "signature", "sentences"];
        let own = own.into_iter().find(|name| column(name).is_some());
        for row in 0..batch.num_rows() {
            let number = column("number").unwrap().as_primitive::<UInt64Type>().value(row);
            let known = own.and_then(|own| hex(own, row)).or_else(|| hex("hash", row));
            let known = known.map(|known| format!(r#","{}":"{known}""#, own.unwrap_or("hash")));
            let known = known.unwrap_or_default();
            let id = column("id").unwrap().as_string::<i32>().value(row);
            assert_eq!(Some(id), live.key_of(number).as_deref());
            found.push(format!(r#""number":{number}{known}}}"#));
        }
    }
    assert_eq!(found.len() as u64, count);
    found
}

#[test]
fn an_export_has_what_the_index_knows_each_document_by() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text =
        |row: usize| format!("第{row}季度营业收入同比增长百分之十二净利润同比增长{row}，甲乙丙");
    let mut texts: Vec<String> = (0..9_000).map(text).collect();
    texts[3] = "短".into();
    texts[4] = String::new();
    let inputs = write(folder, "in", records(&texts, "a\",\"b"));
    for (_, method) in methods() {
        let minhash = matches!(method, LiveMethod::MinHash { .. });
        let name = method.name();
        let mut made = LiveOptions { method, ..LiveOptions::default() };
        if minhash {
            made.stored.longest_text = None;
        }
        build(folder, &made, &inputs).unwrap();
        let found = exported(folder, ExportFormat::JsonLines);
        assert_eq!(found.len(), texts.len());
        for (row, line) in found.iter().enumerate() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!((&line["id"], &line["number"]), (&id(row, "a\",\"b"), &json!(row)));
            let what = match name {
                "simhash" => "fingerprint",
                "minhash" => "signature",
                "exact" => "hash",
                name => name,
            };
            let known = line[what].as_str();
            let expected = match (name, row) {
                (_, 4) => None,
                ("minhash", _) => Some(128 * 8),
                ("exact", _) | (_, 3) => Some(33),
                ("simhash", _) => Some(16),
                _ => Some(known.unwrap().len() / 16 * 16),
            };
            assert_eq!(known.map(str::len), expected, "{name}: {line}");
        }
        if name == "simhash" {
            let to = LineOutputs { lines: Some(Target::File(folder.join("known"))), rejects: None };
            let method = Method::SimHash { max_distance: Method::MAX_DISTANCE };
            let form = simhash_dedup::Form::json_lines();
            let how =
                FingerprintOptions { method, json: true, form, ..FingerprintOptions::default() };
            fingerprint_files(&inputs, &to, &how, &|_| {}, &CANCEL).unwrap();
            for (line, found) in lines(&folder.join("known")).iter().zip(&found).skip(5) {
                let found: Value = serde_json::from_str(found).unwrap();
                assert_eq!(found["fingerprint"], line["fingerprint"], "{found} {line}");
            }
        }
        let csv = exported(folder, ExportFormat::Csv);
        assert!(csv[0].starts_with("\"a\"\",\"\"b0\",0,"), "{}", csv[0]);
        assert_eq!(csv.len(), found.len());
        let behind_ids = |line: &String| line[line.find(r#""number""#).unwrap()..].to_owned();
        let expected: Vec<String> = found.iter().map(behind_ids).collect();
        assert!(columns(folder) == expected, "{name}");
        // A file that `save` has written is read by the same commands.
        let file = folder.join("file");
        saved(folder).open(&CANCEL).unwrap().snapshot().write_file(&file, &CANCEL).unwrap();
        let of_file = SavedIndex { path: file, ..saved(folder) };
        assert_eq!(of_file.verify(&CANCEL).unwrap().live.len(), texts.len() as u64);
        let output = Target::File(folder.join("again"));
        of_file.export(&output, ExportFormat::Csv, &CANCEL).unwrap();
        let (one, two) = (fs::read(folder.join("again")), fs::read(folder.join("exported")));
        assert_eq!(one.unwrap(), two.unwrap());
    }
}

#[test]
fn a_search_that_the_method_cannot_do_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let inputs = write(folder, "in", records(&["今天多云转小雨".to_owned()], "a"));
    let ask = |search: Search| {
        let (options, outputs) = (ReadOptions::default(), LineOutputs::default());
        saved(folder).query(&inputs, &outputs, &search, &options, &|_| {}, &CANCEL).unwrap_err()
    };
    build(folder, &LiveOptions::default(), &inputs).unwrap();
    let error = ask(Search { max_distance: Some(3), ..Search::default() });
    assert!(matches!(error, DedupError::Option { argument: "max_distance", .. }), "{error}");
    let error = ask(Search { limit: Some(0), ..Search::default() });
    assert!(matches!(error, DedupError::OutOfRange { argument: "limit", .. }), "{error}");
    let made = LiveOptions { verify: None, ..LiveOptions::default() };
    build(folder, &made, &inputs).unwrap();
    let error = ask(Search { min_similarity: Some(0.9), ..Search::default() });
    assert!(matches!(error, DedupError::Option { argument: "min_similarity", .. }), "{error}");
}
