//! How an index is made.

use crate::hamming::plan::PlanChoice;
use crate::live::Window;

/// Options of [`Index::new`](crate::Index::new).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexOptions {
    /// Distance of `check_and_add`, and of `search` by default; inclusive, 0 to 16. Default 3: one bit in twenty.
    pub max_distance: u32,
    /// Which tables to keep. Default: by distance and capacity.
    pub plan: PlanChoice,
    /// Expected number of documents, if known; only a hint for the plan.
    pub capacity: Option<u64>,
    /// Keeps times and lets old documents leave. Default: documents stay, and no times are kept.
    pub window: Option<Window>,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self { max_distance: 3, plan: PlanChoice::Auto, capacity: None, window: None }
    }
}
