//! Self-attention over bytes, in tiles of queries of one text and head.

use super::activation::power_of_two;
use super::aligned::Aligned;
use super::linear::ZEROS;
use super::packed::Packed;
use super::places::{Places, Text};
use super::projection::{HeadPlace, Heads};
use super::quantised::{Quantised, put};
use crate::lanes::isa::{Isa, LANES, Line};
use crate::lanes::tile::{ByteRows, COLUMNS, Product, ROWS_MAX, Signed, Sums, SumsOfTile, Tiling, tiles};

/// Added to the scores of keys that only pad a block.
const ABSENT: f32 = -1e30;
/// Largest byte of a share.
const STEPS: f32 = 255.0;
const SHARE_MIN: f32 = 1e-30;
/// Lines of a block of keys.
const BLOCK_LINES: usize = COLUMNS / LANES;
/// Heads of short texts are computed together, so that one head's products run while another's are awaited: so many that they
/// have about this many keys.
pub const KEYS_TOGETHER: usize = 128;

/// Memory of one tile of queries.
#[derive(Default)]
pub struct Shares {
    /// Scores, then shares: for each head of those together, one row for each query, `padded` long.
    scores: Aligned<Line>,
    /// The greatest scores of each row in 16 lanes, for each head.
    most: Aligned<Line>,
    /// Shares as bytes, in rows of `stride`.
    bytes: Aligned<u8>,
    stride: usize,
    /// Factor of a row's mixed values, 32 rows for each head.
    factors: Aligned<Line>,
    /// Added to scores: zero, or [`ABSENT`].
    absent: Aligned<Line>,
    /// Output for each query: `[query][head][element]`.
    pub context: Aligned<Line>,
}

impl Shares {
    #[inline(always)]
    pub fn resize<I: Isa>(&mut self, text: &Text, together: usize, hidden: usize) {
        let (rows, padded) = (together * I::Tiling::ROWS, text.padded());
        let lines = padded / LANES;
        self.stride = padded.next_multiple_of(I::Tiling::DEPTH);
        self.scores.resize(rows * lines);
        self.most.resize(together * ROWS_MAX);
        self.bytes.resize(rows * self.stride);
        if self.stride > padded {
            self.bytes.fill(0);
        }
        self.factors.resize(together * ROWS_MAX / LANES);
        self.absent.resize(lines);
        self.absent.fill([0.0; LANES]);
        self.absent.as_flattened_mut()[text.tokens..].fill(ABSENT);
        self.context.resize(I::Tiling::ROWS * hidden / LANES);
    }
}

/// Writes what each token gets from its text, as bytes.
#[inline(always)]
pub fn attend<I: Isa>(
    isa: I,
    model: &Packed,
    places: &Places,
    heads: &Heads,
    shares: &mut Shares,
    activations: &mut Quantised,
) {
    for text in &places.texts {
        let together = (KEYS_TOGETHER / text.padded()).clamp(1, model.heads);
        shares.resize::<I>(text, together, model.hidden);
        for (start, count) in tiles(text.tokens, I::Tiling::ROWS, I::Tiling::GRAIN) {
            for first in (0..model.heads).step_by(together) {
                let some = first..model.heads.min(first + together);
                let tile = |head: usize| Tile {
                    model,
                    text,
                    heads,
                    head,
                    slot: head - first,
                    first: text.start + start,
                    count,
                };
                for head in some.clone() {
                    tile(head).score(isa, shares);
                }
                for head in some.clone() {
                    tile(head).share(isa, shares);
                }
                for head in some {
                    tile(head).mix(isa, shares);
                }
            }
            let rows = text.start + start..text.start + start + count;
            activations.write_all(isa, rows, &shares.context);
        }
    }
}

/// Some queries of one text and head.
pub struct Tile<'a> {
    pub model: &'a Packed,
    pub text: &'a Text,
    pub heads: &'a Heads,
    pub head: usize,
    /// The head's number among those together.
    pub slot: usize,
    /// First token.
    pub first: usize,
    pub count: usize,
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

    /// First row of the head among those together, with as many for each.
    #[inline(always)]
    fn first_row<I: Isa>(&self) -> usize {
        self.slot * I::Tiling::ROWS
    }

    /// Scores of all keys, in powers of 2, and the greatest of each row.
    #[inline(always)]
    pub fn score<I: Isa>(&self, isa: I, shares: &mut Shares) {
        let Heads { size, query_stride, .. } = *self.heads;
        let keys = &self.heads.keys[self.place().bytes..];
        let bytes = &self.heads.queries[self.query(0) * query_stride..];
        let rows = ByteRows { bytes, stride: self.model.heads * query_stride, count: self.count };
        let mut starts = ZEROS;
        if I::Tiling::OFFSET != 0 {
            for (row, start) in starts.iter_mut().enumerate().take(self.count) {
                *start = self.heads.query_starts[self.query(row)];
            }
        }
        let signed = if I::Tiling::OFFSET == 0 { Signed::Both } else { Signed::Rows };
        let mut sums = SumsOfTile([[0; COLUMNS]; ROWS_MAX]);
        let blocks = self.text.padded() / COLUMNS;
        // Once more at the end, for the last block's sums.
        for block in 0..=blocks {
            let product = (block < blocks).then(|| {
                let panel = &keys[block * COLUMNS * size..];
                Product { rows, panel, depth: size, signed, starts: &starts, is_new: false }
            });
            isa.tile_after(
                product.as_ref(),
                &mut sums.0,
                #[inline(always)]
                |sums| {
                    if let Some(last) = block.checked_sub(1) {
                        self.score_block(isa, shares, last, sums);
                    }
                },
            );
        }
    }

    /// Makes scores of a block's sums.
    #[inline(always)]
    fn score_block<I: Isa>(&self, isa: I, shares: &mut Shares, block: usize, sums: &Sums) {
        let lines = self.text.padded() / LANES;
        let at = block * BLOCK_LINES;
        let scales = &self.heads.key_scales[self.place().scales / LANES + at..][..BLOCK_LINES];
        let scales = [isa.load(&scales[0]), isa.load(&scales[1])];
        let absent = [isa.load(&shares.absent[at]), isa.load(&shares.absent[at + 1])];
        let most = &mut shares.most[self.slot * ROWS_MAX..][..ROWS_MAX];
        for ((row, sums), most) in sums.iter().enumerate().zip(most).take(self.count) {
            let query_scale = isa.splat(self.heads.query_scales[self.query(row)]);
            let scores = &mut shares.scores[(self.first_row::<I>() + row) * lines + at..][..BLOCK_LINES];
            let halves = sums.as_chunks::<LANES>().0;
            let (low, high) = (isa.to_float(isa.load_whole(&halves[0])), isa.to_float(isa.load_whole(&halves[1])));
            let low = isa.fma(low, isa.mul(scales[0], query_scale), absent[0]);
            let high = isa.fma(high, isa.mul(scales[1], query_scale), absent[1]);
            isa.store(low, &mut scores[0]);
            isa.store(high, &mut scores[1]);
            let both = isa.max(low, high);
            isa.store(if block == 0 { both } else { isa.max(isa.load(most), both) }, most);
        }
    }

    /// Turns scores into bytes: each key's share times its value's scale, against the largest of the row; and finds what a row's
    /// mixed values are multiplied by. What takes one number of each row is done for 16 rows together.
    #[inline(always)]
    pub fn share<I: Isa>(&self, isa: I, shares: &mut Shares) {
        let lines = self.text.padded() / LANES;
        let scales = &self.heads.value_scales[self.place().scales / LANES..][..lines];
        let Shares { scores, most, bytes, stride, factors, .. } = shares;
        for group in (0..self.count).step_by(LANES) {
            let count = LANES.min(self.count - group);
            let first = self.first_row::<I>() + group;
            let scores = &mut scores[first * lines..][..count * lines];
            let most = most[self.slot * ROWS_MAX + group..].first_chunk().expect("32 rows for each head");
            let mut greatest = [0.0; LANES];
            isa.store(isa.greatest_of(most), &mut greatest);
            let (mut sums, mut largest) = ([[0.0; LANES]; LANES], [[0.0; LANES]; LANES]);
            for (row, scores) in scores.chunks_exact_mut(lines).enumerate() {
                let most = isa.splat(greatest[row]);
                let (mut sum, mut largest_of_row) = (isa.splat(0.0), isa.splat(0.0));
                for (scores, scale) in scores.iter_mut().zip(scales) {
                    let share = power_of_two(isa, isa.sub(isa.load(scores), most));
                    sum = isa.add(sum, share);
                    let weighted = isa.mul(share, isa.load(scale));
                    largest_of_row = isa.max(largest_of_row, weighted);
                    isa.store(weighted, scores);
                }
                isa.store(sum, &mut sums[row]);
                isa.store(largest_of_row, &mut largest[row]);
            }
            let largest = isa.max(isa.greatest_of(&largest), isa.splat(SHARE_MIN));
            let steps = isa.splat(STEPS);
            let factor = isa.div(isa.div(largest, steps), isa.sums_of(&sums));
            isa.store(factor, &mut factors[(self.slot * ROWS_MAX + group) / LANES]);
            let mut to_bytes = [0.0; LANES];
            isa.store(isa.div(steps, largest), &mut to_bytes);
            for (row, scores) in scores.chunks_exact(lines).enumerate() {
                let to_bytes = isa.splat(to_bytes[row]);
                put(
                    isa,
                    scores,
                    #[inline(always)]
                    |share| isa.mul(share, to_bytes),
                    &mut bytes[(first + row) * *stride..][..self.text.padded()],
                );
            }
        }
    }

    /// Mixes the values.
    #[inline(always)]
    pub fn mix<I: Isa>(&self, isa: I, shares: &mut Shares) {
        let (size, padded) = (self.heads.size, self.text.padded());
        let values = &self.heads.values[self.place().bytes..];
        let Shares { bytes, stride, factors, context, .. } = shares;
        let factors = factors[self.slot * ROWS_MAX / LANES..][..ROWS_MAX / LANES].as_flattened();
        let bytes = &bytes[self.first_row::<I>() * *stride..];
        let rows = ByteRows { bytes, stride: *stride, count: self.count };
        let mut sums = SumsOfTile([[0; COLUMNS]; ROWS_MAX]);
        for part in 0..size / COLUMNS {
            let panel = &values[part * padded * COLUMNS..];
            let product = Product { rows, panel, depth: padded, signed: Signed::Panel, starts: &ZEROS, is_new: false };
            isa.tile(&product, &mut sums.0);
            for (row, sums) in sums.0.iter().enumerate().take(self.count) {
                let factor = isa.splat(factors[row]);
                let at = (row * self.model.heads + self.head) * size / LANES + part * BLOCK_LINES;
                for (to, sums) in context[at..][..BLOCK_LINES].iter_mut().zip(sums.as_chunks::<LANES>().0) {
                    isa.store(isa.mul(isa.to_float(isa.load_whole(sums)), factor), to);
                }
            }
        }
    }
}
