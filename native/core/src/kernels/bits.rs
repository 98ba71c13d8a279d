//! Rows of one bit per dimension against a query of four bits per dimension, 64 rows at a time.
//!
//! ```text
//! group of 64 rows:  byte 0 of each row (64 bytes) … byte D/8−1 of each row │ scale f32 × 64 │ tilt f32 × 64 │ spread f32 × 64
//! ```
//!
//! The sum S of the query's 4-bit values over a row's set bits comes from tables: four bits of a row select one of
//! sixteen sums of four values, for all 64 rows by one byte shuffle. This is exact, needs no population count, and
//! takes about two thirds of the instructions of four passes of `vpopcnt`. S gives the highest score that the row may
//! have:
//!
//! ```text
//! upper = base + scale · (step · S − sum) + low · tilt + spread · reach
//! ```

use super::lanes::f32_at;

/// Rows of a group.
pub const GROUP: usize = 64;
/// Sums are kept in 16 bits: 4,096 × 15 fits.
pub const BITS_DIMENSIONS_MAX: usize = 4096;
const COLUMN_BYTES: usize = 4 * GROUP;
const VALUE_MAX: f32 = 15.0;

/// Bytes of one group. `dimensions` must be a multiple of 64.
pub const fn group_bytes(dimensions: usize) -> usize {
    dimensions / 8 * GROUP + 3 * COLUMN_BYTES
}

/// Writes the upper end of each row of a group. Bit `r` is set if that of row `r` is not below the threshold.
pub type BitsReach = fn(query: &BitsQuery, terms: &BitsTerms, group: &[u8], uppers: &mut [f32; GROUP]) -> u64;

/// The terms that are the same for all rows of a block.
#[derive(Debug, Clone, Copy)]
pub struct BitsTerms {
    /// Score of the block's centre.
    pub base: f32,
    /// Number of standard deviations times the norm of the query.
    pub reach: f32,
    pub threshold: f32,
}

/// A rotated query in four bits per dimension: `value[i] ≈ low + delta · code[i]`.
#[derive(Debug, Clone)]
pub struct BitsQuery {
    /// Two tables for each byte of a row: sums for its lower and for its upper four bits.
    pub(super) tables: Vec<[u8; 16]>,
    /// For each byte of a row, the bits of its eight codes: all lowest, all second …
    pub(super) planes: Vec<[u8; 4]>,
    pub(super) low: f32,
    /// 2 · delta.
    pub(super) step: f32,
    /// Sum of the values that the codes stand for.
    pub(super) sum: f32,
    /// Norm of the values minus those that the codes stand for.
    residual: f32,
}

impl BitsQuery {
    /// `rotated` has a multiple of 64 dimensions, at most [`BITS_DIMENSIONS_MAX`].
    pub fn new(rotated: &[f32]) -> Self {
        assert!(rotated.len().is_multiple_of(64) && rotated.len() <= BITS_DIMENSIONS_MAX);
        let low = rotated.iter().copied().fold(f32::INFINITY, f32::min).min(f32::MAX);
        let high = rotated.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let delta = ((high - low) / VALUE_MAX).max(0.0);
        let inverse = if delta.is_normal() { 1.0 / delta } else { 0.0 };
        let codes: Vec<u8> = rotated
            .iter()
            .map(|value| ((value - low) * inverse).round_ties_even().clamp(0.0, VALUE_MAX) as u8)
            .collect();
        let (mut sum, mut residual) = (0f64, 0f64);
        for (value, code) in rotated.iter().zip(&codes) {
            let coded = f64::from(low) + f64::from(delta) * f64::from(*code);
            sum += coded;
            residual += (f64::from(*value) - coded).powi(2);
        }
        Self {
            tables: codes.chunks_exact(4).map(table).collect(),
            planes: codes.chunks_exact(8).map(planes).collect(),
            low,
            step: 2.0 * delta,
            sum: sum as f32,
            residual: residual.sqrt() as f32,
        }
    }

    pub fn dimensions(&self) -> usize {
        self.planes.len() * 8
    }

    pub fn residual(&self) -> f32 {
        self.residual
    }

    pub(super) fn check(&self, group: &[u8]) {
        assert_eq!(group.len(), group_bytes(self.dimensions()));
    }

    #[inline(always)]
    pub(super) fn upper(&self, terms: &BitsTerms, sum: u16, columns: [f32; 3]) -> f32 {
        let [scale, tilt, spread] = columns;
        ((terms.base + scale * (self.step * f32::from(sum) - self.sum)) + self.low * tilt) + spread * terms.reach
    }

    /// [`BitsReach`], from the rows' sums. NaN reaches the threshold.
    #[inline(always)]
    pub(super) fn reached(
        &self,
        terms: &BitsTerms,
        sums: &[u16; GROUP],
        group: &[u8],
        uppers: &mut [f32; GROUP],
    ) -> u64 {
        let columns = &group[group.len() - 3 * COLUMN_BYTES..];
        let mut reached = 0;
        for (row, sum) in sums.iter().enumerate() {
            let of = |column: usize| f32_at(columns, column * GROUP + row);
            let upper = self.upper(terms, *sum, [of(0), of(1), of(2)]);
            uppers[row] = upper;
            let below = upper < terms.threshold;
            reached |= u64::from(!below) << row;
        }
        reached
    }
}

/// The sum of each subset of four codes.
fn table(codes: &[u8]) -> [u8; 16] {
    std::array::from_fn(|choice| (0..4).filter(|bit| choice >> bit & 1 == 1).map(|bit| codes[bit]).sum())
}

fn planes(codes: &[u8]) -> [u8; 4] {
    std::array::from_fn(|plane| (0..8).map(|bit| (codes[bit] >> plane & 1) << bit).sum())
}
