//! What a result says, and which links it stands for.
//!
//! A result names **links** (this document was removed, that one was kept in its place) or **clusters** (the first is kept).
//! A link stands for itself. A cluster of s documents stands for s - 1 links, but it does not say which: a cluster grown by
//! chains need not resemble its first member. It is judged by its best reading, the maximum spanning tree over what the labels
//! know: equal documents first, then pairs by falling similarity, then the star around the first member for what no label
//! connects. So a wrong member costs one wrong link, and a right chain costs none.

use super::labels::{Labels, check};
use crate::error::DedupError;
use simhash_index::Union;

/// A result: links and clusters of documents.
#[derive(Clone, Debug, Default)]
pub struct Reported {
    /// Kept and removed document, each pair once.
    links: Vec<(u32, u32)>,
    /// Without repeated members.
    clusters: Vec<Vec<u32>>,
}

/// The links to be judged.
pub(super) struct Links {
    /// What is reported: direct links, and the best reading of each cluster.
    pub(super) tree: Vec<(u32, u32)>,
    /// Each member with the document that was kept.
    pub(super) stars: Vec<(u32, u32)>,
}

impl Reported {
    /// A result over documents `0..documents`: pairs of kept and removed document, and clusters whose first member was kept.
    /// Repetitions, and links of a document to itself, are left out.
    ///
    /// # Errors
    /// [`DedupError::OutOfRange`] for a document that there is not.
    pub fn new(
        documents: u32,
        links: &[(u32, u32)],
        clusters: &[Vec<u32>],
    ) -> Result<Self, DedupError> {
        let named = links.iter().flat_map(|&(kept, removed)| [kept, removed]);
        check(named.chain(clusters.iter().flatten().copied()), documents, "decisions")?;
        let mut links: Vec<_> = links.iter().copied().filter(|(a, b)| a != b).collect();
        links.sort_unstable();
        links.dedup();
        let mut last = vec![usize::MAX; documents as usize];
        let clusters = clusters.iter().enumerate().map(|(number, members)| {
            let first_time =
                |&member: &u32| std::mem::replace(&mut last[member as usize], number) != number;
            members.iter().copied().filter(first_time).collect()
        });
        let clusters = clusters.collect();
        Ok(Self { links, clusters })
    }

    /// Documents named as duplicates of another one, ascending, each once.
    pub(super) fn removed(&self) -> Vec<u32> {
        let members = self.clusters.iter().flat_map(|members| members.iter().skip(1).copied());
        let mut removed: Vec<u32> =
            self.links.iter().map(|&(_, removed)| removed).chain(members).collect();
        removed.sort_unstable();
        removed.dedup();
        removed
    }

    /// By document: the lowest document that it is connected with.
    pub(super) fn partition(&self, documents: u32) -> Vec<u32> {
        let union = Union::new(documents);
        for &(kept, removed) in &self.links {
            union.join(kept, removed);
        }
        for (first, member) in self.stars() {
            union.join(first, member);
        }
        union.roots()
    }

    pub(super) fn links(&self, labels: &Labels) -> Links {
        let mut tree = self.links.clone();
        tree.extend(self.spanning_tree(labels));
        Links { tree, stars: self.links.iter().copied().chain(self.stars()).collect() }
    }

    fn stars(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let star = |members: &Vec<u32>| {
            let first = members.first().copied().unwrap_or_default();
            members.iter().skip(1).map(move |&member| (first, member)).collect::<Vec<_>>()
        };
        self.clusters.iter().flat_map(star)
    }

    fn spanning_tree(&self, labels: &Labels) -> Vec<(u32, u32)> {
        let places: Vec<Place> = self.places(labels);
        let union = Union::new(places.len() as u32);
        let mut tree = Vec::new();
        let mut link = |a: &Place, b: &Place| {
            if union.join(a.slot, b.slot) {
                tree.push((a.document, b.document));
            }
        };
        // First members of each group in each cluster, by group and cluster.
        let mut firsts: Vec<Place> = Vec::new();
        for equal in places.chunk_by(|a, b| (a.group, a.cluster) == (b.group, b.cluster)) {
            for other in &equal[1..] {
                link(&equal[0], other);
            }
            firsts.push(equal[0]);
        }
        for pair in labels.pairs() {
            let [fewer, more] = smaller_first(of_group(&firsts, pair.a), of_group(&firsts, pair.b));
            for place in fewer {
                let same = more.binary_search_by_key(&place.cluster, |other| other.cluster);
                if let Ok(at) = same {
                    link(place, &more[at]);
                }
            }
        }
        let mut in_order = places;
        in_order.sort_unstable_by_key(|place| place.slot);
        for members in in_order.chunk_by(|a, b| a.cluster == b.cluster) {
            for member in &members[1..] {
                link(&members[0], member);
            }
        }
        tree
    }

    /// Every member of every cluster, by group, then cluster, then place in it.
    fn places(&self, labels: &Labels) -> Vec<Place> {
        let members = (0u32..).zip(&self.clusters).flat_map(|(cluster, members)| {
            members.iter().map(move |&document| (cluster, document))
        });
        let mut places: Vec<Place> = (0u32..)
            .zip(members)
            .map(|(slot, (cluster, document))| Place {
                group: labels.group()[document as usize],
                cluster,
                slot,
                document,
            })
            .collect();
        places.sort_unstable();
        places
    }
}

/// A member of a cluster.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    group: u32,
    cluster: u32,
    slot: u32,
    document: u32,
}

fn of_group(places: &[Place], group: u32) -> &[Place] {
    let from = places.partition_point(|place| place.group < group);
    let len = places[from..].partition_point(|place| place.group == group);
    &places[from..from + len]
}

/// The shorter list drives, so that one long list costs a binary search and not a walk.
fn smaller_first<'a, T>(a: &'a [T], b: &'a [T]) -> [&'a [T]; 2] {
    if a.len() <= b.len() { [a, b] } else { [b, a] }
}
