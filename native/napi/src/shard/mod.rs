pub mod batch;
pub mod open_shard;
pub mod query;
pub mod rows;
pub mod shared;
pub mod snapshot;
pub mod spaces;
