//! Whether a saved index is what was asked for: what was given must be what it was made with.

use super::options::{NativeIndexOptions, NativeWindow, named};
use super::refusal::refusal;
use crate::error::Failure;
use crate::measure;
use simhash_dedup::live::{LiveMethod, LiveOptions};
use simhash_index::{Plan, PlanChoice, Window};
use simhash_store::FileError;
use simhash_store::head::kind_of;
use std::path::Path;

/// The options that were given, as the core has them, and the names of those whose defaults look the same there.
pub(super) struct Given {
    core: LiveOptions,
    /// Whether the method is that of the file.
    any_method: bool,
    /// Longest text of an index that is made; 0: none are stored.
    longest_text: Option<u32>,
    names: Vec<&'static str>,
}

/// An option of both, in words; nothing where it was not given.
type Differing = (&'static str, Option<(String, String)>);

impl Given {
    pub(super) fn of(options: &NativeIndexOptions<'_>) -> Result<Self, Failure> {
        let verify = options.verify.is_some() || options.min_similarity.is_some();
        let bands =
            options.bands.is_some() || options.recall.is_some() || options.weights.is_some();
        let names = [
            ("keys", options.keys.is_some()),
            ("onSameKey", options.on_same_key.is_some()),
            ("texts", options.longest_text.is_some()),
            ("verify", verify),
            ("window", options.window.is_some_and(NativeWindow::has_limits)),
            ("maxVerifications", options.max_verifications.is_some()),
            ("the plan", bands),
            ("bucketLimit", options.bucket_limit.is_some()),
            ("sentences", options.sentences.is_some()),
        ];
        let names = names.into_iter().filter_map(|(name, given)| given.then_some(name));
        let any_method = options.method.is_none();
        let longest_text = options.longest_text_of_new;
        Ok(Self { core: options.core()?, any_method, longest_text, names: names.collect() })
    }

    /// Takes the method of the file where none was given, none of whose options was given then either.
    pub(super) fn find_method(&mut self, path: &Path) -> Result<(), Failure> {
        if self.any_method
            && let Some(kind) = kind_of(path).map_err(refusal)?
        {
            // Of another kind: what reads it says so.
            self.core.method = named(&kind).unwrap_or_default();
        }
        Ok(())
    }

    /// There is none yet: what was not given is as in an index that is made in memory.
    pub(super) fn make(&mut self) {
        if let Some(longest) = self.longest_text {
            self.core.stored.longest_text = (longest > 0).then_some(longest);
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// What the core needs of it.
    pub(super) fn core(&self) -> &LiveOptions {
        &self.core
    }

    /// Refuses a saved index that was made with something else.
    pub(super) fn agree(&self, path: &Path, saved: &LiveOptions) -> Result<(), Failure> {
        let own = self.of_method(&saved.method)?;
        for (option, differing) in self.of_all(saved).into_iter().chain(own) {
            if let Some((saved, given)) = differing
                && saved != given
            {
                let mismatch = FileError::mismatch(option, &saved, &given).in_file(path);
                return Err(refusal(mismatch));
            }
        }
        Ok(())
    }

    fn of_all(&self, saved: &LiveOptions) -> Vec<Differing> {
        let both = |name, words: fn(&LiveOptions) -> String| {
            (name, self.has(name).then(|| (words(saved), words(&self.core))))
        };
        vec![
            both("keys", |options| options.stored.keys.to_string()),
            both("onSameKey", |options| options.on_same_key.name().to_owned()),
            both("texts", texts),
            both("verify", verify),
            both("window", |options| window(options.window)),
            both("maxVerifications", |options| options.max_verifications.to_string()),
        ]
    }

    fn of_method(&self, saved: &LiveMethod) -> Result<Vec<Differing>, Failure> {
        Ok(match (saved, &self.core.method) {
            (
                LiveMethod::SimHash { max_distance: found, plan: has, .. },
                LiveMethod::SimHash { max_distance, plan, .. },
            ) => {
                let distance = found.unwrap_or_default();
                let plan = match plan {
                    PlanChoice::Auto => None,
                    PlanChoice::Classic => Some(Plan::classic(distance)?.name().to_owned()),
                    PlanChoice::Named(name) => Some(name.clone()),
                };
                vec![
                    ("maxDistance", both(*found, *max_distance)),
                    ("plan", plan.map(|given| (plan_name(has), given))),
                ]
            }
            (
                LiveMethod::MinHash { plan: found, signatures: kept, bucket_limit: read, .. },
                LiveMethod::MinHash { plan, signatures, bucket_limit, .. },
            ) => {
                let words = |plan: simhash_index::bands::BandPlan| {
                    format!("bands {}, rows {}", plan.bands, plan.rows)
                };
                let plan = plan.filter(|_| self.has("the plan"));
                let limit = self.has("bucketLimit").then_some(*bucket_limit);
                vec![
                    ("the plan", found.zip(plan).map(|(a, b)| (words(a), words(b)))),
                    ("signatures", both(*kept, *signatures)),
                    ("bucketLimit", both(Some(*read), limit)),
                ]
            }
            (
                LiveMethod::Sentences { count: found, common: usual, .. },
                LiveMethod::Sentences { count, common, .. },
            ) => {
                let each = usual.zip(*common);
                vec![
                    ("sentences", both(Some(*found), self.has("sentences").then_some(*count))),
                    ("common.share", each.map(|(a, b)| (a.share.to_string(), b.share.to_string()))),
                    ("common.count", each.map(|(a, b)| (a.count.to_string(), b.count.to_string()))),
                ]
            }
            _ => Vec::new(),
        })
    }
}

/// Both in words, where both are known.
fn both<T: ToString>(saved: Option<T>, given: Option<T>) -> Option<(String, String)> {
    saved.zip(given).map(|(saved, given)| (saved.to_string(), given.to_string()))
}

fn plan_name(plan: &PlanChoice) -> String {
    match plan {
        PlanChoice::Named(name) => name.clone(),
        _ => "auto".to_owned(),
    }
}

fn texts(options: &LiveOptions) -> String {
    match options.stored.longest_text {
        None => "none".to_owned(),
        Some(longest) => format!("maxLength {longest}"),
    }
}

fn verify(options: &LiveOptions) -> String {
    match options.verify {
        None => "nothing".to_owned(),
        Some(verify) => format!("{} {}", measure::name(verify.measure), verify.least),
    }
}

fn window(window: Option<Window>) -> String {
    let Some(Window { max_age, max_count }) = window else { return "none".to_owned() };
    let limit = |limit: Option<u64>| limit.map_or("any".to_owned(), |limit| limit.to_string());
    format!("maxAge {}, maxCount {}", limit(max_age), limit(max_count))
}
