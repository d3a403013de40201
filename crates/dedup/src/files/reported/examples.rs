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
/// Bytes of texts and ids that are held until all inputs have been read: which groups have room on the page shows only then.
const HELD_BYTES: usize = 8 * TEXT_BYTES;

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
    /// In the order of the groups; of those that are no longer held there is no place.
    documents: Vec<Option<Document>>,
    /// By group: the place behind its documents.
    ends: Vec<usize>,
    texts: ReportTexts,
    /// Bytes of `documents`, and how many there may be.
    held: usize,
    most: usize,
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
        let mut ends = Vec::with_capacity(chosen.len());
        for (_, _, members) in &chosen {
            for member in members {
                let next = wanted.len();
                wanted.entry(member.number).or_insert(next);
            }
            ends.push(wanted.len());
        }
        let documents = vec![None; wanted.len()];
        Self { groups: chosen, wanted, documents, ends, texts, held: 0, most: HELD_BYTES }
    }

    /// Whether a document is shown that has not been met.
    pub(super) fn wants(&self, number: u32) -> bool {
        let place = self.wanted.get(&number).and_then(|&at| self.documents.get(at));
        place.is_some_and(Option::is_none)
    }

    /// Holds a document that is wanted. Where all are too much the last groups are given up: those remain that are not too much together, in whatever order
    /// documents come, since what is held of the first groups is never more than all of them.
    pub(super) fn take(&mut self, number: u32, document: Document) {
        let Some(place) = self.wanted.get(&number).and_then(|&at| self.documents.get_mut(at))
        else {
            return;
        };
        self.held += document.bytes();
        *place = Some(document);
        while self.held > self.most {
            self.ends.pop();
            self.groups.truncate(self.ends.len());
            let given_up = self.documents.drain(self.ends.last().copied().unwrap_or(0)..);
            self.held -= given_up.flatten().map(|document| document.bytes()).sum::<usize>();
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

/// The inputs that documents of examples are from.
pub(super) fn inputs_of(examples: &[Example]) -> impl Iterator<Item = u32> {
    let members = examples.iter().flat_map(|example| &example.members);
    members.filter_map(|member| member.document.as_ref()).map(|document| document.input)
}

impl Document {
    /// Bytes that it is held in, about.
    fn bytes(&self) -> usize {
        self.id.len() + self.text.as_ref().map_or(0, String::len)
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

/// How alike the least alike member is.
fn least(group: &[Member]) -> Option<(u64, Reverse<u32>)> {
    group[1..].iter().map(Member::alike).min()
}

/// The members that are shown, in their order: the first, and those least similar to it.
fn some(group: &[Member]) -> Vec<Member> {
    if group.len() <= MEMBERS {
        return group.to_vec();
    }
    let mut others: Vec<usize> = (1..group.len()).collect();
    others.sort_by_key(|&at| group[at].alike());
    others.truncate(MEMBERS - 1);
    others.sort_unstable();
    std::iter::once(0).chain(others).map(|at| group[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its id, similarity and distance.
    type Said = (u32, Option<f64>, Option<u32>);

    /// Clusters; the first member of each is kept.
    fn groups(clusters: &[&[Said]]) -> Groups {
        let mut groups = Groups::new();
        for cluster in clusters {
            let members: Vec<_> = cluster
                .iter()
                .map(|&(id, similarity, distance)| {
                    serde_json::json!({"id": id, "similarity": similarity, "distance": distance})
                })
                .collect();
            let line = serde_json::json!({"representative": cluster[0].0, "members": members});
            groups.take(line.to_string().as_bytes()).expect("a cluster");
        }
        groups
    }

    #[test]
    fn a_distance_stands_for_a_similarity_that_is_not_measured() {
        let kept = (0, None, None);
        let all = groups(&[
            &[kept, (1, Some(1.0), Some(0)), (2, None, Some(0))],
            &[kept, (3, None, Some(2))],
            &[kept, (4, Some(0.9), Some(9))],
            &[kept, (5, None, None)],
            &[kept, (6, None, Some(7)), (7, None, Some(1))],
            &[kept, (8, Some(0.9), Some(10))],
        ]);
        assert_eq!(first_by(&all, least), [4, 1, 5, 2, 0, 3]);
    }

    #[test]
    fn of_a_large_group_those_are_shown_that_are_farthest() {
        let mut members = vec![(0, None, None)];
        members.extend((1..=40).map(|at| (at, None, Some(at % 20))));
        let shown = some(groups(&[&members]).of(0));
        assert_eq!(shown.len(), MEMBERS);
        let least = shown[1..].iter().filter_map(|member| member.distance).min();
        assert_eq!(least, Some(8), "23 of 40, of 0 to 19 twice each: from 9 all, and one of 8");
    }

    #[test]
    fn texts_that_are_too_many_are_given_up_the_same_in_any_order() {
        let pairs: Vec<Vec<_>> =
            (0..20).map(|at| vec![(2 * at, None, None), (2 * at + 1, Some(0.8), None)]).collect();
        let all = groups(&pairs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let length = |number: u32| 10 + (number as usize * 37) % 90;
        let shown = |order: &mut dyn Iterator<Item = u32>| {
            let mut choice = Choice::new(&all, ReportTexts::All);
            choice.most = 700;
            for number in order {
                if !choice.wants(number) {
                    continue;
                }
                let text = choice.text(&"x".repeat(length(number)));
                let document =
                    Document { id: number.to_string(), input: 0, line: 1, length: 1, text };
                choice.take(number, document);
                let held: usize = choice.documents.iter().flatten().map(Document::bytes).sum();
                assert_eq!(held, choice.held);
                assert!(held <= 700, "{held}");
            }
            serde_json::to_string(&choice.into_examples(&all)).expect("JSON")
        };
        let one = shown(&mut (0..40));
        assert!(one.matches("\"text\"").count() > 4, "{one}");
        assert!(one.matches("\"text\"").count() < 40, "{one}");
        assert_eq!(one, shown(&mut (0..40).rev()));
        assert_eq!(one, shown(&mut (0..40).map(|at| at * 17 % 40)));
    }
}
