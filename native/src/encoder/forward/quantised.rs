//! Activations as bytes: `value ≈ low + scale · byte`, with a scale and a lowest value for each token.

use crate::encoder::lanes::isa::{Isa, LANES, Line};

/// Smallest range of a token's values: with a smaller one, its inverse would not be finite.
const RANGE_MIN: f32 = 1e-20;
/// Largest byte.
const STEPS: f32 = 255.0;

/// Rows of bytes, one for each token.
#[derive(Default)]
pub struct Quantised {
    pub bytes: Vec<u8>,
    pub scales: Vec<f32>,
    pub lows: Vec<f32>,
    pub width: usize,
}

impl Quantised {
    pub fn resize(&mut self, tokens: usize, width: usize) {
        self.width = width;
        self.bytes.resize(tokens * width, 0);
        self.scales.resize(tokens, 0.0);
        self.lows.resize(tokens, 0.0);
    }

    /// Sets the range of a row, and returns its bytes with the factor that turns `value − low` into one.
    #[inline(always)]
    pub fn row(&mut self, row: usize, low: f32, high: f32) -> (&mut [[u8; LANES]], f32) {
        let range = (high - low).max(RANGE_MIN);
        self.scales[row] = range / STEPS;
        self.lows[row] = low;
        (self.bytes[row * self.width..][..self.width].as_chunks_mut().0, STEPS / range)
    }

    /// Writes a row whose least and greatest values are known.
    #[inline(always)]
    pub fn write<I: Isa>(&mut self, isa: I, row: usize, values: &[Line], low: f32, high: f32) {
        let (bytes, factor) = self.row(row, low, high);
        let (low, factor) = (isa.splat(low), isa.splat(factor));
        for (values, bytes) in values.iter().zip(bytes) {
            isa.store_bytes(isa.round(isa.mul(isa.sub(isa.load(values), low), factor)), bytes);
        }
    }

    /// Writes a row.
    #[inline(always)]
    pub fn write_all<I: Isa>(&mut self, isa: I, row: usize, values: &[Line]) {
        let first = isa.load(&values[0]);
        let (mut least, mut greatest) = (first, first);
        for values in values {
            let values = isa.load(values);
            least = isa.min(least, values);
            greatest = isa.max(greatest, values);
        }
        self.write(isa, row, values, isa.least(least), isa.greatest(greatest));
    }
}
