//! Lines of edges: a pair, or a new document and its matches.

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

/// Appends a pair's line.
pub(crate) fn pair(line: &mut String, a: &str, b: &str, related: &Relation, truncated: bool) {
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
