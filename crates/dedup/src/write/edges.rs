//! Lines of edges: a pair, or a new document and its matches.

use super::cells;
use crate::decide::Relation;
use serde_json::json;
use std::fmt::Write as _;

/// Appends what a relation says, as further members of an object.
pub(super) fn relation(line: &mut String, relation: &Relation) {
    // Writing to a string cannot fail.
    if let Some(similarity) = relation.similarity {
        let _ = write!(line, r#","similarity":{}"#, json!(similarity));
    }
    if let Some(distance) = relation.distance {
        let _ = write!(line, r#","distance":{distance}"#);
    }
}

/// The row that names the columns of pairs; none where lines are JSON.
pub(crate) fn pairs_head(between: Option<char>) -> String {
    let mut row = String::new();
    if let Some(between) = between {
        cells::head(&mut row, between, &["a", "b", "similarity", "distance", "truncated"]);
    }
    row
}

/// Appends a pair's line, as JSON or with this between its cells.
pub(crate) fn pair(
    line: &mut String,
    between: Option<char>,
    (a, b): (&str, &str),
    related: &Relation,
    truncated: bool,
) {
    if let Some(between) = between {
        cells::id(line, between, a);
        line.push(between);
        cells::id(line, between, b);
        cells::relation(line, between, related);
        line.push(between);
        line.push_str(if truncated { "true\n" } else { "\n" });
        return;
    }
    let _ = write!(line, r#"{{"a":{a},"b":{b}"#);
    relation(line, related);
    line.push_str(if truncated { ",\"truncated\":true}\n" } else { "}\n" });
}

/// What stands behind the id in the line of a document; a match says where it was not verified though it should be.
pub(crate) fn matches<'i>(
    found: impl Iterator<Item = (&'i str, Relation, bool)>,
    truncated: bool,
) -> String {
    let mut rest = String::from(r#","matches":["#);
    for (place, (id, related, verified)) in found.enumerate() {
        rest.push_str(if place > 0 { "," } else { "" });
        let _ = write!(rest, r#"{{"id":{id}"#);
        relation(&mut rest, &related);
        rest.push_str(if verified { "}" } else { ",\"verified\":false}" });
    }
    rest.push_str(if truncated { "],\"truncated\":true}\n" } else { "]}\n" });
    rest
}
