//! Options of an index: how it is made, and whether they agree with a saved one.

use crate::check::whole;
use crate::error::Failure;
use napi_derive::napi;
use simhash_dedup::online::{OnlineIndex, Stored};
use simhash_index::{IndexError, IndexOptions, Plan, PlanChoice, Window};
use simhash_store::FileError;
use std::path::Path;

/// Which documents stay.
#[napi(object)]
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_field_names, reason = "the names of the options")]
pub struct NativeWindow {
    pub max_age: Option<f64>,
    pub max_count: Option<f64>,
    /// Milliseconds, or infinity. Of an open index, not of its file.
    pub max_skew: Option<f64>,
}

impl NativeWindow {
    /// The limits that a saved index must have; none: any will do. A skew alone says nothing about them.
    pub(crate) fn wanted(window: Option<Self>) -> Result<Option<Window>, Failure> {
        let limits = |window: &Self| {
            window.max_skew.is_none() || window.max_age.is_some() || window.max_count.is_some()
        };
        window.filter(limits).map(Self::core).transpose()
    }

    /// Tells an index how far ahead of the clock its times may be, if that was given.
    pub(crate) fn limit_skew(
        window: Option<Self>,
        set: impl FnOnce(Option<u64>),
    ) -> Result<(), Failure> {
        if let Some(most) = window.and_then(|window| window.max_skew) {
            let finite = (most != f64::INFINITY).then_some(most);
            set(finite.map(|most| whole(most, "window.maxSkew")).transpose()?);
        }
        Ok(())
    }

    pub(crate) fn core(self) -> Result<Window, Failure> {
        let limit = |limit: Option<f64>, name| limit.map(|limit| whole(limit, name)).transpose();
        Ok(Window {
            max_age: limit(self.max_age, "window.maxAge")?,
            max_count: limit(self.max_count, "window.maxCount")?,
        })
    }
}

/// What was given; for a new index absent means the default, for a saved one its own.
#[napi(object, object_to_js = false)]
pub struct NativeIndexOptions {
    pub max_distance: Option<u32>,
    pub plan: Option<String>,
    pub capacity: Option<f64>,
    pub window: Option<NativeWindow>,
    pub keys: Option<bool>,
    /// Most characters of a stored text; 0: none are stored.
    pub longest_text: Option<u32>,
    pub threads: u32,
}

pub(super) fn choice(plan: Option<String>) -> PlanChoice {
    match plan.as_deref() {
        None | Some("auto") => PlanChoice::Auto,
        Some("classic") => PlanChoice::Classic,
        Some(_) => PlanChoice::Named(plan.unwrap_or_default()),
    }
}

impl NativeIndexOptions {
    pub(super) fn core(&self) -> Result<IndexOptions, Failure> {
        let mut options = IndexOptions::default();
        options.max_distance = self.max_distance.unwrap_or(options.max_distance);
        options.plan = choice(self.plan.clone());
        options.capacity = self.capacity.map(|count| whole(count, "capacity")).transpose()?;
        options.window = self.window.map(NativeWindow::core).transpose()?;
        Ok(options)
    }

    /// What a new index keeps beside fingerprints.
    pub(super) fn stored(&self) -> Stored {
        Stored {
            keys: self.keys.unwrap_or(false),
            longest_text: self.longest_text.filter(|&longest| longest > 0),
        }
    }

    /// Whether a saved index is what was asked for.
    pub(super) fn agree(&self, path: &Path, online: &OnlineIndex) -> Result<(), Failure> {
        let (index, saved) = (online.index(), online.stored());
        if let Some(given) = self.keys.filter(|&given| given != saved.keys) {
            return Err(mismatch(path, "keys", &saved.keys.to_string(), &given.to_string()));
        }
        let longest = saved.longest_text.unwrap_or(0);
        if let Some(given) = self.longest_text.filter(|&given| given != longest) {
            let shown = |longest: u32| match longest {
                0 => "none".to_owned(),
                longest => format!("maxLength {longest}"),
            };
            return Err(mismatch(path, "storeShortTexts", &shown(longest), &shown(given)));
        }
        let (found, distance) = (index.plan().name(), index.max_distance());
        if let Some(given) = self.max_distance.filter(|&given| given != distance) {
            return Err(mismatch(path, "maxDistance", &distance.to_string(), &given.to_string()));
        }
        let plan = match choice(self.plan.clone()) {
            PlanChoice::Auto => None,
            PlanChoice::Classic => Some(Plan::classic(distance)?.name().to_owned()),
            PlanChoice::Named(name) => Some(name),
        };
        if let Some(given) = plan.filter(|given| given != found) {
            return Err(mismatch(path, "plan", found, &given));
        }
        let given = NativeWindow::wanted(self.window)?;
        if given.is_some() && given != index.window() {
            return Err(mismatch(path, "window", &shown(index.window()), &shown(given)));
        }
        Ok(())
    }
}

pub(crate) fn shown(window: Option<Window>) -> String {
    let Some(Window { max_age, max_count }) = window else { return "none".to_owned() };
    let limit = |limit: Option<u64>| limit.map_or("any".to_owned(), |limit| limit.to_string());
    format!("maxAge {}, maxCount {}", limit(max_age), limit(max_count))
}

/// The saved index was made with other options than those given.
pub(crate) fn mismatch(path: &Path, option: &'static str, saved: &str, given: &str) -> Failure {
    IndexError::from(FileError::mismatch(option, saved, given).in_file(path)).into()
}
