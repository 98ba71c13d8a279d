//! Products of tokens and packed weights.

use std::iter::once;
use std::ops::Range;

use super::packed::{Columns, PackedLinear};
use super::quantised::Quantised;
use crate::lanes::isa::{Isa, LANES, Line};
use crate::lanes::tile::{ByteRows, COLUMNS, NearProduct, Product, ROWS_MAX, Signed, Sums, SumsOfTile, Tiling, tiles};

/// Sums that start at zero.
pub const ZEROS: [i32; ROWS_MAX] = [0; ROWS_MAX];

/// Consumer of the outputs of a linear layer. Its methods must be `#[inline(always)]`.
pub trait Epilogue {
    /// Takes the outputs of some tokens, at most [`ROWS_MAX`], in one panel: `outputs(row)` are those of the row-th of the
    /// tokens, from column `32 · panel` on.
    fn take<I: Isa>(&mut self, isa: I, tokens: Range<usize>, panel: usize, outputs: impl Fn(usize) -> [I::F; 2]);
}

/// Some tokens and a panel.
struct Turn {
    panel: usize,
    /// The first of the tokens, among those that are multiplied.
    start: usize,
    count: usize,
}

/// Multiplies some tokens by all panels of a layer; `panels` are the model's. The weights are read once; the tokens' bytes stay in the
/// nearer caches. A tile's sums are taken after the next tile is multiplied: those that were just stored would be waited for.
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
    let mut sums = [SumsOfTile([[0; COLUMNS]; ROWS_MAX]), SumsOfTile([[0; COLUMNS]; ROWS_MAX])];
    let mut waiting: Option<Turn> = None;
    let turns = (0..linear.outputs / COLUMNS).flat_map(|panel| {
        let tiles = tiles(tokens.len(), I::Tiling::ROWS, I::Tiling::PART);
        tiles.map(move |(start, count)| Turn { panel, start, count })
    });
    // Once more at the end, for the last sums.
    for (at, turn) in turns.map(Some).chain(once(None)).enumerate() {
        if let Some(turn) = &turn {
            turn.multiply(isa, tokens.start, activations, panels, linear, &mut sums[at % 2].0);
        }
        if let Some(last) = std::mem::replace(&mut waiting, turn) {
            last.take(isa, tokens.start, activations, linear, &sums[(at + 1) % 2].0, epilogue);
        }
    }
}

impl Turn {
    #[inline(always)]
    fn multiply<I: Isa>(
        &self,
        isa: I,
        first: usize,
        activations: &Quantised,
        panels: &[u8],
        linear: &PackedLinear,
        sums: &mut Sums,
    ) {
        let Self { panel: number, start, count } = *self;
        let (first, panel) = (first + start, linear.panel(panels, number));
        if I::Tiling::NEAR && activations.near.are_near(first, count) {
            let columns = &linear.columns[2 * number..][..2];
            let totals = [&columns[0].totals, &columns[1].totals];
            return isa.tile_near(&NearProduct { rows: &activations.near, first, count, panel, totals }, sums);
        }
        let stride = activations.stride;
        let rows = ByteRows { bytes: &activations.bytes[first * stride..], stride, count };
        let (depth, is_new) = (linear.inputs, start == 0);
        isa.tile(&Product { rows, panel, depth, signed: Signed::Panel, starts: &ZEROS, is_new }, sums);
    }

    /// Gives the outputs that the sums become to the epilogue.
    #[inline(always)]
    fn take<I: Isa>(
        self,
        isa: I,
        first: usize,
        activations: &Quantised,
        linear: &PackedLinear,
        sums: &Sums,
        epilogue: &mut impl Epilogue,
    ) {
        let Self { panel, start, count } = self;
        let tokens = first + start..first + start + count;
        let columns = Loaded::new(isa, &linear.columns[2 * panel..][..2]);
        let (scales, lows) = (&activations.scales[tokens.clone()], &activations.lows[tokens.clone()]);
        epilogue.take(
            isa,
            tokens,
            panel,
            #[inline(always)]
            |row| columns.outputs(isa, scales[row], lows[row], &sums[row]),
        );
    }
}

/// Turns the sums of a panel into outputs, in registers.
struct Loaded<I: Isa> {
    scales: [I::F; 2],
    sums: [I::F; 2],
    bias: [I::F; 2],
}

impl<I: Isa> Loaded<I> {
    #[inline(always)]
    fn new(isa: I, columns: &[Columns]) -> Self {
        let [a, b] = columns else { unreachable!("a panel has two halves") };
        Self {
            scales: [isa.load(&a.scales), isa.load(&b.scales)],
            sums: [isa.load(&a.sums), isa.load(&b.sums)],
            bias: [isa.load(&a.bias), isa.load(&b.bias)],
        }
    }

    /// `low · sum of weights + bias + scale · sum of products`
    #[inline(always)]
    fn outputs(&self, isa: I, scale: f32, low: f32, sums: &[i32; COLUMNS]) -> [I::F; 2] {
        let (scale, low) = (isa.splat(scale), isa.splat(low));
        let halves = sums.as_chunks::<LANES>().0;
        let low_parts = [isa.fma(low, self.sums[0], self.bias[0]), isa.fma(low, self.sums[1], self.bias[1])];
        let products = [isa.to_float(isa.load_whole(&halves[0])), isa.to_float(isa.load_whole(&halves[1]))];
        [
            isa.fma(products[0], isa.mul(scale, self.scales[0]), low_parts[0]),
            isa.fma(products[1], isa.mul(scale, self.scales[1]), low_parts[1]),
        ]
    }
}

/// Adds the outputs to the tokens' vectors.
pub struct AddTo<'a> {
    pub vectors: &'a mut [Line],
    /// Lines of a vector.
    pub lines: usize,
}

impl Epilogue for AddTo<'_> {
    #[inline(always)]
    fn take<I: Isa>(&mut self, isa: I, tokens: Range<usize>, panel: usize, outputs: impl Fn(usize) -> [I::F; 2]) {
        for (row, token) in tokens.enumerate() {
            let lines = &mut self.vectors[token * self.lines + 2 * panel..][..2];
            for (line, output) in lines.iter_mut().zip(outputs(row)) {
                isa.store(isa.add(isa.load(line), output), line);
            }
        }
    }
}
