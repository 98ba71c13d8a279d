//! From which size on which way of searching serves: the one table.

/// Vectors of a space from which a way of searching serves; below all of them every code is looked at and the answer proved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Methods {
    pub bits_rows_min: usize,
    /// And so many for each hit that is wanted: where most rows have to be looked at closely, bits are in the way.
    pub bits_rows_per_hit: usize,
    /// Standard deviations of a row's estimate within which it is looked at more closely. At 3.1 a row of the true best is lost
    /// with a probability of .00097 at most, that of a row whose score is just the one needed: recall .999 for every k.
    pub bits_deviations: f32,
    pub graph_rows_min: usize,
}

impl Methods {
    /// As measured: see ARCHITECTURE.md.
    pub const MEASURED: Self =
        Self { bits_rows_min: 32_768, bits_rows_per_hit: 64, bits_deviations: 3.1, graph_rows_min: usize::MAX };

    /// Whether bits serve a search for the best k of so many rows.
    pub fn bits_serve(&self, rows: usize, k: usize) -> bool {
        rows >= self.bits_rows_min && rows / k.max(1) >= self.bits_rows_per_hit
    }
}

impl Default for Methods {
    fn default() -> Self {
        Self::MEASURED
    }
}
