//! Texts to vectors on processors: an encoder for models of BERT's shape with int8 weights.

pub mod bert;
pub mod forward;
pub mod lanes;
pub mod onnx;
