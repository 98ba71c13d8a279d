//! The words of a `tokenizer.json`, and how a text is cut into them.

pub mod plain_words;
mod unigram;
pub mod words_model;
