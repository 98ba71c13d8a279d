pub mod input;
pub mod merge;
#[cfg(test)]
mod spaces_tests;
pub mod transaction;
pub mod write_op;
pub mod write_queue;
