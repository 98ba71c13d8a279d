//! The native core of Farthing: everything here is plain Rust; `napi/` converts and checks at the boundary.
pub mod body;
pub mod confine;
pub mod fingerprint;
pub mod kernels;
pub mod language;
pub mod listening;
pub mod lock;
pub mod memory;
pub mod passages;
pub mod pieces;
pub mod pixels;
pub mod process;
pub mod shard;
pub mod signature;
pub mod snippet;
pub mod tokenize;
pub mod words;
