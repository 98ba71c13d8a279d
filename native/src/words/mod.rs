//! Search by words: analysis of text in its own language, blocks of postings, BM25.

pub mod analysis;
pub mod block;
mod bm25;
pub mod build;
pub mod judgement;
pub mod language;
pub mod lists;
pub mod merge;
pub mod phrases;
pub mod postings;
pub mod query;
pub mod rank;
pub mod rating;
mod scores;
pub mod slips;
#[cfg(test)]
mod tests;
mod varint;
pub mod writer;
pub mod written;
