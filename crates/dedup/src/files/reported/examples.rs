//! The groups that a report shows with their texts: a bounded choice, the same for the same file.

use super::groups::{Groups, Member};
use crate::options::ReportTexts;
use ahash::AHashMap;
use serde::Serialize;
use std::cmp::Reverse;
use xxhash_rust::xxh3::xxh3_64;

/// Groups of each kind: the largest, those nearest to the threshold, and others by chance.
const OF_A_KIND: usize = 150;
/// Members of a group that are shown.
const MEMBERS: usize = 24;
/// Bytes of all texts as they are written, beside which a page has some 100 KB.
const TEXT_BYTES: usize = 3 << 20;

/// Why a group is shown.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Why {
    Large,
    Near,
    Chance,
}

/// The choice, and the documents whose texts it needs.
pub(super) struct Choice {
    groups: Vec<(usize, Why, Vec<Member>)>,
    /// By number: a place among the documents.
    wanted: AHashMap<u32, usize>,
    documents: Vec<Option<Document>>,
    texts: ReportTexts,
}

/// A document that is shown.
#[derive(Clone, Serialize)]
pub(super) struct Document {
    pub(super) id: String,
    pub(super) input: u32,
    pub(super) line: u64,
    /// Its length in characters; `text` may have fewer.
    pub(super) length: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

/// A group as it is shown.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Example {
    why: Why,
    /// Of the group, of which some members may not be shown.
    size: usize,
    members: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    /// None where no input has it.
    #[serde(flatten)]
    document: Option<Document>,
}

impl Choice {
    pub(super) fn new(groups: &Groups, texts: ReportTexts) -> Self {
        let mut chosen = Vec::new();
        let mut is_chosen = vec![false; groups.len()];
        let lists = [
            (Why::Near, first_by(groups, least)),
            (Why::Large, first_by(groups, |group| Reverse(group.len()))),
            (
                Why::Chance,
                first_by(groups, |group| {
                    let numbers: Vec<u8> =
                        group.iter().flat_map(|member| member.number.to_le_bytes()).collect();
                    xxh3_64(&numbers)
                }),
            ),
        ];
        // By turns, so that what does not fit is of every kind.
        for place in 0..3 * OF_A_KIND {
            for (why, list) in &lists {
                if let Some(&group) = list.get(place)
                    && chosen.len() < 3 * OF_A_KIND
                    && !std::mem::replace(&mut is_chosen[group], true)
                {
                    chosen.push((group, *why, some(groups.of(group))));
                }
            }
        }
        let mut wanted = AHashMap::new();
        for member in chosen.iter().flat_map(|(_, _, members)| members) {
            let next = wanted.len();
            wanted.entry(member.number).or_insert(next);
        }
        let documents = vec![None; wanted.len()];
        Self { groups: chosen, wanted, documents, texts }
    }

    /// Whether a document is shown that has not been met.
    pub(super) fn wants(&self, number: u32) -> bool {
        self.wanted.get(&number).is_some_and(|&at| self.documents[at].is_none())
    }

    pub(super) fn take(&mut self, number: u32, document: Document) {
        if let Some(&at) = self.wanted.get(&number) {
            self.documents[at] = Some(document);
        }
    }

    /// As much of a text as is shown.
    pub(super) fn text(&self, text: &str) -> Option<String> {
        let most = self.texts.characters()?;
        let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
        Some(text[..end].to_owned())
    }

    /// The groups, as many as the page has room for.
    pub(super) fn into_examples(self, groups: &Groups) -> Vec<Example> {
        let Self { groups: chosen, wanted, documents, .. } = self;
        let mut room = TEXT_BYTES;
        let mut examples = Vec::new();
        for (group, why, members) in chosen {
            let document = |member: &Member| documents[wanted[&member.number]].clone();
            let members: Vec<Shown> = members
                .iter()
                .map(|member| Shown {
                    similarity: member.similarity,
                    distance: member.distance,
                    document: document(member),
                })
                .collect();
            let taken: usize = members.iter().map(Shown::bytes).sum();
            if taken > room {
                continue;
            }
            room -= taken;
            examples.push((group, Example { why, size: groups.of(group).len(), members }));
        }
        // As they are in the file.
        examples.sort_by_key(|&(group, _)| group);
        examples.into_iter().map(|(_, example)| example).collect()
    }
}

impl Shown {
    /// Bytes that it takes in the page, about.
    fn bytes(&self) -> usize {
        let texts = self.document.iter().flat_map(|document| {
            [Some(document.id.as_str()), document.text.as_deref()].into_iter().flatten()
        });
        // What a script may misread is written with six bytes for one.
        let escaped = |text: &str| {
            let long = text.bytes().filter(|byte| matches!(byte, b'<' | 0..=31)).count();
            text.len() + 5 * long + text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
        };
        texts.map(escaped).sum::<usize>() + 80
    }
}

/// The first groups by a key, ties in the order of the file.
fn first_by<K: Ord>(groups: &Groups, key: impl Fn(&[Member]) -> K) -> Vec<usize> {
    let mut all: Vec<(K, usize)> =
        groups.all().enumerate().map(|(at, group)| (key(group), at)).collect();
    if all.len() > 3 * OF_A_KIND {
        all.select_nth_unstable(3 * OF_A_KIND);
        all.truncate(3 * OF_A_KIND);
    }
    all.sort_unstable();
    all.into_iter().map(|(_, at)| at).collect()
}

/// The least similarity of a member, in a form that is ordered; of what is not measured the largest distance stands for it.
fn least(group: &[Member]) -> (u64, Reverse<u32>) {
    let shares = group[1..].iter().filter_map(|member| member.similarity);
    let least = shares.fold(f64::INFINITY, f64::min);
    let farthest = group[1..].iter().filter_map(|member| member.distance).max();
    // Of numbers that are not negative the bits are in their order.
    (least.to_bits(), Reverse(farthest.unwrap_or(0)))
}

/// The members that are shown, in their order: the first, and those least similar to it.
fn some(group: &[Member]) -> Vec<Member> {
    if group.len() <= MEMBERS {
        return group.to_vec();
    }
    let mut others: Vec<usize> = (1..group.len()).collect();
    others.sort_by_key(|&at| group[at].similarity.unwrap_or(1.0).to_bits());
    others.truncate(MEMBERS - 1);
    others.sort_unstable();
    std::iter::once(0).chain(others).map(|at| group[at]).collect()
}
