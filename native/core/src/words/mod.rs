//! Search by words: blocks of postings, BM25, phrases, slips.

pub mod block;
mod bm25;
pub mod build;
mod coincidence;
mod compounds;
pub mod exact_match;
pub mod lists;
pub mod merge;
mod missing_terms;
pub mod occurrences;
pub mod phrases;
pub mod postings;
pub mod query;
pub mod query_word;
pub mod rank;
pub mod rating;
mod scores;
pub mod slips;
#[cfg(test)]
mod tests;
pub mod writer;
