//! The kinds of a `tokenizer.json` that are read: BERT's word pieces, SentencePiece's unigrams as XLM-R has them, and CLIP's byte pairs.
//! Their tokens are those of the tokenizers crate: `fixtures/tokens` has what that gave.

mod aligned;
pub mod bert;
mod charsmap;
pub mod clip;
pub mod file;
pub mod unigram;
pub mod whole_words;
mod words;
