//! Whether a saved index is what was asked for: what was given must be what it was made with, and what was not given is its own.

use super::options::{Banding, NativeIndexOptions, NativeWindow, answers_groups};
use super::refusal::refusal;
use crate::error::Failure;
use crate::fingerprinter::GivenOptions;
use crate::measure;
use simhash_dedup::live::{LiveMethod, LiveOptions};
use simhash_index::bands::BandPlan;
use simhash_index::{Plan, PlanChoice, Window};
use simhash_sketch::minhash::MinHashOptions;
use simhash_store::FileError;
use std::path::Path;

/// The options that were given, as the core has them, and the names of those whose defaults look the same there.
pub(super) struct Given {
    core: LiveOptions,
    text: GivenOptions,
    banding: Banding,
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
        let groups = options.groups == Some(true);
        // 0 is how nothing is compared, which groups say too.
        let least = options.min_similarity.filter(|_| !groups);
        let names = [
            ("keys", options.keys.is_some()),
            ("onSameKey", options.on_same_key.is_some()),
            ("texts", options.longest_text.is_some()),
            ("groups", groups),
            ("verify", options.verify.is_some() || least == Some(0.0)),
            ("minSimilarity", least > Some(0.0)),
            ("window", options.window.is_some_and(NativeWindow::has_limits)),
            ("maxVerifications", options.max_verifications.is_some()),
            ("hashes", options.hashes.is_some()),
            ("scheme", options.scheme.is_some()),
            ("seed", options.seed.is_some()),
            ("bucketLimit", options.bucket_limit.is_some()),
            ("sentences", options.sentences.is_some()),
            ("minLength", options.min_length.is_some()),
            ("hash", options.hash.is_some()),
        ];
        let names = names.into_iter().filter_map(|(name, given)| given.then_some(name));
        Ok(Self {
            core: options.core()?,
            text: options.fingerprinter.given()?,
            banding: options.banding(),
            any_method: options.method.is_none(),
            longest_text: options.longest_text_of_new,
            names: names.collect(),
        })
    }

    /// Takes what was not given from what is saved: the method, and what its sketches are made with.
    pub(super) fn complete(&mut self, path: &Path, saved: LiveOptions) -> Result<(), Failure> {
        let Self { core, names, .. } = self;
        let is_own = |name| !names.contains(&name);
        if self.any_method {
            core.method = saved.method;
        } else {
            match (&mut core.method, saved.method) {
                (
                    LiveMethod::MinHash { minhash, .. },
                    LiveMethod::MinHash { minhash: MinHashOptions { scheme, seed, .. }, .. },
                ) => {
                    minhash.scheme = if is_own("scheme") { scheme } else { minhash.scheme };
                    minhash.seed = if is_own("seed") { seed } else { minhash.seed };
                }
                (
                    LiveMethod::Sentences { min_length, hash, .. },
                    LiveMethod::Sentences { min_length: shortest, hash: own, .. },
                ) => {
                    *min_length = if is_own("minLength") { shortest } else { *min_length };
                    *hash = if is_own("hash") { own } else { *hash };
                }
                (LiveMethod::SimHash { .. }, LiveMethod::SimHash { .. })
                | (LiveMethod::Exact, LiveMethod::Exact) => {}
                // Of another kind: what reads it says so.
                _ => return Ok(()),
            }
        }
        if let Some(ngram) = self.text.ngram_alone(&saved.fingerprinter) {
            let mismatch = FileError::mismatch("ngram", "none: features auto", ngram.to_string());
            return Err(refusal(mismatch.in_file(path)));
        }
        core.fingerprinter = self.text.over(saved.fingerprinter)?;
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
        let own = self.of_method(saved)?;
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
            both("groups", |options| answers_groups(options).to_string()),
            both("verify", |options| {
                options.verify.map_or("false", |verify| measure::name(verify.measure)).to_owned()
            }),
            both("minSimilarity", |options| {
                options.verify.map_or(0.0, |verify| verify.least).to_string()
            }),
            both("window", |options| window(options.window)),
            both("maxVerifications", |options| options.max_verifications.to_string()),
        ]
    }

    fn of_method(&self, saved: &LiveOptions) -> Result<Vec<Differing>, Failure> {
        Ok(match (&saved.method, &self.core.method) {
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
                LiveMethod::MinHash {
                    plan: found,
                    signatures: kept,
                    bucket_limit: read,
                    minhash: own,
                },
                LiveMethod::MinHash { signatures, bucket_limit, minhash, .. },
            ) => {
                let words = |plan: BandPlan| format!("bands {}, rows {}", plan.bands, plan.rows);
                let (by, hashes) = (self.core.verify, self.has("hashes").then_some(minhash.hashes));
                let verify = if self.has("minSimilarity") { by } else { saved.verify };
                let least = verify.unwrap_or_default().least;
                let most = hashes.unwrap_or(own.hashes.max(MinHashOptions::default().hashes));
                let plan = self.banding.plan(least, most)?;
                let limit = self.has("bucketLimit").then_some(*bucket_limit);
                // Where no signatures are kept, positions beyond the bands are not made.
                let hashes = hashes.filter(|&given| *kept == Some(true) || given < own.hashes);
                vec![
                    (self.banding.option(), found.zip(plan).map(|(a, b)| (words(a), words(b)))),
                    ("hashes", both(Some(own.hashes), hashes)),
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

fn window(window: Option<Window>) -> String {
    let Some(Window { max_age, max_count }) = window else { return "none".to_owned() };
    let limit = |limit: Option<u64>| limit.map_or("any".to_owned(), |limit| limit.to_string());
    format!("maxAge {}, maxCount {}", limit(max_age), limit(max_count))
}
