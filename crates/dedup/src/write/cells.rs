//! Pairs and clusters as rows of CSV or TSV, where the name of the output asks for that: ids as they are called, in quotes where they
//! have to be.

use crate::decide::Relation;
use crate::read::{Format, name_of_id};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

/// What stands between the cells of a row; `None`: lines are JSON.
pub(crate) fn between(name: &Path) -> Option<char> {
    match Format::of(name) {
        Some(Format::Csv) => Some(','),
        Some(Format::Tsv) => Some('\t'),
        _ => None,
    }
}

/// Appends the row that names the columns.
pub(super) fn head(row: &mut String, between: char, columns: &[&str]) {
    for (place, column) in columns.iter().enumerate() {
        if place > 0 {
            row.push(between);
        }
        row.push_str(column);
    }
    row.push('\n');
}

/// Appends the cell of an id.
pub(super) fn id(row: &mut String, between: char, id: &str) {
    let name = name_of_id(id);
    if name.contains([between, '"', '\n', '\r']) {
        let _ = write!(row, "\"{}\"", name.replace('"', "\"\""));
    } else {
        row.push_str(&name);
    }
}

/// Appends the cells of a relation, each behind what stands between them; one that is not known is empty.
pub(super) fn relation(row: &mut String, between: char, relation: &Relation) {
    row.push(between);
    // Writing to a string cannot fail.
    if let Some(similarity) = relation.similarity {
        let _ = write!(row, "{}", json!(similarity));
    }
    row.push(between);
    if let Some(distance) = relation.distance {
        let _ = write!(row, "{distance}");
    }
}
