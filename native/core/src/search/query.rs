//! Facts about a query that the likelihoods depend on.

#[derive(Debug, Clone, Copy, Default)]
pub struct QueryFacts {
    /// Segments of the index.
    pub segments: u64,
    /// It asks something.
    pub asks: bool,
    /// It describes no picture: it quotes a phrase, or asks something.
    pub describes_none: bool,
}
