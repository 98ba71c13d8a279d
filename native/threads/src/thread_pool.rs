//! Threads that serve every index of the process, first come, first served.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// A queue of work with the threads that do it.
pub struct ThreadPool<T> {
    waiting: Mutex<VecDeque<T>>,
    arrived: Condvar,
}

impl<T: Send + 'static> ThreadPool<T> {
    /// Starts `threads` threads, named `farthing-NAME-0` and so on, that live as long as the process. Each runs `begin`
    /// once, then `serve` for each piece of work. `serve` must not panic.
    pub fn start(name: &str, threads: usize, begin: fn(), serve: fn(T)) -> &'static Self {
        let pool: &'static Self = Box::leak(Box::new(Self { waiting: Mutex::default(), arrived: Condvar::new() }));
        for number in 0..threads {
            let run = move || {
                begin();
                loop {
                    serve(pool.take());
                }
            };
            Builder::new().name(format!("farthing-{name}-{number}")).spawn(run).expect("a thread can be started");
        }
        pool
    }

    pub fn push(&self, work: T) {
        self.lock().push_back(work);
        self.arrived.notify_one();
    }

    /// Drops the work and returns false if `most` pieces wait already.
    pub fn push_below(&self, most: usize, work: T) -> bool {
        let mut waiting = self.lock();
        if waiting.len() >= most {
            return false;
        }
        waiting.push_back(work);
        self.arrived.notify_one();
        true
    }

    /// Removes the waiting work for which `matches` is true. Returns whether there was any.
    pub fn withdraw(&self, matches: impl Fn(&T) -> bool) -> bool {
        let mut waiting = self.lock();
        let before = waiting.len();
        waiting.retain(|work| !matches(work));
        waiting.len() < before
    }

    fn take(&self) -> T {
        let mut waiting = self.lock();
        loop {
            match waiting.pop_front() {
                Some(work) => return work,
                None => waiting = self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work that is called once.
pub type Work = Box<dyn FnOnce() + Send>;

/// Does a piece of work. If it panics, what it captured is dropped and the thread lives on: it serves every index.
pub fn perform(work: Work) {
    drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)));
}
