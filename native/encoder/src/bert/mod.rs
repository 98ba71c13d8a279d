//! BERT in an ONNX graph: an embedding of words, positions and types, layers of attention and a feed-forward network with
//! int8 weights, and a pooling. The graph is matched from its output backwards; one difference, and the model is refused.

pub mod attention;
pub mod blocks;
pub mod embedding;
pub mod layer;
pub mod linear;
pub mod matched;
pub mod norm;
pub mod pattern;
pub mod pooling;
#[cfg(test)]
pub(super) mod tests;
pub mod weights;
