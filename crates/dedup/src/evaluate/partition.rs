//! Two partitions of the same documents.
//!
//! Everything follows from the cells: how many documents are in labelled cluster t and reported cluster r at once.

use super::{choose_two, ratio};

/// The figures that depend on the two partitions alone.
pub(super) struct Partitions {
    pub(super) redundant: u64,
    pub(super) bcubed_precision: f64,
    pub(super) bcubed_recall: f64,
    pub(super) adjusted_rand: f64,
    documents: u64,
    cells: u64,
    /// By document: size of the labelled cluster of that name.
    labelled_sizes: Vec<u32>,
}

impl Partitions {
    /// `labelled[d]` and `found[d]` name the two clusters of document `d` by one of its documents.
    pub(super) fn of(labelled: &[u32], found: &[u32]) -> Self {
        let documents = labelled.len() as u64;
        let (labelled_sizes, found_sizes) = (sizes(labelled), sizes(found));
        let mut keys: Vec<(u32, u32)> =
            labelled.iter().copied().zip(found.iter().copied()).collect();
        keys.sort_unstable();
        let (mut cells, mut together, mut precision, mut recall) = (0, 0, 0.0, 0.0);
        for cell in keys.chunk_by(|a, b| a == b) {
            let (labelled, found) = cell[0];
            let square = (cell.len() as f64).powi(2);
            precision += square / f64::from(found_sizes[found as usize]);
            recall += square / f64::from(labelled_sizes[labelled as usize]);
            together += choose_two(cell.len() as u64);
            cells += 1;
        }
        let clusters = labelled_sizes.iter().filter(|&&size| size > 0).count() as u64;
        let share = |sum: f64| if documents > 0 { sum / documents as f64 } else { 1.0 };
        Self {
            redundant: documents - clusters,
            bcubed_precision: share(precision),
            bcubed_recall: share(recall),
            adjusted_rand: adjusted_rand(
                together,
                pairs_in(&labelled_sizes),
                pairs_in(&found_sizes),
                choose_two(documents),
            ),
            documents,
            cells,
            labelled_sizes,
        }
    }

    /// Each labelled cluster of s documents that lies in p reported ones has s - p of its s - 1 links.
    pub(super) fn document_recall(&self) -> f64 {
        ratio(self.documents - self.cells, self.redundant).unwrap_or(1.0)
    }

    /// `removed`: each document once.
    pub(super) fn removal_recall(&self, labelled: &[u32], removed: &[u32]) -> f64 {
        let mut gone: Vec<u32> = removed.iter().map(|&d| labelled[d as usize]).collect();
        gone.sort_unstable();
        let counted = gone.chunk_by(|a, b| a == b).map(|gone| {
            (gone.len() as u64).min(u64::from(self.labelled_sizes[gone[0] as usize]) - 1)
        });
        ratio(counted.sum(), self.redundant).unwrap_or(1.0)
    }

    pub(super) fn bcubed_f1(&self) -> f64 {
        let (precision, recall) = (self.bcubed_precision, self.bcubed_recall);
        2.0 * precision * recall / (precision + recall)
    }
}

fn sizes(partition: &[u32]) -> Vec<u32> {
    let mut sizes = vec![0; partition.len()];
    for &cluster in partition {
        sizes[cluster as usize] += 1;
    }
    sizes
}

fn pairs_in(sizes: &[u32]) -> u64 {
    sizes.iter().map(|&size| choose_two(u64::from(size))).sum()
}

/// `together`: pairs in one cluster of both; the others: pairs in one cluster of the first, of the second, all pairs.
fn adjusted_rand(together: u64, labelled: u64, found: u64, all: u64) -> f64 {
    let [together, labelled, found, all] = [together, labelled, found, all].map(|n| n as f64);
    let chance = if all > 0.0 { labelled * found / all } else { 0.0 };
    let (above, most) = (together - chance, f64::midpoint(labelled, found) - chance);
    // Both partitions all alone, or both all together: they are equal.
    if most == 0.0 { 1.0 } else { above / most }
}
