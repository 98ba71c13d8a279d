//! Texts to vectors on processors: an encoder for models of BERT's shape with int8 weights.
//!
//! `onnx` reads a model's file, `bert` matches its graph, `forward` computes over the instructions of `lanes`. `encoding`
//! puts texts in and takes vectors out, on its own threads. `text` gives the tokens of texts and cuts documents into passages.

pub mod bert;
pub mod encoding;
pub mod forward;
pub mod lanes;
pub mod onnx;
pub mod text;
