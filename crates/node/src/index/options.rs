//! Options of an index as JavaScript gives them.

use crate::check::whole;
use crate::error::{Failure, unknown};
use crate::fingerprinter::NativeFingerprinterOptions;
use crate::measure;
use crate::minhash::NativeMinHashOptions;
use crate::sentences::hash_named;
use napi::bindgen_prelude::BigInt;
use napi_derive::napi;
use simhash_dedup::live::{LiveMethod, LiveOptions, OnSameKey, OpenOptions, Stored, Verify};
use simhash_index::bands::BandPlan;
use simhash_index::durable::Durability;
use simhash_index::sentences::Common;
use simhash_index::{PlanChoice, Window};
use std::time::Duration;

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
    /// Whether it says anything about what stays. A skew alone does not.
    pub(super) fn has_limits(self) -> bool {
        self.max_skew.is_none() || self.max_age.is_some() || self.max_count.is_some()
    }

    fn core(self) -> Result<Window, Failure> {
        let limit = |limit: Option<f64>, name| limit.map(|limit| whole(limit, name)).transpose();
        Ok(Window {
            max_age: limit(self.max_age, "window.maxAge")?,
            max_count: limit(self.max_count, "window.maxCount")?,
        })
    }
}

/// How far ahead of the clock times may be, in milliseconds; none: any number.
#[derive(Clone, Copy)]
pub(super) struct Skew(pub(super) Option<u64>);

/// How much finding too much and finding too little weigh.
#[napi(object, object_to_js = false)]
#[derive(Clone, Copy)]
pub struct NativeWeights {
    pub false_positive: f64,
    pub false_negative: f64,
}

/// How an index is made; absent means the default, for a saved one its own.
#[napi(object, object_to_js = false)]
pub struct NativeIndexOptions<'env> {
    pub fingerprinter: NativeFingerprinterOptions<'env>,
    /// To open one: absent means that of the file.
    #[napi(ts_type = "'minhash' | 'simhash' | 'sentences' | 'exact'")]
    pub method: Option<String>,
    #[napi(ts_type = "'auto' | 'jaccard' | 'containment' | 'edit' | 'cosine'")]
    pub verify: Option<String>,
    /// 0: no verification.
    pub min_similarity: Option<f64>,
    pub max_verifications: Option<u32>,
    /// Most bytes of a stored text; 0: none are stored.
    pub longest_text: Option<u32>,
    pub keys: Option<bool>,
    #[napi(ts_type = "'add' | 'error' | 'replace' | 'repeat'")]
    pub on_same_key: Option<String>,
    pub window: Option<NativeWindow>,
    /// Most bytes of the index.
    pub memory: Option<f64>,
    pub threads: u32,
    /// For `simhash`, as what follows.
    pub max_distance: Option<u32>,
    pub plan: Option<String>,
    pub capacity: Option<f64>,
    /// For `minhash`, as what follows; bands and rows together or neither.
    pub bands: Option<u32>,
    pub rows: Option<u32>,
    pub recall: Option<f64>,
    pub weights: Option<NativeWeights>,
    pub hashes: Option<u32>,
    pub scheme: Option<String>,
    pub seed: Option<BigInt>,
    pub signatures: Option<bool>,
    pub bucket_limit: Option<f64>,
    /// For `sentences`, as what follows.
    pub sentences: Option<u32>,
    pub min_length: Option<u32>,
    pub hash: Option<String>,
    pub common_share: Option<f64>,
    pub common_count: Option<u32>,
    /// Of one that is there already: that it answers with groups.
    pub groups: Option<bool>,
    /// Of a directory, as what follows.
    #[napi(ts_type = "'commit' | 'interval' | 'none'")]
    pub durability: Option<String>,
    /// Milliseconds between two flushes.
    pub flush_interval: Option<f64>,
    pub create: Option<bool>,
    pub read_only: Option<bool>,
    pub mmap: Option<bool>,
    /// `longest_text` of an index that is made there.
    pub longest_text_of_new: Option<u32>,
}

/// What is said about bands and rows.
#[derive(Clone, Copy)]
pub(super) struct Banding {
    own: Option<(u32, u32)>,
    weights: Option<NativeWeights>,
    recall: Option<f64>,
}

impl Banding {
    /// The option that says it.
    pub(super) fn option(&self) -> &'static str {
        match self {
            Self { own: Some(_), .. } => "bands",
            Self { weights: Some(_), .. } => "weights",
            _ => "recall",
        }
    }

    /// Bands and rows for pairs from this similarity on, of so many positions at most; `None`: nothing is said.
    pub(super) fn plan(&self, least: f64, hashes: usize) -> Result<Option<BandPlan>, Failure> {
        Ok(Some(match (self.own, self.weights, self.recall) {
            (Some((bands, rows)), ..) => BandPlan::new(bands as usize, rows as usize)?,
            (None, Some(NativeWeights { false_positive, false_negative }), _) => {
                BandPlan::for_weights(least, false_positive, false_negative, hashes)?
            }
            (None, None, Some(recall)) => BandPlan::for_recall(least, recall, hashes)?,
            (None, None, None) => return Ok(None),
        }))
    }
}

/// Whether an index answers with groups: sentences that nothing is compared with.
pub(super) fn answers_groups(options: &LiveOptions) -> bool {
    matches!(options.method, LiveMethod::Sentences { .. }) && options.verify.is_none()
}

pub(super) fn choice(plan: Option<&str>) -> PlanChoice {
    match plan {
        None | Some("auto") => PlanChoice::Auto,
        Some("classic") => PlanChoice::Classic,
        Some(name) => PlanChoice::Named(name.to_owned()),
    }
}

/// A method with its defaults.
pub(super) fn named(method: &str) -> Option<LiveMethod> {
    Some(match method {
        "simhash" => LiveMethod::simhash(),
        "minhash" => LiveMethod::minhash(),
        "sentences" => LiveMethod::sentences(),
        "exact" => LiveMethod::Exact,
        _ => return None,
    })
}

fn size(value: f64, name: &str) -> Result<usize, Failure> {
    Ok(usize::try_from(whole(value, name)?).unwrap_or(usize::MAX))
}

impl NativeIndexOptions<'_> {
    /// What the core needs.
    pub(crate) fn core(&self) -> Result<LiveOptions, Failure> {
        let default = LiveOptions::default();
        Ok(LiveOptions {
            method: self.method()?,
            fingerprinter: self.fingerprinter.core()?,
            verify: self.verify()?,
            max_verifications: self
                .max_verifications
                .map_or(default.max_verifications, |most| most as usize),
            stored: Stored {
                keys: self.keys.unwrap_or(default.stored.keys),
                longest_text: match self.longest_text {
                    None => default.stored.longest_text,
                    longest => longest.filter(|&longest| longest > 0),
                },
            },
            on_same_key: match self.on_same_key.as_deref() {
                None => default.on_same_key,
                Some(name) => OnSameKey::named(name).ok_or_else(|| unknown("onSameKey", name))?,
            },
            window: self.window.map(NativeWindow::core).transpose()?,
            memory: self.memory.map(|most| whole(most, "memory")).transpose()?,
        })
    }

    /// How a directory is opened.
    pub(super) fn directory(&self) -> Result<OpenOptions, Failure> {
        let mut how = OpenOptions::default();
        how.create = self.create.unwrap_or(how.create);
        how.read_only = self.read_only.unwrap_or(how.read_only);
        how.mmap = self.mmap.unwrap_or(how.mmap);
        let pause = self.flush_interval.map(|pause| whole(pause, "flushInterval")).transpose()?;
        how.durable.durability = match (self.durability.as_deref(), pause) {
            (None, None) => Durability::default(),
            (None | Some("interval"), pause) => {
                Durability::Interval(Duration::from_millis(pause.unwrap_or(1000)))
            }
            (Some("commit"), _) => Durability::Commit,
            (Some("none"), _) => Durability::None,
            (Some(other), _) => return Err(unknown("durability", other)),
        };
        Ok(how)
    }

    /// An option that only a directory has.
    pub(super) fn of_directory(&self) -> Option<&'static str> {
        let given = [
            ("durability", self.durability.is_some()),
            ("flushInterval", self.flush_interval.is_some()),
            ("create", self.create == Some(true)),
            ("readOnly", self.read_only == Some(true)),
            ("mmap", self.mmap == Some(true)),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }

    pub(super) fn banding(&self) -> Banding {
        let Self { weights, recall, .. } = *self;
        Banding { own: self.bands.zip(self.rows), weights, recall }
    }

    /// How far ahead of the clock times may be, if that was given.
    pub(super) fn skew(&self) -> Result<Option<Skew>, Failure> {
        let Some(most) = self.window.and_then(|window| window.max_skew) else { return Ok(None) };
        let finite = (most != f64::INFINITY).then_some(most);
        Ok(Some(Skew(finite.map(|most| whole(most, "window.maxSkew")).transpose()?)))
    }

    fn verify(&self) -> Result<Option<Verify>, Failure> {
        let measure = measure::named(self.verify.as_deref())?;
        let least = self.min_similarity.unwrap_or(Verify::default().least);
        Ok((least > 0.0).then_some(Verify { measure, least }))
    }

    fn method(&self) -> Result<LiveMethod, Failure> {
        let name = self.method.as_deref().unwrap_or("minhash");
        let mut method = named(name).ok_or_else(|| unknown("method", name))?;
        match &mut method {
            LiveMethod::SimHash { max_distance, plan, capacity } => {
                *max_distance = self.max_distance;
                *plan = choice(self.plan.as_deref());
                *capacity = self.capacity.map(|count| whole(count, "capacity")).transpose()?;
            }
            LiveMethod::MinHash { plan, minhash, signatures, bucket_limit } => {
                let (scheme, hashes) = (self.scheme.clone(), self.hashes);
                let given = NativeMinHashOptions { scheme, hashes, seed: self.seed.clone() };
                *minhash = given.core()?;
                *plan = self.plan_of_bands(minhash.hashes)?;
                *signatures = self.signatures;
                if let Some(limit) = self.bucket_limit {
                    *bucket_limit = size(limit, "bucketLimit")?;
                }
            }
            LiveMethod::Sentences { count, min_length, hash, common } => {
                *count = self.sentences.map_or(*count, |given| given as usize);
                *min_length = self.min_length.map_or(*min_length, |given| given as usize);
                *hash = hash_named(self.hash.as_deref())?;
                *common = self.common();
            }
            _ => {}
        }
        Ok(method)
    }

    /// Bands and rows, where anything is said about them.
    fn plan_of_bands(&self, hashes: usize) -> Result<Option<BandPlan>, Failure> {
        let threshold = self.min_similarity.filter(|&least| least > 0.0);
        let threshold = threshold.unwrap_or(Verify::default().least);
        let Some(plan) = self.banding().plan(threshold, hashes)? else { return Ok(None) };
        if self.hashes.is_some() && plan.hashes() > hashes {
            return Err(Failure::out_of_range("hashes", "at least bands * rows"));
        }
        Ok(Some(plan))
    }

    fn common(&self) -> Option<Common> {
        let usual = Common::default();
        (self.common_share.is_some() || self.common_count.is_some()).then(|| Common {
            share: self.common_share.unwrap_or(usual.share),
            count: self.common_count.unwrap_or(usual.count),
        })
    }
}
