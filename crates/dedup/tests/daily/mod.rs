//! Documents of some days, deduplicated into one index.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test binary uses its part")]

use serde_json::json;
use simhash_dedup::live::{LiveIndex, LiveOptions, OpenOptions};
use simhash_dedup::{
    DedupError, Duplicates, ExportFormat, FileOptions, IndexRun, Input, Outputs, Progress,
    SavedIndex, Target, dedup_into_index,
};
use simhash_index::durable::Settled;
use simhash_sketch::ExtractorOptions;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// How often a run that is committed reports that it finishes.
pub(crate) const FINISHED: usize = 6;

/// Documents of a day.
const DOCUMENTS: usize = 120;

/// A folder with an input for each day.
pub(crate) struct Days(PathBuf, Option<tempfile::TempDir>);

impl Days {
    pub(crate) fn new(days: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Self(folder.path().to_owned(), Some(folder));
        for day in 0..days {
            fs::write(made.input(day), documents(day)).unwrap();
        }
        made
    }

    pub(crate) fn at(folder: &Path) -> Self {
        Self(folder.to_owned(), None)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.0.clone()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn input(&self, day: usize) -> PathBuf {
        self.path(&format!("in-{day}"))
    }

    pub(crate) fn output(&self, day: usize, name: &str) -> PathBuf {
        self.path(&format!("{name}-{day}"))
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.path("index")
    }

    pub(crate) fn saved(&self) -> SavedIndex {
        SavedIndex { path: self.index(), words: ExtractorOptions::default() }
    }

    pub(crate) fn run_with(
        &self,
        day: usize,
        options: &FileOptions,
        progress: &dyn Fn(&Progress),
    ) -> Result<IndexRun, DedupError> {
        self.run_into("index", day, options, progress)
    }

    pub(crate) fn run_into(
        &self,
        index: &str,
        day: usize,
        options: &FileOptions,
        progress: &dyn Fn(&Progress),
    ) -> Result<IndexRun, DedupError> {
        let to = |name| Some(Target::File(self.output(day, name)));
        let outputs = Outputs {
            records: to("out"),
            clusters: to("clusters"),
            rejects: to("rejects"),
            duplicates: Duplicates::Mark,
            ..Outputs::default()
        };
        let inputs = [Input::File(self.input(day))];
        dedup_into_index(&self.path(index), &inputs, &outputs, options, progress, &NEVER)
    }
}

/// News of a day: some of its own, some near copies of what came earlier, that day or before; short and empty ones; a bad line.
fn documents(day: usize) -> String {
    let mut lines = String::new();
    for row in 0..DOCUMENTS {
        let number = match row % 4 {
            0 => row % 20,
            1 => (day * DOCUMENTS + row) / 8,
            _ => day * DOCUMENTS + row,
        };
        let seed = number as u64;
        let word = |at: u64| {
            let mixed = (seed * 7_919 + at * 104_729 + 13).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            char::from_u32(0x4e00 + (mixed >> 40) as u32 % 3_000).unwrap()
        };
        let text: String = match row % 23 {
            21 => "短".to_owned(),
            22 => "  ".to_owned(),
            _ => (0..90).map(word).chain((row % 3 == 0).then_some('改')).collect(),
        };
        let id = format!("{day}-{row}");
        lines.push_str(&json!({ "id": id, "text": text }).to_string());
        lines.push('\n');
        if row == 60 {
            lines.push_str("oops\n");
        }
    }
    lines
}

/// Every file of a folder but these, by its path there.
pub(crate) fn tree(folder: &Path, but: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            let within = tree(&entry.path(), but).into_iter();
            files.extend(within.map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        } else if !but.contains(&name.as_str()) {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// The outputs of a day that are there; rejects name the folder.
pub(crate) fn outputs(days: &Days, day: usize) -> BTreeMap<String, Vec<u8>> {
    let names = ["out", "clusters", "rejects"];
    let folder = days.folder().display().to_string();
    let read = |name: &str| {
        let text = fs::read_to_string(days.output(day, name)).ok()?;
        Some((name.to_owned(), text.replace(&folder, "").into_bytes()))
    };
    names.into_iter().filter_map(read).collect()
}

/// Everything that an index holds, for comparison.
pub(crate) fn all(path: &Path) -> String {
    let saved = SavedIndex { path: path.to_owned(), words: ExtractorOptions::default() };
    let live = saved.open(&NEVER).unwrap();
    let mut text = format!("{} {}\n", live.len(), live.next_id());
    for id in 0..live.next_id() {
        let _ = writeln!(text, "{:?} {:?}", live.key_of(id), live.text_of(id));
    }
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("all");
    saved.export(&Target::File(to.clone()), ExportFormat::Csv, &NEVER).unwrap();
    text + &fs::read_to_string(to).unwrap()
}

/// What runs of three days leave that nobody interrupts: the outputs, and what the index holds after each.
pub(crate) struct Twin(pub(crate) Vec<BTreeMap<String, Vec<u8>>>, pub(crate) Vec<String>);

impl Twin {
    pub(crate) fn new(options: &FileOptions) -> Self {
        let days = Days::new(3);
        let (mut written, mut held) = (Vec::new(), Vec::new());
        for day in 0..3 {
            days.run_with(day, options, &|_| {}).unwrap();
            written.push(outputs(&days, day));
            held.push(all(&days.index()));
        }
        Self(written, held)
    }
}

/// After an end on the second day: what is there is all of that day or nothing, and everything goes on as if nothing had happened.
/// Whether the day counts.
pub(crate) fn whole_or_nothing(
    days: &Days,
    options: &FileOptions,
    twin: &Twin,
    after: &str,
) -> bool {
    let Twin(written, held) = twin;
    let saved = days.saved();
    // A reader sees a whole state, before anybody has settled what the run left, and after that.
    let seen = all(&days.index());
    assert!(held[..2].contains(&seen), "{after}");
    let made = LiveOptions::of_saved(&days.index(), &saved.words, &NEVER).unwrap();
    let how = OpenOptions { create: false, ..OpenOptions::default() };
    // Who is refused settles nothing: it would not be told what came of the run.
    let is_left = days.index().join("COMMIT").exists();
    let refused = LiveIndex::open_directory_if(&days.index(), &made, how, &NEVER, &mut |_| false);
    assert!(refused.unwrap().is_none(), "{after}");
    assert_eq!(days.index().join("COMMIT").exists(), is_left, "{after}");
    let live = LiveIndex::open_directory(&days.index(), &made, how, &NEVER).unwrap();
    let settled = live.settled().cloned();
    live.close().unwrap();
    drop(live);
    assert!(!days.index().join("COMMIT").exists(), "{after}");
    let now = all(&days.index());
    let stand = outputs(days, 1);
    let counts = now == held[1];
    if counts {
        assert!(stand == written[1], "{after}: the outputs are not there");
    } else {
        assert!(now == held[0], "{after}");
        assert!(stand.is_empty(), "{after}: {:?}", stand.keys());
    }
    if let Some(Settled { counts: said, outputs }) = settled {
        assert_eq!((said, outputs.len()), (counts, 3), "{after}");
    } else {
        assert!(seen == now, "{after}");
    }
    let again = days.run_with(1, options, &|_| {}).unwrap();
    assert_eq!(again.repeated, counts, "{after}");
    assert!((&outputs(days, 1), &all(&days.index())) == (&written[1], &held[1]), "{after}");
    let next = days.run_with(2, options, &|_| {}).unwrap();
    assert!(!next.repeated, "{after}");
    assert!((&outputs(days, 2), &all(&days.index())) == (&written[2], &held[2]), "{after}");
    let strange = |name: &String| name.contains(".tmp") || name.contains("COMMIT");
    assert_eq!(tree(&days.folder(), &[]).keys().find(|name| strange(name)), None, "{after}");
    saved.verify(&NEVER).unwrap();
    counts
}
