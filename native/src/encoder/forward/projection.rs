//! Queries, keys and values as bytes, in the places where attention reads them.

use super::linear::Epilogue;
use super::packed::Packed;
use super::places::{Places, Text};
use crate::encoder::lanes::isa::{Isa, LANES, Line};
use crate::encoder::lanes::tile::{COLUMNS, QUAD};

/// Largest signed byte, and what makes a signed byte unsigned.
const STEPS: f32 = 127.0;
const OFFSET: i32 = 128;
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
    pub queries: Vec<u8>,
    /// `[token][head]`, with the factor of the scores.
    pub query_scales: Vec<f32>,
    /// Where the sums of a query start: minus what the keys' offset adds to them. `[token][head]`
    pub query_starts: Vec<i32>,
    /// u8: a signed byte and 128.
    pub keys: Vec<u8>,
    /// `[text][head][key]`; zero for those that pad a block.
    pub key_scales: Vec<Line>,
    /// i8.
    pub values: Vec<u8>,
    /// Like the keys'.
    pub value_scales: Vec<Line>,
    /// First lines of heads of two panels, until the second panel comes: two for each token.
    halves: Vec<Line>,
}

impl Heads {
    pub fn resize(&mut self, model: &Packed, places: &Places) {
        let (tokens, padded) = (places.tokens(), places.padded_tokens);
        self.size = model.head_size();
        self.queries.resize(tokens * model.hidden, 0);
        self.query_scales.resize(tokens * model.heads, 0.0);
        self.query_starts.resize(tokens * model.heads, 0);
        self.keys.resize(padded * model.hidden, 0);
        self.values.resize(padded * model.hidden, 0);
        self.halves.resize(2 * tokens, [0.0; LANES]);
        for scales in [&mut self.key_scales, &mut self.value_scales] {
            scales.clear();
            scales.resize(padded * model.heads / LANES, [0.0; LANES]);
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
    fn take<I: Isa>(&mut self, isa: I, token: usize, panel: usize, columns: [I::F; 2]) {
        if self.into.size == COLUMNS {
            self.head(isa, token, panel, &columns);
            return;
        }
        let halves = &mut self.into.halves[2 * token..][..2];
        if panel.is_multiple_of(2) {
            isa.store(columns[0], &mut halves[0]);
            isa.store(columns[1], &mut halves[1]);
        } else {
            let all = [isa.load(&halves[0]), isa.load(&halves[1]), columns[0], columns[1]];
            self.head(isa, token, panel / 2, &all);
        }
    }
}

/// The outputs of one token in one head, and how they become signed bytes.
struct HeadVector<'a, I: Isa> {
    lines: &'a [I::F],
    factor: I::F,
    scale: f32,
}

impl<I: Isa> HeadVector<'_, I> {
    #[inline(always)]
    fn codes(&self, isa: I, line: usize) -> I::N {
        isa.round(isa.mul(self.lines[line], self.factor))
    }
}

impl Project<'_> {
    #[inline(always)]
    fn head<I: Isa>(&mut self, isa: I, token: usize, number: usize, lines: &[I::F]) {
        let (kind, head) = (number / self.heads, number % self.heads);
        let mut magnitude = isa.abs(lines[0]);
        for line in &lines[1..] {
            magnitude = isa.max(magnitude, isa.abs(*line));
        }
        let magnitude = isa.greatest(magnitude).max(MAGNITUDE_MIN);
        let (scale, factor) = (magnitude / STEPS, isa.splat(STEPS / magnitude));
        let vector = HeadVector { lines, factor, scale };
        match kind {
            0 => self.query(isa, token, head, &vector),
            1 => self.key(isa, token, head, &vector),
            _ => self.value(isa, token, head, &vector),
        }
    }

    #[inline(always)]
    fn query<I: Isa>(&mut self, isa: I, token: usize, head: usize, vector: &HeadVector<'_, I>) {
        let size = self.into.size;
        let to = self.into.queries[(token * self.heads + head) * size..][..size].as_chunks_mut::<LANES>().0;
        let mut sum = vector.codes(isa, 0);
        isa.store_bytes(sum, &mut to[0]);
        for (line, to) in to.iter_mut().enumerate().skip(1) {
            let codes = vector.codes(isa, line);
            isa.store_bytes(codes, to);
            sum = isa.add_whole(sum, codes);
        }
        self.into.query_scales[token * self.heads + head] = vector.scale * self.scale;
        self.into.query_starts[token * self.heads + head] = -OFFSET * isa.sum_whole(sum);
    }

    #[inline(always)]
    fn key<I: Isa>(&mut self, isa: I, token: usize, head: usize, vector: &HeadVector<'_, I>) {
        let (place, key) = self.place(token, head);
        let size = self.into.size;
        let block = &mut self.into.keys[place.bytes + key / COLUMNS * COLUMNS * size..][..COLUMNS * size];
        let offset = isa.load_whole(&[OFFSET; LANES]);
        let mut bytes = [[0; LANES]; HEAD_LINES];
        for (line, bytes) in bytes.iter_mut().enumerate().take(vector.lines.len()) {
            isa.store_bytes(isa.add_whole(vector.codes(isa, line), offset), bytes);
        }
        let quads = bytes.as_flattened().as_chunks::<QUAD>().0;
        for (line, quad) in block.chunks_exact_mut(COLUMNS * QUAD).zip(quads) {
            line[key % COLUMNS * QUAD..][..QUAD].copy_from_slice(quad);
        }
        self.into.key_scales.as_flattened_mut()[place.scales + key] = vector.scale;
    }

    #[inline(always)]
    fn value<I: Isa>(&mut self, isa: I, token: usize, head: usize, vector: &HeadVector<'_, I>) {
        let (place, key) = self.place(token, head);
        let padded = self.places.texts[self.places.of_token[token] as usize].padded();
        for line in 0..vector.lines.len() {
            let panel = place.bytes + line / 2 * padded * COLUMNS;
            let at = panel + (key / QUAD * COLUMNS + line % 2 * LANES) * QUAD;
            let (to, _) = self.into.values[at..].split_first_chunk_mut().expect("a value lies within its text");
            isa.put_bytes(vector.codes(isa, line), (key % QUAD) as u32, to);
        }
        self.into.value_scales.as_flattened_mut()[place.scales + key] = vector.scale;
    }

    /// A token's text in a head's arrays, and its number in the text.
    #[inline(always)]
    fn place(&self, token: usize, head: usize) -> (HeadPlace, usize) {
        let text = &self.places.texts[self.places.of_token[token] as usize];
        (HeadPlace::of(text, head, self.heads, self.into.size), token - text.start)
    }
}
