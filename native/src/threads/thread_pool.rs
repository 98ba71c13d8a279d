//! A line of work for threads that serve every index, first come first served.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

pub struct Line<T> {
    waiting: Mutex<VecDeque<T>>,
    some: Condvar,
}

impl<T: Send + 'static> Line<T> {
    /// A line that lives as long as the process, with `threads` of them to serve it, called `farthing-NAME-0` and so on. `begin` is run
    /// once on each, `serve` for each piece of work: it must not panic.
    pub fn open(name: &str, threads: usize, begin: fn(), serve: fn(T)) -> &'static Self {
        let line: &'static Self = Box::leak(Box::new(Self { waiting: Mutex::default(), some: Condvar::new() }));
        for number in 0..threads {
            let work = move || {
                begin();
                loop {
                    serve(line.take());
                }
            };
            Builder::new().name(format!("farthing-{name}-{number}")).spawn(work).expect("a thread can be started");
        }
        line
    }

    pub fn push(&self, work: T) {
        self.lock().push_back(work);
        self.some.notify_one();
    }

    /// False, and the work dropped, where so many wait already.
    pub fn push_below(&self, most: usize, work: T) -> bool {
        let mut waiting = self.lock();
        if waiting.len() >= most {
            return false;
        }
        waiting.push_back(work);
        self.some.notify_one();
        true
    }

    /// Takes what fits out of the line; whether there was any.
    pub fn withdraw(&self, fits: impl Fn(&T) -> bool) -> bool {
        let mut waiting = self.lock();
        let before = waiting.len();
        waiting.retain(|work| !fits(work));
        waiting.len() < before
    }

    fn take(&self) -> T {
        let mut waiting = self.lock();
        loop {
            match waiting.pop_front() {
                Some(work) => return work,
                None => waiting = self.some.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work that is called once.
pub type Work = Box<dyn FnOnce() + Send>;

/// Does a piece of work; what it owed is dropped with it if it panics, for a thread that serves every index must not end for one.
pub fn perform(work: Work) {
    drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)));
}
