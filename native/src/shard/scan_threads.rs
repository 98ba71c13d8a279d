//! The few threads that run searches too long for the caller's own.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::thread::available_parallelism;

use super::error::{Result, ShardError};

/// Searches that may wait; further ones are refused as overload.
const WAITING_MAX: usize = 1024;
/// Threads at most: one scan alone takes most of a machine's memory bandwidth.
const THREADS_MAX: usize = 4;

type Work = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Threads {
    waiting: Mutex<VecDeque<Work>>,
    some: Condvar,
}

impl Threads {
    fn serve(&self) {
        loop {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let work = loop {
                match waiting.pop_front() {
                    Some(work) => break work,
                    None => waiting = self.some.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(waiting);
            // A thread that serves every index must not end for one of them; what the work owed is dropped with it.
            drop(catch_unwind(AssertUnwindSafe(work)));
        }
    }
}

/// Runs `work` on one of the threads, first come first served.
///
/// # Errors
/// `overloaded` when too many wait; the work is dropped then.
pub fn run(work: impl FnOnce() + Send + 'static) -> Result<()> {
    let threads = threads();
    let mut waiting = threads.waiting.lock().unwrap_or_else(PoisonError::into_inner);
    if waiting.len() >= WAITING_MAX {
        return Err(ShardError::new("overloaded", "Too many searches are waiting."));
    }
    waiting.push_back(Box::new(work));
    drop(waiting);
    threads.some.notify_one();
    Ok(())
}

fn threads() -> &'static Threads {
    static THREADS: OnceLock<&'static Threads> = OnceLock::new();
    THREADS.get_or_init(|| {
        let threads: &'static Threads = Box::leak(Box::default());
        let count = available_parallelism().map_or(1, |count| count.get().min(THREADS_MAX));
        for number in 0..count {
            let thread = std::thread::Builder::new().name(format!("farthing-scan-{number}"));
            thread.spawn(move || threads.serve()).expect("a thread for scans can be started");
        }
        threads
    })
}
