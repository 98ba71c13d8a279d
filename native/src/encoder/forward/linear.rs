//! Products of tokens and packed weights.

use std::ops::Range;

use super::packed::{Columns, PackedLinear};
use super::quantised::Quantised;
use crate::encoder::lanes::isa::{Isa, LANES, Line};
use crate::encoder::lanes::tile::{ByteRows, COLUMNS, Product, ROWS, Signed, Sums, tiles};

/// What is done with the outputs of a linear layer. Its methods must be `#[inline(always)]`.
pub trait Epilogue {
    /// Takes the outputs of one token in one panel: `columns` are those from `32 · panel` on.
    fn take<I: Isa>(&mut self, isa: I, token: usize, panel: usize, columns: [I::F; 2]);
}

/// Multiplies some tokens by all panels of a layer; `panels` are the model's. The weights are read once; the tokens' bytes stay in the nearer caches.
#[inline(always)]
pub fn multiply<I: Isa>(
    isa: I,
    tokens: Range<usize>,
    activations: &Quantised,
    panels: &[u8],
    linear: &PackedLinear,
    epilogue: &mut impl Epilogue,
) {
    assert_eq!(activations.width, linear.inputs);
    let mut sums: Sums = [[0; COLUMNS]; ROWS];
    for (panel, columns) in linear.columns.as_chunks::<2>().0.iter().enumerate() {
        for (start, count) in tiles(tokens.len()) {
            let start = tokens.start + start;
            let rows = ByteRows { bytes: &activations.bytes[start * linear.inputs..], stride: linear.inputs, count };
            let product =
                Product { rows, panel: linear.panel(panels, panel), signed: Signed::Panel, starts: &[0; ROWS] };
            isa.tile(&product, &mut sums);
            for (row, sums) in sums.iter().enumerate().take(count) {
                let token = start + row;
                let (scale, low) = (activations.scales[token], activations.lows[token]);
                let halves = sums.as_chunks::<LANES>().0;
                let outputs = [
                    output(isa, scale, low, &columns[0], &halves[0]),
                    output(isa, scale, low, &columns[1], &halves[1]),
                ];
                epilogue.take(isa, token, panel, outputs);
            }
        }
    }
}

/// `low · sum of weights + bias + scale · sum of products`
#[inline(always)]
fn output<I: Isa>(isa: I, scale: f32, low: f32, columns: &Columns, sums: &[i32; LANES]) -> I::F {
    let low_part = isa.fma(isa.splat(low), isa.load(&columns.sums), isa.load(&columns.bias));
    let scale = isa.mul(isa.splat(scale), isa.load(&columns.scales));
    isa.fma(isa.to_float(isa.load_whole(sums)), scale, low_part)
}

/// Adds the outputs to the tokens' vectors.
pub struct AddTo<'a> {
    pub vectors: &'a mut [Line],
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
