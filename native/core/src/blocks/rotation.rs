//! A fixed rotation. After it every dimension of a vector carries about as much information as any other, so that one
//! bit for each is worth keeping. It consists of sign changes and Hadamard transforms: n log n steps instead of n².
//!
//! **It is part of the layout of blocks of bits**: another seed, or another order of steps, is another layout.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

const SEED: u64 = 0x46_41_52_54_48_49_4e_47;
/// Each round transforms the first dimensions and then the last ones: the largest power of two that fits.
const ROUNDS: usize = 2;

pub struct Rotation {
    padded: usize,
    /// One sign for each dimension and step.
    signs: Vec<f32>,
}

impl Rotation {
    /// The rotation for vectors of `dimensions` dimensions, computed once.
    pub fn of(dimensions: usize) -> Arc<Self> {
        static KNOWN: OnceLock<RwLock<HashMap<usize, Arc<Rotation>>>> = OnceLock::new();
        let known = KNOWN.get_or_init(RwLock::default);
        if let Some(rotation) = known.read().unwrap_or_else(PoisonError::into_inner).get(&dimensions) {
            return rotation.clone();
        }
        let rotation = Arc::new(Self::new(dimensions));
        known.write().unwrap_or_else(PoisonError::into_inner).insert(dimensions, rotation.clone());
        rotation
    }

    fn new(dimensions: usize) -> Self {
        let padded = dimensions.next_multiple_of(64);
        let mut state = SEED;
        let signs = (0..2 * ROUNDS * padded).map(|_| if next(&mut state) >> 63 == 0 { 1.0 } else { -1.0 });
        Self { padded, signs: signs.collect() }
    }

    /// Dimensions of a rotated vector: the next multiple of 64.
    pub fn padded(&self) -> usize {
        self.padded
    }

    /// Rotates `values`: a vector, padded with zeros. Its norm does not change.
    pub fn apply(&self, values: &mut [f32]) {
        assert_eq!(values.len(), self.padded);
        let power = if self.padded == 0 { 0 } else { 1 << self.padded.ilog2() };
        for (step, signs) in self.signs.chunks_exact(self.padded.max(1)).enumerate() {
            values.iter_mut().zip(signs).for_each(|(value, sign)| *value *= sign);
            let from = if step % 2 == 0 { 0 } else { self.padded - power };
            transform(&mut values[from..from + power]);
        }
    }
}

/// The Walsh–Hadamard transform, normalised.
fn transform(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (left, right) = pair.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                (*left, *right) = (*left + *right, *left - *right);
            }
        }
        half *= 2;
    }
    let scale = 1.0 / (values.len() as f32).sqrt();
    values.iter_mut().for_each(|value| *value *= scale);
}

/// SplitMix64 (Steele, Lea and Flood 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut value = *state;
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_and_scores_stay_and_one_dimension_is_spread_over_all() {
        for dimensions in [64, 96, 384, 512, 768, 1280] {
            let rotation = Rotation::of(dimensions);
            let rotated = |axis: usize| {
                let mut values = vec![0f32; rotation.padded()];
                values[axis] = 1.0;
                rotation.apply(&mut values);
                values
            };
            let (first, second) = (rotated(0), rotated(dimensions - 1));
            let dot =
                |left: &[f32], right: &[f32]| left.iter().zip(right).map(|(left, right)| left * right).sum::<f32>();
            assert!((dot(&first, &first) - 1.0).abs() < 1e-5);
            assert!(dot(&first, &second).abs() < 1e-5);
            let largest = first.iter().fold(0f32, |largest, value| largest.max(value.abs()));
            assert!(largest < 6.0 / (dimensions as f32).sqrt(), "{dimensions}: {largest}");
        }
    }
}
