//! The feed-forward network of a layer.

use std::ops::Range;

use super::activation::{GELU_LEAST, gelu};
use super::aligned::Aligned;
use super::linear::{AddTo, Epilogue, multiply};
use super::packed::PackedLayer;
use super::quantised::{Quantised, put};
use crate::encoder::lanes::isa::{Isa, LANES, Line};

/// Tokens that go through the network together: what is between its two products stays in the second cache.
pub const CHUNK: usize = 96;

/// What is between the two products, for one chunk of tokens.
#[derive(Default)]
pub struct Inner {
    pub values: Aligned<Line>,
    /// Largest values of each token.
    pub largest: Aligned<Line>,
    pub bytes: Quantised,
}

impl Inner {
    pub fn resize<I: Isa>(&mut self, tokens: usize, width: usize) {
        let tokens = tokens.min(CHUNK);
        self.values.resize(tokens * width / LANES);
        self.largest.resize(tokens);
        self.bytes.resize::<I>(tokens, width);
    }
}

/// Keeps the outputs of a chunk, and the largest of each token.
pub struct Keep<'a> {
    pub first: usize,
    pub lines: usize,
    pub values: &'a mut [Line],
    pub largest: &'a mut [Line],
}

impl Epilogue for Keep<'_> {
    #[inline(always)]
    fn take<I: Isa>(&mut self, isa: I, tokens: Range<usize>, panel: usize, outputs: impl Fn(usize) -> [I::F; 2]) {
        let first = tokens.start - self.first;
        let largest_of = &mut self.largest[first..][..tokens.len()];
        for (row, largest) in largest_of.iter_mut().enumerate() {
            let values = &mut self.values[(first + row) * self.lines + 2 * panel..][..2];
            let outputs = outputs(row);
            isa.store(outputs[0], &mut values[0]);
            isa.store(outputs[1], &mut values[1]);
            let both = isa.max(outputs[0], outputs[1]);
            isa.store(if panel == 0 { both } else { isa.max(isa.load(largest), both) }, largest);
        }
    }
}

/// Adds the network's outputs to the tokens' vectors.
#[inline(always)]
pub fn feed_forward<I: Isa>(
    isa: I,
    panels: &[u8],
    layer: &PackedLayer,
    tokens: Range<usize>,
    activations: &Quantised,
    inner: &mut Inner,
    vectors: &mut [Line],
) {
    let lines = layer.up.outputs / LANES;
    for first in tokens.clone().step_by(CHUNK) {
        let chunk = first..tokens.end.min(first + CHUNK);
        let Inner { values, largest, bytes } = &mut *inner;
        multiply(isa, chunk.clone(), activations, panels, &layer.up, &mut Keep { first, lines, values, largest });
        for row in 0..chunk.len() {
            activate(isa, row, &values[row * lines..][..lines], &largest[row], bytes);
        }
        let lines = layer.down.outputs / LANES;
        let to = &mut vectors[first * lines..];
        multiply(isa, 0..chunk.len(), bytes, panels, &layer.down, &mut AddTo { vectors: to, lines });
    }
}

/// GELU of a token's values, as bytes. It rises from 0 on, so that the largest value gives the range.
#[inline(always)]
pub fn activate<I: Isa>(isa: I, row: usize, values: &[Line], largest: &Line, bytes: &mut Quantised) {
    let largest = isa.splat(isa.greatest(isa.load(largest)).max(0.0));
    let (bytes, factor) = bytes.row(row, GELU_LEAST, isa.greatest(gelu(isa, largest)));
    let (least, factor) = (isa.splat(GELU_LEAST), isa.splat(factor));
    put(
        isa,
        values,
        #[inline(always)]
        |value| isa.mul(isa.sub(gelu(isa, value), least), factor),
        bytes,
    );
}
