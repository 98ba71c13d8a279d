//! The few threads that run searches too long for the caller's own.

use std::sync::OnceLock;
use std::thread::available_parallelism;

use crate::error::{Result, ShardError};
use crate::threads::thread_pool::{Line, Work, perform};

/// Searches that may wait; further ones are refused as overload.
pub const WAITING_MAX: usize = 1024;
/// Threads at most: one scan alone takes most of a machine's memory bandwidth.
const THREADS_MAX: usize = 4;

/// Runs `work` on one of the threads, first come first served.
///
/// # Errors
/// `overloaded` when too many wait; the work is dropped then.
pub fn run(work: impl FnOnce() + Send + 'static) -> Result<()> {
    static LINE: OnceLock<&'static Line<Work>> = OnceLock::new();
    let line = LINE.get_or_init(|| {
        let threads = available_parallelism().map_or(1, |count| count.get().min(THREADS_MAX));
        Line::open("scan", threads, || {}, perform)
    });
    if line.push_below(WAITING_MAX, Box::new(work)) {
        Ok(())
    } else {
        Err(ShardError::new("overloaded", "Too many searches are waiting."))
    }
}
