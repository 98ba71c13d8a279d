//! The thread that derives data from indexes in the background. One thread serves all of them, at a low priority.

use std::sync::OnceLock;

use farthing_threads::priority::lower_priority;
use farthing_threads::thread_pool::{ThreadPool, Work, perform};

struct Job {
    /// Address of the queue that the work is for.
    owner: usize,
    work: Work,
}

/// Queues work for an owner, which must live at least as long as the work.
pub fn run(owner: usize, work: impl FnOnce() + Send + 'static) {
    pool().push(Job { owner, work: Box::new(work) });
}

/// Removes an owner's waiting work. False if there is none: it may be running.
pub fn withdraw(owner: usize) -> bool {
    pool().withdraw(|job| job.owner == owner)
}

fn pool() -> &'static ThreadPool<Job> {
    static POOL: OnceLock<&'static ThreadPool<Job>> = OnceLock::new();
    POOL.get_or_init(|| ThreadPool::start("derive", 1, lower_priority, |job| perform(job.work)))
}
