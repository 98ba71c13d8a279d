//! The thin binding: it converts and checks, and holds no arithmetic.

pub mod version;
pub mod body;
pub mod tokenize;
pub mod passages;
pub mod pixels;
pub mod confine;
pub mod signature;
pub mod lock;
pub mod fingerprint;
pub mod shard;
