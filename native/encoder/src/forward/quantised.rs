//! Activations as bytes: `value ≈ low + scale · byte`, with a scale and a lowest value for each token.

use std::ops::Range;

use super::aligned::Aligned;
use crate::lanes::isa::{Isa, LANES, Line};
use crate::lanes::near::NearRows;
use crate::lanes::tile::Tiling;

/// Smallest range of a token's values: with a smaller one, its inverse would not be finite.
const RANGE_MIN: f32 = 1e-20;
/// Largest byte.
const STEPS: f32 = 255.0;
/// Lines whose bytes are written together.
const TOGETHER: usize = 4;

/// Rows of bytes, one for each token.
#[derive(Default)]
pub struct Quantised {
    /// Rows, those that only fill a tile included.
    pub bytes: Aligned<u8>,
    pub scales: Vec<f32>,
    pub lows: Vec<f32>,
    /// Bytes of a row.
    pub width: usize,
    /// Bytes from the start of a row to that of the next. Those behind the width are zero.
    pub stride: usize,
    /// The same rows, where [`Tiling::NEAR`]: see [`Quantised::written`].
    pub near: NearRows,
}

impl Quantised {
    /// Makes room for so many rows, as the instruction set reads them.
    pub fn resize<I: Isa>(&mut self, tokens: usize, width: usize) {
        let stride = width.next_multiple_of(I::Tiling::DEPTH);
        self.bytes.resize(tokens.next_multiple_of(I::Tiling::GRAIN) * stride);
        if stride > width {
            self.bytes.fill(0);
        }
        (self.width, self.stride) = (width, stride);
        self.scales.resize(tokens, 0.0);
        self.lows.resize(tokens, 0.0);
        if I::Tiling::NEAR {
            self.near.resize(tokens, width);
        }
    }

    /// Is called for rows whose bytes and ranges were written: gives them the form in which they are multiplied. Near numbers are
    /// smallest around the byte of 0.
    #[inline(always)]
    pub fn written<I: Isa>(&mut self, isa: I, rows: Range<usize>) {
        if I::Tiling::NEAR {
            for row in rows {
                let centre = (-self.lows[row] / self.scales[row]).round() as u8;
                self.near.set(isa.tiling(), row, &self.bytes[row * self.stride..][..self.width], centre);
            }
        }
    }

    /// Sets the ranges of at most 16 rows, and returns the factors that turn `value − low` into a byte.
    #[inline(always)]
    pub fn set_ranges<I: Isa>(&mut self, isa: I, rows: Range<usize>, low: I::F, high: I::F) -> Line {
        let (range, steps) = (isa.max(isa.sub(high, low), isa.splat(RANGE_MIN)), isa.splat(STEPS));
        let (mut scales, mut lows, mut factors) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        isa.store(isa.div(range, steps), &mut scales);
        isa.store(low, &mut lows);
        isa.store(isa.div(steps, range), &mut factors);
        self.scales[rows.clone()].copy_from_slice(&scales[..rows.len()]);
        self.lows[rows.clone()].copy_from_slice(&lows[..rows.len()]);
        factors
    }

    /// Writes at most 16 rows, one after the other in `values`, whose least and greatest values are known.
    #[inline(always)]
    pub fn write<I: Isa>(&mut self, isa: I, rows: Range<usize>, values: &[Line], low: I::F, high: I::F) {
        let factors = self.set_ranges(isa, rows.clone(), low, high);
        let lines = self.width / LANES;
        for ((row, values), factor) in rows.clone().zip(values.chunks_exact(lines)).zip(factors) {
            let (low, factor) = (isa.splat(self.lows[row]), isa.splat(factor));
            put(
                isa,
                values,
                #[inline(always)]
                |value| isa.mul(isa.sub(value, low), factor),
                &mut self.bytes[row * self.stride..][..self.width],
            );
        }
        self.written(isa, rows);
    }

    /// Writes rows, one after the other in `values`.
    #[inline(always)]
    pub fn write_all<I: Isa>(&mut self, isa: I, rows: Range<usize>, values: &[Line]) {
        let lines = self.width / LANES;
        for (first, values) in rows.clone().step_by(LANES).zip(values.chunks(LANES * lines)) {
            let group = first..rows.end.min(first + LANES);
            let (mut least, mut greatest) = ([[0.0; LANES]; LANES], [[0.0; LANES]; LANES]);
            for (row, values) in values.chunks_exact(lines).enumerate().take(group.len()) {
                let first = isa.load(&values[0]);
                let (mut low, mut high) = (first, first);
                for values in values {
                    let values = isa.load(values);
                    low = isa.min(low, values);
                    high = isa.max(high, values);
                }
                isa.store(low, &mut least[row]);
                isa.store(high, &mut greatest[row]);
            }
            self.write(isa, group, values, isa.least_of(&least), isa.greatest_of(&greatest));
        }
    }
}

/// Applies `of` to values and writes the rounded results as bytes.
///
/// `of` must return values within 0..=255, and be `#[inline(always)]`.
#[inline(always)]
pub fn put<I: Isa>(isa: I, values: &[Line], of: impl Fn(I::F) -> I::F, bytes: &mut [u8]) {
    let (groups, rest) = values.as_chunks::<TOGETHER>();
    let (bytes_of_groups, bytes_of_rest) = bytes.split_at_mut(groups.len() * TOGETHER * LANES);
    for (group, bytes) in groups.iter().zip(bytes_of_groups.as_chunks_mut().0) {
        let [a, b, c, d] = group;
        let (a, b, c, d) = (of(isa.load(a)), of(isa.load(b)), of(isa.load(c)), of(isa.load(d)));
        isa.store_unsigned_bytes([isa.round(a), isa.round(b), isa.round(c), isa.round(d)], bytes);
    }
    for (line, bytes) in rest.iter().zip(bytes_of_rest.as_chunks_mut().0) {
        isa.store_bytes(isa.round(of(isa.load(line))), bytes);
    }
}
