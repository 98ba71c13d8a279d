//! Products of tokens and packed weights.

use std::ops::Range;

use super::packed::PackedLinear;
use super::quantised::Quantised;
use crate::encoder::lanes::isa::{Isa, LANES};
use crate::encoder::lanes::tile::{ByteRows, COLUMNS, Product, ROWS, Signed, Sums, tiles};

/// What is done with the outputs of a linear layer. Its methods must be `#[inline(always)]`.
pub trait Epilogue {
    /// Takes the outputs of one token in one panel: `columns` are those from `32 · panel` on.
    fn take<I: Isa>(&mut self, isa: I, token: usize, panel: usize, columns: [I::F; 2]);
}

/// Multiplies some tokens by all panels. The weights are read once; the tokens' bytes stay in the nearer caches.
#[inline(always)]
pub fn multiply<I: Isa>(
    isa: I,
    tokens: Range<usize>,
    activations: &Quantised,
    linear: &PackedLinear,
    epilogue: &mut impl Epilogue,
) {
    assert_eq!(activations.width, linear.inputs);
    let mut sums: Sums = [[0; COLUMNS]; ROWS];
    for (panel, columns) in linear.columns.as_chunks::<2>().0.iter().enumerate() {
        for (start, count) in tiles(tokens.len()) {
            let start = tokens.start + start;
            let rows = ByteRows { bytes: &activations.bytes[start * linear.inputs..], stride: linear.inputs, count };
            let product = Product { rows, panel: linear.panel(panel), signed: Signed::Panel, starts: &[0; ROWS] };
            isa.tile(&product, &mut sums);
            for (row, sums) in sums.iter().enumerate().take(count) {
                let token = start + row;
                let (scale, low) = (isa.splat(activations.scales[token]), isa.splat(activations.lows[token]));
                let halves = sums.as_chunks::<LANES>().0;
                let outputs = [0, 1].map(
                    #[inline(always)]
                    |half: usize| {
                        let columns = &columns[half];
                        let low_part = isa.fma(low, isa.load(&columns.sums), isa.load(&columns.bias));
                        let scale = isa.mul(scale, isa.load(&columns.scales));
                        isa.fma(isa.to_float(isa.load_whole(&halves[half])), scale, low_part)
                    },
                );
                epilogue.take(isa, token, panel, outputs);
            }
        }
    }
}

/// Adds the outputs to the tokens' vectors.
pub struct AddTo<'a> {
    pub vectors: &'a mut [crate::encoder::lanes::isa::Line],
    /// Lines of a vector.
    pub lines: usize,
}

impl Epilogue for AddTo<'_> {
    #[inline(always)]
    fn take<I: Isa>(&mut self, isa: I, token: usize, panel: usize, columns: [I::F; 2]) {
        let lines = &mut self.vectors[token * self.lines + 2 * panel..][..2];
        for (line, columns) in lines.iter_mut().zip(columns) {
            isa.store(isa.add(isa.load(line), columns), line);
        }
    }
}
