//! Texts to measure on: Chinese news of the shared data, or the sample of this repository where that is absent.

use std::io::Read;
use std::path::{Path, PathBuf};

/// Documents, and where they come from.
pub(crate) struct Corpus {
    pub(crate) name: String,
    pub(crate) texts: Vec<String>,
}

impl Corpus {
    /// Field `text` of every document of `../shared/data/SET/docs.jsonl.gz`; else of `examples/sample.jsonl`, and the name says so.
    pub(crate) fn load(set: &str) -> Result<Self, String> {
        let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let shared = root.join("../shared/data").join(set).join("docs.jsonl.gz");
        if shared.exists() {
            return Ok(Self { name: set.to_owned(), texts: texts(&read(&shared)?)? });
        }
        let sample = root.join("examples/sample.jsonl");
        let name = format!("examples/sample.jsonl (../shared/data/{set} is absent)");
        Ok(Self { name, texts: texts(&read(&sample)?)? })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.texts.iter().map(String::len).sum()
    }
}

fn read(path: &Path) -> Result<String, String> {
    let named = |error: std::io::Error| format!("{}: {error}", path.display());
    let bytes = std::fs::read(path).map_err(named)?;
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::MultiGzDecoder::new(bytes.as_slice())
            .read_to_string(&mut text)
            .map_err(named)?;
        return Ok(text);
    }
    String::from_utf8(bytes).map_err(|error| format!("{}: {error}", path.display()))
}

fn texts(lines: &str) -> Result<Vec<String>, String> {
    #[derive(serde::Deserialize)]
    struct Record {
        text: String,
    }
    lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            serde_json::from_str(line)
                .map(|record: Record| record.text)
                .map_err(|error| error.to_string())
        })
        .collect()
}
