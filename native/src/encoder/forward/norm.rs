//! Layer norms.

use super::packed::PackedNorm;
use super::quantised::Quantised;
use crate::encoder::lanes::isa::{Isa, Line};

/// Sums of vectors are kept in this many registers, whose additions do not wait for each other.
const CHAINS: usize = 4;

/// Sum of all lanes of `of(line)`: line `i` goes to chain `i mod 4`; the chains are added in pairs, then the lanes.
#[inline(always)]
pub fn sum_of<I: Isa>(isa: I, values: &[Line], of: impl Fn(I::F, I::F) -> I::F) -> f32 {
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
    isa.sum(isa.add(isa.add(chains[0], chains[2]), isa.add(chains[1], chains[3])))
}

/// Normalises the vector of a token in place, and writes its bytes.
#[inline(always)]
pub fn normalise<I: Isa>(isa: I, norm: &PackedNorm, token: usize, vectors: &mut [Line], bytes: &mut Quantised) {
    let lines = norm.gain.len();
    let vector = &mut vectors[token * lines..][..lines];
    let size = (lines * vector[0].len()) as f32;
    let mean = isa.splat(
        sum_of(
            isa,
            vector,
            #[inline(always)]
            |sum, line| isa.add(sum, line),
        ) / size,
    );
    let squares = sum_of(
        isa,
        vector,
        #[inline(always)]
        |sum, line| isa.fma(isa.sub(line, mean), isa.sub(line, mean), sum),
    );
    let variance = squares / size;
    let factor = isa.splat(1.0 / (variance + norm.epsilon).sqrt());
    let (mut least, mut greatest) = (isa.splat(f32::INFINITY), isa.splat(f32::NEG_INFINITY));
    for ((line, gain), shift) in vector.iter_mut().zip(&*norm.gain).zip(&*norm.shift) {
        let scaled = isa.mul(isa.sub(isa.load(line), mean), factor);
        let shifted = isa.fma(scaled, isa.load(gain), isa.load(shift));
        least = isa.min(least, shifted);
        greatest = isa.max(greatest, shifted);
        isa.store(shifted, line);
    }
    bytes.write(isa, token, vector, isa.least(least), isa.greatest(greatest));
}
