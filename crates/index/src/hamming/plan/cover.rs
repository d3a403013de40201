//! The proof of a plan: a walk over all sets of k blocks.

/// A set of at most `radius` blocks that touches every table, if there is one. None: the tables are exact.
///
/// Depth-first over blocks in ascending order, carrying the set of tables not yet touched. A branch is cut only where
/// even the busiest blocks could not touch the rest, so nothing is skipped that could be a hole.
pub(super) fn hole(tables: &[Vec<u8>], blocks: usize, radius: u32) -> Option<Vec<usize>> {
    if tables.is_empty() {
        return Some(Vec::new());
    }
    let touches: Vec<u64> = (0..blocks)
        .map(|block| {
            tables
                .iter()
                .enumerate()
                .filter(|(_, kept)| kept.iter().any(|&b| usize::from(b) == block))
                .fold(0, |set, (table, _)| set | 1 << table)
        })
        .collect();
    let busiest = touches.iter().map(|set| set.count_ones()).max().unwrap_or(0);
    let untouched = u64::MAX >> (64 - tables.len());
    let mut chosen = Vec::new();
    walk(&touches, busiest, 0, radius, untouched, &mut chosen).then_some(chosen)
}

fn walk(
    touches: &[u64],
    busiest: u32,
    first: usize,
    left: u32,
    untouched: u64,
    chosen: &mut Vec<usize>,
) -> bool {
    if untouched == 0 {
        return true;
    }
    if left == 0 || untouched.count_ones() > left * busiest {
        return false;
    }
    for block in first..touches.len() {
        chosen.push(block);
        if walk(touches, busiest, block + 1, left - 1, untouched & !touches[block], chosen) {
            return true;
        }
        chosen.pop();
    }
    false
}
