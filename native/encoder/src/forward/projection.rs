//! Queries, keys and values as bytes, in the places where attention reads them.

use std::ops::Range;

use super::aligned::Aligned;
use super::linear::Epilogue;
use super::packed::Packed;
use super::places::{Places, Text};
use crate::lanes::isa::{Isa, LANES, Line};
use crate::lanes::tile::{COLUMNS, QUAD, Tiling};

/// Largest signed byte.
const STEPS: f32 = 127.0;
/// Smallest magnitude: with a smaller one, its inverse would not be finite.
const MAGNITUDE_MIN: f32 = 1e-30;
/// Lines of the largest head.
const HEAD_LINES: usize = 4;

/// Queries, keys and values of a run, each with a scale for each token and head.
///
/// Keys are panels of 32 keys, one after the other: `[text][head][block][element / 4][key][element % 4]`. Values are
/// panels of 32 elements: `[text][head][element / 32][key / 4][element][key % 4]`.
#[derive(Default)]
pub struct Heads {
    pub size: usize,
    /// i8, `[token][head][element]`.
    pub queries: Aligned<u8>,
    /// Bytes from a head of the queries to the next. Those behind its elements are zero.
    pub query_stride: usize,
    /// `[token][head]`, with the factor of the scores.
    pub query_scales: Vec<f32>,
    /// Where the sums of a query start: minus what the keys' offset adds to them. `[token][head]`
    pub query_starts: Vec<i32>,
    /// Signed bytes, and [`Tiling::OFFSET`] added to them.
    pub keys: Aligned<u8>,
    /// `[text][head][key]`; zero for those that pad a block.
    pub key_scales: Aligned<Line>,
    /// i8.
    pub values: Aligned<u8>,
    /// Like the keys'.
    pub value_scales: Aligned<Line>,
    /// First lines of heads of two panels, until the second panel comes: two for each token.
    halves: Aligned<Line>,
    /// Lines of some tokens in one head, see [`Project::heads_of`].
    lines: Aligned<Line>,
}

impl Heads {
    pub fn resize<I: Isa>(&mut self, model: &Packed, places: &Places) {
        let (tokens, padded) = (places.tokens(), places.padded_tokens);
        self.size = model.head_size();
        self.query_stride = self.size.next_multiple_of(I::Tiling::DEPTH);
        // Kernels read whole tiles, and ignore what is behind rows, keys and values.
        let rows = tokens + I::Tiling::GRAIN - 1;
        self.queries.resize(rows * model.heads * self.query_stride);
        if self.query_stride > self.size {
            self.queries.fill(0);
        }
        self.query_scales.resize(tokens * model.heads, 0.0);
        self.query_starts.resize(tokens * model.heads, 0);
        let bytes = padded * model.hidden + I::Tiling::DEPTH * COLUMNS;
        self.keys.resize(bytes);
        self.values.resize(bytes);
        self.halves.resize(2 * tokens);
        self.lines.resize(LANES * HEAD_LINES);
        for scales in [&mut self.key_scales, &mut self.value_scales] {
            scales.resize(padded * model.heads / LANES);
            scales.fill([0.0; LANES]);
        }
    }
}

/// A text's part of one head's arrays.
#[derive(Clone, Copy)]
pub struct HeadPlace {
    /// First byte of its keys and values.
    pub bytes: usize,
    /// First scale of its keys and values.
    pub scales: usize,
}

impl HeadPlace {
    #[inline(always)]
    pub fn of(text: &Text, head: usize, heads: usize, size: usize) -> Self {
        let scales = text.padded_start * heads + head * text.padded();
        Self { bytes: scales * size, scales }
    }
}

/// Writes queries, keys and values: as many panels of each.
pub struct Project<'a> {
    pub heads: usize,
    pub scale: f32,
    pub places: &'a Places,
    pub into: &'a mut Heads,
}

impl Epilogue for Project<'_> {
    #[inline(always)]
    fn take<I: Isa>(&mut self, isa: I, tokens: Range<usize>, panel: usize, outputs: impl Fn(usize) -> [I::F; 2]) {
        let is_whole = self.into.size == COLUMNS;
        let number = if is_whole { panel } else { panel / 2 };
        for first in (0..tokens.len()).step_by(LANES) {
            let group = tokens.start + first..tokens.end.min(tokens.start + first + LANES);
            if is_whole {
                self.heads_of(
                    isa,
                    group,
                    number,
                    #[inline(always)]
                    |_, row| outputs(first + row),
                );
            } else if panel.is_multiple_of(2) {
                for (row, token) in group.enumerate() {
                    let halves = &mut self.into.halves[2 * token..][..2];
                    let outputs = outputs(first + row);
                    isa.store(outputs[0], &mut halves[0]);
                    isa.store(outputs[1], &mut halves[1]);
                }
            } else {
                let start = group.start;
                self.heads_of(
                    isa,
                    group,
                    number,
                    #[inline(always)]
                    |heads, row| {
                        let halves = &heads.halves[2 * (start + row)..][..2];
                        let outputs = outputs(first + row);
                        [isa.load(&halves[0]), isa.load(&halves[1]), outputs[0], outputs[1]]
                    },
                );
            }
        }
    }
}

/// Makes codes of the lines of a token in a head.
struct Coded<'a, const LINES: usize> {
    token: usize,
    head: usize,
    lines: &'a [Line; LINES],
    factor: f32,
    scale: f32,
}

impl<const LINES: usize> Coded<'_, LINES> {
    #[inline(always)]
    fn codes<I: Isa>(&self, isa: I, line: usize) -> I::N {
        isa.round(isa.mul(isa.load(&self.lines[line]), isa.splat(self.factor)))
    }
}

impl Project<'_> {
    /// Takes at most 16 tokens in one head, with `LINES` lines each: their magnitudes and what follows from these are
    /// computed together.
    #[inline(always)]
    fn heads_of<I: Isa, const LINES: usize>(
        &mut self,
        isa: I,
        tokens: Range<usize>,
        number: usize,
        outputs: impl Fn(&Heads, usize) -> [I::F; LINES],
    ) {
        let (kind, head) = (number / self.heads, number % self.heads);
        let mut lines = std::mem::take(&mut self.into.lines);
        let mut magnitudes = [[0.0; LANES]; LANES];
        for (row, to) in lines.chunks_exact_mut(LINES).enumerate().take(tokens.len()) {
            let outputs = outputs(self.into, row);
            let mut magnitude = isa.abs(outputs[0]);
            for (output, to) in outputs.into_iter().zip(to) {
                magnitude = isa.max(magnitude, isa.abs(output));
                isa.store(output, to);
            }
            isa.store(magnitude, &mut magnitudes[row]);
        }
        let magnitude = isa.max(isa.greatest_of(&magnitudes), isa.splat(MAGNITUDE_MIN));
        let (mut scales, mut factors) = ([0.0; LANES], [0.0; LANES]);
        isa.store(isa.div(magnitude, isa.splat(STEPS)), &mut scales);
        isa.store(isa.div(isa.splat(STEPS), magnitude), &mut factors);
        for (row, token) in tokens.enumerate() {
            let lines = lines[row * LINES..].first_chunk::<LINES>().expect("16 tokens have their lines");
            let coded = Coded { token, head, lines, factor: factors[row], scale: scales[row] };
            match kind {
                0 => self.query(isa, &coded),
                1 => self.key(isa, &coded),
                _ => self.value(isa, &coded),
            }
        }
        self.into.lines = lines;
    }

    #[inline(always)]
    fn query<I: Isa, const LINES: usize>(&mut self, isa: I, coded: &Coded<'_, LINES>) {
        let (size, stride) = (self.into.size, self.into.query_stride);
        let row = coded.token * self.heads + coded.head;
        let to = self.into.queries[row * stride..][..size].as_chunks_mut::<LANES>().0;
        let mut sum = coded.codes(isa, 0);
        isa.store_bytes(sum, &mut to[0]);
        for (line, to) in to.iter_mut().enumerate().skip(1) {
            let codes = coded.codes(isa, line);
            isa.store_bytes(codes, to);
            sum = isa.add_whole(sum, codes);
        }
        self.into.query_scales[row] = coded.scale * self.scale;
        if I::Tiling::OFFSET != 0 {
            self.into.query_starts[row] = -I::Tiling::OFFSET * isa.sum_whole(sum);
        }
    }

    #[inline(always)]
    fn key<I: Isa, const LINES: usize>(&mut self, isa: I, coded: &Coded<'_, LINES>) {
        let (place, key) = self.place(coded.token, coded.head);
        let size = self.into.size;
        let block = &mut self.into.keys[place.bytes + key / COLUMNS * COLUMNS * size..][..COLUMNS * size];
        let offset = isa.load_whole(&[I::Tiling::OFFSET; LANES]);
        let mut bytes = [[0; LANES]; LINES];
        for (line, bytes) in bytes.iter_mut().enumerate() {
            let codes = coded.codes(isa, line);
            isa.store_bytes(if I::Tiling::OFFSET == 0 { codes } else { isa.add_whole(codes, offset) }, bytes);
        }
        let quads = bytes.as_flattened().as_chunks::<QUAD>().0;
        for (line, quad) in block.chunks_exact_mut(COLUMNS * QUAD).zip(quads) {
            line[key % COLUMNS * QUAD..][..QUAD].copy_from_slice(quad);
        }
        self.into.key_scales.as_flattened_mut()[place.scales + key] = coded.scale;
    }

    #[inline(always)]
    fn value<I: Isa, const LINES: usize>(&mut self, isa: I, coded: &Coded<'_, LINES>) {
        let (place, key) = self.place(coded.token, coded.head);
        let padded = self.places.texts[self.places.of_token[coded.token] as usize].padded();
        for line in 0..coded.lines.len() {
            let panel = place.bytes + line / 2 * padded * COLUMNS;
            let at = panel + (key / QUAD * COLUMNS + line % 2 * LANES) * QUAD;
            let (to, _) = self.into.values[at..].split_first_chunk_mut().expect("a value lies within its text");
            isa.put_bytes(coded.codes(isa, line), (key % QUAD) as u32, to);
        }
        self.into.value_scales.as_flattened_mut()[place.scales + key] = coded.scale;
    }

    /// A token's text in a head's arrays, and its number in the text.
    #[inline(always)]
    fn place(&self, token: usize, head: usize) -> (HeadPlace, usize) {
        let text = &self.places.texts[self.places.of_token[token] as usize];
        (HeadPlace::of(text, head, self.heads, self.into.size), token - text.start)
    }
}
