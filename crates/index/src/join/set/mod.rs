//! All pairs and clusters of a plain set of fingerprints, without an index.
//!
//! A search per fingerprint would miss the cache in every table, and an index would hold every table at once. Here
//! each table of the plan is made, used and dropped: one partition pass on some prefix bits gives parts that fit the
//! second-level cache, a counting sort on further bits gives buckets, and only inside a bucket fingerprints are
//! compared. So memory is read and written front to back, and parts are independent: any number of threads, no locks.
//!
//! ```text
//!  entries ──► distinct fingerprints, in the order of the first table (equal ones: a star to the lowest ordinal)
//!                 │ per table: partition ──► part ──► buckets ──► compare
//!                 ▼                                      └── large? cut it again by the bits that still vary
//!              pairs: pulled in batches          clusters: a forest over ranks, never a list of pairs
//! ```
//! A pair that several tables see belongs to the first table whose mask it matches, so no set of seen pairs is kept.
//! That also holds within a large bucket, which is cut by the same design over the bits in which its members differ:
//! whether a plan is exact depends on which blocks its tables keep, not on where the bits of a block lie.
//!
//! Sources: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007) for the tables; the proof
//! of a plan is in [`plan`](crate::plan).
