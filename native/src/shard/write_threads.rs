//! The few threads that serve the writes of every index.
//!
//! Two kinds, because the priority of a thread can be lowered but not raised again: what somebody waits for and is soon done
//! runs as the server does; large Items and merges run below it, so that searches come first.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

/// Threads of each kind. Two: one index's long write does not hold up every other's.
const THREADS: usize = 2;
/// Niceness of the threads for long work.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

type Work = Box<dyn FnOnce() + Send>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Short,
    Long,
}

/// Puts work in line behind what waits for the same kind of thread. Who calls sees to it that not too much waits: each queue of
/// writes has one turn and one merge in line at most.
pub fn run(length: Length, work: impl FnOnce() + Send + 'static) {
    let threads = threads(length);
    threads.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(Box::new(work));
    threads.some.notify_one();
}

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
            // A thread that serves every index must not end for one of them.
            drop(catch_unwind(AssertUnwindSafe(work)));
        }
    }
}

fn threads(length: Length) -> &'static Threads {
    static SHORT: OnceLock<&'static Threads> = OnceLock::new();
    static LONG: OnceLock<&'static Threads> = OnceLock::new();
    let (of_kind, name) = match length {
        Length::Short => (&SHORT, "write"),
        Length::Long => (&LONG, "merge"),
    };
    of_kind.get_or_init(|| {
        let threads: &'static Threads = Box::leak(Box::default());
        for number in 0..THREADS {
            let thread = std::thread::Builder::new().name(format!("farthing-{name}-{number}"));
            let serve = move || {
                if length == Length::Long {
                    lower_priority();
                }
                threads.serve();
            };
            thread.spawn(serve).expect("a thread for writes can be started");
        }
        threads
    })
}

pub(super) fn lower_priority() {
    #[cfg(target_os = "linux")]
    // Safety: a plain system call; on Linux process 0 is the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS);
    }
}
