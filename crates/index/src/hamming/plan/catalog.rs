//! The shipped plans, as text: a line each, parsed when a plan is asked for.

const LINES: &str = include_str!("catalog.txt");

/// Radius, block widths and tables of a catalog line.
pub(super) type Entry = (u32, Vec<u32>, Vec<Vec<u8>>);

fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    LINES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '))
}

/// Names of all plans of the catalog, by radius and number of tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    entries().map(|entry| entry.0)
}

pub(super) fn find(name: &str) -> Option<Entry> {
    let (_, line) = entries().find(|entry| entry.0 == name)?;
    parse(line)
}

fn parse(line: &str) -> Option<Entry> {
    let mut fields = line.split(' ');
    let radius = fields.next()?.parse().ok()?;
    let widths = fields.next()?.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
    let tables = fields
        .next()?
        .split(',')
        .map(|table| table.split('.').map(str::parse).collect::<Result<_, _>>())
        .collect::<Result<_, _>>()
        .ok()?;
    Some((radius, widths, tables))
}
