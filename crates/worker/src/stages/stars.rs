//! What is connected is brought to one part, where it is decided as if there were nothing else.
//!
//! [`large`] and [`small`] are the two operations of Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii (large-star and small-star,
//! "Connected components in map-reduce and beyond", 2014). They are run by turns until nothing moves. Each node but the first of its
//! component then has one edge, which leads to that. Neither makes more edges of those that there are.
//!
//! A record of kind `edge` is the place of a node, whose part it is in, and the place of another one.

use super::{Numbers, Places, Records, each_link, each_record, part_of_place, unexpected};
use crate::rows::{Input, Output, Row};
use crate::{Context, Failure};
use ahash::AHashMap;
use simhash_index::Union;
use std::io::Write;
use std::sync::Arc;

/// A graph: places, which are the nodes, and edges, each once, in order.
struct Graph {
    places: Places,
    edges: Vec<(u32, u32)>,
}

impl Graph {
    /// Of rows of these kinds.
    fn read(
        context: &Context,
        input: Input,
        stage: &'static str,
        kinds: &[&str],
    ) -> Result<Self, Failure> {
        let (mut numbers, mut edges) = (Numbers::default(), Vec::new());
        let mut add = |own: &[u8], other: &[u8]| edges.push((numbers.of(own), numbers.of(other)));
        input.alone(stage).rows(|row| match row.kind.as_str() {
            kind if !kinds.contains(&kind) => Err(unexpected(&row, stage)),
            "link" => each_link(&row, &context.recipe, |[text, other], _, _| add(text, other)),
            _ => each_record(&row, &context.recipe, |[own, other]| {
                add(own, other);
                Ok(())
            }),
        })?;
        let (places, sorted) = numbers.sorted();
        for edge in &mut edges {
            *edge = (sorted[edge.0 as usize], sorted[edge.1 as usize]);
        }
        edges.sort_unstable();
        edges.dedup();
        Ok(Self { places, edges })
    }

    /// By node with edges of its own: these.
    fn by_node(&self) -> impl Iterator<Item = &[(u32, u32)]> {
        self.edges.chunk_by(|a, b| a.0 == b.0)
    }
}

/// Edges on their way.
struct Edges<'a, W: Write> {
    context: &'a Context,
    places: &'a Places,
    parts: Vec<u32>,
    records: Records,
    output: &'a mut Output<W>,
}

impl<'a, W: Write> Edges<'a, W> {
    fn new(context: &'a Context, places: &'a Places, output: &'a mut Output<W>) -> Self {
        let parts = places.parts(context.parts);
        Self { context, places, parts, records: Records::new("edge", context.parts), output }
    }

    /// To the part of the first of the two.
    fn put(&mut self, node: u32, other: u32) -> Result<(), Failure> {
        let fields = [self.places.get(node), self.places.get(other)];
        let part = self.parts[node as usize];
        self.records.put(part, &fields, &self.context.recipe, self.output)
    }

    /// To the parts of both.
    fn put_both(&mut self, a: u32, b: u32) -> Result<(), Failure> {
        self.put(a, b)?;
        self.put(b, a)
    }

    fn end(mut self, moved: u64) -> Result<(), Failure> {
        self.records.flush(self.output)?;
        self.output.count("moved", moved)
    }
}

/// See the [table](super). What is connected by what a task has becomes a star. A task that has everything so ends the search.
///
/// # Errors
/// Those of the streams.
pub fn stars<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let graph = Graph::read(context, input, "stars", &["link", "copy", "edge"])?;
    let union = Union::new(graph.places.len());
    for &(a, b) in &graph.edges {
        union.join(a, b);
    }
    let mut out = Edges::new(context, &graph.places, output);
    for node in 0..graph.places.len() {
        // The smallest number, which is that of the first place.
        let first = union.root(node);
        if first != node {
            out.put_both(node, first)?;
        }
    }
    out.end(0)
}

/// See the [table](super). The later neighbours of a node go to the first of the node and its neighbours. It has both directions of each
/// edge, and writes that which is in the part of the later node.
///
/// # Errors
/// Those of the streams.
pub fn large<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let graph = Graph::read(context, input, "large", &["edge"])?;
    let (mut out, mut moved) = (Edges::new(context, &graph.places, output), 0);
    for own in graph.by_node() {
        let (node, neighbour) = own[0];
        let first = node.min(neighbour);
        for &(_, later) in own.iter().filter(|edge| edge.1 > node) {
            moved += u64::from(first != node);
            out.put(later, first)?;
        }
    }
    out.end(moved)
}

/// See the [table](super). A node and its earlier neighbours go to the first of these. It has edges of later nodes to earlier ones, and
/// writes both directions.
///
/// # Errors
/// Those of the streams, and an edge to a later node.
pub fn small<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let graph = Graph::read(context, input, "small", &["edge"])?;
    let (mut out, mut moved) = (Edges::new(context, &graph.places, output), 0);
    for own in graph.by_node() {
        let (node, first) = own[0];
        if own.iter().any(|edge| edge.1 >= node) {
            return Err(Failure(
                "stage small has an edge to a later place: large writes none".into(),
            ));
        }
        out.put_both(node, first)?;
        for &(_, other) in &own[1..] {
            moved += 1;
            out.put_both(other, first)?;
        }
    }
    out.end(moved)
}

/// See the [table](super). Links and copies go to the part of the first of their component, to which the edges of their own document lead.
///
/// # Errors
/// Those of the streams, and a document without an edge.
pub fn group<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let recipe = &context.recipe;
    let (mut parts, mut rows) = (AHashMap::<Vec<u8>, u32>::new(), Vec::<Row>::new());
    input.alone("group").rows(|row| match row.kind.as_str() {
        "link" | "copy" => {
            rows.push(row);
            Ok(())
        }
        "edge" => each_record(&row, recipe, |[node, first]| {
            let part = part_of_place(first, context.parts);
            if first < node && parts.insert(node.to_vec(), part).is_some_and(|own| own != part) {
                return Err(Failure("edges lead to two places: they have not come to rest".into()));
            }
            Ok(())
        }),
        _ => Err(unexpected(&row, "group")),
    })?;
    let part = |place: &[u8]| {
        let missing = || Failure("a link or copy has no edge to what it is connected with".into());
        parts.get(place).copied().ok_or_else(missing)
    };
    let mut links = Records::new("link", context.parts);
    let mut copies = Records::new("copy", context.parts);
    for row in &rows {
        if row.kind == "link" {
            each_record::<4>(row, recipe, |fields| {
                links.put(part(fields[0])?, &fields, recipe, output)
            })?;
        } else {
            each_record::<2>(row, recipe, |fields| {
                copies.put(part(fields[0])?, &fields, recipe, output)
            })?;
        }
    }
    links.flush(output)?;
    copies.flush(output)
}

#[cfg(test)]
mod tests {
    use super::super::Stage;
    use super::super::testing::{PARTS, context, counted, row, run};
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    type Edge = (u64, u64);

    fn links(edges: &[Edge]) -> Vec<Row> {
        let mut rows = Vec::new();
        for (a, b) in edges.iter().map(|&(a, b)| (a.max(b).to_be_bytes(), a.min(b).to_be_bytes())) {
            let part = part_of_place(&a, PARTS);
            rows.push(row("link", part, &[&a, &b, &7u32.to_le_bytes(), &0.9f64.to_le_bytes()]));
        }
        rows
    }

    fn edges(rows: &[Row]) -> BTreeSet<Edge> {
        let mut edges = BTreeSet::new();
        for row in rows.iter().filter(|row| row.kind == "edge") {
            each_record(row, &context().recipe, |[a, b]| {
                assert_eq!(row.part.cast_unsigned(), part_of_place(a, PARTS));
                edges.insert(
                    [a, b].map(|place| u64::from_be_bytes(place.try_into().unwrap())).into(),
                );
                Ok(())
            })
            .unwrap();
        }
        edges
    }

    /// By node: the first of its component, by a walk.
    fn firsts(edges: &[Edge]) -> BTreeMap<u64, u64> {
        let mut near: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for &(a, b) in edges {
            near.entry(a).or_default().push(b);
            near.entry(b).or_default().push(a);
        }
        let mut firsts = BTreeMap::new();
        for &first in near.keys() {
            let mut open = vec![first];
            while let Some(node) = open.pop() {
                if firsts.contains_key(&node) {
                    continue;
                }
                firsts.insert(node, first);
                open.extend(&near[&node]);
            }
        }
        firsts
    }

    /// The stars of a graph, and how many turns it took. The links are looked at in so many tasks.
    fn settle(edges_of: &[Edge], tasks: usize) -> (Vec<Row>, usize) {
        let given = links(edges_of);
        let size = given.len().div_ceil(tasks).max(1);
        let mut all: Vec<Row> =
            given.chunks(size).flat_map(|own| run(stars, own, false).unwrap()).collect();
        for turn in 1..100 {
            let edge = |rows: Vec<Row>| -> Vec<Row> {
                rows.into_iter().filter(|row| row.kind == "edge").collect()
            };
            let before = edges(&all).len();
            let large = run(large, &edge(all), true).unwrap();
            let still = counted(&large, "moved") == 0;
            let small = run(small, &edge(large), true).unwrap();
            assert!(edges(&small).len() <= before, "neither makes more edges");
            let still = still && counted(&small, "moved") == 0;
            all = edge(small);
            if still {
                return (all, turn);
            }
        }
        panic!("nothing comes to rest");
    }

    #[test]
    fn every_node_ends_with_one_edge_to_the_first_of_its_component() {
        let mut state = 7u64;
        let mut below = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % most
        };
        for round in 0..60 {
            let (nodes, count) = (2 + below(200), below(220));
            let edges_of: Vec<Edge> = (0..count)
                .map(|_| (below(nodes) * 3, below(nodes) * 3))
                .filter(|(a, b)| a != b)
                .collect();
            let (found, _) = settle(&edges_of, 1 + round % 7);
            let expected = firsts(&edges_of).into_iter().filter(|(node, first)| node != first);
            let both: BTreeSet<Edge> = expected.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
            assert_eq!(edges(&found), both, "{edges_of:?}");
            // Links come to the part of the first.
            let given = [links(&edges_of), found].concat();
            let grouped = run(group, &given, true).unwrap();
            let all = firsts(&edges_of);
            let mut count = 0;
            for row in &grouped {
                each_link(row, &context().recipe, |[later, _], rank, similarity| {
                    let first = all[&u64::from_be_bytes(later.try_into().unwrap())];
                    let part = part_of_place(&first.to_be_bytes(), PARTS);
                    assert_eq!((row.part.cast_unsigned(), rank, similarity), (part, 7, 0.9));
                    count += 1;
                })
                .unwrap();
            }
            assert_eq!(count, edges_of.len());
        }
    }

    #[test]
    fn a_long_path_takes_few_turns() {
        // In no order, and each link in a task of its own, so that nothing is connected before.
        let node = |at: u64| at.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let path: Vec<Edge> = (0..600).map(|at| (node(at), node(at + 1))).collect();
        let (found, turns) = settle(&path, 600);
        assert_eq!(edges(&found).len(), 1200);
        assert!(turns <= 12, "{turns}");
    }

    #[test]
    fn one_task_with_all_edges_is_done_at_once() {
        let path: Vec<Edge> = (0..50).map(|at| (at, at + 1)).collect();
        let apart = links(&path)
            .chunks(3)
            .flat_map(|own| run(stars, own, false).unwrap())
            .collect::<Vec<_>>();
        let apart: Vec<Row> = apart.into_iter().filter(|row| row.kind == "edge").collect();
        let found = run(stars, &apart, false).unwrap();
        assert_eq!(edges(&found), (1..=50).flat_map(|at| [(at, 0), (0, at)]).collect());
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let refused =
            |stage: Stage, given: &[Row]| run(stage, given, true).unwrap_err().to_string();
        let [a, b] = [3u64, 5].map(u64::to_be_bytes);
        let edge = |a: &[u8], b: &[u8]| row("edge", 0, &[a, b]);
        assert!(refused(small, &[edge(&a, &b)]).contains("an edge to a later place"));
        assert!(refused(group, &links(&[(1, 2)])).contains("has no edge"));
        let node = (1u64 << 40).to_be_bytes();
        let several = [9u64, 11, 12, 13, 14, 15].map(|first| edge(&node, &first.to_be_bytes()));
        assert!(refused(group, &several).contains("have not come to rest"));
        assert!(
            refused(large, &links(&[(1, 2)])).contains("stage large knows no rows of kind link")
        );
        assert!(
            refused(stars, &[row("want", 0, &[])])
                .contains("stage stars knows no rows of kind want")
        );
    }
}
