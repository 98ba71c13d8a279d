//! Writing to an index: Items, spaces, merges, and the queue that commits them.

mod aliases;
pub mod input;
mod items;
pub mod merge;
mod models;
pub mod queue_state;
mod segments;
pub mod transaction;
pub mod write_op;
pub mod write_queue;
