//! The map as a structure: answers, groups, memory.

use simhash_index::Kind;
use simhash_index::sentences::{
    Common, SentenceItem, SentenceMap, SentenceOptions, SentenceSearch, Shared, SharedMatches,
};

use crate::common::Random;
use crate::model::Model;

/// A map as the shell of a live index calls it, without its locks.
struct Map {
    kind: SentenceMap,
    options: SentenceOptions,
}

impl Map {
    fn new(options: &SentenceOptions) -> Self {
        Self { kind: SentenceMap::new(options).unwrap(), options: *options }
    }

    fn add(&mut self, sentences: &[u64]) -> u64 {
        self.add_item(&SentenceItem::Sentences(sentences.to_vec()))
    }

    fn add_item(&mut self, item: &SentenceItem) -> u64 {
        self.kind.check_room(1).unwrap();
        self.kind.insert(&SentenceMap::form(&self.options, item), ()).0
    }

    fn search(&self, sentences: &[u64], limit: usize) -> SharedMatches {
        self.search_item(&SentenceItem::Sentences(sentences.to_vec()), limit)
    }

    fn search_item(&self, item: &SentenceItem, limit: usize) -> SharedMatches {
        self.kind.near(&SentenceMap::form(&self.options, item), SentenceSearch::at_most(limit))
    }

    fn nearest(&self, item: &SentenceItem) -> Option<Shared> {
        self.kind.nearest(&self.options, &SentenceMap::form(&self.options, item)).best
    }

    fn overlook(&mut self, item: &SentenceItem, near: Shared) {
        self.kind.overlook(&SentenceMap::form(&self.options, item), &near);
    }
}

fn options(sentences: usize, share: f64, count: u32) -> SentenceOptions {
    let mut options = SentenceOptions::default();
    options.sentences = sentences;
    options.common = Common { share, count };
    options
}

/// Documents of few different sentences, so that everything happens often.
pub(crate) fn item(random: &mut Random, words: u64) -> SentenceItem {
    match random.below(10) {
        0 => SentenceItem::Exact(u128::from(random.below(4)) << 70),
        1 if random.below(4) == 0 => SentenceItem::Empty,
        _ => {
            // Low numbers are frequent: the page furniture.
            let mut word = || random.below(words).min(random.below(words)).min(random.below(words));
            let count = 1 + word() % 7;
            SentenceItem::Sentences((0..count).map(|_| word()).collect())
        }
    }
}

#[test]
fn random_operations_agree_with_the_model() {
    for (round, (sentences, share, count)) in
        [(5, 0.01, 3), (5, 1.0, 0), (1, 0.05, 2), (3, 0.0, 1), (64, 0.2, 0)].into_iter().enumerate()
    {
        let options = options(sentences, share, count);
        let (mut map, mut model) = (Map::new(&options), Model::new(&options));
        let mut random = Random(round as u64);
        for step in 0..900u64 {
            let item = item(&mut random, 40 + 400 * (round as u64 % 2));
            assert_eq!(map.add_item(&item), model.add(&item));
            // Phases in which more leave than come, so that sketches die and numbers are used again.
            for _ in 0..(step / 200 % 3) {
                let id = random.below(step + 2);
                assert_eq!(map.kind.delete(id), model.delete(id), "id {id}");
            }
            let query = self::item(&mut random, 40);
            let limit = [usize::MAX, 1, 3, 0][step as usize % 4];
            assert_eq!(map.search_item(&query, limit), model.search(&query, limit));
            assert_eq!(map.nearest(&query), model.search(&query, 1).matches.first().copied());
            if let Some(near) = map.nearest(&query).filter(|_| step % 3 == 0) {
                map.overlook(&query, near);
                model.overlook(&query, near.shared);
            }
            let id = random.below(step + 2);
            assert_eq!(map.kind.group(id), model.group(id), "group of {id} at {step}");
            assert_eq!((map.kind.len(), map.kind.groups()), (model.len(), model.groups()));
        }
        for id in 0..901 {
            assert_eq!(map.kind.group(id), model.group(id));
            assert_eq!(map.kind.delete(id), model.delete(id));
        }
        assert_eq!((map.kind.len(), map.kind.groups(), map.kind.sketches()), (0, 0, 0));
    }
}

#[test]
fn a_document_that_links_two_groups_makes_them_one_under_the_lowest_id() {
    let mut map = Map::new(&SentenceOptions::default());
    for sentences in [[1, 2], [3, 4], [5, 6], [4, 5], [6, 1]] {
        map.add(&sentences);
    }
    assert_eq!((0..5).map(|id| map.kind.group(id).unwrap()).collect::<Vec<_>>(), [0; 5]);
    // The links have left, the group stays; its name too, while somebody is in it.
    assert!(map.kind.delete(4) && map.kind.delete(3) && map.kind.delete(0));
    assert_eq!([map.kind.group(0), map.kind.group(1), map.kind.group(3)], [Some(0), Some(0), None]);
    assert!(map.kind.delete(1) && map.kind.delete(2));
    assert_eq!([map.kind.group(0), map.kind.group(1)], [None, None]);
    assert_eq!(map.add(&[1]), 5);
    assert_eq!(map.kind.group(5), Some(5));
}

#[test]
fn a_common_sentence_stops_counting_and_counts_again_when_it_is_rare() {
    let mut map = Map::new(&options(5, 0.1, 2));
    let footer = u64::MAX;
    for page in 0..4 {
        map.add(&[page, footer]);
    }
    // Two pages may share it; the third still meets two, the fourth meets three.
    let groups: Vec<u64> = (0..4).filter_map(|id| map.kind.group(id)).collect();
    assert_eq!(groups, [0, 0, 0, 3]);
    assert!(map.search(&[footer], usize::MAX).matches.is_empty());
    // The same page again is the same page, though nothing of it may count.
    assert_eq!(map.search(&[footer, 3], usize::MAX).matches[0].id, 3);
    for page in 100..140 {
        map.add(&[page]);
    }
    assert_eq!(map.search(&[footer], usize::MAX).matches.len(), 4);
}

/// An addition is judged by the 256 oldest holders of each sentence, a search by all.
#[test]
fn the_nearest_is_among_the_oldest_holders_of_a_sentence() {
    for (holders, nearest) in [(255, 510), (256, 0)] {
        let mut map = Map::new(&options(5, 1.0, 0));
        for sentence in [1, 2] {
            for own in 0..holders {
                map.add(&[sentence, 1000 * sentence + own]);
            }
        }
        let both = map.add(&[1, 2, 3]);
        let query = SentenceItem::Sentences(vec![1, 2]);
        assert_eq!(map.search_item(&query, 1).matches, [Shared { id: both, shared: 2 }]);
        let shared = if nearest == both { 2 } else { 1 };
        assert_eq!(map.nearest(&query), Some(Shared { id: nearest, shared }));
    }
}

#[test]
fn forty_thousand_equal_documents_are_one_sketch_and_one_group() {
    let mut map = Map::new(&SentenceOptions::default());
    for id in 0..40_000 {
        assert_eq!(map.add(&[1, 2, 3, 4, 5]), id);
        assert_eq!(map.kind.group(id), Some(0));
    }
    assert_eq!((map.kind.sketches(), map.kind.groups()), (1, 1));
    assert!(map.kind.bytes() < 40_000 * 20 + (1 << 20), "{} bytes", map.kind.bytes());
    let found = map.search(&[5], 10);
    assert_eq!(
        found.matches.iter().map(|found| found.id).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    );
    assert!(found.truncated);
}

#[test]
fn memory_follows_the_formula_and_is_used_again() {
    for sentences in [1usize, 5, 16] {
        let mut map = Map::new(&options(sentences, 0.001, 5));
        let mut random = Random(1);
        let fresh = |random: &mut Random| (0..sentences).map(|_| random.next()).collect::<Vec<_>>();
        let documents = 120_000u64;
        for _ in 0..documents {
            map.add(&fresh(&mut random));
        }
        let per = map.kind.bytes() as f64 / documents as f64;
        // The groups' vector doubles, which may leave half of its 16 bytes unused; maps and chunks start in blocks.
        let n = sentences as f64;
        let formula = 8.0 * (n + 2.0) + 1.0 + 8.2 * (n + 1.0) + 8.25 + 16.0;
        assert!(per > formula * 0.9 && per < formula + 26.0, "{per} bytes, formula {formula}");
        let full = map.kind.bytes();
        for id in 0..4 * documents {
            assert!(map.kind.delete(id));
            map.add(&fresh(&mut random));
        }
        assert!(
            map.kind.bytes() < full + full / 4,
            "{} after four turns, {full} before",
            map.kind.bytes()
        );
    }
}

#[test]
fn an_option_out_of_range_is_named() {
    for (sentences, share, name) in [
        (0, 0.1, "sentences"),
        (65, 0.1, "sentences"),
        (5, 1.5, "common.share"),
        (5, f64::NAN, "common.share"),
    ] {
        let error = SentenceMap::new(&options(sentences, share, 1)).unwrap_err();
        assert!(matches!(error, simhash_index::IndexError::Sentences { .. }));
        assert!(error.to_string().starts_with(name), "{error}");
    }
}
