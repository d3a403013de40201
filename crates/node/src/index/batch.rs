//! Additions and check-and-adds of many items.

use super::columns::{NativeAdded, NativeChecked};
use super::document::Keys;
use super::shared::Shared;
use crate::check::whole;
use crate::error::Failure;
use crate::held::on_pool;
use crate::pool;
use crate::text::Texts;
use napi::bindgen_prelude::Float64Array;
use simhash_dedup::online::{Checked, Verify};
use simhash_index::OnDuplicate;
use std::sync::atomic::{AtomicBool, Ordering};

/// Times in milliseconds; none: the clock.
#[derive(Default)]
pub(crate) struct Times(Option<Vec<u64>>);

impl Times {
    pub(crate) fn of(given: Option<Float64Array>) -> Result<Self, Failure> {
        let Some(given) = given else { return Ok(Self::default()) };
        given
            .iter()
            .map(|&at| whole(at, "at"))
            .collect::<Result<_, _>>()
            .map(|times| Self(Some(times)))
    }

    /// A time for each of `count` items: one given time is everybody's.
    pub(crate) fn each(&self, count: usize) -> Result<Vec<u64>, Failure> {
        match self.0.as_deref() {
            None => Ok(Vec::new()),
            Some([one]) => Ok(vec![*one; count]),
            Some(times) if times.len() == count => Ok(times.to_vec()),
            _ => Err(Failure::out_of_range("at", "one time, or one for each item")),
        }
    }
}

/// What a duplicate does, by its name; absent means nothing.
pub(crate) fn on_duplicate(name: Option<&str>) -> Result<OnDuplicate, Failure> {
    match name {
        None | Some("skip") => Ok(OnDuplicate::Skip),
        Some("add") => Ok(OnDuplicate::Add),
        Some("touch") => Ok(OnDuplicate::Touch),
        Some(other) => {
            let message = format!("onDuplicate has no choice {other:?}");
            Err(Failure::new("ERR_INVALID_ARG_VALUE", message))
        }
    }
}

fn live(flag: &AtomicBool) -> Result<(), Failure> {
    if flag.load(Ordering::Relaxed) { Err(Failure::cancelled()) } else { Ok(()) }
}

impl Shared {
    pub(super) fn add_many(
        &self,
        texts: &Texts,
        times: &Times,
        keys: &Keys,
        flag: &AtomicBool,
    ) -> Result<NativeAdded, Failure> {
        let keys = keys.each(texts.len(), &self.online)?;
        let documents = self.documents(texts, false, flag)?;
        let times = times.each(documents.len())?;
        live(flag)?;
        let ids = self.online.add_many(&documents, keys, &times, flag)?;
        Ok(ids.into())
    }

    pub(super) fn check_and_add_many(
        &self,
        texts: &Texts,
        times: &Times,
        keys: &Keys,
        on_duplicate: OnDuplicate,
        verify: Option<Verify>,
        flag: &AtomicBool,
    ) -> Result<NativeChecked, Failure> {
        let keys = keys.each(texts.len(), &self.online)?;
        let times = times.each(texts.len())?;
        if self.online.stores_any() || verify.is_some() {
            let documents = self.documents(texts, verify.is_some(), flag)?;
            live(flag)?;
            let checked = self.online.check_and_add_many(
                &documents,
                keys,
                &times,
                on_duplicate,
                verify,
                flag,
            )?;
            return Ok(NativeChecked::of(&checked));
        }
        let items = self.items(texts, flag)?;
        live(flag)?;
        // With a window, or where duplicates are added, items depend on each other: they are taken one at a time.
        let together = self.index().window().is_none() && on_duplicate != OnDuplicate::Add;
        let tasks = if together { pool::tasks(self.threads) } else { 1 };
        let outcomes = on_pool(items.len(), tasks, |tasks| {
            Ok(self.index().check_and_add_many(&items, &times, on_duplicate, tasks, flag)?)
        })?;
        let by_distance = |outcome| Checked { outcome, similarity: None };
        Ok(NativeChecked::of(&outcomes.into_iter().map(by_distance).collect::<Vec<_>>()))
    }
}
