//! The index of Farthing and its searches, in plain Rust. `napi` converts and checks at the boundary to JavaScript.
//!
//! `search` answers from a snapshot of `shard`, which is an open index; `store`, `blocks`, `words`, `scan`, `write`,
//! `graph` and `derive` are its parts, on the ground of `ranking` and `threads`. The other folders stand on their own.

pub mod blocks;
pub mod derive;
pub mod error;
pub mod filter;
#[cfg(feature = "graph")]
pub mod graph;
pub mod kernels;
pub mod picture;
pub mod process;
pub mod ranking;
pub mod request;
pub mod scan;
pub mod search;
pub mod shard;
pub mod store;
pub mod terms;
pub mod text;
pub mod threads;
pub mod words;
pub mod write;
