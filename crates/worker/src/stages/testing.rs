//! Stages over rows, without a program: for tests.

use super::Stage;
use crate::rows::{Input, Output, Row};
use crate::{Context, Failure, Recipe};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

pub(super) const PARTS: u32 = 5;

pub(super) fn context() -> Arc<Context> {
    Arc::new(Context { recipe: Recipe::new("{}").unwrap(), parts: PARTS, memory: 1 << 30 })
}

fn stream(rows: &[Row]) -> Vec<u8> {
    let mut output = Output::new(Vec::new(), context().recipe.words()).unwrap();
    for row in rows {
        output.row(row.clone()).unwrap();
    }
    output.finish().unwrap()
}

fn rows(stream: Vec<u8>) -> Vec<Row> {
    let mut rows = Vec::new();
    let input = Input::new(std::io::Cursor::new(stream), &context());
    let each = |row| {
        rows.push(row);
        Ok(())
    };
    input.rows(each).unwrap();
    rows
}

/// A stage over these rows: of each part by itself, or of all together.
pub(super) fn run(stage: Stage, given: &[Row], apart: bool) -> Result<Vec<Row>, Failure> {
    let parts: BTreeSet<i32> = given.iter().map(|row| if apart { row.part } else { 0 }).collect();
    let mut all = Vec::new();
    for part in parts {
        let own: Vec<Row> =
            given.iter().filter(|row| !apart || row.part == part).cloned().collect();
        let written = Shared::default();
        let to: Box<dyn Write> = Box::new(written.clone());
        let mut output = Output::new(to, context().recipe.words()).unwrap();
        let input = Input::new(std::io::Cursor::new(stream(&own)), &context());
        stage(&context(), input, &mut output)?;
        drop(output.finish().unwrap());
        all.extend(rows(written.0.lock().unwrap().clone()));
    }
    Ok(all)
}

#[derive(Clone, Default)]
struct Shared(Arc<std::sync::Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(super) fn row(kind: &str, part: u32, fields: &[&[u8]]) -> Row {
    let mut blob = context().recipe.digest().to_vec();
    for field in fields {
        crate::blob::put(field, &mut blob);
    }
    Row { kind: kind.into(), part: part.cast_signed(), blob: Some(blob), ..Row::default() }
}

/// What stages counted by this name.
pub(super) fn counted(rows: &[Row], name: &str) -> i64 {
    let own = rows
        .iter()
        .filter(|row| row.kind == "count" && row.blob.as_deref() == Some(name.as_bytes()));
    own.map(|row| row.pos.unwrap()).sum()
}
