//! The feed-forward network of a layer.

use std::ops::Range;

use super::activation::{GELU_LEAST, gelu};
use super::aligned::Aligned;
use super::linear::{AddTo, Epilogue, multiply};
use super::packed::PackedLayer;
use super::quantised::Quantised;
use crate::lanes::isa::{Isa, LANES, Line};
use crate::lanes::tile::COLUMNS;

/// Lines of a token in one panel.
const PANEL_LINES: usize = COLUMNS / LANES;

/// Tokens that go through the network together: what is between its two products stays in the second cache.
pub const CHUNK: usize = 96;

/// Values between the two products, for one chunk of tokens.
#[derive(Default)]
pub struct Inner {
    /// `[panel][token][column]`: what one tile writes is in few pages, and in all sets of the first cache.
    pub values: Aligned<Line>,
    /// Largest values of each token.
    pub largest: Aligned<Line>,
    pub bytes: Quantised,
}

impl Inner {
    pub fn resize<I: Isa>(&mut self, tokens: usize, width: usize) {
        let tokens = tokens.min(CHUNK);
        self.values.resize(tokens * width / LANES);
        self.largest.resize(tokens.next_multiple_of(LANES));
        self.bytes.resize::<I>(tokens, width);
    }
}

/// Keeps the outputs of a chunk, and the largest of each token.
pub struct Keep<'a> {
    /// Tokens of the chunk.
    pub chunk: Range<usize>,
    pub values: &'a mut [Line],
    pub largest: &'a mut [Line],
}

impl Epilogue for Keep<'_> {
    #[inline(always)]
    fn take<I: Isa>(&mut self, isa: I, tokens: Range<usize>, panel: usize, outputs: impl Fn(usize) -> [I::F; 2]) {
        let first = tokens.start - self.chunk.start;
        let values = &mut self.values[(panel * self.chunk.len() + first) * PANEL_LINES..][..tokens.len() * PANEL_LINES];
        let largest = &mut self.largest[first..][..tokens.len()];
        for (row, (values, largest)) in values.as_chunks_mut::<PANEL_LINES>().0.iter_mut().zip(largest).enumerate() {
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
    for first in tokens.clone().step_by(CHUNK) {
        let chunk = first..tokens.end.min(first + CHUNK);
        let Inner { values, largest, .. } = &mut *inner;
        let mut keep = Keep { chunk: chunk.clone(), values, largest };
        multiply(isa, chunk.clone(), activations, panels, &layer.up, &mut keep);
        activate(isa, chunk.len(), inner);
        let lines = layer.down.outputs / LANES;
        let to = &mut vectors[first * lines..];
        multiply(isa, 0..chunk.len(), &inner.bytes, panels, &layer.down, &mut AddTo { vectors: to, lines });
    }
}

/// GELU of the values of a chunk of so many tokens, as bytes. It rises from 0 on, so that the largest value gives the range.
#[inline(always)]
pub fn activate<I: Isa>(isa: I, count: usize, inner: &mut Inner) {
    let Inner { values, largest, bytes } = inner;
    let mut factors = [[0.0; LANES]; CHUNK / LANES];
    let groups = largest.as_chunks::<LANES>().0;
    for ((first, largest), factors) in (0..count).step_by(LANES).zip(groups).zip(&mut factors) {
        let largest = isa.max(isa.greatest_of(largest), isa.splat(0.0));
        let rows = first..count.min(first + LANES);
        *factors = bytes.set_ranges(isa, rows, isa.splat(GELU_LEAST), gelu(isa, largest));
    }
    let lines_of_panel = count * PANEL_LINES;
    let lines = &values[..bytes.width / COLUMNS * lines_of_panel];
    for (pair, lines) in lines.chunks(2 * lines_of_panel).enumerate() {
        let (low, high) = lines.split_at(lines_of_panel);
        let (low, high) = (low.as_chunks::<PANEL_LINES>().0, high.as_chunks::<PANEL_LINES>().0);
        for (row, [a, b]) in low.iter().enumerate() {
            let factor = isa.splat(factors.as_flattened()[row]);
            let to = &mut bytes.bytes[row * bytes.stride + pair * 2 * COLUMNS..];
            match high.get(row) {
                Some([c, d]) => {
                    let (a, b) = (code(isa, a, factor), code(isa, b, factor));
                    let (c, d) = (code(isa, c, factor), code(isa, d, factor));
                    isa.store_unsigned_bytes([a, b, c, d], to.first_chunk_mut().expect("a row has whole panels"));
                }
                None => {
                    let (halves, _) = to.as_chunks_mut();
                    isa.store_bytes(code(isa, a, factor), &mut halves[0]);
                    isa.store_bytes(code(isa, b, factor), &mut halves[1]);
                }
            }
        }
    }
    bytes.written(isa, 0..count);
}

/// A line's GELU as bytes.
#[inline(always)]
fn code<I: Isa>(isa: I, line: &Line, factor: I::F) -> I::N {
    isa.round(isa.mul(isa.sub(gelu(isa, isa.load(line)), isa.splat(GELU_LEAST)), factor))
}
