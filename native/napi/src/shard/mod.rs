pub mod copy;
pub mod open_shard;
pub mod snapshot;
pub mod spaces;
