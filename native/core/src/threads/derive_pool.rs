//! The threads that derive data from indexes in the background. One for each kind of data serves all indexes, at a low
//! priority: bits do not wait for graphs, which take minutes.

use std::sync::OnceLock;

use farthing_threads::priority::{lower_priority, lower_priority_to};
use farthing_threads::thread_pool::{ThreadPool, Work, perform};

/// Niceness of the thread that builds graphs: below all others, and never starved.
const GRAPHS_NICENESS: i32 = 10;

/// A kind of derived data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bits,
    Graphs,
}

struct Job {
    /// Address of the queue that the work is for.
    owner: usize,
    work: Work,
}

/// Queues work for an owner, which must live at least as long as the work.
pub fn run(kind: Kind, owner: usize, work: impl FnOnce() + Send + 'static) {
    pool(kind).push(Job { owner, work: Box::new(work) });
}

/// Removes an owner's waiting work. False if there is none: it may be running.
pub fn withdraw(kind: Kind, owner: usize) -> bool {
    pool(kind).withdraw(|job| job.owner == owner)
}

fn pool(kind: Kind) -> &'static ThreadPool<Job> {
    static BITS: OnceLock<&'static ThreadPool<Job>> = OnceLock::new();
    static GRAPHS: OnceLock<&'static ThreadPool<Job>> = OnceLock::new();
    match kind {
        Kind::Bits => BITS.get_or_init(|| ThreadPool::start("derive", 1, lower_priority, |job| perform(job.work))),
        Kind::Graphs => GRAPHS.get_or_init(|| {
            let lower = || lower_priority_to(GRAPHS_NICENESS);
            ThreadPool::start("graph", 1, lower, |job| perform(job.work))
        }),
    }
}
