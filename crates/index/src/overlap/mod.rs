//! Sets of numbers and all pairs of them above a Jaccard threshold, exactly.
//!
//! A set is a sorted slice of distinct `u64`, in practice feature hashes; this module knows nothing else about them.
//! Comparing every set with every other is quadratic. Three filters leave few pairs to compare, and no pair is missed:
//!
//! ```text
//! x   a b │ c d e f g h      J ≥ t needs α = ⌈t / (1 + t) · (|x| + |y|)⌉ common members; of |x| members in any fixed
//! y   b k │ l m n o p        order, α common ones cannot all come after the first |x| - α + 1: the prefix
//! ```
//!
//! - **prefix**: with one order for all sets, two that reach the threshold share a member of both prefixes, so only sets
//!   with a common prefix member are compared. With rare members first, prefixes seldom meet by chance;
//! - **length**: J ≤ smaller / larger, so a partner's size lies between `t · |x|` and `|x| / t`;
//! - **position**: if the first common member is at place i of x and j of y, at most `1 + min(|x| - i, |y| - j) - 1` can be
//!   common.
//!
//! [`pairs_at_least`] joins a whole collection, in the order of document frequency; [`OverlapIndex`] takes sets one after
//! the other and answers for one set at a time. Both count on whole numbers: `Bounds` finds each bound by the very
//! comparison `overlap / union >= threshold` that decides, so no rounding can lose a pair.
//!
//! Sources: Bayardo, Ma, Srikant, "Scaling up all pairs similarity search", WWW 2007 (prefixes, rare members first); Xiao,
//! Wang, Lin, Yu, "Efficient similarity joins for near duplicate detection", WWW 2008 (positions).

mod bounds;
mod join;
mod live;
mod ranks;
mod sets;
mod tasks;

use bounds::Bounds;
pub use join::{SetPair, pairs_at_least};
pub use live::{OverlapIndex, OverlapMatch, Overlapping};
pub use sets::Sets;
