//! From which size on bits are used. `derive/bits.rs` makes them.

/// Thresholds of the search methods, in vectors of a space. Below them every code is scanned and the answer proved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Methods {
    pub bits_rows_min: usize,
    /// Bits also need this many rows for each hit that is wanted. If most rows have to be scanned anyway, bits only
    /// cost time.
    pub bits_rows_per_hit: usize,
    /// Standard deviations of a row's estimate within which its code is scanned. At 3.1 a row of the true best is lost
    /// with a probability of .00097 at most, that of a row with just the score that is needed: recall .999 for every k.
    pub bits_deviations: f32,
}

impl Methods {
    /// As measured: see ARCHITECTURE.md.
    pub const MEASURED: Self = Self { bits_rows_min: 32_768, bits_rows_per_hit: 64, bits_deviations: 3.1 };

    /// Whether bits are used for the best k of `rows` rows.
    pub fn uses_bits(&self, rows: usize, k: usize) -> bool {
        rows >= self.bits_rows_min && rows / k.max(1) >= self.bits_rows_per_hit
    }
}

impl Default for Methods {
    fn default() -> Self {
        Self::MEASURED
    }
}
