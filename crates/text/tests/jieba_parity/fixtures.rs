//! Reads the fixtures and the texts that they name.

use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");

/// The lines of one fixture file, each with the whole text it is about; `None`, with a notice, where there are no fixtures.
pub(crate) fn read(name: &str) -> Option<Vec<(String, Value)>> {
    let Some(lines) = lines(&format!("fixtures/jieba/{name}.jsonl.gz")) else {
        println!("not tested: no fixtures in {SHARED}/fixtures/jieba");
        return None;
    };
    let mut sets: HashMap<String, HashMap<String, String>> = HashMap::new();
    let line = |line: Value| {
        let field = |name: &str| line[name].as_str().map(str::to_owned);
        let set = field("set").unwrap();
        let text = field("text").unwrap_or_else(|| {
            let texts = sets.entry(set).or_insert_with_key(|set| texts(set));
            texts[&field("id").unwrap()].clone()
        });
        (text, line)
    };
    Some(lines.into_iter().map(line).collect())
}

/// The texts of a data set by id.
fn texts(set: &str) -> HashMap<String, String> {
    let lines =
        lines(&format!("data/{set}/docs.jsonl.gz")).expect("fixtures name sets that are there");
    let text = |line: Value| {
        let id = line["id"].as_str().map_or_else(|| line["id"].to_string(), str::to_owned);
        (id, line["text"].as_str().unwrap().to_owned())
    };
    lines.into_iter().map(text).collect()
}

fn lines(path: &str) -> Option<Vec<Value>> {
    let mut text = String::new();
    GzDecoder::new(File::open(format!("{SHARED}/{path}")).ok()?).read_to_string(&mut text).unwrap();
    // Lines end at U+000A only: some texts hold other line separators.
    Some(
        text.split('\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}
