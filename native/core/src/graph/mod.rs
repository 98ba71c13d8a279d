//! Graphs of large spaces (HNSW, Malkov and Yashunin 2018; the `usearch` crate): a search follows edges instead of
//! scanning every row. `space_graph.rs` searches one, `build.rs` makes and keeps it.
//!
//! A graph is a file beside the index, and nothing but time depends on it. It holds the int8 code of every row up to
//! some Segment; later rows are scanned, removed ones are dropped when they are found, and what it finds is rated like
//! what a scan finds. Without its file, with a damaged one, or where its recall falls short, the scan answers.

pub mod build;
pub mod space_graph;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod upkeep_tests;
