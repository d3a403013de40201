//! The rule of the live index in its plainest form: a list that is gone through from the front.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test binary uses its part")]

use simhash_dedup::Measure;
use simhash_dedup::live::{
    Checked, Document, LiveIndex, LiveMethod, LiveOptions, Near, Step, Texts,
};
use simhash_index::sentences::Common;
use simhash_index::{AddOptions, PlanChoice};
use simhash_sketch::measure::{containment, cosine, edit_similarity, jaccard};
use simhash_sketch::minhash::MinHasher;
use simhash_sketch::sentences::SentenceSketcher;
use simhash_sketch::{
    ALMOST_ONE, Fingerprinter, Kept, MethodSketch, Numbers, Preparer, Scratch, Sketcher, hamming,
};
use simhash_text::sentence::{SentenceHash, SentenceOptions};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

pub(crate) fn methods() -> Vec<&'static str> {
    vec!["minhash", "simhash", "sentences", "exact"]
}

/// Options of a method under which texts of a line have something to be compared by.
pub(crate) fn options(method: &str) -> LiveOptions {
    let method = match method {
        "simhash" => {
            LiveMethod::SimHash { max_distance: Some(12), plan: PlanChoice::Auto, capacity: None }
        }
        "minhash" => LiveMethod::minhash(),
        "sentences" => LiveMethod::Sentences {
            count: 3,
            min_length: 5,
            hash: SentenceHash::Xxh3,
            common: Some(Common { share: 1.0, ..Common::default() }),
        },
        _ => LiveMethod::Exact,
    };
    LiveOptions { method, ..LiveOptions::default() }
}

pub(crate) fn document(index: &LiveIndex, text: &str) -> Document {
    index.document(text, &mut simhash_sketch::Scratch::default())
}

pub(crate) fn checked(step: Step) -> Checked {
    match step {
        Step::Done(checked) => checked,
        Step::Texts(ids) => panic!("texts of {ids:?} are missing"),
    }
}

pub(crate) fn check(index: &LiveIndex, text: &str) -> Checked {
    let none = |_| Texts::None;
    let step = index.check_and_add(&document(index, text), None, AddOptions::default(), none);
    checked(step.unwrap())
}

pub(crate) fn saved(index: &LiveIndex) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.snapshot().write(&mut bytes, &NEVER).unwrap();
    bytes
}

/// A text of its own for each number: so many characters out of four thousand.
pub(crate) fn code(number: usize, length: usize) -> String {
    let mut state = number as u64;
    (0..length)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from_u32(0x4e00 + (state >> 52) as u32).unwrap()
        })
        .collect()
}

/// What pairs connect, ascending, by the first.
pub(crate) fn connected(pairs: &[(u64, u64)]) -> Vec<Vec<u64>> {
    let mut clusters: Vec<BTreeSet<u64>> = Vec::new();
    for &(a, b) in pairs {
        let (touched, mut others): (Vec<_>, Vec<_>) =
            clusters.into_iter().partition(|cluster| cluster.contains(&a) || cluster.contains(&b));
        others.push(touched.into_iter().flatten().chain([a, b]).collect());
        clusters = others;
    }
    clusters.sort();
    clusters.into_iter().map(|cluster| cluster.into_iter().collect()).collect()
}

/// A document of the model.
pub(crate) struct Row {
    pub(crate) normal: String,
    pub(crate) key: Option<String>,
    pub(crate) alive: bool,
    sketch: MethodSketch,
    at: u64,
    /// Place in the queue of documents by age.
    turn: usize,
}

/// Everything in its plainest form.
pub(crate) struct Model {
    pub(crate) rows: Vec<Row>,
    pub(crate) options: LiveOptions,
    preparer: Preparer,
    latest: u64,
    turns: usize,
}

impl Model {
    pub(crate) fn new(options: LiveOptions) -> Self {
        let by = Fingerprinter::new(&options.fingerprinter).unwrap();
        let sketcher = match &options.method {
            LiveMethod::SimHash { .. } => Sketcher::Fingerprint,
            LiveMethod::MinHash { plan, minhash, .. } => {
                let (hasher, plan) = (MinHasher::new(minhash).unwrap(), plan.unwrap());
                Sketcher::Signature { hasher, bands: plan.bands, rows: plan.rows }
            }
            LiveMethod::Sentences { count, min_length, .. } => {
                let options = SentenceOptions {
                    count: *count,
                    min_length: *min_length,
                    ..Default::default()
                };
                Sketcher::Sentences(SentenceSketcher::new(&options))
            }
            _ => Sketcher::None,
        };
        let preparer = Preparer::new(by, sketcher);
        Self { rows: Vec::new(), options, preparer, latest: 0, turns: 0 }
    }

    fn alive(&self) -> impl Iterator<Item = (u64, &Row)> {
        (0..).zip(&self.rows).filter(|(_, row)| row.alive)
    }

    pub(crate) fn id_of(&self, key: &String) -> Option<u64> {
        self.alive().filter(|(_, row)| row.key.as_ref() == Some(key)).last().map(|(id, _)| id)
    }

    pub(crate) fn stored_text<'a>(&self, row: &'a Row) -> Option<&'a str> {
        let longest = self.options.stored.longest_text? as usize;
        Some(row.normal.as_str()).filter(|text| text.len() <= longest)
    }

    /// The normalised text and its sketch.
    fn prepared(&self, text: &str) -> (String, MethodSketch) {
        let prepared = self.preparer.prepare(text, Kept::Text, &mut Scratch::default());
        let normal = prepared.material.text(text).unwrap().to_owned();
        (normal, prepared.sketch)
    }

    fn similarity(&self, measure: Measure, a: &str, b: &str) -> f64 {
        if a == b {
            return 1.0;
        }
        let by = self.preparer.fingerprinter();
        let mut scratch = Scratch::default();
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let (mut v, mut w) = (Vec::new(), Vec::new());
        match measure {
            Measure::Edit => edit_similarity(a, b),
            Measure::Cosine => {
                by.vector(a, &mut scratch, &mut v);
                by.vector(b, &mut scratch, &mut w);
                cosine(&v, &w)
            }
            measure => {
                by.shingles(a, &mut scratch, &mut x);
                by.shingles(b, &mut scratch, &mut y);
                match measure {
                    Measure::Containment => containment(&x, &y),
                    Measure::Auto => {
                        let [a, b] = [a, b].map(Numbers::of);
                        (jaccard(&x, &y) * a.factor(b)).min(ALMOST_ONE)
                    }
                    _ => jaccard(&x, &y),
                }
            }
        }
    }

    pub(crate) fn advance(&mut self, at: u64) {
        self.latest = self.latest.max(at);
        let age = self.options.window.and_then(|window| window.max_age);
        let before = age.map_or(0, |age| self.latest.saturating_sub(age));
        self.rows.iter_mut().for_each(|row| row.alive &= row.at >= before);
    }

    pub(crate) fn add(&mut self, text: &str, key: Option<String>) -> u64 {
        let most = self.options.window.and_then(|window| window.max_count).unwrap_or(u64::MAX);
        while self.alive().count() as u64 + 1 > most {
            let ages = self.alive().map(|(id, row)| (row.turn, id));
            let (_, oldest) = ages.min().unwrap();
            self.rows[oldest as usize].alive = false;
        }
        self.turns += 1;
        let (normal, sketch) = self.prepared(text);
        let (at, turn) = (self.latest, self.turns);
        self.rows.push(Row { normal, key, alive: true, sketch, at, turn });
        self.rows.len() as u64 - 1
    }

    pub(crate) fn touch(&mut self, id: u64) {
        self.turns += 1;
        let row = &mut self.rows[id as usize];
        (row.at, row.turn) = (self.latest, self.turns);
    }

    pub(crate) fn delete(&mut self, id: u64) -> bool {
        let row = self.rows.get_mut(id as usize);
        row.is_some_and(|row| std::mem::replace(&mut row.alive, false))
    }

    pub(crate) fn expire(&mut self, before: u64) -> u64 {
        let old = self.rows.iter_mut().filter(|row| row.alive && row.at < before);
        old.map(|row| row.alive = false).count() as u64
    }

    /// How near two sketches are, in the order of the method and as it is told; none: they are not.
    fn rank(&self, own: &MethodSketch, other: &MethodSketch) -> Option<(u32, u32)> {
        match (own, other) {
            (MethodSketch::Fingerprint(a), MethodSketch::Fingerprint(b)) => {
                let LiveMethod::SimHash { max_distance, .. } = self.options.method else {
                    panic!()
                };
                let distance = hamming::distance(*a, *b);
                (distance <= max_distance.unwrap()).then_some((distance, distance))
            }
            (MethodSketch::Signature { keys: a, .. }, MethodSketch::Signature { keys: b, .. }) => {
                let shared = a.iter().zip(b).filter(|(a, b)| a == b).count() as u32;
                (shared > 0).then_some((u32::MAX - shared, shared))
            }
            (MethodSketch::Sentences(a), MethodSketch::Sentences(b)) => {
                let [a, b] = [a, b].map(|all| all.iter().copied().collect::<BTreeSet<u64>>());
                let shared = a.intersection(&b).count() as u32;
                (shared > 0).then_some((u32::MAX - shared, shared))
            }
            _ => None,
        }
    }

    fn estimate(own: &MethodSketch, other: &MethodSketch) -> Option<f64> {
        let (
            MethodSketch::Signature { positions: a, .. },
            MethodSketch::Signature { positions: b, .. },
        ) = (own, other)
        else {
            return None;
        };
        let equal = a.iter().zip(b).filter(|(a, b)| a == b).count();
        Some(equal as f64 / a.len() as f64)
    }

    /// All that is near a text, the best first.
    pub(crate) fn near(&self, text: &str, verified: bool) -> Vec<Near> {
        let (normal, sketch) = self.prepared(text);
        self.near_of(&normal, &sketch, verified)
    }

    fn near_of(&self, normal: &str, sketch: &MethodSketch, verified: bool) -> Vec<Near> {
        if normal.is_empty() {
            return Vec::new();
        }
        if sketch.is_none() || matches!(self.options.method, LiveMethod::Exact) {
            let measure =
                if matches!(self.options.method, LiveMethod::MinHash { .. }) { 3 } else { 0 };
            let equal =
                self.alive().filter(|(_, row)| row.sketch.is_none() && row.normal == normal);
            return equal
                .map(|(id, _)| Near { id, similarity: Some(1.0), verified: true, measure })
                .collect();
        }
        let verify = self.options.verify.filter(|_| verified);
        let mut all: Vec<_> = self
            .alive()
            .filter_map(|(id, row)| Some((self.rank(sketch, &row.sketch)?, id, row)))
            .collect();
        // Equal texts of other sentences: the first, where texts are stored.
        let mut equal = self.alive().filter(|(_, row)| self.stored_text(row) == Some(normal));
        if let Some((id, row)) = equal.next()
            && all.iter().all(|(_, other, _)| *other != id)
        {
            all.push(((u32::MAX, 0), id, row));
        }
        let keeps =
            matches!(self.options.method, LiveMethod::MinHash { signatures: Some(true), .. });
        let minhash = matches!(self.options.method, LiveMethod::MinHash { .. });
        let mut found = Vec::new();
        for ((rank, measure), id, row) in all {
            let stored = self.stored_text(row);
            let (similarity, is_verified, counts) = match (verify, stored) {
                (Some(verify), Some(other)) => {
                    let similarity = self.similarity(verify.measure, normal, other);
                    // What reaches 1 without being equal is called almost 1.
                    let least =
                        if normal == other { verify.least } else { verify.least.min(ALMOST_ONE) };
                    (Some(similarity), true, similarity >= least)
                }
                (None, Some(other)) if other == normal => (Some(1.0), true, true),
                (verify, _) => {
                    // Signatures of texts too long to be stored are kept too, to be compared with.
                    let long =
                        minhash && self.options.stored.longest_text.is_some() && verify.is_some();
                    let estimate = Self::estimate(sketch, &row.sketch).filter(|_| keeps || long);
                    let least = match verify {
                        Some(verify) => verify.least,
                        // The threshold that the index was made with.
                        None => self.options.verify.map_or(0.0, |verify| verify.least),
                    };
                    (estimate, false, estimate.is_none_or(|estimate| estimate >= least))
                }
            };
            if counts {
                let near = Near { id, similarity, verified: is_verified, measure };
                let by_estimate = similarity.filter(|_| keeps && !is_verified).unwrap_or(0.0);
                let order = (is_verified, similarity.unwrap_or(0.0), by_estimate, rank);
                found.push((order, near));
            }
        }
        found.sort_by(|((av, asim, aest, arank), a), ((bv, bsim, best, brank), b)| {
            bv.cmp(av).then_with(|| {
                if *av {
                    bsim.total_cmp(asim).then(a.id.cmp(&b.id))
                } else if keeps {
                    best.total_cmp(aest).then(a.id.cmp(&b.id))
                } else {
                    arank.cmp(brank).then(a.id.cmp(&b.id))
                }
            })
        });
        found.into_iter().map(|(_, near)| near).collect()
    }

    /// The document that a check is judged by.
    pub(crate) fn best(&self, text: &str) -> Option<Near> {
        self.near(text, true).first().copied()
    }

    /// All pairs, by the later document, then the earlier one: of equal texts only the first is paired with others.
    pub(crate) fn pairs(&self) -> Vec<(u64, u64)> {
        let mut pairs = Vec::new();
        for (id, row) in self.alive() {
            let mut before: Vec<u64> = self
                .near_of(&row.normal, &row.sketch, true)
                .into_iter()
                .map(|near| near.id)
                .filter(|&other| other < id)
                .collect();
            before.sort_unstable();
            let text = |id: u64| &self.rows[id as usize].normal;
            if let Some(&first) = before.iter().find(|&&other| *text(other) == row.normal) {
                pairs.push((first, id));
                continue;
            }
            let mut seen = BTreeSet::new();
            pairs.extend(
                before
                    .into_iter()
                    .filter(|&other| seen.insert(text(other)))
                    .map(|other| (other, id)),
            );
        }
        pairs
    }
}
