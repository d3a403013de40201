//! Scores against their definitions, written down naively, and against cases counted by hand.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use proptest::prelude::*;
use simhash_dedup::evaluate::{
    DocumentTexts, Evaluation, LabelledPair, Labels, Neighbourhood, Reported, Truth, Verification,
    evaluate,
};
use simhash_sketch::measure::jaccard;
use simhash_sketch::{ALMOST_ONE, Fingerprinter, FingerprinterOptions, Numbers, Scratch};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

const LEAST: f64 = 0.8;

fn pair(a: u32, b: u32, similarity: f64) -> LabelledPair {
    LabelledPair { a, b, similarity }
}

fn score(labels: &Labels, links: &[(u32, u32)], clusters: &[Vec<u32>]) -> Evaluation {
    let reported = Reported::new(labels.documents(), links, clusters).unwrap();
    evaluate(labels, &reported, None, &AtomicBool::new(false)).unwrap()
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} is not {b}");
}

/// Labels: {0, 1, 2}, {3, 4}, 5 and 6 alone. Reported: 1 and 3 removed for 0, 6 for 5.
#[test]
fn a_case_counted_by_hand() {
    let labels = Labels::new(7, &[vec![0, 1, 2], vec![3, 4]], &[], LEAST).unwrap();
    let result = score(&labels, &[(0, 1), (0, 3), (5, 6)], &[]);
    assert_eq!((result.documents, result.redundant, result.removed), (7, 3, 3));
    // Of the links 0-1, 0-2 and 3-4 only the first is there.
    close(result.document_recall, 1.0 / 3.0);
    // 1 and 3 are removed where two and one are redundant; nothing is redundant around 6.
    close(result.removal_recall, 2.0 / 3.0);
    close(result.labelled_precision.unwrap(), 1.0 / 3.0);
    close(result.pair_recall, 1.0 / 4.0);
    // 0, 1: 2/3; 2: 1; 3: 1/3; 4: 1; 5, 6: 1/2.
    close(result.bcubed_precision, (2.0 * 2.0 / 3.0 + 1.0 + 1.0 / 3.0 + 1.0 + 1.0) / 7.0);
    // 0, 1: 2/3; 2: 1/3; 3, 4: 1/2; 5, 6: 1.
    close(result.bcubed_recall, (2.0 * 2.0 / 3.0 + 1.0 / 3.0 + 1.0 + 2.0) / 7.0);
    // One pair together in both, 4 and 4 of 21.
    close(result.adjusted_rand, (1.0 - 16.0 / 21.0) / (4.0 - 16.0 / 21.0));
    assert_eq!(result.verified, None);
}

#[test]
fn a_large_cluster_weighs_fifty_pairs() {
    // 40 equal documents (780 pairs), a pair, and a pair that is missed.
    let labels =
        Labels::new(44, &[(0..40).collect(), vec![40, 41], vec![42, 43]], &[], LEAST).unwrap();
    let result = score(&labels, &[(40, 41)], &[(0..40).collect()]);
    close(result.pair_recall, 51.0 / 52.0);
}

#[test]
fn pairs_between_groups_stand_for_all_their_documents() {
    let groups = [vec![0, 1, 2], vec![3, 4]];
    let labels = Labels::new(5, &groups, &[pair(1, 4, 0.9)], LEAST).unwrap();
    let result = score(&labels, &[], &[vec![0, 1, 2]]);
    assert_eq!(result.redundant, 4);
    // 3 + 1 pairs inside, 6 between; the first three are found.
    close(result.pair_recall, 3.0 / 10.0);
    assert_eq!(result.apart, 0);
}

#[test]
fn pairs_below_the_threshold_are_apart_unless_a_chain_connects_them() {
    let pairs =
        [pair(0, 1, 0.9), pair(1, 2, 0.8), pair(0, 2, 0.7), pair(3, 4, 0.0), pair(5, 3, 0.1)];
    let labels = Labels::new(6, &[], &pairs, LEAST).unwrap();
    let result = score(&labels, &[], &[vec![0, 1, 2], vec![3, 4]]);
    assert_eq!((result.redundant, result.apart, result.merged), (2, 2, 1));
    // The cluster 0, 1, 2 is read as its chain; 3-4 is the one wrong link of three.
    close(result.labelled_precision.unwrap(), 2.0 / 3.0);
}

struct Given<'a>(BTreeMap<u32, &'a str>);

impl DocumentTexts for Given<'_> {
    fn with_text(&self, document: u32, read: &mut dyn FnMut(&str)) {
        if let Some(text) = self.0.get(&document) {
            read(text);
        }
    }
}

#[test]
fn links_are_verified_on_the_texts_and_clusters_by_their_best_reading() {
    // A chain: neighbours share 4 of 5 pairs of characters or more, its ends do not.
    let texts = ["abcdefghijkl", "abcdefghijkm", "abcdefghizkm", "something else", "abcdefghijkl"];
    let by = Fingerprinter::preset("chars").unwrap();
    let texts = Given((0..).zip(texts).collect());
    let verification = Verification { fingerprinter: &by, texts: &texts, threads: 0 };
    let labels = Labels::new(6, &[vec![0, 4]], &[pair(0, 1, 0.9), pair(1, 2, 0.8)], LEAST).unwrap();
    let verified = |links: &[(u32, u32)], clusters: &[Vec<u32>]| {
        let reported = Reported::new(6, links, clusters).unwrap();
        let cancel = AtomicBool::new(false);
        evaluate(&labels, &reported, Some(&verification), &cancel).unwrap().verified
    };
    // Jaccard: 0-1 10/12, 1-2 9/13, 0-2 8/14, 0-3 0.
    let chain = verified(&[], &[vec![0, 1, 2, 4, 3]]).unwrap();
    close(chain.precision, 2.0 / 4.0);
    close(chain.half_precision, 3.0 / 4.0);
    close(chain.kept_precision, 2.0 / 4.0);
    let star = verified(&[(0, 1), (0, 2), (0, 4), (0, 4)], &[]).unwrap();
    close(star.precision, 2.0 / 3.0);
    // 5 has no text.
    close(verified(&[(0, 5)], &[]).unwrap().half_precision, 0.0);
    assert_eq!(verified(&[(3, 3)], &[vec![1]]), None);
}

#[test]
fn links_of_long_texts_are_verified_by_their_long_shingles_too() {
    let long = |period: &str| -> String { period.chars().cycle().take(400).collect() };
    // The same pairs of characters, and few passages.
    let [a, b] = [long("甲乙甲丙"), long("甲丙甲乙甲乙甲丙")];
    let labels = Labels::new(2, &[], &[], LEAST).unwrap();
    let reported = Reported::new(2, &[(0, 1)], &[]).unwrap();
    for (preset, precision) in [("auto", 0.0), ("chars", 1.0)] {
        let by = Fingerprinter::preset(preset).unwrap();
        let texts = Given((0..).zip([a.as_str(), &b]).collect());
        let verification = Verification { fingerprinter: &by, texts: &texts, threads: 0 };
        let cancel = AtomicBool::new(false);
        let result = evaluate(&labels, &reported, Some(&verification), &cancel).unwrap();
        close(result.verified.unwrap().precision, precision);
    }
}

/// Around the length from which on texts have long shingles: periods of few characters, which give texts of the same pairs
/// and not the same passages.
fn long_text() -> impl Strategy<Value = String> {
    let period =
        prop_oneof![Just("甲乙甲丙"), Just("甲丙甲乙甲乙甲丙"), Just("甲乙丙"), Just("丁戊")];
    (period, 396usize..405, proptest::option::of(0usize..400)).prop_map(|(period, len, edit)| {
        let mut text: Vec<char> = period.chars().cycle().take(len).collect();
        if let Some(slot) = edit.and_then(|at| text.get_mut(at)) {
            *slot = '甲';
        }
        text.into_iter().collect()
    })
}

#[test]
fn a_document_that_there_is_not_is_refused() {
    let refused = [
        Labels::new(3, &[vec![0, 3]], &[], LEAST).err(),
        Labels::new(3, &[], &[pair(0, 3, 1.0)], LEAST).err(),
        Labels::new(3, &[], &[pair(0, 1, 1.5)], LEAST).err(),
        Labels::new(3, &[], &[], f64::NAN).err(),
        Reported::new(3, &[(0, 3)], &[]).err(),
        Reported::new(3, &[], &[vec![1, 9]]).err(),
    ];
    for error in refused {
        assert!(matches!(error, Some(simhash_dedup::DedupError::OutOfRange { .. })));
    }
}

#[test]
fn nothing_scores_one() {
    let result = score(&Labels::new(0, &[], &[], LEAST).unwrap(), &[], &[]);
    assert_eq!((result.document_recall, result.pair_recall, result.adjusted_rand), (1.0, 1.0, 1.0));
    assert_eq!((result.bcubed_f1, result.labelled_precision), (1.0, None));
}

const DOCUMENTS: u32 = 14;

/// Groups, pairs, links and clusters over few documents, so that everything overlaps.
fn groups() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let group = proptest::collection::vec(0..DOCUMENTS, 0..5);
    proptest::collection::vec(group, 0..4)
}

fn pairs() -> impl Strategy<Value = Vec<LabelledPair>> {
    let similarity = prop_oneof![Just(0.5), Just(0.8), Just(0.9), Just(1.0)];
    let pair = (0..DOCUMENTS, 0..DOCUMENTS, similarity).prop_map(|(a, b, s)| pair(a, b, s));
    proptest::collection::vec(pair, 0..10)
}

fn links() -> impl Strategy<Value = Vec<(u32, u32)>> {
    proptest::collection::vec((0..DOCUMENTS, 0..DOCUMENTS), 0..6)
}

/// The component of every document, by spreading the lowest name until nothing changes.
fn components(edges: &BTreeSet<(u32, u32)>) -> Vec<u32> {
    let mut name: Vec<u32> = (0..DOCUMENTS).collect();
    for _ in 0..DOCUMENTS {
        for &(a, b) in edges {
            let least = name[a as usize].min(name[b as usize]);
            (name[a as usize], name[b as usize]) = (least, least);
        }
    }
    name
}

fn all_pairs(members: &[u32]) -> BTreeSet<(u32, u32)> {
    members.iter().flat_map(|&a| members.iter().map(move |&b| (a, b))).collect()
}

/// Documents that `partition` puts with `document`.
fn mates(partition: &[u32], document: u32) -> BTreeSet<u32> {
    let same = |&other: &u32| partition[other as usize] == partition[document as usize];
    (0..DOCUMENTS).filter(same).collect()
}

proptest! {
    #[test]
    fn figures_of_partitions_are_their_definitions(
        groups in groups(), pairs in pairs(), links in links(), clusters in groups(),
    ) {
        let labels = Labels::new(DOCUMENTS, &groups, &pairs, LEAST).unwrap();
        let result = score(&labels, &links, &clusters);
        let mut equal: BTreeSet<(u32, u32)> = groups.iter().flat_map(|g| all_pairs(g)).collect();
        let group = components(&equal);
        equal.extend(pairs.iter().filter(|p| p.similarity >= LEAST).map(|p| (p.a, p.b)));
        let labelled = components(&equal);
        let mut joined: BTreeSet<(u32, u32)> = clusters.iter().flat_map(|c| all_pairs(c)).collect();
        joined.extend(&links);
        let found = components(&joined);

        let all = DOCUMENTS as usize;
        let names = |partition: &[u32]| partition.iter().collect::<BTreeSet<_>>().len();
        prop_assert_eq!(result.redundant as usize, all - names(&labelled));
        let cells: BTreeSet<_> = labelled.iter().zip(&found).collect();
        let recall = if result.redundant == 0 { 1.0 } else {
            (all - cells.len()) as f64 / result.redundant as f64
        };
        close(result.document_recall, recall);

        let (mut precision, mut recall) = (0.0, 0.0);
        for document in 0..DOCUMENTS {
            let (l, f) = (mates(&labelled, document), mates(&found, document));
            let both = l.intersection(&f).count() as f64;
            precision += both / f.len() as f64 / all as f64;
            recall += both / l.len() as f64 / all as f64;
        }
        close(result.bcubed_precision, precision);
        close(result.bcubed_recall, recall);

        // Every pair of documents, one by one.
        let (mut together, mut in_l, mut in_f, mut count) = (0.0, 0.0, 0.0, 0.0);
        let mut shares: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for a in 0..DOCUMENTS {
            for b in 0..a {
                let at = |partition: &[u32]| partition[a as usize] == partition[b as usize];
                let (l, f) = (f64::from(u8::from(at(&labelled))), f64::from(u8::from(at(&found))));
                together += l * f;
                in_l += l;
                in_f += f;
                count += 1.0;
                let stated = pairs.iter().any(|p| {
                    let ends = BTreeSet::from([group[p.a as usize], group[p.b as usize]]);
                    p.similarity >= LEAST
                        && ends == BTreeSet::from([group[a as usize], group[b as usize]])
                });
                if at(&group) || stated {
                    let share = shares.entry(labelled[a as usize]).or_default();
                    *share = (share.0 + 1.0, share.1 + f);
                }
            }
        }
        let chance = in_l * in_f / count;
        let most = f64::midpoint(in_l, in_f) - chance;
        close(result.adjusted_rand, if most == 0.0 { 1.0 } else { (together - chance) / most });
        let weight: f64 = shares.values().map(|(total, _)| total.min(50.0)).sum();
        let hit: f64 = shares.values().map(|(total, hit)| total.min(50.0) * hit / total).sum();
        close(result.pair_recall, if weight == 0.0 { 1.0 } else { hit / weight });
    }

    #[test]
    fn the_truth_of_texts_is_every_pair_above_the_threshold(
        texts in proptest::collection::vec(prop_oneof![4 => "[甲乙丙]{0,9}|[12甲]{0,5}".boxed(), 1 => long_text().boxed()], 0..25),
        sample in 0usize..10,
    ) {
        let by = Fingerprinter::new(&FingerprinterOptions::default()).unwrap();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let cancel = AtomicBool::new(false);
        let truth = Truth::of(&texts, &by, 0.5, 0, &cancel).unwrap();
        let sets: Vec<Vec<u64>> = texts.iter().map(|text| {
            let mut set = Vec::new();
            by.shingles(text, &mut Scratch::default(), &mut set);
            set
        }).collect();
        let long: Vec<BTreeSet<Vec<char>>> = texts.iter().map(|text| {
            let characters: Vec<char> = text.chars().collect();
            let fives = if characters.len() < 400 { &[][..] } else { &characters };
            fives.windows(5).map(<[char]>::to_vec).collect()
        }).collect();
        let numbers: Vec<Numbers> = texts.iter().map(|text| Numbers::of(text)).collect();
        let by_sets = |a: usize, b: usize| {
            let similarity = jaccard(&sets[a], &sets[b]);
            if long[a].is_empty() || long[b].is_empty() {
                return similarity;
            }
            let both = long[a].intersection(&long[b]).count();
            similarity.min(both as f64 / long[a].union(&long[b]).count() as f64)
        };
        let similarity = |a: usize, b: usize| {
            (by_sets(a, b) * numbers[a].factor(numbers[b])).min(ALMOST_ONE)
        };
        let (mut group, mut expected) = ((0..texts.len()).collect::<Vec<_>>(), BTreeSet::new());
        for b in 0..texts.len() {
            for a in (0..b).rev() {
                let same_numbers = numbers[a].class() == numbers[b].class();
                if by_sets(a, b) >= 1.0 && long[a] == long[b] && same_numbers {
                    group[b] = group[a];
                }
            }
        }
        for b in 0..texts.len() {
            for a in (0..b).filter(|&a| group[a] == a && group[b] == b) {
                let similarity = similarity(a, b);
                if similarity >= 0.5 {
                    expected.insert((a as u32, b as u32, similarity.to_bits()));
                }
            }
        }
        let found = truth.pairs.iter().map(|p| (p.a, p.b, p.similarity.to_bits()));
        prop_assert_eq!(found.collect::<BTreeSet<_>>(), expected);
        let mut groups: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (document, &first) in (0..).zip(&group) {
            groups.entry(first).or_default().push(document);
        }
        let groups: Vec<_> = groups.into_values().filter(|group| group.len() > 1).collect();
        prop_assert_eq!(truth.groups, groups);

        let sample = sample.min(texts.len());
        let near = Neighbourhood::new(&texts[..sample], &by, 0.5, 0, &cancel).unwrap();
        let near = near.near(&texts, &cancel).unwrap();
        for (set, near) in sets.iter().zip(near) {
            prop_assert_eq!(near, sets[..sample].iter().any(|other| jaccard(set, other) >= 0.5));
        }
    }

    #[test]
    fn a_perfect_result_scores_one(groups in groups(), pairs in pairs()) {
        let labels = Labels::new(DOCUMENTS, &groups, &pairs, LEAST).unwrap();
        let mut clusters = groups.clone();
        clusters.extend(
            pairs.iter().filter(|pair| pair.similarity >= LEAST).map(|pair| vec![pair.a, pair.b]),
        );
        let result = score(&labels, &[], &clusters);
        for figure in [
            result.document_recall, result.pair_recall, result.adjusted_rand,
            result.bcubed_precision, result.bcubed_recall, result.bcubed_f1,
            result.labelled_precision.unwrap_or(1.0),
        ] {
            close(figure, 1.0);
        }
        prop_assert_eq!(result.merged, 0);
    }

    #[test]
    fn all_alone_is_precise_and_finds_nothing(groups in groups(), pairs in pairs()) {
        let labels = Labels::new(DOCUMENTS, &groups, &pairs, LEAST).unwrap();
        let result = score(&labels, &[], &[]);
        close(result.bcubed_precision, 1.0);
        let nothing = if result.redundant == 0 { 1.0 } else { 0.0 };
        close(result.document_recall, nothing);
        close(result.pair_recall, nothing);
        close(result.adjusted_rand, nothing);
    }

    #[test]
    fn one_cluster_finds_all_and_is_wrong_where_labels_differ(groups in groups(), pairs in pairs()) {
        let labels = Labels::new(DOCUMENTS, &groups, &pairs, LEAST).unwrap();
        let result = score(&labels, &[], &[(0..DOCUMENTS).collect()]);
        close(result.document_recall, 1.0);
        close(result.pair_recall, 1.0);
        close(result.bcubed_recall, 1.0);
        // Its best reading has every link that the labels have, and the rest is wrong.
        let links = f64::from(DOCUMENTS - 1);
        close(result.labelled_precision.unwrap(), result.redundant as f64 / links);
        prop_assert_eq!(result.merged, result.apart);
    }

    #[test]
    fn names_and_order_change_nothing(
        groups in groups(), pairs in pairs(), links in links(), clusters in groups(),
        order in Just((0..DOCUMENTS).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let to = |document: &u32| order[*document as usize];
        let renamed = |lists: &[Vec<u32>]| -> Vec<Vec<u32>> {
            lists.iter().rev().map(|list| list.iter().map(to).collect()).collect()
        };
        let other: Vec<_> = pairs.iter().rev().map(|p| pair(to(&p.b), to(&p.a), p.similarity)).collect();
        let other_links: Vec<_> = links.iter().rev().map(|(a, b)| (to(a), to(b))).collect();
        let one = score(&Labels::new(DOCUMENTS, &groups, &pairs, LEAST).unwrap(), &links, &clusters);
        let two = Labels::new(DOCUMENTS, &renamed(&groups), &other, LEAST).unwrap();
        let two = score(&two, &other_links, &renamed(&clusters));
        prop_assert_eq!(
            (one.redundant, one.removed, one.pairs, one.apart, one.merged),
            (two.redundant, two.removed, two.pairs, two.apart, two.merged)
        );
        close(one.document_recall, two.document_recall);
        close(one.removal_recall, two.removal_recall);
        close(one.pair_recall, two.pair_recall);
        close(one.labelled_precision.unwrap_or(2.0), two.labelled_precision.unwrap_or(2.0));
        close(one.bcubed_f1, two.bcubed_f1);
        close(one.adjusted_rand, two.adjusted_rand);
    }
}
