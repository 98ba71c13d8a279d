//! The binding to JavaScript. It converts and checks, and computes nothing.

pub mod confine;
pub mod encoder;
pub mod error;
pub mod picture;
pub mod process;
pub mod request;
pub mod search;
pub mod shard;
pub mod text;
pub mod version;
