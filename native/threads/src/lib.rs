//! Pools of threads for index and encoder, the priority of their work, and its turns.

pub mod fair_queue;
pub mod priority;
pub mod thread_pool;
