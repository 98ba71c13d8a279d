//! Texts as a model takes them: their tokens, and passages of at most as many.

pub mod passages;
pub mod pieces;
pub mod tokenize;
pub mod vocabulary;
