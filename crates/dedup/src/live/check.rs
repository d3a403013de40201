//! Look, verify, add: one step.

use std::sync::atomic::AtomicBool;

use simhash_index::{AddOptions, OnDuplicate, Outcome, Writer};

use super::compare::Best;
use super::document::{Checked, CheckedMany, Document, Near, Step, Texts};
use super::engine::{Engine, begin, end};
use super::kind::Method;
use super::options::Verify;
use super::same_key::Met;
use crate::error::{DedupError, Done};

impl<K: Method> Engine<K> {
    /// Whether the check of a document is that of the method's index itself.
    fn checks_alone(&self, document: &Document) -> bool {
        self.is_bare() && self.verify_with(document).is_none()
    }

    /// How candidates are compared with a document; `None`: not at all.
    fn verify_with(&self, document: &Document) -> Option<Verify> {
        self.verify.filter(|_| !self.is_alone(document))
    }

    pub(super) fn check_and_add<'a>(
        &self,
        document: &Document,
        key: Option<&str>,
        how: AddOptions,
        texts: &dyn Fn(u64) -> Texts<'a>,
    ) -> Result<Step, DedupError> {
        if self.checks_alone(document) {
            let outcome = self.index.check_and_add_with(Self::item(document)?, how)?;
            return Ok(Step::Done(alone::<K>(document, outcome)));
        }
        self.index.admit(how.at.as_slice())?;
        let mut writer = self.index.writer()?;
        let step = self.check_locked(&mut writer, document, key, how, texts);
        writer.keep()?;
        step
    }

    pub(super) fn check_and_add_many(
        &self,
        documents: &[Document],
        keys: &[Option<String>],
        times: &[u64],
        on_duplicate: OnDuplicate,
        position: Option<u64>,
        (threads, cancel): (usize, &AtomicBool),
    ) -> Result<CheckedMany, DedupError> {
        let items = Self::items(documents)?;
        let is_alone = |document| self.checks_alone(document);
        if position.is_none() && documents.iter().all(is_alone) {
            let (index, each) = (&self.index, documents.iter());
            let all = index.check_and_add_many(&items, times, on_duplicate, threads, cancel)?;
            let checked = each.zip(all).map(|(document, one)| alone::<K>(document, one)).collect();
            return Ok(CheckedMany { checked, keys: None });
        }
        self.index.admit(times)?;
        let mut writer = self.index.batch(documents.len(), cancel)?;
        begin(&self.index, &mut writer, position)?;
        let mut all = CheckedMany::with_capacity(documents.len(), self.stored.keys);
        for (row, document) in documents.iter().enumerate() {
            writer.next(1)?;
            let key = keys.get(row).and_then(Option::as_deref);
            let how = AddOptions { at: times.get(row).copied(), on_duplicate };
            let none = |_| Texts::None;
            match self.check_locked(&mut writer, document, key, how, &none) {
                Ok(Step::Done(checked)) => all.push(checked, |id| self.key_of(id)),
                Ok(Step::Texts(_)) => {}
                Err(error) => {
                    writer.keep()?;
                    return Err(error.after(Done::Checked(all)));
                }
            }
        }
        end(&mut writer, position)?;
        Ok(all)
    }

    fn check_locked<'a>(
        &self,
        writer: &mut Writer<'_, K>,
        document: &Document,
        key: Option<&str>,
        how: AddOptions,
        texts: &dyn Fn(u64) -> Texts<'a>,
    ) -> Result<Step, DedupError> {
        writer.advance(how.at)?;
        let (met, verify) = (self.meet(key)?, self.verify_with(document));
        let mut without = None;
        match met {
            Met::New => {}
            Met::Answered(answer) => return Ok(Step::Done(answer)),
            Met::Replaces(id) => {
                // It stays until nothing more has to be asked for.
                if let Some(verify) = verify {
                    match self.best(document, verify, Some(id), texts)? {
                        Best::Found(best, _) => without = Some(best),
                        Best::Missing(missing) => return Ok(Step::Texts(missing)),
                    }
                }
                self.replace(writer, id, (document, key))?;
            }
        }
        let (near, truncated) = match verify {
            None => self.nearest(writer, document)?,
            Some(verify) => match self.best(document, verify, None, texts)? {
                Best::Found(best, truncated) => (best, truncated),
                // A candidate that a limit had cut before the old document left: it has left, so this is decided by the others.
                Best::Missing(missing) => match without {
                    Some(best) => (best, true),
                    None => return Ok(Step::Texts(missing)),
                },
            },
        };
        let adds = near.is_none() || how.on_duplicate == OnDuplicate::Add;
        if !adds {
            self.check_remembered(key)?;
        }
        if let Some(near) = near {
            if how.on_duplicate == OnDuplicate::Touch {
                writer.touch(near.id);
            }
            if how.on_duplicate != OnDuplicate::Add {
                writer.pass_over(Self::item(document)?, &K::found(&near));
            }
        }
        let id = match met {
            _ if !adds => None,
            Met::Replaces(_) => Some(self.place(writer, document, key)?),
            _ => Some(self.put(writer, document, key)?),
        };
        self.count_truncated(truncated);
        let checked = Checked { id, duplicate_of: near, truncated, repeated: false };
        self.remember(writer, key, &checked);
        Ok(Step::Done(checked))
    }
}

impl CheckedMany {
    fn with_capacity(len: usize, has_keys: bool) -> Self {
        let keys = has_keys.then(|| Vec::with_capacity(len));
        Self { checked: Vec::with_capacity(len), keys }
    }

    fn push(&mut self, checked: Checked, key_of: impl FnOnce(u64) -> Option<String>) {
        self.checked.push(checked);
        if let Some(keys) = &mut self.keys {
            keys.push(checked.duplicate_of.and_then(|near| key_of(near.id)));
        }
    }
}

fn told<K: Method>(document: &Document, found: &K::Match) -> Near {
    let near = K::unverified(found);
    if !document.item.is_exact() {
        return near;
    }
    Near { similarity: Some(1.0), verified: true, ..near }
}

fn alone<K: Method>(document: &Document, outcome: Outcome<K::Match>) -> Checked {
    let Outcome { id, duplicate_of, truncated } = outcome;
    let duplicate_of = duplicate_of.map(|found| told::<K>(document, &found));
    Checked { id, duplicate_of, truncated, repeated: false }
}
