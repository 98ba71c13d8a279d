//! Text before it is indexed or encoded: its language, tokens and passages; and the snippets of what is found.

pub mod characters;
pub mod charset;
pub mod language;
pub mod letters;
pub mod numbers;
pub mod passages;
pub mod pieces;
pub mod sentences;
pub mod snippet;
pub mod tokenize;
mod units;
mod vocabulary;
mod word_bounds;
