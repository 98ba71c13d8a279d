//! The few threads that serve the writes of every index.
//!
//! Two kinds, because the priority of a thread can be lowered but not raised again: what somebody waits for and is soon done
//! runs as the server does; large Items and merges run below it, so that searches come first.

use std::sync::OnceLock;

use crate::threads::thread_pool::{Line, Work, perform};

/// Threads of each kind. Two: one index's long write does not hold up every other's.
pub(crate) const THREADS: usize = 2;
/// Niceness of the threads for long work.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Short,
    Long,
}

/// Puts work in line behind what waits for the same kind of thread. Who calls sees to it that not too much waits: each queue of
/// writes has one turn and one merge in line at most.
pub fn run(length: Length, work: impl FnOnce() + Send + 'static) {
    static SHORT: OnceLock<&'static Line<Work>> = OnceLock::new();
    static LONG: OnceLock<&'static Line<Work>> = OnceLock::new();
    let line = match length {
        Length::Short => SHORT.get_or_init(|| Line::open("write", THREADS, || {}, perform)),
        Length::Long => LONG.get_or_init(|| Line::open("merge", THREADS, lower_priority, perform)),
    };
    line.push(Box::new(work));
}

pub(crate) fn lower_priority() {
    #[cfg(target_os = "linux")]
    // Safety: a plain system call; on Linux process 0 is the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS);
    }
}
