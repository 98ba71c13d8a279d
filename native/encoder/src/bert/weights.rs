//! The weights of a model, as its file has them.

use crate::onnx::file::Part;
use crate::onnx::half::wide;

/// `y = x · weights · scales + bias`, for each output.
#[derive(Debug, Clone)]
pub struct Linear {
    pub inputs: usize,
    pub outputs: usize,
    /// `inputs × outputs`, row by row, as i8.
    pub weights: Vec<u8>,
    /// One for each output.
    pub scales: Vec<f32>,
    pub bias: Vec<f32>,
}

/// A layer norm over the last axis.
#[derive(Debug, Clone)]
pub struct Norm {
    pub gain: Vec<f32>,
    pub shift: Vec<f32>,
    pub epsilon: f32,
}

#[derive(Debug, Clone)]
pub struct Attention {
    pub query: Linear,
    pub key: Linear,
    pub value: Linear,
    pub heads: usize,
    /// Factor of the products of queries and keys.
    pub scale: f32,
}

#[derive(Debug, Clone)]
pub struct Layer {
    pub attention: Attention,
    pub attention_output: Linear,
    pub attention_norm: Norm,
    /// Into the feed-forward network, before its GELU.
    pub up: Linear,
    /// Out of it.
    pub down: Linear,
    pub output_norm: Norm,
}

impl Layer {
    pub fn linears(&self) -> [&Linear; 6] {
        let Attention { query, key, value, .. } = &self.attention;
        [query, key, value, &self.attention_output, &self.up, &self.down]
    }
}

/// The nibble that stands for 0.
pub const NIBBLE_ZERO: i32 = 8;

/// Vectors by their number: `rows × columns`.
#[derive(Clone)]
pub struct Table {
    pub rows: usize,
    pub columns: usize,
    pub values: Values,
}

#[derive(Clone)]
pub enum Values {
    Floats(Vec<f32>),
    /// `(byte − zero) · scale`; the bytes are i8 where `signed`.
    Bytes {
        bytes: Part,
        signed: bool,
        scale: f32,
        zero: i32,
    },
    /// `(nibble − 8) · scale`: two nibbles in a byte, the earlier one low, and a scale of 16 bits for each block of a row.
    Blocks {
        nibbles: Part,
        scales: Part,
        block: usize,
    },
}

impl Table {
    /// Writes a row into `to`, which has as many elements.
    pub fn copy_row(&self, row: usize, to: &mut [f32]) {
        let of = row * self.columns..(row + 1) * self.columns;
        match &self.values {
            Values::Floats(floats) => to.copy_from_slice(&floats[of]),
            Values::Bytes { bytes, signed, scale, zero } => {
                for (to, byte) in to.iter_mut().zip(&bytes[of]) {
                    let byte = if *signed { i32::from(*byte as i8) } else { i32::from(*byte) };
                    *to = (byte - zero) as f32 * scale;
                }
            }
            Values::Blocks { nibbles, scales, block } => {
                let nibbles = nibbles[of.start / 2..of.end / 2].chunks_exact(block / 2);
                let scales = scales[of.start / block * 2..of.end / block * 2].as_chunks::<2>().0;
                for ((to, nibbles), scale) in to.chunks_exact_mut(*block).zip(nibbles).zip(scales) {
                    let scale = wide(u16::from_le_bytes(*scale));
                    for (to, byte) in to.as_chunks_mut::<2>().0.iter_mut().zip(nibbles) {
                        *to = [byte & 15, byte >> 4].map(|nibble| (i32::from(nibble) - NIBBLE_ZERO) as f32 * scale);
                    }
                }
            }
        }
    }
}

#[derive(Clone)]
pub struct Embedding {
    pub words: Table,
    /// `rows × columns`: the positions, each with the type that every token has.
    pub positions: Vec<f32>,
    pub norm: Norm,
}

/// How the vectors of a text's tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    Mean,
    /// The first token's vector.
    First,
    /// The last token's vector.
    Last,
}

/// A whole model. All of its sizes agree.
#[derive(Clone)]
pub struct Bert {
    pub hidden: usize,
    pub embedding: Embedding,
    /// At least one.
    pub layers: Vec<Layer>,
    pub pooling: Pooling,
}
