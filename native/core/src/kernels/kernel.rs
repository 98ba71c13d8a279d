//! A kernel is one implementation of every loop that runs over rows.

use super::bits::BitsReach;

/// Most dimensions of a vector: far above what models have, and sums of products of 8-bit codes stay far below 2^31.
pub const DIMENSIONS_MAX: usize = 16_384;

/// A query for the int8 kernels. Codes are in −127..=127.
#[derive(Debug, Clone)]
pub struct CodedQuery {
    pub(super) codes: Vec<i8>,
    /// |code| of each dimension, for instructions that multiply unsigned by signed bytes.
    pub(super) magnitudes: Vec<u8>,
    /// One bit for each dimension whose code is negative, 64 to a word.
    pub(super) negative: Vec<u64>,
    pub(super) sum: i32,
}

impl CodedQuery {
    /// `codes` must be in −127..=127. −128 is taken as −127.
    pub fn new(codes: &[i8]) -> Self {
        let codes: Vec<i8> = codes.iter().map(|code| (*code).max(-127)).collect();
        let mut negative = vec![0u64; codes.len().div_ceil(64)];
        for (at, _) in codes.iter().enumerate().filter(|(_, code)| **code < 0) {
            negative[at / 64] |= 1 << (at % 64);
        }
        let magnitudes = codes.iter().map(|code| code.unsigned_abs()).collect();
        let sum = codes.iter().map(|code| i32::from(*code)).sum();
        Self { codes, magnitudes, negative, sum }
    }

    pub fn dimensions(&self) -> usize {
        self.codes.len()
    }
}

/// The terms that turn an integer dot product into an upper bound of the exact score:
/// `upper = scale_of_row · query_scale · dot + residual_of_row · query_norm + slack`.
#[derive(Debug, Clone, Copy)]
pub struct BoundTerms {
    pub query_scale: f32,
    pub query_norm: f32,
    pub slack: f32,
}

/// Writes the dot product of the query with each row of `codes` into `out`: `out.len()` rows of the query's dimensions,
/// codes in −127..=127.
pub type DotsI8 = fn(query: &CodedQuery, codes: &[i8], out: &mut [i32]);
/// Dot product of a query and a row, given as its little-endian bytes: four for each dimension, at any alignment.
pub type DotF32 = fn(query: &[f32], row: &[u8]) -> f32;
/// Writes the estimate (`scale · query_scale · dot`) and the error bound of each row. All slices have the same length.
/// Returns whether any row's estimate plus bound reaches `threshold`.
pub type Bounds = fn(
    dots: &[i32],
    scales: &[f32],
    residuals: &[f32],
    terms: BoundTerms,
    threshold: f32,
    out: &mut BoundRows<'_>,
) -> bool;

/// Dot product of two rows of codes of the same length, all in −127..=127.
pub type PairI8 = fn(left: &[i8], right: &[i8]) -> i32;

/// Where a kernel writes its estimates and error bounds.
pub struct BoundRows<'a> {
    pub estimates: &'a mut [f32],
    pub errors: &'a mut [f32],
}

/// One implementation of every loop that runs over rows.
pub struct Kernel {
    pub name: &'static str,
    pub dots_i8: DotsI8,
    pub dot_f32: DotF32,
    pub bounds: Bounds,
    pub pair_i8: PairI8,
    pub bits_reach: BitsReach,
}

/// The loop of [`Bounds`], compiled for each instruction set. Multiplications and additions are never fused, so that
/// every kernel gives the same bits.
#[inline(always)]
pub(super) fn bounds_loop(
    dots: &[i32],
    scales: &[f32],
    residuals: &[f32],
    terms: BoundTerms,
    threshold: f32,
    out: &mut BoundRows<'_>,
) -> bool {
    let rows = dots.len();
    let (scales, residuals) = (&scales[..rows], &residuals[..rows]);
    let (estimates, errors) = (&mut out.estimates[..rows], &mut out.errors[..rows]);
    let mut reached = 0u32;
    for row in 0..rows {
        let estimate = scales[row] * terms.query_scale * dots[row] as f32;
        let error = residuals[row] * terms.query_norm + terms.slack;
        estimates[row] = estimate;
        errors[row] = error;
        reached |= u32::from(estimate + error >= threshold);
    }
    reached != 0
}
