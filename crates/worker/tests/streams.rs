//! What a stage does not take, it says in one line.
#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use arrow_array::{ArrayRef, BinaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};
use common::{documents, documents_stream, program, rows_of, rows_stream, worker};
use serde_json::json;
use simhash_worker::Recipe;
use simhash_worker::blob::{Blob, pack_entries, pack_texts, positions, put, put_list};
use simhash_worker::rows::Row;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The stage fails, with one line that has these words.
fn refused(stage: &str, recipe: &str, input: &[u8], words: &str) {
    let ended = worker(stage, recipe, 1, input);
    let line = String::from_utf8(ended.stderr).unwrap();
    assert!(matches!(ended.status.code(), Some(2 | 3)), "{line}");
    assert!(line.starts_with("simhash-native-worker: ") && line.lines().count() == 1, "{line}");
    assert!(line.contains(words), "{line}");
}

fn sketched(recipe: &str) -> Vec<u8> {
    let ended =
        worker("sketch", recipe, 1, &documents_stream(&documents(&["一二三四", "一二三四"])));
    assert!(ended.status.success());
    ended.stdout
}

fn of_kind(stream: &[u8], kind: &str) -> Vec<Row> {
    rows_of(stream, "{}").into_iter().filter(|row| row.kind == kind).collect()
}

#[test]
fn a_stream_that_was_cut_anywhere_is_refused() {
    let whole = documents_stream(&documents(&["一二三四", "五六七八"]));
    for end in 0..whole.len() {
        let ended = worker("sketch", "{}", 1, &whole[..end]);
        let line = String::from_utf8(ended.stderr).unwrap();
        assert!(!ended.status.success() && line.lines().count() == 1, "{end}: {line}");
    }
    assert!(worker("sketch", "{}", 1, &whole).status.success());
}

#[test]
fn rows_of_another_recipe_are_refused_by_schema_and_by_cell() {
    let rows = sketched("{}");
    let other = r#"{"minSimilarity":0.7}"#;
    refused("exact", other, &rows, "rows were made by another recipe");
    // The metadata are those of this stage, as behind an engine that drops them.
    let exact = of_kind(&rows, "exact");
    let input = rows_stream(&exact, other);
    refused("exact", other, &input, "rows were made by another recipe");
    assert!(worker("exact", "{}", 1, &rows_stream(&exact, "{}")).status.success());
}

/// A stream of documents: `pos`, and a column of what they are.
fn column_stream(name: &str, column: ArrayRef, positions: Vec<i64>) -> Vec<u8> {
    let fields = vec![
        Field::new("pos", DataType::Int64, true),
        Field::new(name, column.data_type().clone(), true),
    ];
    let schema = Arc::new(Schema::new(fields));
    let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(positions)), column];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn lines_are_sketched_as_their_texts_are() {
    let texts = ["某地今日发布新规", "", "又一条 \"引\" 新闻"];
    let mut lines: Vec<String> =
        texts.iter().map(|text| json!({ "text": text }).to_string() + "\n").collect();
    // Without a line feed, rejected, blank.
    lines[1].pop();
    lines.extend(["{\"text\":1}\n".into(), " \r\n".into()]);
    let bytes: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    let lines = column_stream("line", Arc::new(BinaryArray::from(bytes)), (0..5).collect());
    let texts = texts.map(Some).into_iter().chain([None]);
    let texts = StringArray::from(texts.collect::<Vec<Option<&str>>>());
    let texts = column_stream("text", Arc::new(texts), (0..4).collect());
    let [own, other] = [lines, texts].map(|input| worker("sketch", "{}", 3, &input));
    assert!(own.status.success() && other.status.success());
    assert_eq!(rows_of(&own.stdout, "{}"), rows_of(&other.stdout, "{}"));
    assert!(rows_of(&own.stdout, "{}").iter().any(|row| row.kind == "key"));
}

#[test]
fn unknown_columns_kinds_options_and_stages_are_refused() {
    let stream = |name: &str, column: ArrayRef, pos: i64| column_stream(name, column, vec![pos]);
    let text = || Arc::new(StringArray::from(vec!["一"])) as ArrayRef;
    refused("sketch", "{}", &stream("body", text(), 0), "column body is not known here");
    let number = Arc::new(Int32Array::from(vec![1]));
    refused("sketch", "{}", &stream("text", number, 0), "column text must be Utf8, got Int32");
    refused("sketch", "{}", &stream("text", text(), -1), "pos must be a whole number");
    assert!(worker("sketch", "{}", 1, &stream("text", text(), 0)).status.success());
    refused(
        "sketch",
        "{}",
        b"{\"text\":\"no Arrow\"}\n",
        "standard input: the Arrow stream is broken",
    );
    refused("exact", "{}", &sketched("{}"), "stage exact knows no rows of kind");
    refused("sketches", "{}", &[], "there is no stage sketches: there are sketch, exact");
    refused("sketch", r#"{"treshold":1}"#, &[], "unknown field `treshold`");
    refused("sketch", r#"{"method":"brute-force"}"#, &[], "no engine spreads");
    refused("sketch", r#"{"method":"simhash"}"#, &[], "maxDistance must be 0 to 4 here");
    refused(
        "sketch",
        r#"{"sentences":3}"#,
        &[],
        "sentences must be given for sentences, got minhash",
    );
    refused(
        "sketch",
        r#"{"keep":"last","against":9}"#,
        &[],
        "keep must be left out beside against",
    );
    refused("sketch", r#"{"limit":9}"#, &[], "limit must be at least 1, and beside against");
    refused("matches", "{}", &rows_stream(&[], "{}"), "needs a recipe with against");
    refused("sketch", r#"{"specification":2}"#, &[], "specification must be 1");
    refused("sketch", r#"{"minSimilarity":2}"#, &[], "from 0 to 1");
    refused("sketch", r#"{"bands":3}"#, &[], "given with rows");
    refused("sketch", r#"{"keep":"best"}"#, &[], "keep must be first, last");
}

/// What a stage counted is read where its rows are kept: Spark keeps those of `pairs`, and not those of `bands` and `texts`.
#[test]
fn counts_go_through_to_where_rows_are_kept() {
    let counted = |rows: &[Row]| -> Vec<(String, i64)> {
        let own = rows.iter().filter(|row| row.kind == "count");
        let name = |row: &Row| String::from_utf8(row.blob.clone().unwrap()).unwrap();
        own.map(|row| (name(row), row.pos.unwrap())).collect()
    };
    let run = |stage: &str, kinds: &[&str], rows: &[Row]| -> Vec<Row> {
        let own = rows.iter().filter(|row| kinds.contains(&row.kind.as_str()));
        let given: Vec<Row> = own.cloned().collect();
        let ended = worker(stage, "{}", 1, &rows_stream(&given, "{}"));
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        rows_of(&ended.stdout, "{}")
    };
    let mut banded = run("bands", &["key"], &rows_of(&sketched("{}"), "{}"));
    // Of two tasks.
    banded.extend(of_kind(&rows_stream(&banded, "{}"), "count"));
    let expected = counted(&banded);
    let names: Vec<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["entries", "shared", "entries", "shared"]);
    assert!(expected.iter().all(|&(_, count)| count > 0));
    let texts = run("texts", &["shared", "count"], &banded);
    assert_eq!(counted(&texts), expected);
    assert_eq!(counted(&run("pairs", &["bucket", "count"], &texts)), expected);
}

#[test]
fn damaged_cells_end_in_a_line_and_never_in_a_panic() {
    let rows = of_kind(&sketched("{}"), "exact");
    let blob = rows[0].blob.clone().unwrap();
    for end in 0..blob.len() {
        let row = Row { blob: Some(blob[..end].to_vec()), ..rows[0].clone() };
        let ended = worker("exact", "{}", 1, &rows_stream(&[row], "{}"));
        let line = String::from_utf8(ended.stderr).unwrap();
        // Cut behind a record it is a whole blob of fewer.
        assert!(ended.status.success() || line.lines().count() == 1, "{end}: {line}");
        assert!(!line.contains("panicked"), "{end}: {line}");
    }
    let keys = of_kind(&sketched("{}"), "key");
    let blob = keys[0].blob.clone().unwrap();
    for at in 8..blob.len() {
        let mut blob = blob.clone();
        blob[at] ^= 0xFF;
        let ended = worker(
            "bands",
            "{}",
            1,
            &rows_stream(&[Row { blob: Some(blob), ..keys[0].clone() }], "{}"),
        );
        let line = String::from_utf8(ended.stderr).unwrap();
        assert!(!line.contains("panicked"), "{at}: {line}");
    }
    let [text, first, second] = [9u64, 2, 5].map(u64::to_be_bytes);
    let mut list = Vec::new();
    put_list([&first[..], &second[..]].into_iter(), &mut list);
    let own = Recipe::new("{}").unwrap();
    let texts = pack_texts(&[(2, "一".into()), (9, String::new()), (5, "短的".into())], &own);
    // As the stages write them: outlines, and whom a text sees by differences.
    let titles = documents(&["春天来了花都开了", "春天来了花都开了呀"]);
    let sketched = rows_of(&worker("sketch", "{}", 1, &documents_stream(&titles)).stdout, "{}");
    let outlines = sketched.iter().find(|row| row.kind == "outline").unwrap();
    let sights = sights_of(1, 3);
    let cells = [
        ("texts", outlines.clone()),
        ("pairs", outlines.clone()),
        ("lists", sights.clone()),
        ("lists", Row { kind: "unseen".into(), ..sights }),
        ("lists", packed("sight", "{}", &[&[&text, &[0], &list]])),
        ("verify", packed("list", "{}", &[&[&text, &list, &[1, 1]]])),
        ("verify", Row { kind: "text".into(), blob: Some(texts), ..Row::default() }),
        ("stars", packed("copy", "{}", &[&[&text, &first]])),
        ("large", packed("edge", "{}", &[&[&first, &text]])),
        ("small", packed("edge", "{}", &[&[&text, &first]])),
        ("group", packed("link", "{}", &[&[&text, &first, &[0; 4], &[0; 8]]])),
        ("waits", packed("link", "{}", &[&[&text, &first, &[0; 4], &[0; 8]]])),
        ("waits", packed("copy", "{}", &[&[&text, &first]])),
        ("round", packed("open", "{}", &[&[&text, &first, &[0; 4], &[0; 8]]])),
        ("round", packed("best", "{}", &[&[&text, &first, &[0; 4], &[0; 8]]])),
        ("round", packed("past", "{}", &[&[&text, &first, &[0; 4], &[0; 8]]])),
        ("round", packed("wait", "{}", &[&[&text, &[0; 4], &[1]]])),
        ("round", packed("copy", "{}", &[&[&text, &first]])),
        ("round", packed("fate", "{}", &[&[&text, &[1]]])),
    ];
    for (stage, row) in cells {
        let blob = row.blob.clone().unwrap();
        let cut = (0..blob.len()).map(|end| blob[..end].to_vec());
        let flipped = (8..blob.len()).flat_map(|at| [0xFF, 0x80, 1].map(|bits| (at, bits))).map(
            |(at, bits)| {
                let mut blob = blob.clone();
                blob[at] ^= bits;
                blob
            },
        );
        for blob in cut.chain(flipped) {
            let row = Row { blob: Some(blob.clone()), ..row.clone() };
            let ended = worker(stage, "{}", 1, &rows_stream(&[row], "{}"));
            let line = String::from_utf8(ended.stderr).unwrap();
            assert!(ended.status.success() || line.lines().count() == 1, "{blob:?}: {line}");
            assert!(!line.contains("panicked"), "{blob:?}: {line}");
        }
    }
}

/// Who sees whom in so many buckets of so many texts, as the stage pairs says it: a cell of differences.
fn sights_of(buckets: u64, texts: u64) -> Row {
    let own = Recipe::new("{}").unwrap();
    let places: Vec<[u8; 8]> = (0..texts).map(|text| (text * 1_000).to_be_bytes()).collect();
    let mut entries: Vec<(u64, u32)> = (1..=buckets)
        .flat_map(|bucket| (0..texts as u32).map(move |text| (bucket << 40, text)))
        .collect();
    let blob = pack_entries(&mut entries, |text| &places[text as usize], &own);
    let row = Row { kind: "bucket".into(), blob: Some(blob), ..Row::default() };
    let found = worker("pairs", "{}", 1, &rows_stream(&[row], "{}"));
    let mut rows = rows_of(&found.stdout, "{}");
    rows.retain(|row| row.kind == "sight");
    assert_eq!(rows.len(), 1);
    // Behind the recipe a 0 says what follows.
    assert_eq!(rows[0].blob.as_ref().unwrap()[8], 0);
    rows.remove(0)
}

/// A stage that holds so much at most: its exit code, its rows, its line.
fn within(stage: &str, recipe: &str, memory: &str, input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let ended = program(&[stage, "--recipe", recipe, "--memory", memory], input);
    (ended.status.code(), ended.stdout, String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn a_part_beyond_the_memory_is_refused() {
    let row = Row { kind: "exact".into(), blob: Some(vec![0; 1 << 20]), ..Row::default() };
    let (code, _, line) = within("exact", "{}", "2M", &rows_stream(&[row], "{}"));
    assert_eq!(code, Some(3));
    assert!(line.contains("more than a quarter of --memory 2097152: spread it over"), "{line}");
    let connects = r#"{"cluster":"components"}"#;
    for (stage, kind) in [
        ("decide", "link"),
        ("crowd", "full"),
        ("stars", "link"),
        ("large", "edge"),
        ("small", "edge"),
        ("group", "copy"),
    ] {
        let row = Row { kind: kind.into(), blob: Some(vec![0; 1 << 20]), ..Row::default() };
        let (code, _, line) = within(stage, connects, "2M", &rows_stream(&[row], connects));
        assert_eq!(code, Some(3));
        let words = format!("one task of stage {stage} has more than a quarter of --memory");
        assert!(line.contains(&words) && !line.contains("--parts"), "{line}");
    }
    // What rounds left is spread; what one task has is not.
    let row = Row { kind: "link".into(), blob: Some(vec![0; 1 << 20]), ..Row::default() };
    let (code, _, line) = within("decide", "{}", "2M", &rows_stream(&[row], "{}"));
    assert_eq!(code, Some(3));
    assert!(
        line.contains("(--parts), or, where it is a single task, give it more memory"),
        "{line}"
    );
}

#[test]
fn rounds_count_what_they_hold_and_not_the_bytes_of_their_cells() {
    let texts: Vec<[u8; 8]> = (0..40_000u64).map(u64::to_be_bytes).collect();
    let waits: Vec<[&[u8]; 3]> = texts.iter().map(|text| [&text[..], &[0; 4], &[0]]).collect();
    let links: Vec<[&[u8]; 4]> =
        texts.windows(2).map(|two| [&two[1][..], &two[0], &[0; 4], &[0; 8]]).collect();
    let waits: Vec<&[&[u8]]> = waits.iter().map(|fields| &fields[..]).collect();
    let links: Vec<&[&[u8]]> = links.iter().map(|fields| &fields[..]).collect();
    for (stage, row) in [
        ("round", packed("wait", "{}", &waits)),
        ("round", packed("open", "{}", &links)),
        ("waits", packed("link", "{}", &links)),
    ] {
        let input = rows_stream(&[row], "{}");
        assert!(input.len() < 2 << 20, "{}", input.len());
        let (code, _, line) = within(stage, "{}", "4M", &input);
        assert!(code == Some(3) && line.contains("spread it over more than 1 parts"), "{line}");
        assert_eq!(within(stage, "{}", "16M", &input).0, Some(0));
    }
    // Links to one text from one part are asked for once.
    let star: Vec<[&[u8]; 4]> =
        texts[1..].iter().map(|text| [&text[..], &texts[0], &[0; 4], &[0; 8]]).collect();
    let star: Vec<&[&[u8]]> = star.iter().map(|fields| &fields[..]).collect();
    assert_eq!(
        within("waits", "{}", "4M", &rows_stream(&[packed("link", "{}", &star)], "{}")).0,
        Some(0)
    );
}

#[test]
fn lists_count_what_they_hold_and_not_the_few_bytes_of_their_cells() {
    let mut list = Vec::new();
    let others: Vec<[u8; 8]> = (0..100).map(u64::to_be_bytes).collect();
    put_list(others.iter().map(|place| &place[..]), &mut list);
    let texts: Vec<[u8; 8]> = (1_000u64..2_000).map(u64::to_be_bytes).collect();
    let fields: Vec<[&[u8]; 3]> = texts.iter().map(|text| [&text[..], &[0], &list]).collect();
    let records: Vec<&[&[u8]]> = fields.iter().map(|fields| &fields[..]).collect();
    let input = rows_stream(&[packed("sight", "{}", &records)], "{}");
    assert!(input.len() < 1 << 18, "{}", input.len());
    let (code, _, line) = within("lists", "{}", "2M", &input);
    assert!(code == Some(3) && line.contains("more than a quarter of --memory"), "{line}");
    assert_eq!(within("lists", "{}", "64M", &input).0, Some(0));
    // So do they of cells of differences: half a million others in some bytes each.
    let input = rows_stream(&[sights_of(100, 100)], "{}");
    assert!(input.len() < 2 << 20, "{}", input.len());
    let (code, _, line) = within("lists", "{}", "8M", &input);
    assert!(code == Some(3) && line.contains("more than a quarter of --memory"), "{line}");
    assert_eq!(within("lists", "{}", "128M", &input).0, Some(0));
}

/// A row with packed records.
fn packed(kind: &str, recipe: &str, records: &[&[&[u8]]]) -> Row {
    let mut blob = Recipe::new(recipe).unwrap().digest().to_vec();
    records.iter().flat_map(|record| record.iter()).for_each(|field| put(field, &mut blob));
    Row { kind: kind.into(), blob: Some(blob), ..Row::default() }
}

/// The place of a document that has a fingerprint, where the recipe has them.
fn place(recipe: &str) -> Vec<u8> {
    let text = "一二三四五六七八九十甲乙丙丁戊己庚辛壬癸";
    let ended = worker("sketch", recipe, 1, &documents_stream(&documents(&[text])));
    let rows = rows_of(&ended.stdout, recipe);
    let exact = rows.iter().find(|row| row.kind == "exact").unwrap().blob.clone().unwrap();
    let own = Recipe::new(recipe).unwrap();
    let mut blob = Blob::new(&exact, &own).unwrap();
    blob.field().unwrap();
    blob.field().unwrap().to_vec()
}

#[test]
fn matches_takes_more_old_copies_and_cuts_than_it_may_hold() {
    const OLD: u64 = 1 << 32;
    let recipe = json!({ "against": OLD, "method": "simhash", "maxDistance": 3 }).to_string();
    let template = place(&recipe);
    let at = |pos: u64| [&pos.to_be_bytes()[..], &template[8..]].concat();
    assert_eq!(Recipe::new(&recipe).unwrap().rules().position(&at(9)), Some(9));
    let mut rows = Vec::new();
    for block in 0..400u64 {
        let pairs: Vec<[Vec<u8>; 2]> =
            (0..500).map(|one| [at(block * 1_000 + one + 10), at(5)]).collect();
        let copies: Vec<[&[u8]; 2]> = pairs.iter().map(|[a, b]| [&a[..], &b[..]]).collect();
        let copies: Vec<&[&[u8]]> = copies.iter().map(|copy| &copy[..]).collect();
        rows.push(packed("copy", &recipe, &copies));
    }
    // Cuts of old texts come before a copy says that one of them is of use, and a new text has one of its own.
    let old: Vec<Vec<u8>> = (3..60_000).map(at).collect();
    let cuts: Vec<[&[u8]; 1]> = old.iter().map(|text| [&text[..]]).collect();
    let cuts: Vec<&[&[u8]]> = cuts.iter().map(|cut| &cut[..]).collect();
    rows.push(packed("cut", &recipe, &cuts));
    rows.push(packed("cut", &recipe, &[&[&at(OLD + 8)]]));
    rows.push(packed("copy", &recipe, &[&[&at(OLD + 7), &at(5)], &[&at(OLD + 9), &at(2)]]));
    rows.push(packed(
        "link",
        &recipe,
        &[&[&at(OLD + 8), &at(6), &1u32.to_le_bytes(), &0.9f64.to_le_bytes()]],
    ));
    let input = rows_stream(&rows, &recipe);
    assert!(input.len() > 6 << 20, "{}", input.len());
    let (code, answer, line) = within("matches", &recipe, "2M", &input);
    assert_eq!(code, Some(0), "{line}");
    let rows = rows_of(&answer, &recipe).into_iter().filter(|row| row.kind == "match");
    let mut found: Vec<(i64, i32, Option<i64>, Option<f64>)> = rows
        .map(|row| (row.pos.unwrap() - OLD.cast_signed(), row.part, row.original, row.similarity))
        .collect();
    found.sort_by_key(|one| (one.0, one.1));
    let expected = [
        (7, 0, Some(5), Some(1.0)),
        (7, i32::MAX, None, None),
        (8, 0, Some(6), Some(0.9)),
        (8, i32::MAX, None, None),
        (9, 0, Some(2), Some(1.0)),
    ];
    assert_eq!(found, expected);

    let pairs: Vec<[Vec<u8>; 2]> = (0..40_000).map(|one| [at(OLD + one), at(5)]).collect();
    let new: Vec<[&[u8]; 2]> = pairs.iter().map(|[a, b]| [&a[..], &b[..]]).collect();
    let new: Vec<&[&[u8]]> = new.iter().map(|copy| &copy[..]).collect();
    let input = rows_stream(&[packed("copy", &recipe, &new)], &recipe);
    let (code, _, line) = within("matches", &recipe, "2M", &input);
    assert_eq!(code, Some(3));
    assert!(
        line.contains("one task of stage matches has more") && line.contains("give it more"),
        "{line}"
    );
}

#[test]
fn a_place_whose_mark_of_a_fingerprint_is_none_is_refused() {
    let recipe = r#"{"method":"simhash","maxDistance":3,"verify":"off"}"#;
    let own = Recipe::new(recipe).unwrap();
    let good = place(recipe);
    let mut bad = good.clone();
    let mark = bad.len() - 9;
    assert_eq!(bad[mark], 1);
    bad[mark] = 2;
    for (place, is_good) in [(&good, true), (&bad, false)] {
        let get = |number: u32| [&good[..], &place[..]][number as usize];
        let blob = pack_entries(&mut [(1 << 40, 0), (1 << 40, 1)], get, &own);
        let bucket = Row { kind: "bucket".into(), blob: Some(blob), ..Row::default() };
        let [mut list, mut none] = [vec![], vec![]];
        put_list([&place[..]].into_iter(), &mut list);
        put_list([].into_iter(), &mut none);
        let sights: [&[&[u8]]; 2] = [&[&good, &[0], &list], &[place, &[0], &none]];
        let [seen, sees] = sights.map(|sight| packed("sight", recipe, &[sight]));
        for (stage, row) in [("pairs", bucket), ("lists", seen), ("lists", sees)] {
            let input = rows_stream(&[row], recipe);
            if is_good {
                assert!(worker(stage, recipe, 1, &input).status.success());
            } else {
                refused(stage, recipe, &input, "a place that is none: the stream is damaged");
            }
        }
    }
}

/// Lists by part, of so many texts that all see the text at position 0 alone, from so many parts of them.
fn lists_of_a_crowd(texts: u64, parts: usize) -> BTreeMap<i32, u64> {
    let mut list = Vec::new();
    put_list([&0u64.to_be_bytes()[..]].into_iter(), &mut list);
    let texts: Vec<[u8; 8]> = (1..=texts).map(u64::to_be_bytes).collect();
    let fields: Vec<[&[u8]; 3]> = texts.iter().map(|text| [&text[..], &[0], &list]).collect();
    let records: Vec<&[&[u8]]> = fields.iter().map(|fields| &fields[..]).collect();
    let (own, mut rows) = (Recipe::new("{}").unwrap(), Vec::new());
    for part in records.chunks(records.len().div_ceil(parts)) {
        let input = rows_stream(&[packed("sight", "{}", part)], "{}");
        rows.extend(rows_of(&worker("lists", "{}", 64, &input).stdout, "{}"));
    }
    let (mut lists, mut wanted) = (BTreeMap::new(), BTreeMap::<i32, BTreeSet<u64>>::new());
    for row in &rows {
        let blob = row.blob.as_ref().unwrap();
        if row.kind == "list" {
            let mut blob = Blob::new(blob, &own).unwrap();
            while !blob.is_empty() {
                let [_, _, _] = [(); 3].map(|()| blob.field().unwrap());
                *lists.entry(row.part).or_default() += 1;
            }
        } else if row.kind == "want" {
            let wanted = wanted.entry(row.part).or_default();
            positions(blob, &own, |pos| assert!(wanted.insert(pos) || pos == 0)).unwrap();
        }
    }
    // Each part asks for the texts of its lists, and for the one that all of them see.
    let wanted: BTreeMap<i32, u64> =
        wanted.into_iter().map(|(part, wanted)| (part, wanted.len() as u64)).collect();
    assert_eq!(wanted, lists.iter().map(|(&part, count)| (part, count + 1)).collect());
    lists
}

#[test]
fn lists_that_begin_with_one_text_go_together_and_those_of_a_crowd_do_not() {
    // 4096 of 64 parts are 64 of each.
    for (texts, parts) in [(64, 1), (640, 10), (4_096, 64)] {
        assert_eq!(lists_of_a_crowd(texts, parts).into_values().collect::<Vec<u64>>(), [texts]);
    }
    for (texts, parts, most) in [(4_000, 1, 64 + 120), (12_000, 64, 4_096 + 240)] {
        let crowd = lists_of_a_crowd(texts, parts);
        assert_eq!(crowd.values().sum::<u64>(), texts);
        // Those that go together, and the share of all others.
        assert!(crowd.len() == 64 && crowd.values().all(|&count| count < most), "{crowd:?}");
    }
}

#[test]
fn a_text_that_a_crowd_asked_for_and_did_not_get_is_refused() {
    let [bucket, place] = [1u64 << 40, 7].map(u64::to_be_bytes);
    let full = packed("full", "{}", &[&[&bucket, &place]]);
    let asked = worker("crowd", "{}", 1, &rows_stream(std::slice::from_ref(&full), "{}"));
    let want = of_kind(&asked.stdout, "want");
    assert_eq!(want.len(), 1);
    let input = rows_stream(&[vec![full.clone()], want.clone()].concat(), "{}");
    refused("crowd", "{}", &input, "at pos 7 was asked for, but is not there");
    let texts = pack_texts(&[(7, "一二三四".into())], &Recipe::new("{}").unwrap());
    let text = Row { kind: "text".into(), blob: Some(texts), ..Row::default() };
    let input = rows_stream(&[vec![full, text], want].concat(), "{}");
    assert!(worker("crowd", "{}", 1, &input).status.success());
}

#[test]
fn a_parent_that_ended_ends_the_stage_with_a_line() {
    let texts: Vec<String> = (0..20_000).map(|number| format!("第{number}条新闻")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let input = documents_stream(&documents(&texts));
    let mut child = Command::new(env!("CARGO_BIN_EXE_simhash-native-worker"))
        .arg("sketch")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(&input);
    drop(stdin);
    let mut line = String::new();
    child.stderr.take().unwrap().read_to_string(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(line.contains("whoever started this has ended") && line.lines().count() == 1, "{line}");
}
