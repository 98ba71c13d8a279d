//! The threads of the index, shared by all indexes of the process.

pub mod derive_pool;
pub mod scan_pool;
pub mod write_pool;
