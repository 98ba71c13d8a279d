//! Text before it is indexed: its language, letters and numbers; and the snippets of what is found.

pub mod characters;
pub mod charset;
pub mod language;
pub mod letters;
pub mod numbers;
pub mod pattern;
pub mod sentences;
pub mod snippet;
mod units;
mod word_bounds;
