//! Reading of ONNX files: the messages of `onnx.proto` that a graph with its constants needs.

pub mod attribute;
pub mod file;
pub mod graph;
pub mod half;
pub mod refusal;
pub mod tensor;
pub mod wire;
