//! The encoder's threads: one queue for queries, and one for passages at a lower priority.
//!
//! The bounds of waiting work and the turns of the Tenants belong to the callers: they hand over one task at a time for each
//! worker that they count.

use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use crate::forward::scratch::Scratch;
use farthing_threads::priority::lower_priority_to;
use farthing_threads::thread_pool::{ThreadPool, perform};

/// Purpose of an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Query,
    Passage,
}

type Task = Box<dyn FnOnce() + Send>;

/// Tasks that may wait for a thread; more are refused.
const WAITING_MAX: usize = 1024;
const THREADS_MAX: usize = 8;
/// Niceness of the threads for queries: the event loop, for which all clients wait, comes before one query.
const QUERY_NICENESS: i32 = 2;
/// Niceness of the threads for passages: a long passage must not hold up a search.
const PASSAGE_NICENESS: i32 = 10;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Runs work with the memory of one of the threads, first come, first served. False when too much work waits: it is dropped then.
#[must_use]
pub fn run(of: Use, work: impl FnOnce(&mut Scratch) + Send + 'static) -> bool {
    let running = &RUNNING[of as usize];
    let task: Task = Box::new(move || {
        let _counted = Counted::of(running);
        SCRATCH.with_borrow_mut(work);
    });
    pool(of).push_below(WAITING_MAX, task)
}

/// Number of tasks that run.
pub fn running(of: Use) -> usize {
    RUNNING[of as usize].load(Ordering::Relaxed)
}

static RUNNING: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Counted until it is dropped, also by a panic.
struct Counted(&'static AtomicUsize);

impl Counted {
    fn of(running: &'static AtomicUsize) -> Self {
        running.fetch_add(1, Ordering::Relaxed);
        Self(running)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn pool(of: Use) -> &'static ThreadPool<Task> {
    static QUERIES: OnceLock<&'static ThreadPool<Task>> = OnceLock::new();
    static PASSAGES: OnceLock<&'static ThreadPool<Task>> = OnceLock::new();
    match of {
        Use::Query => QUERIES
            .get_or_init(|| ThreadPool::start("queries", threads(), || lower_priority_to(QUERY_NICENESS), perform)),
        Use::Passage => PASSAGES
            .get_or_init(|| ThreadPool::start("passages", threads(), || lower_priority_to(PASSAGE_NICENESS), perform)),
    }
}

/// As many as the process may use processors. Asked once for a pool: it reads the limits of the control groups from files.
fn threads() -> usize {
    available_parallelism().map_or(1, |count| count.get().min(THREADS_MAX))
}
