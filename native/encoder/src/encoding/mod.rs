//! Texts to vectors: a model with its tokenizer, and the threads that run it.

pub mod clock;
pub mod model;
mod query_pace;
pub mod query_queue;
#[cfg(test)]
mod tests;
pub mod text_encoder;
pub mod threads;
