//! The native core of Farthing: everything here is plain Rust; `napi/` converts and checks at the boundary.
pub mod blocks;
pub mod confine;
pub mod derive;
pub mod error;
pub mod graph;
pub mod kernels;
pub mod picture;
pub mod process;
pub mod ranking;
pub mod request;
pub mod scan;
pub mod shard;
pub mod store;
pub mod text;
pub mod threads;
pub mod words;
pub mod write;
