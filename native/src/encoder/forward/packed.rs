//! Weights as the kernels read them: packed once, and shared by all threads.

use crate::encoder::bert::weights::{Bert, Embedding, Layer, Linear, Norm, Pooling};
use crate::encoder::lanes::isa::{LANES, Line};
use crate::encoder::lanes::tile::{COLUMNS, QUAD};

/// What turns sums of bytes into the outputs of 16 columns.
#[derive(Clone, Copy)]
pub struct Columns {
    pub scales: Line,
    /// Sum of each column's weights, times its scale: what a token's lowest value adds.
    pub sums: Line,
    pub bias: Line,
}

/// Weights in panels of 32 columns, each contiguous: for each four inputs, four bytes of each column.
pub struct PackedLinear {
    pub inputs: usize,
    pub outputs: usize,
    panels: Vec<u8>,
    /// Two for each panel.
    pub columns: Vec<Columns>,
}

impl PackedLinear {
    /// Packs layers of the same input side by side.
    fn pack(layers: &[&Linear]) -> Self {
        let inputs = layers[0].inputs;
        let outputs = layers.iter().map(|layer| layer.outputs).sum();
        let mut packed = Self { inputs, outputs, panels: Vec::with_capacity(inputs * outputs), columns: Vec::new() };
        for layer in layers {
            for first in (0..layer.outputs).step_by(COLUMNS) {
                packed.add_panel(layer, first);
            }
            packed.add_columns(layer);
        }
        packed
    }

    fn add_panel(&mut self, layer: &Linear, first: usize) {
        for quad in (0..layer.inputs).step_by(QUAD) {
            let rows: [&[u8]; QUAD] =
                std::array::from_fn(|at| &layer.weights[(quad + at) * layer.outputs + first..][..COLUMNS]);
            let mut line = [0; COLUMNS * QUAD];
            for (column, bytes) in line.chunks_exact_mut(QUAD).enumerate() {
                bytes.iter_mut().zip(rows).for_each(|(byte, row)| *byte = row[column]);
            }
            self.panels.extend_from_slice(&line);
        }
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
            });
        }
    }

    pub fn panel(&self, number: usize) -> &[u8] {
        let size = self.inputs * COLUMNS;
        &self.panels[number * size..][..size]
    }
}

/// A layer norm in lines.
pub struct PackedNorm {
    pub gain: Vec<Line>,
    pub shift: Vec<Line>,
    pub epsilon: f32,
}

impl PackedNorm {
    fn pack(norm: &Norm) -> Self {
        let lines = |values: &[f32]| values.as_chunks().0.to_vec();
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
    /// What products of queries and keys are multiplied by, times log2(e): shares are powers of 2.
    pub scale: f32,
}

impl PackedLayer {
    fn pack(layer: &Layer) -> Self {
        let attention = &layer.attention;
        Self {
            projections: PackedLinear::pack(&[&attention.query, &attention.key, &attention.value]),
            attention_output: PackedLinear::pack(&[&layer.attention_output]),
            attention_norm: PackedNorm::pack(&layer.attention_norm),
            up: PackedLinear::pack(&[&layer.up]),
            down: PackedLinear::pack(&[&layer.down]),
            output_norm: PackedNorm::pack(&layer.output_norm),
            scale: attention.scale * std::f32::consts::LOG2_E,
        }
    }
}

/// A model, ready to run.
pub struct Packed {
    pub hidden: usize,
    pub heads: usize,
    pub embedding: Embedding,
    pub embedding_norm: PackedNorm,
    pub layers: Vec<PackedLayer>,
    pub pooling: Pooling,
}

impl Packed {
    pub fn new(bert: Bert) -> Self {
        Self {
            hidden: bert.hidden,
            heads: bert.layers[0].attention.heads,
            embedding_norm: PackedNorm::pack(&bert.embedding.norm),
            layers: bert.layers.iter().map(PackedLayer::pack).collect(),
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
