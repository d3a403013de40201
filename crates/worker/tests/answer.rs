//! The texts that were asked for, by positions or by a stream that says for whom each is.
#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use arrow_array::{
    ArrayRef, BinaryArray, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{Field, Schema};
use common::{program, rows_of, rows_stream};
use simhash_worker::Recipe;
use simhash_worker::blob::{pack_positions, texts};
use simhash_worker::rows::Row;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A stream of these columns.
fn stream(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let field =
        |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<Field>>()));
    let columns = columns.into_iter().map(|one| one.1).collect();
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(&RecordBatch::try_new(schema, columns).unwrap()).unwrap();
    writer.into_inner().unwrap()
}

fn positions(of: &[i64]) -> (&'static str, ArrayRef) {
    ("pos", Arc::new(Int64Array::from(of.to_vec())))
}

fn parts(of: &[Option<i32>]) -> (&'static str, ArrayRef) {
    ("part", Arc::new(Int32Array::from(of.to_vec())))
}

fn lines(of: &[&str]) -> (&'static str, ArrayRef) {
    ("line", Arc::new(of.iter().map(|line| Some(line.as_bytes())).collect::<BinaryArray>()))
}

/// Texts by part, in the order in which they come.
fn answered(arguments: &[&str], input: &[u8]) -> BTreeMap<i32, Vec<(u64, String)>> {
    let ended = program(arguments, input);
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let (own, mut found) = (Recipe::new("{}").unwrap(), BTreeMap::<i32, Vec<_>>::new());
    for row in rows_of(&ended.stdout, "{}") {
        assert_eq!(row.kind, "text");
        let blob = row.blob.unwrap();
        texts(&blob, &own, |pos, text| {
            let text = String::from_utf8(blob[text].to_vec()).unwrap();
            found.entry(row.part).or_default().push((pos, text));
        })
        .unwrap();
    }
    found
}

fn refused(arguments: &[&str], input: &[u8], words: &str) {
    let ended = program(arguments, input);
    let line = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.code() == Some(3) && line.lines().count() == 1, "{line}");
    assert!(line.contains(words), "{line}");
}

fn text(pos: u64, text: &str) -> (u64, String) {
    (pos, text.into())
}

#[test]
fn a_stream_says_for_whom_each_text_is() {
    let asking = [Some(5), Some(2), Some(5), Some(0)];
    let expected =
        BTreeMap::from([(2, vec![text(3, "甲")]), (5, vec![text(3, "甲"), text(8, "乙\n")])]);
    // The last one is no record.
    let of = ["{\"text\":\"甲\"}", "{\"text\":\"甲\"}\n", "{\"text\":\"乙\\n\"}\n", "{}\n"];
    let input = stream(vec![positions(&[3, 3, 8, 9]), lines(&of), parts(&asking)]);
    assert_eq!(answered(&["answer"], &input), expected);
    let short: ArrayRef =
        Arc::new(StringArray::from(vec![Some("甲"), Some("甲"), Some("乙\n"), None]));
    let long: ArrayRef =
        Arc::new(LargeStringArray::from(vec![Some("甲"), Some("甲"), Some("乙\n"), None]));
    for column in [short, long] {
        let input = stream(vec![parts(&asking), ("text", column), positions(&[3, 3, 8, 9])]);
        assert_eq!(answered(&["answer"], &input), expected);
    }
    let of = ["{\"body\":{\"own\":\"丙\"},\"text\":\"甲\"}"];
    let input = stream(vec![positions(&[4]), lines(&of), parts(&[Some(1)])]);
    let found = answered(&["answer", "--text-field", "body.own"], &input);
    assert_eq!(found, BTreeMap::from([(1, vec![text(4, "丙")])]));
}

#[test]
fn a_stream_that_says_not_for_whom_is_refused() {
    let of = ["{\"text\":\"甲\"}"];
    let missing = stream(vec![positions(&[3]), lines(&of)]);
    refused(&["answer"], &missing, "column part is missing");
    let null = stream(vec![positions(&[3]), lines(&of), parts(&[None])]);
    refused(&["answer"], &null, "part must be a whole number in every row");
}

/// A folder with a file of rows in which positions are wanted by parts.
fn wants(of: &[(i32, &[u64])]) -> (tempfile::TempDir, PathBuf) {
    let own = Recipe::new("{}").unwrap();
    let row = |&(part, wanted): &(i32, &[u64])| {
        let blob = Some(pack_positions(wanted, &own));
        Row { kind: "want".into(), part, blob, ..Row::default() }
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wants.arrow");
    std::fs::write(&path, rows_stream(&of.iter().map(row).collect::<Vec<Row>>(), "{}")).unwrap();
    (folder, path)
}

#[test]
fn a_text_goes_to_a_part_once_however_often_it_is_asked_for() {
    let (folder, path) = wants(&[(1, &[0, 9]), (7, &[9]), (1, &[9, 0]), (1, &[40])]);
    let path = path.to_str().unwrap();
    let of = ["{\"text\":\"甲\"}", "{\"text\":\"乙\"}", "{\"text\":\"丙\"}"];
    let input = stream(vec![positions(&[0, 3, 9]), lines(&of)]);
    let expected =
        BTreeMap::from([(1, vec![text(0, "甲"), text(9, "丙")]), (7, vec![text(9, "丙")])]);
    assert_eq!(answered(&["answer", "--kinds", "want", path], &input), expected);
    // The same from a file: positions are the bytes at which lines begin.
    let file = folder.path().join("in.jsonl");
    let before = "{}\n\n";
    std::fs::write(&file, format!("{before}{{\"text\":\"丁\"}}\n")).unwrap();
    let at = before.len() as u64;
    let (_folder, path) = wants(&[(1, &[at, 0]), (1, &[at])]);
    let arguments =
        ["answer", "--file", file.to_str().unwrap(), "--number", "0", "--kinds", "want"];
    let arguments = [&arguments[..], &[path.to_str().unwrap()]].concat();
    assert_eq!(answered(&arguments, &[]), BTreeMap::from([(1, vec![text(at, "丁")])]));
}

#[test]
fn what_a_text_is_kept_by_is_read_from_lines_too() {
    let recipe = r#"{"keep":"largest"}"#;
    let of = ["{\"text\":\"甲\",\"at\":7}", "{\"text\":\"甲\",\"at\":\"b\"}", "{\"text\":\"甲\"}"];
    let as_lines = stream(vec![positions(&[0, 1, 2]), lines(&of)]);
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["甲"; 3]));
    let keys: ArrayRef = Arc::new(StringArray::from(vec![None, Some("b"), None]));
    let numbers: ArrayRef = Arc::new(StringArray::from(vec![Some("7"), None, None]));
    let as_columns =
        stream(vec![positions(&[0, 1, 2]), ("text", texts), ("key", keys), ("number", numbers)]);
    let own = program(&["sketch", "--recipe", recipe, "--keep-by", "at"], &as_lines);
    let other = program(&["sketch", "--recipe", recipe], &as_columns);
    assert!(own.status.success() && other.status.success());
    assert_eq!(rows_of(&own.stdout, recipe), rows_of(&other.stdout, recipe));
    let without = program(&["sketch", "--recipe", recipe], &as_lines);
    assert_ne!(rows_of(&own.stdout, recipe), rows_of(&without.stdout, recipe));
}
