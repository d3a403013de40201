//! The oracle: all documents, read from the first to the last at every call.

use std::collections::{BTreeMap, BTreeSet};

use simhash_index::sentences::{Common, SentenceItem, SentenceOptions, Shared, SharedMatches};
use simhash_index::{OnDuplicate, Outcome, Window};

#[derive(Clone)]
struct Document {
    item: SentenceItem,
    alive: bool,
    /// Name of its group.
    group: u64,
    /// When its sketch came into being, counted in documents.
    since: u64,
}

pub(crate) struct Model {
    sentences: usize,
    common: Common,
    documents: Vec<Document>,
    /// Documents that were not added, by sentence.
    overlooked: BTreeMap<u64, usize>,
}

impl Model {
    pub(crate) fn new(options: &SentenceOptions) -> Self {
        let (sentences, common) = (options.sentences, options.common);
        Self { sentences, common, documents: Vec::new(), overlooked: BTreeMap::new() }
    }

    fn canonical(&self, item: &SentenceItem) -> SentenceItem {
        let SentenceItem::Sentences(all) = item else { return item.clone() };
        let mut kept: Vec<u64> = Vec::new();
        for &sentence in all {
            if kept.len() < self.sentences && !kept.contains(&sentence) {
                kept.push(sentence);
            }
        }
        kept.sort_unstable();
        if kept.is_empty() { SentenceItem::Empty } else { SentenceItem::Sentences(kept) }
    }

    fn live(&self) -> impl Iterator<Item = (u64, &Document)> {
        (0..).zip(&self.documents).filter(|(_, document)| document.alive)
    }

    /// The sentences that count, of those asked for.
    fn counting(&self, sentences: &[u64]) -> Vec<u64> {
        let mut sketches = BTreeSet::<&[u64]>::new();
        for (_, document) in self.live() {
            if let SentenceItem::Sentences(sentences) = &document.item {
                sketches.insert(sentences);
            }
        }
        #[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
        let share = (self.common.share * sketches.len() as f64) as usize;
        let all = if self.common.share >= 1.0 { usize::MAX } else { 0 };
        let most = share.max(self.common.count as usize).max(all);
        let holders = |sentence: u64| {
            let overlooked = self.overlooked.get(&sentence).copied().unwrap_or(0);
            sketches.iter().filter(|all| all.contains(&sentence)).count() + overlooked
        };
        sentences.iter().copied().filter(|&sentence| holders(sentence) <= most).collect()
    }

    pub(crate) fn search(&self, item: &SentenceItem, limit: usize) -> SharedMatches {
        let item = self.canonical(item);
        let counting = match &item {
            SentenceItem::Sentences(sentences) => self.counting(sentences),
            _ => Vec::new(),
        };
        let mut matches: Vec<Shared> = self
            .live()
            .filter_map(|(id, document)| {
                let shared = match (&item, &document.item) {
                    (SentenceItem::Sentences(a), SentenceItem::Sentences(b)) if a == b => a.len(),
                    (SentenceItem::Sentences(_), SentenceItem::Sentences(b)) => {
                        let shared = counting.iter().filter(|one| b.contains(one)).count();
                        (shared > 0).then_some(shared)?
                    }
                    (SentenceItem::Exact(a), SentenceItem::Exact(b)) if a == b => 0,
                    _ => return None,
                };
                Some(Shared { id, shared: shared as u32 })
            })
            .collect();
        matches.sort_by_key(|found| (std::cmp::Reverse(found.shared), found.id));
        let truncated = matches.len() > limit;
        matches.truncate(limit);
        SharedMatches { matches, truncated }
    }

    pub(crate) fn add(&mut self, item: &SentenceItem) -> u64 {
        let item = self.canonical(item);
        let id = self.documents.len() as u64;
        let equal = |document: &Document| match &item {
            SentenceItem::Empty => false,
            item => *item == document.item,
        };
        let twin = self.live().find(|(_, document)| equal(document)).map(|(_, found)| found);
        let (since, mut links) =
            twin.map_or((id, Vec::new()), |twin| (twin.since, vec![twin.group]));
        if let SentenceItem::Sentences(sentences) = &item {
            for sentence in self.counting(sentences) {
                let has = |document: &Document| matches!(&document.item, SentenceItem::Sentences(all) if all.contains(&sentence));
                let oldest = self.live().filter(|(_, document)| has(document));
                links.extend(
                    oldest.min_by_key(|(_, document)| document.since).map(|(_, d)| d.group),
                );
            }
        }
        let group = links.iter().copied().min().unwrap_or(id);
        let links: BTreeSet<u64> = links.into_iter().collect();
        for document in &mut self.documents {
            if links.contains(&document.group) && document.alive {
                document.group = group;
            }
        }
        self.documents.push(Document { item, alive: true, group, since });
        id
    }

    pub(crate) fn group(&self, id: u64) -> Option<u64> {
        let document = self.documents.get(id as usize)?;
        if document.alive {
            return Some(document.group);
        }
        self.live().any(|(_, document)| document.group == id).then_some(id)
    }

    pub(crate) fn delete(&mut self, id: u64) -> bool {
        let Some(document) = self.documents.get_mut(id as usize) else { return false };
        if !std::mem::replace(&mut document.alive, false) {
            return false;
        }
        let item = document.item.clone();
        if let SentenceItem::Sentences(sentences) = &item
            && !self.live().any(|(_, other)| other.item == item)
        {
            for sentence in sentences {
                self.overlooked.remove(sentence);
            }
        }
        true
    }

    /// A document that is not added, and how many sentences it shares with its best match.
    pub(crate) fn overlook(&mut self, item: &SentenceItem, shared: u32) {
        let SentenceItem::Sentences(sentences) = self.canonical(item) else { return };
        if 2 * shared as usize > sentences.len() {
            return;
        }
        for sentence in sentences {
            let has = |item: &SentenceItem| matches!(item, SentenceItem::Sentences(all) if all.contains(&sentence));
            if self.live().any(|(_, document)| has(&document.item)) {
                *self.overlooked.entry(sentence).or_insert(0) += 1;
            }
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.live().count() as u64
    }

    pub(crate) fn groups(&self) -> usize {
        self.live().map(|(_, document)| document.group).collect::<BTreeSet<_>>().len()
    }
}

/// The model with times: who leaves when.
pub(crate) struct Windowed {
    pub(crate) model: Model,
    window: Option<Window>,
    /// Time and turn of each document, renewed ones by the last.
    ages: BTreeMap<u64, (u64, u64)>,
    latest: u64,
    turn: u64,
}

impl Windowed {
    pub(crate) fn new(model: Model, window: Option<Window>) -> Self {
        Self { model, window, ages: BTreeMap::new(), latest: 0, turn: 0 }
    }

    fn advance(&mut self, at: u64) {
        self.latest = self.latest.max(at);
        if let Some(age) = self.window.and_then(|window| window.max_age) {
            self.expire(self.latest.saturating_sub(age));
        }
    }

    pub(crate) fn expire(&mut self, before: u64) -> u64 {
        let old: Vec<u64> =
            self.ages.iter().filter(|(_, age)| age.0 < before).map(|(&id, _)| id).collect();
        for id in &old {
            self.ages.remove(id);
        }
        old.iter().filter(|&&id| self.model.delete(id)).count() as u64
    }

    fn stamp(&mut self, id: u64) {
        self.turn += 1;
        self.ages.insert(id, (self.latest, self.turn));
    }

    pub(crate) fn add(&mut self, item: &SentenceItem, at: u64) -> u64 {
        if let Some(window) = self.window {
            self.advance(at);
            let alive = |id: &u64| self.model.documents[*id as usize].alive;
            let mut by_age: Vec<u64> = self.ages.keys().copied().filter(alive).collect();
            by_age.sort_by_key(|id| self.ages[id]);
            let most = window.max_count.unwrap_or(u64::MAX);
            let surplus = (by_age.len() as u64 + 1).saturating_sub(most);
            for &id in &by_age[..surplus as usize] {
                self.ages.remove(&id);
                self.model.delete(id);
            }
        }
        let id = self.model.add(item);
        self.stamp(id);
        id
    }

    pub(crate) fn check(
        &mut self,
        item: &SentenceItem,
        at: u64,
        on_duplicate: OnDuplicate,
    ) -> Outcome<Shared> {
        self.advance(at);
        let duplicate_of = self.model.search(item, 1).matches.first().copied();
        let id = match (duplicate_of, on_duplicate) {
            (None, _) | (_, OnDuplicate::Add) => Some(self.add(item, at)),
            (Some(near), OnDuplicate::Touch) => {
                self.stamp(near.id);
                self.model.overlook(item, near.shared);
                None
            }
            (Some(near), OnDuplicate::Skip) => {
                self.model.overlook(item, near.shared);
                None
            }
        };
        Outcome { id, duplicate_of, truncated: false }
    }
}
