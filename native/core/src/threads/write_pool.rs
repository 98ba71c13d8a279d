//! The threads for the writes of every index.
//!
//! There are two kinds, because a thread's priority can be lowered but not raised again. Short writes, which a client
//! waits for, run at the server's own priority. Large Items and merges run below it, so that searches come first.

use std::sync::OnceLock;

use farthing_threads::priority::lower_priority;
use farthing_threads::thread_pool::{ThreadPool, Work, perform};

/// Threads of each kind. Two, so that one index's long write does not hold up those of all others.
pub(crate) const THREADS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Short,
    Long,
}

/// Queues work for a thread of a kind. There is no limit here: each write queue has at most one turn and one merge
/// waiting.
pub fn run(length: Length, work: impl FnOnce() + Send + 'static) {
    static SHORT: OnceLock<&'static ThreadPool<Work>> = OnceLock::new();
    static LONG: OnceLock<&'static ThreadPool<Work>> = OnceLock::new();
    let pool = match length {
        Length::Short => SHORT.get_or_init(|| ThreadPool::start("write", THREADS, || {}, perform)),
        Length::Long => LONG.get_or_init(|| ThreadPool::start("merge", THREADS, lower_priority, perform)),
    };
    pool.push(Box::new(work));
}
