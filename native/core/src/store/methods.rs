//! From which size on bits and graphs are used. `derive/bits.rs` and `graph/build.rs` make them.

/// Recall by bits at the measured deviations.
pub const BITS_RECALL: f64 = 0.999;

/// Most hits that a graph is searched for in the smallest space that has one. In a larger one more are worth it.
const GRAPH_HITS_MAX: usize = 500;
/// A graph is searched where at least this share of the rows may be found: it passes over the others one by one.
const GRAPH_SHARE_MIN: f64 = 0.5;

/// Thresholds of the search methods, in vectors of a space. Below all of them every code is scanned and the answer proved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Methods {
    pub bits_rows_min: usize,
    /// Bits also need this many rows for each hit that is wanted. If most rows have to be scanned anyway, bits only
    /// cost time.
    pub bits_rows_per_hit: usize,
    /// Standard deviations of a row's estimate within which its code is scanned. At 3.1 a row of the true best is lost
    /// with a probability of .00097 at most, that of a row with just the score that is needed: recall .999 for every k.
    pub bits_deviations: f32,
    pub graph_rows_min: usize,
}

impl Methods {
    /// As measured: see docs/design/index.md.
    pub const MEASURED: Self =
        Self { bits_rows_min: 32_768, bits_rows_per_hit: 64, bits_deviations: 3.1, graph_rows_min: 500_000 };

    /// Whether bits are used for the best k of `rows` rows.
    pub fn uses_bits(&self, rows: usize, k: usize) -> bool {
        rows >= self.bits_rows_min && rows / k.max(1) >= self.bits_rows_per_hit
    }

    /// Whether a graph is used for the best k of `rows` rows, of which `allowed` may be found.
    pub fn uses_graph(&self, rows: usize, allowed: usize, k: usize) -> bool {
        rows >= self.graph_rows_min
            && k.saturating_mul(self.graph_rows_min) <= GRAPH_HITS_MAX * rows
            && allowed as f64 >= GRAPH_SHARE_MIN * rows as f64
    }
}

impl Default for Methods {
    fn default() -> Self {
        Self::MEASURED
    }
}
