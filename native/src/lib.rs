//! The native core of Farthing: everything here is plain Rust; `napi/` converts and checks at the boundary.
pub mod body;
pub mod tokenize;
pub mod pixels;
pub mod pieces;
pub mod passages;
pub mod confine;
pub mod signature;
pub mod lock;
pub mod fingerprint;
pub mod language;
pub mod kernels;
pub mod shard;
pub mod words;
