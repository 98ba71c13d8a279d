//! The feed-forward network of a layer.

use std::ops::Range;

use super::activation::{GELU_LEAST, gelu};
use super::linear::{AddTo, Epilogue, multiply};
use super::packed::PackedLayer;
use super::quantised::Quantised;
use crate::encoder::lanes::isa::{Isa, LANES, Line};

/// Tokens that go through the network together: what is between its two products stays in the second cache.
pub const CHUNK: usize = 96;

/// What is between the two products, for one chunk of tokens.
#[derive(Default)]
pub struct Inner {
    values: Vec<Line>,
    /// Largest values of each token.
    largest: Vec<Line>,
    bytes: Quantised,
}

impl Inner {
    pub fn resize(&mut self, tokens: usize, width: usize) {
        let tokens = tokens.min(CHUNK);
        self.values.resize(tokens * width / LANES, [0.0; LANES]);
        self.largest.resize(tokens, [0.0; LANES]);
        self.bytes.resize(tokens, width);
    }
}

/// Keeps the outputs of a chunk, and the largest of each token.
struct Keep<'a> {
    first: usize,
    lines: usize,
    values: &'a mut [Line],
    largest: &'a mut [Line],
}

impl Epilogue for Keep<'_> {
    #[inline(always)]
    fn take<I: Isa>(&mut self, isa: I, token: usize, panel: usize, columns: [I::F; 2]) {
        let row = token - self.first;
        let values = &mut self.values[row * self.lines + 2 * panel..][..2];
        isa.store(columns[0], &mut values[0]);
        isa.store(columns[1], &mut values[1]);
        let largest = &mut self.largest[row];
        let both = isa.max(columns[0], columns[1]);
        isa.store(if panel == 0 { both } else { isa.max(isa.load(largest), both) }, largest);
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
fn activate<I: Isa>(isa: I, row: usize, values: &[Line], largest: &Line, bytes: &mut Quantised) {
    let largest = isa.splat(isa.greatest(isa.load(largest)).max(0.0));
    let (bytes, factor) = bytes.row(row, GELU_LEAST, isa.greatest(gelu(isa, largest)));
    let (least, factor) = (isa.splat(GELU_LEAST), isa.splat(factor));
    for (values, bytes) in values.iter().zip(bytes) {
        let value = isa.sub(gelu(isa, isa.load(values)), least);
        isa.store_bytes(isa.round(isa.mul(value, factor)), bytes);
    }
}
