//! An approximate index of nearest neighbours, kept beside the blocks: what the store and the search know of it.

/// An open index over the rows of one space. It holds all rows that a snapshot with the same record sees, up to `last`.
pub trait NeighbourIndex: Send + Sync {
    /// What the store remembers of it.
    fn record(&self) -> &[u8];

    /// The last Segment that it holds.
    fn last(&self) -> u32;

    /// Segments that probably hold the best k rows, in no order. None if it is busy, or not good enough.
    fn search(&self, query: &[f32], k: usize) -> Option<Vec<u32>>;

    /// Takes note of a probe: how many hits a proof found, and how many of them this index did.
    fn probed(&self, expected: u64, found: u64);
}
