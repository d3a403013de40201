//! What holds for every method, cluster and keep rule, through both doors, whatever proposes the candidates.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{corpus, on_threads};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use simhash_dedup::{
    Cluster, Decision, DedupOptions, Deduper, Duplicates, FileOptions, Input, Keep, Key, Method,
    Outputs, Summary, Target, dedup_files,
};
use simhash_sketch::measure::jaccard;
use simhash_sketch::{Fingerprinter, Scratch, Shingles};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::atomic::AtomicBool;

const LEAST: f64 = 0.8;

fn methods() -> [Method; 5] {
    [
        Method::default(),
        Method::SimHash { max_distance: Method::MAX_DISTANCE },
        Method::Sentences { count: Method::SENTENCES },
        Method::BruteForce,
        Method::Exact,
    ]
}

fn keeps() -> [Keep; 5] {
    let field = |largest| Keep::Field { path: "a.by".into(), largest };
    [Keep::First, Keep::Last, Keep::Longest, field(true), field(false)]
}

/// Every method, cluster and keep rule.
fn every() -> impl Iterator<Item = DedupOptions> {
    methods().into_iter().flat_map(|method| {
        [Cluster::Representative, Cluster::Components].into_iter().flat_map(move |cluster| {
            keeps().into_iter().map(move |keep| DedupOptions {
                method,
                cluster,
                keep,
                ..DedupOptions::default()
            })
        })
    })
}

/// Documents, what their keep rule compares, and their sets of features.
struct Corpus {
    texts: Vec<String>,
    keys: Vec<Key>,
    sets: Vec<Shingles>,
}

impl Corpus {
    fn new(len: usize) -> Self {
        let tree = corpus(len).new_tree(&mut TestRunner::deterministic()).unwrap();
        let texts = tree.current();
        let keys = (0..len).map(|row| match row * 7 % 11 {
            0 => Key::Missing,
            by @ 1..4 => Key::Number(by as f64 - 3.0),
            // As doubles they are one number.
            by @ 4..6 => Key::number(&(u64::MAX - by as u64).to_string()),
            by => Key::Text(format!("202{by}").into()),
        });
        let options = DedupOptions::default().fingerprinter;
        let (by, mut scratch) = (Fingerprinter::new(&options).unwrap(), Scratch::default());
        let sets = texts.iter().map(|text| {
            let mut sets = Shingles::default();
            by.shingles_of(text, &mut scratch, &mut sets);
            sets
        });
        Self { keys: keys.collect(), sets: sets.collect(), texts }
    }

    fn lines(&self) -> String {
        let record = |(text, key): (&String, &Key)| {
            let by = match key {
                Key::Number(number) => json!(number),
                Key::Integer(number) => json!(number.to_string().parse::<u64>().unwrap()),
                Key::Text(text) => json!(text),
                Key::Missing => Value::Null,
            };
            format!("{}\n", json!({ "text": text, "a": { "by": by } }))
        };
        self.texts.iter().zip(&self.keys).map(record).collect()
    }

    /// What comes first by a rule.
    fn better(&self, keep: &Keep, a: usize, b: usize) -> bool {
        let length = |place: usize| self.texts[place].chars().count();
        let by_key = |largest: bool| match (&self.keys[a], &self.keys[b]) {
            (Key::Missing, Key::Missing) => Ordering::Equal,
            (Key::Missing, _) => Ordering::Less,
            (_, Key::Missing) => Ordering::Greater,
            (a, b) => {
                let order = match (a, b) {
                    (Key::Number(a), Key::Number(b)) => a.partial_cmp(b).unwrap(),
                    (Key::Integer(a), Key::Integer(b)) => a.cmp(b),
                    (Key::Text(a), Key::Text(b)) => a.cmp(b),
                    // The doubles here are small, the integers large.
                    (Key::Number(_), _) | (Key::Integer(_), Key::Text(_)) => Ordering::Less,
                    _ => Ordering::Greater,
                };
                if largest { order } else { order.reverse() }
            }
        };
        let order = match keep {
            Keep::Last => a.cmp(&b),
            Keep::Longest => length(a).cmp(&length(b)),
            Keep::Field { largest, .. } => by_key(*largest),
            _ => Ordering::Equal,
        };
        order.then(b.cmp(&a)) == Ordering::Greater
    }

    /// Similar enough by features and numbers.
    fn similar(&self, a: usize, b: usize) -> bool {
        let [a, b] = [&self.sets[a], &self.sets[b]];
        a.verified(b, |a, b| Some(jaccard(a, b))).unwrap_or_default() >= LEAST
    }

    /// By document, the first of those that similar pairs connect it with.
    fn connected(&self) -> Vec<usize> {
        let mut label: Vec<usize> = (0..self.texts.len()).collect();
        for a in 0..label.len() {
            for b in 0..a {
                if label[a] != label[b] && self.similar(a, b) {
                    let (from, to) = (label[a].max(label[b]), label[a].min(label[b]));
                    label.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
                }
            }
        }
        label
    }

    fn streamed(&self, options: &DedupOptions) -> (Vec<Decision>, Summary) {
        let cancel = AtomicBool::new(false);
        let mut deduper = Deduper::new(options).unwrap();
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        let mut decisions = deduper.push_keyed(&texts, &self.keys, &cancel).unwrap();
        decisions.extend(deduper.finish(&cancel).unwrap());
        (decisions, deduper.summary())
    }
}

/// The clusters of two or more, by the document that is kept.
fn clusters(decisions: &[Decision]) -> BTreeMap<usize, Vec<usize>> {
    let mut clusters: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for decision in decisions {
        if let Some(of) = decision.duplicate_of {
            let kept = of as usize;
            clusters.entry(kept).or_insert_with(|| vec![kept]).push(decision.index as usize);
        }
    }
    clusters
}

#[test]
fn clusters_are_what_the_options_say() {
    let corpus = Corpus::new(400);
    let connected = corpus.connected();
    for options in every() {
        let (decisions, summary) = corpus.streamed(&options);
        let clusters = clusters(&decisions);
        assert!(clusters.len() >= 5, "{options:?}: the corpus must have clusters");
        assert_eq!(summary.read, 400);
        assert_eq!(summary.read, summary.kept + summary.duplicates, "{options:?}");
        assert_eq!(summary.clusters, clusters.len() as u64, "{options:?}");
        for (&kept, members) in &clusters {
            assert_eq!(decisions[kept].duplicate_of, None, "{options:?}: {kept} is kept");
            for &member in &members[1..] {
                assert_eq!(connected[member], connected[kept], "{options:?}: {member} {kept}");
                let similar = corpus.similar(member, kept);
                let chains = options.cluster == Cluster::Components;
                assert!(similar || chains, "{options:?}: {member} resembles {kept}");
                let better = corpus.better(&options.keep, kept, member);
                assert!(better, "{options:?}: {kept} is kept for {member}");
            }
        }
        if options.method == Method::BruteForce && options.cluster == Cluster::Components {
            let found: BTreeSet<BTreeSet<usize>> =
                clusters.values().map(|members| members.iter().copied().collect()).collect();
            let mut truth: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            for (place, &label) in connected.iter().enumerate() {
                truth.entry(label).or_default().insert(place);
            }
            let truth: BTreeSet<_> =
                truth.into_values().filter(|members| members.len() > 1).collect();
            assert_eq!(found, truth, "{options:?}");
        }
    }
}

#[test]
fn no_kept_document_resembles_another_where_every_pair_is_seen() {
    let corpus = Corpus::new(400);
    for options in every().filter(|options| options.method == Method::BruteForce) {
        let (decisions, _) = corpus.streamed(&options);
        let kept: Vec<usize> = decisions
            .iter()
            .filter(|decision| decision.duplicate_of.is_none())
            .map(|decision| decision.index as usize)
            .collect();
        for (row, &a) in kept.iter().enumerate() {
            for &b in &kept[..row] {
                assert!(!corpus.similar(a, b), "{options:?}: {b} and {a} are both kept");
            }
        }
    }
}

/// What a run over files leaves: records, clusters, figures.
pub(crate) fn filed(
    lines: &str,
    options: &DedupOptions,
    marks: Duplicates,
) -> (String, String, Summary) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("in"), lines).unwrap();
    let outputs = Outputs {
        records: Some(Target::File(path("records"))),
        clusters: Some(Target::File(path("clusters"))),
        duplicates: marks,
        ..Outputs::default()
    };
    let options = FileOptions { dedup: options.clone(), ..FileOptions::default() };
    let cancel = AtomicBool::new(false);
    let summary =
        dedup_files(&[Input::File(path("in"))], &outputs, &options, &|_| {}, &cancel).unwrap();
    let read = |name: &str| fs::read_to_string(path(name)).unwrap();
    (read("records"), read("clusters"), Summary { seconds: 0.0, ..summary })
}

#[test]
fn files_are_decided_as_streams_are_with_the_same_bytes_on_any_threads() {
    let corpus = Corpus::new(300);
    let lines = corpus.lines();
    // And with limits that cut.
    let cut = |options| DedupOptions { max_bucket: 5, max_verifications: 4, ..options };
    for options in every().chain(every().map(cut)) {
        let one = on_threads(1, || filed(&lines, &options, Duplicates::Mark));
        let threads = DedupOptions { threads: 3, ..options.clone() };
        let many = on_threads(4, || filed(&lines, &threads, Duplicates::Mark));
        assert!(one == many, "{options:?}");
        let (records, _, summary) = one;
        let (decisions, figures) = corpus.streamed(&options);
        for (record, decision) in records.lines().zip(&decisions) {
            let record: Value = serde_json::from_str(record).unwrap();
            let of = record["duplicateOf"].as_u64().map(|line| line - 1);
            assert_eq!(of, decision.duplicate_of, "{options:?}");
            let distance = record["distance"].as_u64();
            assert_eq!(distance, decision.distance.map(u64::from), "{options:?}");
            assert_eq!(record["similarity"].is_number(), decision.similarity.is_some());
        }
        assert_eq!(records.lines().count(), decisions.len());
        let counts =
            |s: &Summary| (s.read, s.kept, s.duplicates, s.clusters, s.empty, s.short, s.truncated);
        assert_eq!(counts(&summary), counts(&figures), "{options:?}");
    }
}

#[test]
fn marking_what_is_marked_changes_nothing() {
    let corpus = Corpus::new(200);
    for options in every() {
        let (once, ..) = filed(&corpus.lines(), &options, Duplicates::Mark);
        let (twice, ..) = filed(&once, &options, Duplicates::Mark);
        assert!(once == twice, "{options:?}");
        // Marks of other options leave no trace.
        let none = DedupOptions { method: Method::Exact, ..options.clone() };
        let (other, ..) = filed(&once, &none, Duplicates::Mark);
        assert!(other == filed(&corpus.lines(), &none, Duplicates::Mark).0, "{options:?}");
    }
}
