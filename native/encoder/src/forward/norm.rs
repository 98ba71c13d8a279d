//! Layer norms.

use std::ops::Range;

use super::packed::PackedNorm;
use super::quantised::Quantised;
use crate::lanes::isa::{Isa, LANES, Line};

/// Sums of vectors are kept in this many registers, whose additions do not wait for each other.
const CHAINS: usize = 4;

/// Lanes of the sum of `of(line)`: line `i` goes to chain `i mod 4`; the chains are added in pairs. `of` must be
/// `#[inline(always)]`.
#[inline(always)]
pub fn sum_of<I: Isa>(isa: I, values: &[Line], of: impl Fn(I::F, I::F) -> I::F) -> I::F {
    let mut chains = [isa.splat(0.0); CHAINS];
    let (groups, rest) = values.as_chunks::<CHAINS>();
    for group in groups {
        for (chain, line) in chains.iter_mut().zip(group) {
            *chain = of(*chain, isa.load(line));
        }
    }
    for (chain, line) in chains.iter_mut().zip(rest) {
        *chain = of(*chain, isa.load(line));
    }
    isa.add(isa.add(chains[0], chains[2]), isa.add(chains[1], chains[3]))
}

/// Normalises the vectors of some tokens in place, and writes their bytes.
#[inline(always)]
pub fn normalise<I: Isa>(isa: I, norm: &PackedNorm, tokens: Range<usize>, vectors: &mut [Line], bytes: &mut Quantised) {
    for first in tokens.clone().step_by(LANES) {
        normalise_group(isa, norm, first..tokens.end.min(first + LANES), vectors, bytes);
    }
}

/// At most 16 tokens: what takes one number of each is done for all together.
#[inline(always)]
fn normalise_group<I: Isa>(
    isa: I,
    norm: &PackedNorm,
    tokens: Range<usize>,
    vectors: &mut [Line],
    bytes: &mut Quantised,
) {
    let lines = norm.gain.len();
    let size = isa.splat((lines * LANES) as f32);
    let vectors = &mut vectors[tokens.start * lines..tokens.end * lines];
    let (mut sums, mut means, mut factors) = ([[0.0; LANES]; LANES], [0.0; LANES], [0.0; LANES]);
    for (vector, sums) in vectors.chunks_exact(lines).zip(&mut sums) {
        let sum = sum_of(
            isa,
            vector,
            #[inline(always)]
            |sum, line| isa.add(sum, line),
        );
        isa.store(sum, sums);
    }
    isa.store(isa.div(isa.sums_of(&sums), size), &mut means);
    for ((vector, sums), mean) in vectors.chunks_exact(lines).zip(&mut sums).zip(means) {
        let mean = isa.splat(mean);
        let squares = sum_of(
            isa,
            vector,
            #[inline(always)]
            |sum, line| isa.fma(isa.sub(line, mean), isa.sub(line, mean), sum),
        );
        isa.store(squares, sums);
    }
    let variance = isa.div(isa.sums_of(&sums), size);
    let deviation = isa.sqrt(isa.add(variance, isa.splat(norm.epsilon)));
    isa.store(isa.div(isa.splat(1.0), deviation), &mut factors);
    let (mut least, mut greatest) = ([[0.0; LANES]; LANES], [[0.0; LANES]; LANES]);
    for (row, vector) in vectors.chunks_exact_mut(lines).enumerate() {
        let (mean, factor) = (isa.splat(means[row]), isa.splat(factors[row]));
        let (mut low, mut high) = (isa.splat(f32::INFINITY), isa.splat(f32::NEG_INFINITY));
        for ((line, gain), shift) in vector.iter_mut().zip(&*norm.gain).zip(&*norm.shift) {
            let scaled = isa.mul(isa.sub(isa.load(line), mean), factor);
            let shifted = isa.fma(scaled, isa.load(gain), isa.load(shift));
            low = isa.min(low, shifted);
            high = isa.max(high, shifted);
            isa.store(shifted, line);
        }
        isa.store(low, &mut least[row]);
        isa.store(high, &mut greatest[row]);
    }
    bytes.write(isa, tokens, vectors, isa.least_of(&least), isa.greatest_of(&greatest));
}
