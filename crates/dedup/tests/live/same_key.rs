//! What a key does that comes again, against a list that is gone through from the front: the same operations in any batching, with or
//! without a restart, a checkpoint, a snapshot or a file between, give the same ids, decisions, repetitions and live documents.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use simhash_dedup::live::{
    Checked, Document, LiveIndex, LiveOptions, OnSameKey, OpenOptions, Stored, Texts,
};
use simhash_dedup::{DedupError, Done};
use simhash_index::durable::{Durability, DurableOptions};
use simhash_index::{AddOptions, OnDuplicate, Window};

use crate::model::{Model, NEVER, checked, document, methods, options, saved};

/// An operation on one document.
#[derive(Debug, Clone)]
struct One {
    text: String,
    key: Option<u8>,
    /// How much later than the one before.
    on: u64,
    /// None: it is added without a look.
    check: Option<OnDuplicate>,
}

#[derive(Debug, Clone)]
enum Op {
    /// These one after the other, in calls of so many at most; 0: by single calls.
    Many(Vec<One>, usize),
    Delete(u64),
    /// The document that came so many before the next.
    DeleteLate(u64),
    Expire(u64),
    /// What is older than so much more than now.
    ExpireLate(u64),
    /// Closed and opened again.
    Restart,
    Checkpoint,
    /// The index goes on from a snapshot in another directory.
    Snapshot,
    /// It goes on from a file, and is put into no directory again.
    Save,
    Compact,
}

fn texts() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未",
        "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午申",
        "戌亥甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未",
        "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往",
        "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑去",
        "云腾致雨露结为霜金生丽水玉出昆冈剑号巨阙珠称夜光果珍李柰菜重芥姜海咸河淡鳞潜羽翔龙师火帝鸟官人皇",
        "短",
        "",
    ])
    .prop_map(str::to_owned)
}

fn one() -> impl Strategy<Value = One> {
    let duplicate =
        prop::sample::select(vec![OnDuplicate::Skip, OnDuplicate::Add, OnDuplicate::Touch]);
    let (key, check) =
        (prop::option::weighted(0.8, 0..8_u8), prop::option::weighted(0.8, duplicate));
    (texts(), key, 0..4_u64, check).prop_map(|(text, key, on, check)| One { text, key, on, check })
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        12 => (prop::collection::vec(one(), 1..9), 0..5_usize)
            .prop_map(|(all, size)| Op::Many(all, size)),
        3 => (0..30_u64).prop_map(Op::Delete),
        2 => (0..60_u64).prop_map(Op::Expire),
        2 => Just(Op::Restart),
        1 => Just(Op::Checkpoint),
        1 => Just(Op::Snapshot),
        1 => Just(Op::Save),
        1 => Just(Op::Compact),
    ];
    prop::collection::vec(op, 1..16)
}

/// The rule in its plainest form.
struct Plain {
    model: Model,
    on_same_key: OnSameKey,
    now: u64,
    /// What checks of each key were answered, the latest; of documents that were kept too.
    told: BTreeMap<String, Told>,
}

struct Told {
    answer: Checked,
    at: u64,
    next: u64,
    gone: bool,
}

/// What comes of one document: its answer, or the live document whose key it has.
type Outcome = Result<Checked, u64>;

impl Plain {
    fn new(options: LiveOptions) -> Self {
        let on_same_key = options.on_same_key;
        Self { model: Model::new(options), on_same_key, now: 0, told: BTreeMap::new() }
    }

    fn lives(&self, told: &Told) -> bool {
        let alive = |id: u64| self.model.rows[id as usize].alive;
        match (told.answer.id, told.answer.duplicate_of, self.model.options.window) {
            (Some(id), ..) => alive(id),
            (None, Some(near), None) => alive(near.id),
            (None, _, window) => {
                let Window { max_age, max_count } = window.unwrap();
                let added = self.model.rows.len() as u64 - told.next;
                !told.gone
                    && max_age.is_none_or(|age| told.at >= self.now.saturating_sub(age))
                    && max_count.is_none_or(|most| added < most)
            }
        }
    }

    fn add(&mut self, text: &str, key: Option<&String>) -> u64 {
        if let Some(key) = key {
            self.told.remove(key);
        }
        self.model.add(text, key.cloned())
    }

    fn take(&mut self, one: &One) -> Outcome {
        self.now += one.on;
        self.model.advance(self.now);
        let key = one.key.map(|key| format!("键{key}"));
        let same = key.as_ref().and_then(|key| self.model.id_of(key));
        match (self.on_same_key, same, &key) {
            (OnSameKey::Error, Some(id), _) => return Err(id),
            (OnSameKey::Replace, Some(id), _) => {
                self.model.delete(id);
            }
            (OnSameKey::Repeat, same, Some(key)) => {
                let told =
                    self.told.get(key).filter(|told| self.lives(told)).map(|told| told.answer);
                let answer = match (same, one.check) {
                    (Some(id), Some(_)) => {
                        let plain = Checked { id: Some(id), ..Checked::default() };
                        Some(told.filter(|answer| answer.id == Some(id)).unwrap_or(plain))
                    }
                    (Some(id), None) => Some(Checked { id: Some(id), ..Checked::default() }),
                    (None, Some(_)) => told.filter(|answer| answer.id.is_none()),
                    (None, None) => None,
                };
                if let Some(answer) = answer {
                    return Ok(Checked { repeated: true, ..answer });
                }
            }
            _ => {}
        }
        let Some(on_duplicate) = one.check else {
            let id = Some(self.add(&one.text, key.as_ref()));
            return Ok(Checked { id, ..Checked::default() });
        };
        let found = self.model.best(&one.text);
        if let (Some(near), OnDuplicate::Touch) = (found, on_duplicate) {
            self.model.touch(near.id);
        }
        let adds = found.is_none() || on_duplicate == OnDuplicate::Add;
        let id = adds.then(|| self.add(&one.text, key.as_ref()));
        let answer = Checked { id, duplicate_of: found, ..Checked::default() };
        if let Some(key) = key {
            let next = self.model.rows.len() as u64;
            self.told.insert(key, Told { answer, at: self.now, next, gone: false });
        }
        Ok(answer)
    }

    fn expire(&mut self, before: u64) -> u64 {
        self.told.values_mut().filter(|told| told.at < before).for_each(|told| told.gone = true);
        self.model.expire(before)
    }

    fn live(&self) -> Vec<(u64, Option<String>)> {
        let alive = (0..).zip(&self.model.rows).filter(|(_, row)| row.alive);
        alive.map(|(id, row)| (id, row.key.clone())).collect()
    }
}

/// The index itself, and where it is.
struct Own {
    folder: tempfile::TempDir,
    index: LiveIndex,
    options: LiveOptions,
    path: Option<PathBuf>,
    places: usize,
    now: u64,
}

impl Own {
    fn new(options: &LiveOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0");
        let index = opened(&path, options);
        let options = options.clone();
        Self { folder, index, options, path: Some(path), places: 0, now: 0 }
    }

    fn document(&self, one: &One) -> (Document, Option<String>) {
        (document(&self.index, &one.text), one.key.map(|key| format!("键{key}")))
    }

    fn times(&mut self, all: &[One]) -> Vec<u64> {
        let each = all.iter().map(|one| {
            self.now += one.on;
            self.now
        });
        each.collect::<Vec<_>>()
    }

    fn single(&mut self, one: &One) -> Outcome {
        let at = Some(self.times(std::slice::from_ref(one))[0]);
        let at = at.filter(|_| self.options.window.is_some());
        let (document, key) = self.document(one);
        let done = match one.check {
            None => self
                .index
                .add(&document, key.as_deref(), at)
                .map(|id| Checked { id: Some(id), ..Checked::default() }),
            Some(on_duplicate) => {
                let how = AddOptions { at, on_duplicate };
                let step =
                    self.index.check_and_add(&document, key.as_deref(), how, |_| Texts::None);
                step.map(checked)
            }
        };
        done.map_err(refused)
    }

    /// A batch, of which all are added or all are checked in the same way; what came of each that was come to.
    fn batch(&mut self, all: &[One]) -> Vec<Outcome> {
        let times = self.times(all);
        let times = if self.options.window.is_some() { &times[..] } else { &[] };
        let (documents, keys): (Vec<_>, Vec<_>) = all.iter().map(|one| self.document(one)).unzip();
        let added = |id: u64| Ok(Checked { id: Some(id), ..Checked::default() });
        match all[0].check {
            None => match self.index.add_many(&documents, &keys, times, &NEVER) {
                Ok(ids) => ids.iter().map(added).collect(),
                Err(DedupError::SameKey { id, done: Done::Added(ids), .. }) => {
                    ids.iter().map(added).chain([Err(id)]).collect()
                }
                Err(other) => panic!("{other}"),
            },
            Some(how) => {
                let done = self.index.check_and_add_many(&documents, &keys, times, how, 1, &NEVER);
                match done {
                    Ok(all) => all.into_iter().map(Ok).collect(),
                    Err(DedupError::SameKey { id, done: Done::Checked(all), .. }) => {
                        all.checked.into_iter().map(Ok).chain([Err(id)]).collect()
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }

    fn move_to(&mut self, op: &Op) {
        match op {
            Op::Checkpoint => self.index.checkpoint(&NEVER).unwrap(),
            Op::Compact => self.index.compact(&NEVER).unwrap(),
            Op::Restart => {
                if let Some(path) = &self.path {
                    self.index.close().unwrap();
                    self.index = opened(path, &self.options);
                }
            }
            Op::Snapshot => {
                self.places += 1;
                let path = self.folder.path().join(self.places.to_string());
                self.index.snapshot().write_directory(&path, &NEVER).unwrap();
                self.index = opened(&path, &self.options);
                self.path = Some(path);
            }
            _ => {
                let bytes = saved(&self.index);
                self.index = LiveIndex::open(&mut &bytes[..], &self.options).unwrap();
                self.path = None;
            }
        }
    }

    fn live(&self) -> Vec<(u64, Option<String>)> {
        let alive = (0..self.index.next_id()).filter(|&id| self.index.has(id));
        alive.map(|id| (id, self.index.key_of(id))).collect()
    }
}

fn opened(path: &Path, options: &LiveOptions) -> LiveIndex {
    let mut durable = DurableOptions::default();
    // Checkpoints come by themselves too.
    (durable.durability, durable.checkpoint_bytes) = (Durability::None, 2000);
    let how = OpenOptions { durable, ..OpenOptions::default() };
    LiveIndex::open_directory(path, options, how, &NEVER).unwrap()
}

fn refused(error: DedupError) -> u64 {
    match error {
        DedupError::SameKey { id, .. } => id,
        other => panic!("{other}"),
    }
}

/// What came of an item, as far as both ways of asking tell it: a call that adds tells an id alone.
fn told(outcome: Outcome, one: &One) -> Outcome {
    outcome.map(|answer| match one.check {
        None => Checked { id: answer.id, ..Checked::default() },
        Some(_) => answer,
    })
}

fn all_ways() -> Vec<OnSameKey> {
    vec![OnSameKey::Add, OnSameKey::Error, OnSameKey::Replace, OnSameKey::Repeat]
}

fn keyed(method: &str, on_same_key: OnSameKey, window: Option<Window>) -> LiveOptions {
    let stored = Stored { keys: true, ..Stored::default() };
    LiveOptions { stored, on_same_key, window, ..options(method) }
}

/// Does these operations, and compares.
fn agree(options: &LiveOptions, ops: &[Op]) -> Result<(), TestCaseError> {
    let mut own = Own::new(options);
    let mut plain = Plain::new(own.index.options().clone());
    for op in ops {
        match op {
            Op::Many(all, 0) => {
                for one in all {
                    prop_assert_eq!(own.single(one), told(plain.take(one), one));
                }
            }
            Op::Many(all, size) => {
                let alike = all.chunk_by(|a, b| a.check == b.check);
                for batch in alike.flat_map(|all| all.chunks(*size)) {
                    let found = own.batch(batch);
                    // What lies behind a refused one is not looked at.
                    let (mut expected, now) = (Vec::new(), plain.now);
                    for one in batch {
                        expected.push(told(plain.take(one), one));
                        if expected.last().is_some_and(Result::is_err) {
                            break;
                        }
                    }
                    prop_assert_eq!(found, expected);
                    plain.now = now + batch.iter().map(|one| one.on).sum::<u64>();
                }
            }
            Op::Delete(_) | Op::DeleteLate(_) => {
                let id = match *op {
                    Op::DeleteLate(before) => own.index.next_id().saturating_sub(before + 1),
                    Op::Delete(id) => id,
                    _ => 0,
                };
                prop_assert_eq!(own.index.delete(id).unwrap(), plain.model.delete(id));
            }
            Op::Expire(_) | Op::ExpireLate(_) => {
                let before = match *op {
                    Op::ExpireLate(later) => plain.now + later,
                    Op::Expire(before) => before,
                    _ => 0,
                };
                if own.index.window().is_some() {
                    prop_assert_eq!(own.index.expire(before).unwrap(), plain.expire(before));
                }
            }
            other => own.move_to(other),
        }
        prop_assert_eq!(own.live(), plain.live());
    }
    Ok(())
}

fn windows() -> impl Strategy<Value = Option<Window>> {
    prop::option::of((prop::option::of(3..30_u64), prop::option::of(1..9_u64)))
        .prop_map(|window| window.map(|(max_age, max_count)| Window { max_age, max_count }))
}

/// A few texts and keys, so that keys come again, in every state in which what they were answered may be.
fn crowded() -> impl Strategy<Value = Vec<Op>> {
    let text = prop::sample::select(vec!["甲乙丙丁", "甲乙丙丁", "戊己庚辛"]);
    let check = prop::option::weighted(0.8, Just(OnDuplicate::Skip));
    let one = (text, 0..3_u8, 0..2_u64, check).prop_map(|(text, key, on, check)| One {
        text: text.to_owned(),
        key: Some(key),
        on,
        check,
    });
    let op = prop_oneof![
        8 => (prop::collection::vec(one, 1..4), 0..3_usize)
            .prop_map(|(all, size)| Op::Many(all, size)),
        2 => (0..2_u64).prop_map(Op::DeleteLate),
        2 => (0..4_u64).prop_map(Op::ExpireLate),
        2 => Just(Op::Restart),
        1 => Just(Op::Snapshot),
    ];
    prop::collection::vec(op, 4..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn the_same_operations_give_the_same_whatever_comes_between(
        method in prop::sample::select(methods()),
        on_same_key in prop::sample::select(all_ways()),
        ops in ops(),
        window in windows(),
    ) {
        agree(&keyed(method, on_same_key, window), &ops)?;
    }

    #[test]
    fn what_was_answered_is_repeated_as_long_as_a_document_of_that_time_lives(
        ops in crowded(),
        window in windows(),
    ) {
        agree(&keyed("exact", OnSameKey::Repeat, window), &ops)?;
    }
}
