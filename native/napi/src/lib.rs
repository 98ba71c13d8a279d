//! The thin binding: it converts and checks, and holds no arithmetic.

pub mod body;
pub mod confine;
pub mod fingerprint;
pub mod listening;
pub mod lock;
pub mod mcp_message;
pub mod memory;
pub mod passages;
pub mod pixels;
pub mod process;
pub mod shard;
pub mod shard_copy;
pub mod shard_spaces;
pub mod signature;
pub mod snapshot;
pub mod tokenize;
pub mod version;
