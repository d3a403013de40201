//! What links and copies decide, by cluster mode.

use super::{Copy, Decided, Link};
use crate::decide::Edge;
use crate::method::Candidate;
use ahash::AHashMap;
use simhash_index::Union;

/// The first in the order of keeping of all that is connected.
pub(super) fn components(
    documents: u32,
    links: &[Link],
    copies: &[Copy],
    keeping: Option<&[u32]>,
) -> Vec<Decided> {
    let union = Union::new(documents);
    for link in links {
        union.join(link.later, link.earlier);
    }
    let mut first: Vec<u32> = (0..documents).collect();
    for copy in copies {
        union.join(copy.document, copy.first);
        first[copy.document as usize] = copy.first;
    }
    let place = |document: u32| keeping.map_or(document, |places| places[document as usize]);
    let mut kept: Vec<u32> = (0..documents).collect();
    for document in 0..documents {
        let best = &mut kept[union.root(document) as usize];
        if place(document) < place(*best) {
            *best = document;
        }
    }
    let originals = (0..documents).map(|document| (document, kept[union.root(document) as usize]));
    let duplicates = originals.filter(|(document, original)| document != original);
    duplicates
        .map(|(document, original)| {
            let is_copy = first[document as usize] == first[original as usize];
            Decided { document, original, similarity: is_copy.then_some(1.0) }
        })
        .collect()
}

/// One text after the other, then the later copies of duplicates.
pub(super) fn representatives(
    documents: u32,
    links: &[Link],
    copies: &[Copy],
    verifies: bool,
) -> Vec<Decided> {
    let edge = |number, link: &Link| Edge {
        text: Candidate { number, rank: link.rank },
        similarity: link.similarity,
    };
    let best = |a: Edge, b: Edge| if b.order(&a, verifies).is_lt() { b } else { a };
    let mut originals: Vec<Option<Edge>> = vec![None; documents as usize];
    for links in links.chunk_by(|a, b| a.later == b.later) {
        let kept = links.iter().filter(|link| originals[link.earlier as usize].is_none());
        originals[links[0].later as usize] = kept.map(|link| edge(link.earlier, link)).reduce(best);
    }
    // Of duplicates: what was kept after them and would have been near.
    let mut after: AHashMap<u32, Vec<Edge>> = AHashMap::new();
    for link in links.iter().filter(|link| originals[link.later as usize].is_none()) {
        if originals[link.earlier as usize].is_some() {
            after.entry(link.earlier).or_default().push(edge(link.later, link));
        }
    }
    let decided = |document: u32, edge: &Edge| Decided {
        document,
        original: edge.text.number,
        similarity: verifies.then_some(edge.similarity),
    };
    let firsts = (0..documents).zip(&originals);
    let mut all: Vec<Decided> =
        firsts.filter_map(|(document, edge)| Some(decided(document, edge.as_ref()?))).collect();
    all.extend(copies.iter().map(|copy| match originals[copy.first as usize] {
        None => Decided { document: copy.document, original: copy.first, similarity: Some(1.0) },
        Some(first) => {
            let later = after.get(&copy.first).into_iter().flatten().copied();
            let before = later.filter(|edge| edge.text.number < copy.document);
            decided(copy.document, &before.fold(first, best))
        }
    }));
    all
}
