//! Calls of many items: their times and keys, and what is done with them.

use super::columns::{NativeAdded, NativeChecked, NativeMatches};
use super::shared::Shared;
use crate::check::{number, whole};
use crate::error::{Failure, unknown};
use crate::held::on_pool;
use crate::pool;
use crate::text::Texts;
use napi::bindgen_prelude::Float64Array;
use simhash_dedup::live::{LiveIndex, Search};
use simhash_dedup::{DedupError, Done};
use simhash_index::OnDuplicate;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest key in bytes: names, not contents.
const LONGEST_KEY: usize = 1 << 16;

/// Times in milliseconds; none: the clock.
#[derive(Default)]
pub(super) struct Times(Option<Vec<u64>>);

impl Times {
    pub(super) fn of(given: Option<Float64Array>) -> Result<Self, Failure> {
        let Some(given) = given else { return Ok(Self::default()) };
        given
            .iter()
            .map(|&at| whole(at, "at"))
            .collect::<Result<_, _>>()
            .map(|times| Self(Some(times)))
    }

    /// A time for each of `count` items: one given time is everybody's.
    pub(super) fn each(&self, count: usize, live: &LiveIndex) -> Result<Vec<u64>, Failure> {
        if self.0.is_some() {
            timed("at", live)?;
        }
        match self.0.as_deref() {
            None => Ok(Vec::new()),
            Some([one]) => Ok(vec![*one; count]),
            Some(times) if times.len() == count => Ok(times.to_vec()),
            _ => Err(Failure::out_of_range("at", "one time, or one for each item")),
        }
    }
}

/// A time, if the index can keep it.
pub(super) fn time(at: Option<f64>, live: &LiveIndex) -> Result<Option<u64>, Failure> {
    let Some(at) = at else { return Ok(None) };
    timed("at", live)?;
    whole(at, "at").map(Some)
}

/// Refuses `what` of an index that keeps no times.
fn timed(what: &'static str, live: &LiveIndex) -> Result<(), Failure> {
    if live.window().is_some() {
        return Ok(());
    }
    let how = "needs an index that keeps times; make it with window: {}, or with limits in it";
    Err(Failure::new("ERR_INVALID_ARG_VALUE", format!("{what} {how}")))
}

/// How far the caller has come with a batch.
pub(super) fn position(given: Option<f64>) -> Result<Option<u64>, Failure> {
    given.map(|given| whole(given, "position")).transpose()
}

/// A key, if the index can keep it.
pub(super) fn checked_key<'a>(
    key: Option<&'a str>,
    live: &LiveIndex,
) -> Result<Option<&'a str>, Failure> {
    let Some(key) = key else { return Ok(None) };
    if !live.options().stored.keys {
        let why = "key needs an index that keeps keys; make it with keys: true";
        return Err(Failure::new("ERR_INVALID_ARG_VALUE", why));
    }
    if key.is_empty() || key.len() > LONGEST_KEY {
        return Err(Failure::out_of_range("key", "a string of 1 to 65536 bytes"));
    }
    Ok(Some(key))
}

/// Keys of a batch; none: no item has one.
#[derive(Default)]
pub(super) struct Keys(Vec<Option<String>>);

impl Keys {
    pub(super) fn of(given: Option<Vec<Option<String>>>) -> Self {
        Self(given.unwrap_or_default())
    }

    /// A key, or none, for each of `count` items.
    pub(super) fn each(
        &self,
        count: usize,
        live: &LiveIndex,
    ) -> Result<&[Option<String>], Failure> {
        if !self.0.is_empty() && self.0.len() != count {
            return Err(Failure::out_of_range("keys", "one for each item, undefined for none"));
        }
        for key in &self.0 {
            checked_key(key.as_deref(), live)?;
        }
        Ok(&self.0)
    }
}

/// What a duplicate does, by its name; absent means nothing.
pub(super) fn on_duplicate(name: Option<&str>, live: &LiveIndex) -> Result<OnDuplicate, Failure> {
    match name {
        None | Some("skip") => Ok(OnDuplicate::Skip),
        Some("add") => Ok(OnDuplicate::Add),
        Some("touch") => timed("onDuplicate 'touch'", live).map(|()| OnDuplicate::Touch),
        Some(other) => Err(unknown("onDuplicate", other)),
    }
}

/// What a batch had done that ended before its end.
fn done(error: &mut DedupError) -> Done {
    match error {
        DedupError::Memory { done, .. } | DedupError::SameKey { done, .. } => std::mem::take(done),
        _ => Done::Nothing,
    }
}

fn alive(flag: &AtomicBool) -> Result<(), Failure> {
    if flag.load(Ordering::Relaxed) { Err(Failure::cancelled()) } else { Ok(()) }
}

impl Shared {
    pub(super) fn add_many(
        &self,
        texts: &Texts,
        times: &Times,
        keys: &Keys,
        position: Option<u64>,
        flag: &AtomicBool,
    ) -> Result<NativeAdded, Failure> {
        let (keys, times) =
            (keys.each(texts.len(), &self.live)?, times.each(texts.len(), &self.live)?);
        let documents = self.documents(texts, flag)?;
        alive(flag)?;
        let mut added = self.live.add_many_to(position, &documents, keys, &times, flag);
        let part = added.as_mut().err().map(done);
        match (part, added) {
            (Some(Done::Added(added)), Err(error)) => {
                Ok(NativeAdded { stopped: Some(error.into()), ..added.into() })
            }
            (_, added) => Ok(added?.into()),
        }
    }

    pub(super) fn search_many(
        &self,
        texts: &Texts,
        how: &Search,
        flag: &AtomicBool,
    ) -> Result<NativeMatches, Failure> {
        let documents = self.documents(texts, flag)?;
        let found = on_pool(documents.len(), pool::tasks(self.threads), |tasks| {
            Ok(self.live.search_many(&documents, how, tasks, flag)?)
        })?;
        NativeMatches::of(&found, &self.live)
    }

    pub(super) fn check_and_add_many(
        &self,
        texts: &Texts,
        times: &Times,
        keys: &Keys,
        on_duplicate: OnDuplicate,
        (position, flag): (Option<u64>, &AtomicBool),
    ) -> Result<NativeChecked, Failure> {
        let (keys, times) =
            (keys.each(texts.len(), &self.live)?, times.each(texts.len(), &self.live)?);
        let documents = self.documents(texts, flag)?;
        alive(flag)?;
        let mut checked = on_pool(documents.len(), pool::tasks(self.threads), |tasks| {
            let (live, how) = (&self.live, on_duplicate);
            Ok(live.check_and_add_many_to(position, &documents, keys, &times, how, (tasks, flag)))
        })?;
        let part = checked.as_mut().err().map(done);
        match (part, checked) {
            (Some(Done::Checked(checked)), Err(error)) => {
                Ok(NativeChecked { stopped: Some(error.into()), ..checked.into() })
            }
            (_, checked) => Ok(checked?.into()),
        }
    }

    pub(super) fn similar_many(
        &self,
        texts: &Texts,
        times: &Times,
        keys: &Keys,
        flag: &AtomicBool,
    ) -> Result<Vec<f64>, Failure> {
        let (keys, times) =
            (keys.each(texts.len(), &self.live)?, times.each(texts.len(), &self.live)?);
        let documents = self.documents(texts, flag)?;
        alive(flag)?;
        let groups = self.live.similar_many(&documents, keys, &times, flag)?;
        Ok(groups.into_iter().map(number).collect())
    }
}
