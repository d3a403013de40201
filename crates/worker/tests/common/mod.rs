//! The stages put together as an engine would: every stage a process of its own for each part.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test binary uses its part")]

use arrow_array::cast::AsArray;
use arrow_array::{
    ArrayRef, BinaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};
use simhash_worker::blob::{pack_texts, positions};
use simhash_worker::rows::{Input, Output, Row};
use simhash_worker::{Context, Recipe};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Output as Ended, Stdio};
use std::sync::Arc;

/// A document: its place, its text, what it is kept by.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) pos: i64,
    pub(crate) text: String,
    pub(crate) key: Option<String>,
    pub(crate) number: Option<String>,
}

/// Documents of these texts, in their order.
pub(crate) fn documents(texts: &[&str]) -> Vec<Document> {
    let texts = (0..).zip(texts);
    texts
        .map(|(pos, text)| Document { pos, text: (*text).into(), key: None, number: None })
        .collect()
}

pub(crate) struct Chain<'a> {
    pub(crate) documents: &'a [Document],
    pub(crate) recipe: &'a str,
    pub(crate) parts: u32,
    /// Into so many tasks the documents are split.
    pub(crate) tasks: usize,
}

/// A duplicate, its original, their similarity, and their distance in a byte.
pub(crate) type Mark = (i64, i64, Option<f64>, Option<Vec<u8>>);

/// What a line is made of: whom it is about, the place in it, the own id, that of another one, similarity and distance.
pub(crate) struct Found {
    pub(crate) at: i64,
    pub(crate) part: Option<i32>,
    pub(crate) id: String,
    pub(crate) other: Option<String>,
    pub(crate) similarity: Option<f64>,
    pub(crate) blob: Option<Vec<u8>>,
}

/// The lines that the worker makes of these, sorted.
pub(crate) fn lines_of(stage: &str, recipe: &str, found: &[Found]) -> String {
    let field = |name: &str, kind: DataType| Field::new(name, kind, true);
    let schema = Arc::new(Schema::new(vec![
        field("at", DataType::Int64),
        field("part", DataType::Int32),
        field("id", DataType::Utf8),
        field("other", DataType::Utf8),
        field("similarity", DataType::Float64),
        field("blob", DataType::Binary),
    ]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(found.iter().map(|one| Some(one.at)).collect::<Int64Array>()),
        Arc::new(found.iter().map(|one| one.part).collect::<Int32Array>()),
        Arc::new(found.iter().map(|one| Some(&one.id)).collect::<StringArray>()),
        Arc::new(found.iter().map(|one| one.other.as_ref()).collect::<StringArray>()),
        Arc::new(found.iter().map(|one| one.similarity).collect::<Float64Array>()),
        Arc::new(found.iter().map(|one| one.blob.as_ref()).collect::<BinaryArray>()),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    // Lines go over the bounds of batches.
    for from in (0..found.len()).step_by(7) {
        writer.write(&batch.slice(from, 7.min(found.len() - from))).unwrap();
    }
    let ended = worker(stage, recipe, 1, &writer.into_inner().unwrap());
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let mut lines = String::new();
    for batch in StreamReader::try_new(ended.stdout.as_slice(), None).unwrap() {
        let batch = batch.unwrap();
        for line in batch.column(0).as_string::<i32>() {
            lines += line.unwrap();
            lines.push('\n');
        }
    }
    lines
}

pub(crate) fn worker(stage: &str, recipe: &str, parts: u32, input: &[u8]) -> Ended {
    program(&[stage, "--recipe", recipe, "--parts", &parts.to_string()], input)
}

/// The worker with these arguments.
pub(crate) fn program(arguments: &[&str], input: &[u8]) -> Ended {
    let mut child = Command::new(env!("CARGO_BIN_EXE_simhash-native-worker"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feed = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let ended = child.wait_with_output().unwrap();
    feed.join().unwrap();
    ended
}

pub(crate) fn documents_stream(documents: &[Document]) -> Vec<u8> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("pos", DataType::Int64, false),
        Field::new("text", DataType::Utf8, true),
        Field::new("key", DataType::Utf8, true),
        Field::new("number", DataType::Utf8, true),
    ]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(documents.iter().map(|one| Some(one.pos)).collect::<Int64Array>()),
        Arc::new(documents.iter().map(|one| Some(&one.text)).collect::<StringArray>()),
        Arc::new(documents.iter().map(|one| one.key.as_ref()).collect::<StringArray>()),
        Arc::new(documents.iter().map(|one| one.number.as_ref()).collect::<StringArray>()),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn context(recipe: &str, parts: u32) -> Arc<Context> {
    Arc::new(Context { recipe: Recipe::new(recipe).unwrap(), parts, memory: 1 << 30 })
}

pub(crate) fn rows_stream(rows: &[Row], recipe: &str) -> Vec<u8> {
    let mut output = Output::new(Vec::new(), Recipe::new(recipe).unwrap().words()).unwrap();
    for row in rows {
        output.row(row.clone()).unwrap();
    }
    output.finish().unwrap()
}

pub(crate) fn rows_of(stream: &[u8], recipe: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let input = Input::new(std::io::Cursor::new(stream.to_vec()), &context(recipe, 1));
    input
        .rows(|row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
    rows
}

pub(crate) fn pick(rows: &[Row], kinds: &[&str]) -> Vec<Row> {
    rows.iter().filter(|row| kinds.contains(&row.kind.as_str())).cloned().collect()
}

impl Chain<'_> {
    pub(crate) fn run(&self, stage: &str, stream: &[u8]) -> Vec<Row> {
        let ended = worker(stage, self.recipe, self.parts, stream);
        assert!(ended.status.success(), "{stage}: {}", String::from_utf8_lossy(&ended.stderr));
        rows_of(&ended.stdout, self.recipe)
    }

    /// A stage over each part of these rows; `beside` goes to every part.
    fn stage(&self, stage: &str, rows: &[Row], beside: &[Row]) -> Vec<Row> {
        let parts: BTreeSet<i32> = rows.iter().map(|row| row.part).collect();
        let mut all = Vec::new();
        for part in parts {
            let own = rows.iter().filter(|row| row.part == part);
            let own: Vec<Row> = beside.iter().chain(own).cloned().collect();
            all.extend(self.run(stage, &rows_stream(&own, self.recipe)));
        }
        all
    }

    /// All rows in one task.
    pub(crate) fn one(&self, stage: &str, rows: &[Row]) -> Vec<Row> {
        self.run(stage, &rows_stream(rows, self.recipe))
    }

    /// The texts that are asked for.
    pub(crate) fn texts(&self, rows: &[Row]) -> Vec<Row> {
        let by_pos: BTreeMap<i64, &str> =
            self.documents.iter().map(|one| (one.pos, one.text.as_str())).collect();
        let recipe = Recipe::new(self.recipe).unwrap();
        let texts = |row: Row| {
            let mut texts = Vec::new();
            let text = |pos: u64| (pos, by_pos[&pos.cast_signed()].to_owned());
            positions(row.blob.as_ref().unwrap(), &recipe, |pos| texts.push(text(pos))).unwrap();
            Row { kind: "text".into(), blob: Some(pack_texts(&texts, &recipe)), ..row }
        };
        pick(rows, &["want"]).into_iter().map(texts).collect()
    }

    /// The stages up to comparisons: all rows that are left, and how often the crowd was asked.
    fn links(&self) -> (Vec<Row>, usize) {
        let size = self.documents.len().div_ceil(self.tasks).max(1);
        let mut all = Vec::new();
        for task in self.documents.chunks(size) {
            all.extend(self.run("sketch", &documents_stream(task)));
        }
        let exact = self.stage("exact", &pick(&all, &["exact"]), &[]);
        let copies = pick(&exact, &["copy"]);
        let keys = pick(&all, &["key"]);
        let shared = self.stage("bands", &keys, &[]);
        let both = |shared: &[Row]| [pick(shared, &["shared"]), copies.clone()].concat();
        let own = [both(&shared), pick(&all, &["outline"])].concat();
        let buckets = pick(&self.stage("texts", &own, &[]), &["bucket", "outline"]);
        let mut seen = self.stage("pairs", &buckets, &[]);
        let full = pick(&seen, &["full"]);
        let mut rounds = 0;
        if !full.is_empty() {
            let (mut state, mut again) = (full, true);
            while again {
                rounds += 1;
                let answer = self.one("crowd", &state);
                let (texts, asks) = (self.texts(&answer), pick(&answer, &["ask"]));
                again = !texts.is_empty() || !asks.is_empty();
                state.extend(texts);
                state.extend(pick(&answer, &["want"]));
                if !asks.is_empty() {
                    let found = [asks.clone(), keys.clone()].concat();
                    let shared = self.one("asked", &found);
                    state.extend(pick(&self.stage("texts", &both(&shared), &[]), &["bucket"]));
                    state.extend(asks);
                }
                if !again {
                    seen.extend(pick(&answer, &["sight", "unseen"]));
                }
            }
        }
        let lists = self.stage("lists", &pick(&seen, &["sight", "unseen"]), &[]);
        let compared = [pick(&lists, &["list"]), self.texts(&lists)].concat();
        let links = self.stage("verify", &compared, &[]);
        ([all, exact, lists, links].concat(), rounds)
    }

    /// Links and copies, those of a component in one part.
    fn grouped(&self, links: &[Row]) -> Vec<Row> {
        let halves = links.chunks(links.len().div_ceil(2).max(1));
        let mut edges: Vec<Row> = halves.flat_map(|half| self.one("stars", half)).collect();
        loop {
            let large = self.stage("large", &pick(&edges, &["edge"]), &[]);
            edges = self.stage("small", &pick(&large, &["edge"]), &[]);
            if counted(&[large, edges.clone()].concat())
                .get("moved")
                .is_none_or(|&moved| moved == 0)
            {
                return self.stage("group", &[links, &pick(&edges, &["edge"])].concat(), &[]);
            }
        }
    }

    /// What rounds leave of links and copies for each part; after so many, one task settles the rest.
    fn rounds(&self, links: &[Row], most: usize) -> Vec<Row> {
        let halves = links.chunks(links.len().div_ceil(2).max(1));
        let mut rows: Vec<Row> = halves.flat_map(|half| self.one("waits", half)).collect();
        let mut all = pick(&rows, &["copy"]);
        for took in 1..=most + 1 {
            rows.retain(|row| !["count", "link"].contains(&row.kind.as_str()));
            rows = if took > most {
                self.one("round", &rows)
            } else {
                self.stage("round", &rows, &[])
            };
            all.extend(pick(&rows, &["link"]));
            if counted(&rows).get("moved").is_none_or(|&moved| moved == 0) {
                break;
            }
        }
        [all, pick(&rows, &["open", "wait", "past", "best"])].concat()
    }

    /// What is decided in rounds is the same as what one task decides.
    fn settles_in_rounds(&self, links: &[Row], decided: &[Row]) {
        for most in [20, 1] {
            let (marks, counts) = told(&self.stage("decide", &self.rounds(links, most), &[]));
            let (expected, all) = told(decided);
            assert_eq!(marks, expected);
            assert_eq!(counts.get("duplicates").unwrap_or(&0), &all["duplicates"]);
        }
    }

    /// All stages: the duplicates by place, what was counted, and how often the crowd was asked. What is decided by component is the same
    /// as what one task decides.
    pub(crate) fn settle(&self) -> (Vec<Mark>, BTreeMap<String, i64>, usize) {
        let (all, rounds) = self.links();
        let links = pick(&all, &["link", "copy"]);
        let decided = self.one("decide", &links);
        let apart = self.stage("decide", &self.grouped(&links), &[]);
        assert_eq!(told(&apart), told(&decided));
        if !Recipe::new(self.recipe).unwrap().connects() {
            self.settles_in_rounds(&links, &decided);
        }
        let pairs = [pick(&decided, &["pair"]), self.texts(&decided)].concat();
        let related = self.stage("relate", &pairs, &[]);
        let marks = [pick(&decided, &["mark"]), pick(&related, &["mark"])].concat();
        let mut marks: Vec<Mark> = marks
            .iter()
            .map(|row| (row.pos.unwrap(), row.original.unwrap(), row.similarity, row.blob.clone()))
            .collect();
        marks.sort_by_key(|mark| mark.0);
        (marks, counted(&[all, decided].concat()), rounds)
    }

    /// All stages of a recipe with another side: the rows of matches by document, and what was counted.
    pub(crate) fn matches(&self) -> (Vec<Row>, BTreeMap<String, i64>) {
        let (all, _) = self.links();
        let matched = self.one("matches", &pick(&all, &["link", "copy", "cut"]));
        let mut rows = pick(&matched, &["match"]);
        rows.sort_by_key(|row| (row.pos, row.part));
        (rows, counted(&[all, matched].concat()))
    }
}

/// What was decided, in no order: asked for with it are texts, in cells that differ by task.
fn told(rows: &[Row]) -> (Vec<Row>, BTreeMap<String, i64>) {
    let mut marks = pick(rows, &["mark", "pair"]);
    marks.sort_by_key(|row| row.pos);
    (marks, counted(rows))
}

/// What stages counted, by name.
fn counted(rows: &[Row]) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for row in rows.iter().filter(|row| row.kind == "count") {
        let name = String::from_utf8(row.blob.clone().unwrap()).unwrap();
        *counts.entry(name).or_default() += row.pos.unwrap();
    }
    counts
}
