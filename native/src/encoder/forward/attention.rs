//! Self-attention over bytes, in tiles of queries of one text and head.

use super::activation::power_of_two;
use super::packed::Packed;
use super::places::{Places, Text};
use super::projection::{HeadPlace, Heads};
use crate::encoder::lanes::isa::{Isa, LANES, Line};
use crate::encoder::lanes::tile::{ByteRows, COLUMNS, Product, ROWS, Signed, Sums, tiles};

/// What is added to the scores of keys that only pad a block.
const ABSENT: f32 = -1e30;
/// Largest byte of a share.
const STEPS: f32 = 255.0;
const SHARE_MIN: f32 = 1e-30;
/// Lines of a block of keys.
const BLOCK_LINES: usize = COLUMNS / LANES;

/// Memory of one tile of queries.
#[derive(Default)]
pub struct Shares {
    /// Scores, then shares: one row for each query, `padded` long.
    scores: Vec<Line>,
    bytes: Vec<u8>,
    /// Added to scores: zero, or [`ABSENT`].
    absent: Vec<Line>,
}

impl Shares {
    fn resize(&mut self, text: &Text) {
        let lines = text.padded() / LANES;
        self.scores.resize(ROWS * lines, [0.0; LANES]);
        self.bytes.resize(ROWS * text.padded(), 0);
        self.absent.clear();
        self.absent.resize(lines, [0.0; LANES]);
        self.absent.as_flattened_mut()[text.tokens..].fill(ABSENT);
    }
}

/// Writes what each token gets from its text: `[token][head][element]` in lines.
#[inline(always)]
pub fn attend<I: Isa>(
    isa: I,
    model: &Packed,
    places: &Places,
    heads: &Heads,
    shares: &mut Shares,
    context: &mut [Line],
) {
    for text in &places.texts {
        shares.resize(text);
        for head in 0..model.heads {
            for (start, count) in tiles(text.tokens) {
                let tile = Tile { model, text, heads, head, first: text.start + start, count };
                tile.score(isa, shares);
                let factors = tile.share(isa, shares);
                tile.mix(isa, shares, &factors, context);
            }
        }
    }
}

/// Some queries of one text and head.
struct Tile<'a> {
    model: &'a Packed,
    text: &'a Text,
    heads: &'a Heads,
    head: usize,
    /// First token.
    first: usize,
    count: usize,
}

impl Tile<'_> {
    #[inline(always)]
    fn place(&self) -> HeadPlace {
        HeadPlace::of(self.text, self.head, self.model.heads, self.heads.size)
    }

    /// A row's index in the arrays of queries.
    #[inline(always)]
    fn query(&self, row: usize) -> usize {
        (self.first + row) * self.model.heads + self.head
    }

    /// Scores of all keys, in powers of 2.
    #[inline(always)]
    fn score<I: Isa>(&self, isa: I, shares: &mut Shares) {
        let size = self.heads.size;
        let lines = self.text.padded() / LANES;
        let keys = &self.heads.keys[self.place().bytes..][..self.text.padded() * size];
        let scales = &self.heads.key_scales[self.place().scales / LANES..][..lines];
        let bytes = &self.heads.queries[self.query(0) * size..];
        let rows = ByteRows { bytes, stride: self.model.hidden, count: self.count };
        let mut starts = [0; ROWS];
        for (row, start) in starts.iter_mut().enumerate().take(self.count) {
            *start = self.heads.query_starts[self.query(row)];
        }
        let mut sums: Sums = [[0; COLUMNS]; ROWS];
        for (block, panel) in keys.chunks_exact(COLUMNS * size).enumerate() {
            isa.tile(&Product { rows, panel, signed: Signed::Rows, starts: &starts }, &mut sums);
            let lines_of = block * BLOCK_LINES..(block + 1) * BLOCK_LINES;
            let (scales, absent) = (&scales[lines_of.clone()], &shares.absent[lines_of.clone()]);
            for (row, sums) in sums.iter().enumerate().take(self.count) {
                let query_scale = isa.splat(self.heads.query_scales[self.query(row)]);
                let scores = &mut shares.scores[row * lines..][..lines][lines_of.clone()];
                for (half, sums) in sums.as_chunks::<LANES>().0.iter().enumerate() {
                    let scale = isa.mul(isa.load(&scales[half]), query_scale);
                    let score = isa.fma(isa.to_float(isa.load_whole(sums)), scale, isa.load(&absent[half]));
                    isa.store(score, &mut scores[half]);
                }
            }
        }
    }

    /// Turns scores into bytes: each key's share times its value's scale, against the largest of the row. Returns what a
    /// row's mixed values are multiplied by.
    #[inline(always)]
    fn share<I: Isa>(&self, isa: I, shares: &mut Shares) -> [f32; ROWS] {
        let lines = self.text.padded() / LANES;
        let scales = &self.heads.value_scales[self.place().scales / LANES..][..lines];
        let mut factors = [0.0; ROWS];
        for (row, factor) in factors.iter_mut().enumerate().take(self.count) {
            let scores = &mut shares.scores[row * lines..][..lines];
            let mut most = isa.load(&scores[0]);
            for scores in &scores[1..] {
                most = isa.max(most, isa.load(scores));
            }
            let most = isa.splat(isa.greatest(most));
            let (mut sum, mut largest) = (isa.splat(0.0), isa.splat(0.0));
            for (scores, scale) in scores.iter_mut().zip(scales) {
                let share = power_of_two(isa, isa.sub(isa.load(scores), most));
                sum = isa.add(sum, share);
                let weighted = isa.mul(share, isa.load(scale));
                largest = isa.max(largest, weighted);
                isa.store(weighted, scores);
            }
            let largest = isa.greatest(largest).max(SHARE_MIN);
            let to_bytes = isa.splat(STEPS / largest);
            let bytes = shares.bytes[row * self.text.padded()..][..self.text.padded()].as_chunks_mut::<LANES>().0;
            for (scores, bytes) in scores.iter().zip(bytes) {
                isa.store_bytes(isa.round(isa.mul(isa.load(scores), to_bytes)), bytes);
            }
            *factor = largest / STEPS / isa.sum(sum);
        }
        factors
    }

    /// Mixes the values.
    #[inline(always)]
    fn mix<I: Isa>(&self, isa: I, shares: &Shares, factors: &[f32; ROWS], context: &mut [Line]) {
        let (size, padded) = (self.heads.size, self.text.padded());
        let values = &self.heads.values[self.place().bytes..][..padded * size];
        let rows = ByteRows { bytes: &shares.bytes, stride: padded, count: self.count };
        let mut sums: Sums = [[0; COLUMNS]; ROWS];
        for (part, panel) in values.chunks_exact(padded * COLUMNS).enumerate() {
            isa.tile(&Product { rows, panel, signed: Signed::Panel, starts: &[0; ROWS] }, &mut sums);
            for (row, sums) in sums.iter().enumerate().take(self.count) {
                let factor = isa.splat(factors[row]);
                let to = &mut context[self.query(row) * size / LANES + part * BLOCK_LINES..][..BLOCK_LINES];
                for (to, sums) in to.iter_mut().zip(sums.as_chunks::<LANES>().0) {
                    isa.store(isa.mul(isa.to_float(isa.load_whole(sums)), factor), to);
                }
            }
        }
    }
}
