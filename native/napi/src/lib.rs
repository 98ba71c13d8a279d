//! The thin binding: it converts and checks, and holds no arithmetic.

pub mod confine;
pub mod error;
pub mod picture;
pub mod process;
pub mod request;
pub mod shard;
pub mod text;
pub mod version;
