//! The threads for searches that are too long for the calling thread.

use std::sync::OnceLock;
use std::thread::available_parallelism;

use crate::error::{Result, ShardError};
use farthing_threads::thread_pool::{ThreadPool, Work, perform};

/// Searches that may wait; more are refused as overload.
pub const WAITING_MAX: usize = 1024;
/// Threads at most: one scan alone takes most of a machine's memory bandwidth.
const THREADS_MAX: usize = 4;

/// Runs `work` on one of the threads, first come, first served.
///
/// # Errors
/// `overloaded` when too many searches wait; the work is dropped then.
pub fn run(work: impl FnOnce() + Send + 'static) -> Result<()> {
    static POOL: OnceLock<&'static ThreadPool<Work>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        let threads = available_parallelism().map_or(1, |count| count.get().min(THREADS_MAX));
        ThreadPool::start("scan", threads, || {}, perform)
    });
    if pool.push_below(WAITING_MAX, Box::new(work)) {
        Ok(())
    } else {
        Err(ShardError::new("overloaded", "Too many searches are waiting."))
    }
}
