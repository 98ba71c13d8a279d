//! The queue of one index's writes, and the few threads that serve all queues. Writes that wait together share one
//! commit (group commit), so that a durable small Item costs little and many of them cost hardly more.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};

use super::derive;
use super::error::{Result, ShardError};
use super::input::{ItemRecord, PreparedSegment, SegmentInput, prepare};
use super::merge;
use super::store::{BlockKey, Store};
use super::write::Writing;

/// Writes of one index that may wait; further ones are refused as overload.
const WAITING_MAX: usize = 1024;
/// Writes, and Segments, that share one commit at most.
const GROUP_WRITES_MAX: usize = 256;
const GROUP_SEGMENTS_MAX: usize = 8192;
/// Threads that write. Two: one index's long merge does not hold up every other's append.
const THREADS: usize = 2;
/// Niceness of those threads: searches come first.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

/// One write.
pub enum Write {
    Append {
        item: ItemRecord,
        segments: Vec<SegmentInput>,
    },
    PutItem {
        item: ItemRecord,
    },
    RemoveItem {
        id: String,
    },
    /// Bits that were derived from a block.
    PutBits {
        key: BlockKey,
        bits: Vec<u8>,
    },
    /// A record about something that was derived.
    PutDerived {
        key: String,
        json: Vec<u8>,
    },
}

/// Called once, on a writing thread, when the write is on the disk or has failed. The value: whether there was
/// something to remove (true for other writes).
pub type Done = Box<dyn FnOnce(Result<bool>) + Send>;

struct Waiting {
    write: Write,
    done: Done,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// A thread works on this queue, or will.
    scheduled: bool,
    closing: bool,
    /// The last merge failed: none is tried again while the index stays open.
    merge_failed: bool,
    /// The deriving thread works on this queue, or will; and whether it is to look again.
    deriving: bool,
    derive_again: bool,
    /// Deriving failed: it is not tried again while the index stays open.
    derive_failed: bool,
    /// Why, until somebody has been told.
    merge_failure: Option<ShardError>,
}

impl State {
    /// True when the index is to be put in the deriving thread's line; false when it is there, or must not be.
    fn begins_deriving(&mut self) -> bool {
        if self.closing || self.derive_failed {
            return false;
        }
        self.derive_again = self.deriving;
        !std::mem::replace(&mut self.deriving, true)
    }
}

/// The writes of one index.
pub struct WriteQueue {
    store: Store,
    state: Mutex<State>,
    idle: Condvar,
}

impl WriteQueue {
    pub fn new(store: Store) -> Self {
        Self { store, state: Mutex::default(), idle: Condvar::new() }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Puts a write in line. `done` is called in any case, at once when the write is refused.
    pub fn submit(self: &Arc<Self>, write: Write, done: Done) {
        let mut state = self.lock();
        if state.closing || state.waiting.len() >= WAITING_MAX {
            let closing = state.closing;
            drop(state);
            let overload = || ShardError::new("overloaded", "Too many writes to this index are waiting.");
            return done(Err(if closing { ShardError::closed() } else { overload() }));
        }
        state.waiting.push_back(Waiting { write, done });
        if !state.scheduled {
            state.scheduled = true;
            drop(state);
            pool().push(self.clone());
        }
    }

    /// Refuses further writes and waits until those that were accepted are done.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closing = true;
        if state.deriving && derive::withdraw(self) {
            state.deriving = false;
        }
        while state.scheduled || state.deriving {
            state = self.idle.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// One group of writes, then one merge if it is worth it. True when there is more to do.
    fn turn(self: &Arc<Self>) -> bool {
        let group = self.next_group();
        if !group.is_empty() {
            self.commit_group(group);
        }
        let merged = self.merge_one();
        let due = derive::is_due(&self.store);
        let mut state = self.lock();
        if !state.waiting.is_empty() || (merged && !state.closing) {
            return true;
        }
        state.scheduled = false;
        let begins = due && state.begins_deriving();
        self.idle.notify_all();
        drop(state);
        if begins {
            derive::push(self.clone());
        }
        false
    }

    /// Has the deriving thread look at this index, now or once more.
    pub fn derive(self: &Arc<Self>) {
        if self.lock().begins_deriving() {
            derive::push(self.clone());
        }
    }

    /// Ends a look of the deriving thread; true when it is to look again.
    pub fn derived(&self, outcome: Result<()>) -> bool {
        let mut state = self.lock();
        let again = std::mem::take(&mut state.derive_again);
        if let Err(error) = outcome {
            state.derive_failed = true;
            state.merge_failure.get_or_insert(error);
        }
        state.deriving = again && !state.closing && !state.derive_failed;
        self.idle.notify_all();
        state.deriving
    }

    pub fn is_closing(&self) -> bool {
        self.lock().closing
    }

    /// Waits until neither writes nor what is derived from them are outstanding.
    pub fn settle(&self) {
        let mut state = self.lock();
        while state.scheduled || state.deriving {
            state = self.idle.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    fn next_group(&self) -> Vec<Waiting> {
        let mut state = self.lock();
        let (mut group, mut segments) = (vec![], 0);
        while let Some(next) = state.waiting.front() {
            segments += next.write.segments();
            if group.len() == GROUP_WRITES_MAX || (!group.is_empty() && segments > GROUP_SEGMENTS_MAX) {
                break;
            }
            group.extend(state.waiting.pop_front());
        }
        group
    }

    fn commit_group(&self, group: Vec<Waiting>) {
        let (writes, dones): (Vec<Write>, Vec<Done>) =
            group.into_iter().map(|waiting| (waiting.write, waiting.done)).unzip();
        let results = guarded(|| {
            let prepared: Vec<Prepared> = writes.into_iter().map(Prepared::new).collect();
            Ok(self.commit_together(&prepared))
        });
        match results {
            Ok(results) => dones.into_iter().zip(results).for_each(|(done, result)| done(result)),
            Err(error) => dones.into_iter().for_each(|done| done(Err(error.clone()))),
        }
    }

    /// In one commit; where that fails and there are several, each in its own, so that one cannot spoil the others.
    fn commit_together(&self, writes: &[Prepared]) -> Vec<Result<bool>> {
        match guarded(|| self.commit(writes)) {
            Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
            Err(error) if writes.len() == 1 => vec![Err(error)],
            Err(_) => writes
                .iter()
                .map(|write| guarded(|| self.commit(std::slice::from_ref(write))).map(|outcomes| outcomes == [true]))
                .collect(),
        }
    }

    fn commit(&self, writes: &[Prepared]) -> Result<Vec<bool>> {
        let mut writing = Writing::begin(&self.store)?;
        let mut outcomes = Vec::with_capacity(writes.len());
        for write in writes {
            outcomes.push(match write {
                Prepared::Append { item, segments } => writing.append(item, segments).map(|()| true)?,
                Prepared::PutItem { item } => writing.put_item(item).map(|()| true)?,
                Prepared::RemoveItem { id } => writing.remove_item(id)?,
                Prepared::PutBits { key, bits } => writing.put_bits(*key, bits)?,
                Prepared::PutDerived { key, json } => writing.put_derived(key, json).map(|()| true)?,
            });
        }
        writing.commit()?;
        Ok(outcomes)
    }

    fn merge_one(&self) -> bool {
        if self.lock().merge_failed {
            return false;
        }
        let outcome = guarded(|| match merge::plan(&self.store)? {
            Some(plan) => merge::run(&self.store, &plan).map(|()| true),
            None => Ok(false),
        });
        outcome.unwrap_or_else(|error| {
            let mut state = self.lock();
            state.merge_failed = true;
            state.merge_failure = Some(error);
            false
        })
    }

    /// Why merging has stopped, told once.
    pub fn take_merge_failure(&self) -> Option<ShardError> {
        self.lock().merge_failure.take()
    }
}

impl Write {
    fn segments(&self) -> usize {
        match self {
            Self::Append { segments, .. } => segments.len(),
            _ => 0,
        }
    }
}

enum Prepared {
    Append { item: ItemRecord, segments: Vec<PreparedSegment> },
    PutItem { item: ItemRecord },
    RemoveItem { id: String },
    PutBits { key: BlockKey, bits: Vec<u8> },
    PutDerived { key: String, json: Vec<u8> },
}

impl Prepared {
    fn new(write: Write) -> Self {
        match write {
            Write::Append { item, segments } => Self::Append { item, segments: prepare(segments) },
            Write::PutItem { item } => Self::PutItem { item },
            Write::RemoveItem { id } => Self::RemoveItem { id },
            Write::PutBits { key, bits } => Self::PutBits { key, bits },
            Write::PutDerived { key, json } => Self::PutDerived { key, json },
        }
    }
}

/// A panic becomes an error: a thread that serves every index must not end for one of them.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(ShardError::internal("A write to the index failed unexpectedly.")))
}

/// Queues that have something to do, first come first served: a queue goes to the end of the line after each turn.
#[derive(Default)]
struct Pool {
    ready: Mutex<VecDeque<Arc<WriteQueue>>>,
    some: Condvar,
}

impl Pool {
    fn push(&self, queue: Arc<WriteQueue>) {
        self.ready.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push_back(queue);
        self.some.notify_one();
    }

    fn serve(&self) {
        lower_priority();
        loop {
            let queue = {
                let mut ready = self.ready.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                loop {
                    match ready.pop_front() {
                        Some(queue) => break queue,
                        None => ready = self.some.wait(ready).unwrap_or_else(|poisoned| poisoned.into_inner()),
                    }
                }
            };
            if queue.turn() {
                self.push(queue);
            }
        }
    }
}

pub(super) fn lower_priority() {
    #[cfg(target_os = "linux")]
    // Safety: a plain system call; on Linux process 0 is the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS);
    }
}

fn pool() -> &'static Pool {
    static POOL: OnceLock<&'static Pool> = OnceLock::new();
    POOL.get_or_init(|| {
        let pool: &'static Pool = Box::leak(Box::default());
        for number in 0..THREADS {
            let thread = std::thread::Builder::new().name(format!("farthing-write-{number}"));
            thread.spawn(move || pool.serve()).expect("a thread for writes can be started");
        }
        pool
    })
}
