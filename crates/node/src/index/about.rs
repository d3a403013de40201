//! What an index is, and its counts and bytes.

use super::NativeIndex;
use super::options::answers_groups;
use crate::check::number;
use crate::error::js;
use crate::files::index::NativeSettled;
use crate::measure;
use napi_derive::napi;
use simhash_dedup::live::{KindStats, LiveIndex, LiveMethod, LiveStats};
use simhash_index::durable::DurableStats;

/// What an index was made with, as far as the typed layer asks.
#[napi(object, object_from_js = false)]
#[expect(clippy::struct_excessive_bools, reason = "a column for each option")]
pub struct NativeAbout {
    #[napi(ts_type = "'minhash' | 'simhash' | 'sentences' | 'exact'")]
    pub method: String,
    #[napi(ts_type = "'auto' | 'jaccard' | 'containment' | 'edit' | 'cosine'")]
    pub verify: Option<String>,
    pub min_similarity: Option<f64>,
    pub texts: bool,
    /// Whether signatures are kept.
    pub signatures: bool,
    pub keys: bool,
    pub groups: bool,
    pub memory: Option<f64>,
    /// Whether it is kept in a directory, and whether changes wait for the disk.
    pub durable: bool,
    pub waits: bool,
}

impl NativeAbout {
    /// Of an index.
    pub(crate) fn of(live: &LiveIndex) -> Self {
        let options = live.options();
        let verify = options.verify;
        Self {
            method: options.method.name().to_owned(),
            verify: verify.map(|verify| measure::name(verify.measure).to_owned()),
            min_similarity: verify.map(|verify| verify.least),
            signatures: matches!(
                options.method,
                LiveMethod::MinHash { signatures: Some(true), .. }
            ),
            texts: options.stored.longest_text.is_some(),
            keys: options.stored.keys,
            groups: answers_groups(live.options()),
            memory: options.memory.map(number),
            durable: live.is_durable(),
            waits: live.waits(),
        }
    }
}

/// Counts and bytes of an index; what the method does not count is absent.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct NativeStats {
    pub live: f64,
    pub bytes: f64,
    pub table_bytes: f64,
    pub id_bytes: f64,
    pub window_bytes: f64,
    pub key_bytes: f64,
    pub text_bytes: f64,
    pub truncated: f64,
    pub fingerprints: Option<f64>,
    pub dead: Option<f64>,
    pub memtable: Option<f64>,
    pub segments: Option<Vec<f64>>,
    pub plan: Option<String>,
    pub tables: Option<u32>,
    pub huge_pages: Option<bool>,
    pub merging: Option<bool>,
    pub merge_failed: Option<bool>,
    pub entries: Option<f64>,
    pub crowded: Option<f64>,
    pub bands: Option<u32>,
    pub rows: Option<u32>,
    pub signature_bytes: Option<f64>,
    pub groups: Option<f64>,
    pub sketches: Option<f64>,
    pub durable: Option<NativeDurableStats>,
}

/// What there is on the disk.
#[napi(object, object_from_js = false)]
pub struct NativeDurableStats {
    pub path: String,
    pub checkpoint_bytes: f64,
    pub log_bytes: f64,
    pub log_bytes_limit: f64,
    pub torn_bytes: f64,
    pub checkpoint_error: Option<String>,
    pub settled: Option<NativeSettled>,
}

impl From<DurableStats> for NativeDurableStats {
    fn from(stats: DurableStats) -> Self {
        Self {
            path: stats.path.display().to_string(),
            checkpoint_bytes: number(stats.checkpoint_bytes),
            log_bytes: number(stats.log_bytes),
            log_bytes_limit: number(stats.log_bytes_limit),
            torn_bytes: number(stats.torn_bytes),
            checkpoint_error: stats.checkpoint_error,
            settled: None,
        }
    }
}

fn count(value: usize) -> f64 {
    number(value as u64)
}

impl NativeStats {
    pub(crate) fn of(stats: LiveStats, bytes: usize) -> Self {
        let LiveStats { kind, key_bytes, text_bytes, truncated } = stats;
        let own = Self::from(kind);
        Self {
            bytes: count(bytes),
            key_bytes: count(key_bytes),
            text_bytes: count(text_bytes),
            truncated: own.truncated + number(truncated),
            ..own
        }
    }
}

impl From<KindStats> for NativeStats {
    fn from(kind: KindStats) -> Self {
        match kind {
            KindStats::SimHash(stats) => Self {
                live: number(stats.live),
                table_bytes: count(stats.table_bytes),
                id_bytes: count(stats.id_bytes),
                window_bytes: count(stats.window_bytes),
                truncated: number(stats.truncated),
                fingerprints: Some(count(stats.fingerprints)),
                dead: Some(count(stats.dead)),
                memtable: Some(count(stats.memtable)),
                segments: Some(stats.segments.into_iter().map(count).collect()),
                plan: Some(stats.plan),
                tables: Some(stats.tables as u32),
                huge_pages: Some(stats.huge_pages),
                merging: Some(stats.merging),
                merge_failed: Some(stats.merge_failed),
                ..Self::default()
            },
            KindStats::MinHash(stats) => Self {
                live: number(stats.live),
                table_bytes: count(stats.table_bytes),
                id_bytes: count(stats.id_bytes),
                window_bytes: count(stats.window_bytes),
                truncated: number(stats.truncated),
                dead: Some(number(stats.dead)),
                entries: Some(number(stats.entries)),
                crowded: Some(number(stats.crowded)),
                bands: Some(stats.plan.bands as u32),
                rows: Some(stats.plan.rows as u32),
                signature_bytes: Some(count(stats.signature_bytes)),
                ..Self::default()
            },
            KindStats::Sentences(stats) => Self {
                live: number(stats.live),
                table_bytes: count(stats.bytes),
                window_bytes: count(stats.window_bytes),
                truncated: number(stats.truncated),
                groups: Some(count(stats.groups)),
                sketches: Some(count(stats.sketches)),
                ..Self::default()
            },
            KindStats::Exact(stats) => Self {
                live: number(stats.live),
                id_bytes: count(stats.bytes),
                window_bytes: count(stats.window_bytes),
                truncated: number(stats.truncated),
                ..Self::default()
            },
        }
    }
}

#[napi]
impl NativeIndex {
    /// What it was made with.
    #[napi(catch_unwind)]
    pub fn about(&self) -> js::Result<NativeAbout> {
        self.held.look(|shared| Ok(NativeAbout::of(&shared.live)))
    }

    /// What makes sentences of texts, in words.
    #[napi(catch_unwind)]
    pub fn recipe(&self) -> js::Result<String> {
        self.held.look(|shared| Ok(shared.live.recipe()))
    }

    /// Counts and bytes.
    #[napi(catch_unwind)]
    pub fn stats(&self) -> js::Result<NativeStats> {
        self.held.look(|shared| {
            let settled = shared.live.settled().map(NativeSettled::from);
            let durable = shared.live.durable_stats();
            let durable = durable
                .map(|stats| NativeDurableStats { settled, ..NativeDurableStats::from(stats) });
            let stats = NativeStats::of(shared.live.stats(), shared.live.bytes());
            Ok(NativeStats { durable, ..stats })
        })
    }
}
