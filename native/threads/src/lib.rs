//! Pools of threads for index and encoder, and the priority of their work.

pub mod priority;
pub mod thread_pool;
