//! The batch stages as a program: Arrow streams on standard input and output, for engines (Spark) and schedulers.
//!
//! ```text
//! documents ─► sketch ─► exact ──────────────► copy ─┬───────────────────────────┐
//!                  ├───► outline ────────────────────┤                            │
//!                  └───► bands ─► shared ─► texts ◄──┘                            ▼
//!                          ▲ ask     └─► bucket ─► pairs ─► sight ─► lists ─► list ─► verify ─► link ─► decide ─► mark
//!                          └─────────── crowd ◄── full                                    ▲ texts      └► pair ─► relate ─► mark
//! ```
//!
//! A stage reads rows of a few kinds and writes rows of others ([`rows`]). Where rows of a kind have to come together they say so by the
//! number of a **part**; who runs the stages brings equal parts together and knows nothing else. Many entries travel in one row, packed
//! ([`blob`]). What the stages do is what `dedup` of files does itself: they call [`simhash_dedup::stages`].

pub mod blob;
pub mod lines;
pub mod recipe;
pub mod rows;
pub mod stages;

pub use recipe::Recipe;

/// Why a stage ended: one line for people.
#[derive(Debug)]
pub struct Failure(pub String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.replace(['\n', '\r'], " "))
    }
}

impl std::error::Error for Failure {}

impl From<simhash_dedup::DedupError> for Failure {
    fn from(error: simhash_dedup::DedupError) -> Self {
        Self(error.to_string())
    }
}

/// What all stages are given.
pub struct Context {
    /// What decides the answer.
    pub recipe: Recipe,
    /// Into how many parts what is written is spread, at least 1.
    pub parts: u32,
    /// Most bytes that a stage holds.
    pub memory: u64,
}

impl Context {
    /// Whether what a stage makes has room.
    ///
    /// # Errors
    /// It takes more than a stage may take.
    fn must_fit(&self, bytes: usize) -> Result<(), Failure> {
        let Self { memory, parts, .. } = self;
        if bytes as u64 <= *memory {
            return Ok(());
        }
        Err(Failure(format!(
            "what is made of one part takes more than --memory {memory}: spread it over more than {parts} parts (--parts), or give more memory"
        )))
    }
}
