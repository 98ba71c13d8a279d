//! Weights as the kernels read them: packed once, and shared by all threads.

use super::aligned::Aligned;
use super::large_pages::in_large_pages;
use crate::bert::weights::{Bert, Embedding, Layer, Linear, Norm, Pooling};
use crate::lanes::isa::{LANES, Line};
use crate::lanes::tile::{COLUMNS, QUAD};

/// Bytes behind the last panel: a kernel may read one of a depth that is a multiple of 64.
const BEHIND: usize = 64 * COLUMNS;

/// Turns sums of bytes into the outputs of 16 columns.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Columns {
    pub scales: Line,
    /// Sum of each column's weights, times its scale: what a token's lowest value adds.
    pub sums: Line,
    pub bias: Line,
    /// Sum of each column's weights.
    pub totals: [i32; LANES],
}

/// Weights in panels of 32 columns, each contiguous: for each four inputs, four bytes of each column.
pub struct PackedLinear {
    pub inputs: usize,
    pub outputs: usize,
    /// Its first byte among all panels of the model.
    start: usize,
    /// Two for each panel.
    pub columns: Vec<Columns>,
}

impl PackedLinear {
    /// Packs layers of the same input side by side.
    fn pack(layers: &[&Linear], panels: &mut Aligned<u8>) -> Self {
        let inputs = layers[0].inputs;
        let outputs = layers.iter().map(|layer| layer.outputs).sum();
        let mut packed = Self { inputs, outputs, start: panels.len(), columns: Vec::new() };
        for layer in layers {
            for first in (0..layer.outputs).step_by(COLUMNS) {
                add_panel(layer, first, panels);
            }
            packed.add_columns(layer);
        }
        packed
    }

    fn add_columns(&mut self, layer: &Linear) {
        let mut sums = vec![0i32; layer.outputs];
        for row in layer.weights.chunks_exact(layer.outputs) {
            sums.iter_mut().zip(row).for_each(|(sum, byte)| *sum += i32::from(*byte as i8));
        }
        for first in (0..layer.outputs).step_by(LANES) {
            self.columns.push(Columns {
                scales: std::array::from_fn(|lane| layer.scales[first + lane]),
                sums: std::array::from_fn(|lane| sums[first + lane] as f32 * layer.scales[first + lane]),
                bias: std::array::from_fn(|lane| layer.bias[first + lane]),
                totals: std::array::from_fn(|lane| sums[first + lane]),
            });
        }
    }

    /// One panel of the layer among all of the model, and what stands behind it.
    #[inline(always)]
    pub fn panel<'a>(&self, panels: &'a [u8], number: usize) -> &'a [u8] {
        &panels[self.start + number * self.inputs * COLUMNS..]
    }
}

/// Appends 32 columns of a layer.
fn add_panel(layer: &Linear, first: usize, panels: &mut Aligned<u8>) {
    for quad in (0..layer.inputs).step_by(QUAD) {
        let rows: [&[u8]; QUAD] =
            std::array::from_fn(|at| &layer.weights[(quad + at) * layer.outputs + first..][..COLUMNS]);
        let mut line = [0; COLUMNS * QUAD];
        for (column, bytes) in line.chunks_exact_mut(QUAD).enumerate() {
            bytes.iter_mut().zip(rows).for_each(|(byte, row)| *byte = row[column]);
        }
        panels.extend_from_slice(&line);
    }
}

/// A layer norm in lines.
pub struct PackedNorm {
    pub gain: Aligned<Line>,
    pub shift: Aligned<Line>,
    pub epsilon: f32,
}

impl PackedNorm {
    fn pack(norm: &Norm) -> Self {
        let lines = |values: &[f32]| Aligned::from(values.as_chunks().0);
        Self { gain: lines(&norm.gain), shift: lines(&norm.shift), epsilon: norm.epsilon }
    }
}

pub struct PackedLayer {
    /// Queries, keys and values: as many columns of each.
    pub projections: PackedLinear,
    pub attention_output: PackedLinear,
    pub attention_norm: PackedNorm,
    pub up: PackedLinear,
    pub down: PackedLinear,
    pub output_norm: PackedNorm,
    /// Factor of the products of queries and keys, times log2(e): shares are powers of 2.
    pub scale: f32,
}

impl PackedLayer {
    fn pack(layer: &Layer, panels: &mut Aligned<u8>) -> Self {
        let attention = &layer.attention;
        Self {
            projections: PackedLinear::pack(&[&attention.query, &attention.key, &attention.value], panels),
            attention_output: PackedLinear::pack(&[&layer.attention_output], panels),
            attention_norm: PackedNorm::pack(&layer.attention_norm),
            up: PackedLinear::pack(&[&layer.up], panels),
            down: PackedLinear::pack(&[&layer.down], panels),
            output_norm: PackedNorm::pack(&layer.output_norm),
            scale: attention.scale * std::f32::consts::LOG2_E,
        }
    }
}

/// A model, ready to run.
pub struct Packed {
    /// The panels of all layers, in the order in which they are read, and [`BEHIND`].
    pub panels: Aligned<u8>,
    pub hidden: usize,
    pub heads: usize,
    pub embedding: Embedding,
    pub embedding_norm: PackedNorm,
    pub layers: Vec<PackedLayer>,
    pub pooling: Pooling,
}

impl Packed {
    pub fn new(bert: Bert) -> Self {
        let linears = bert.layers.iter().flat_map(Layer::linears);
        let bytes: usize = linears.map(|linear| linear.weights.len()).sum();
        let mut panels = in_large_pages(bytes + BEHIND);
        let layers = bert.layers.iter().map(|layer| PackedLayer::pack(layer, &mut panels)).collect();
        panels.extend_from_slice(&[0; BEHIND]);
        Self {
            panels,
            hidden: bert.hidden,
            heads: bert.layers[0].attention.heads,
            embedding_norm: PackedNorm::pack(&bert.embedding.norm),
            layers,
            embedding: bert.embedding,
            pooling: bert.pooling,
        }
    }

    /// Elements of a head.
    pub fn head_size(&self) -> usize {
        self.hidden / self.heads
    }

    /// Width of the feed-forward networks.
    pub fn inner(&self) -> usize {
        self.layers.iter().map(|layer| layer.up.outputs).max().unwrap_or(0)
    }

    /// Most tokens of a text.
    pub fn tokens_max(&self) -> usize {
        self.embedding.positions.len() / self.hidden
    }

    /// Number of words: ids are below it.
    pub fn words(&self) -> usize {
        self.embedding.words.rows
    }
}
