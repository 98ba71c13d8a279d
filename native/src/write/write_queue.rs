//! The queue of one index's writes. Writes that wait together share one commit (group commit), so that a durable small Item
//! costs little and many of them cost hardly more. Small blocks are merged beside it: what becomes of them is computed from a
//! snapshot, and takes their place in the next commit.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use crate::derive::background;
use crate::error::{Result, ShardError, guarded};
use crate::store::open_store::Store;
use crate::threads::write_pool::{self, Length};
use crate::write::merge::{self, Merged};
use crate::write::transaction::Writing;
use crate::write::write_op::{Prepared, Write};

/// Writes of one index that may wait; further ones are refused as overload.
const WAITING_MAX: usize = 1024;
/// Writes, and Segments, that share one commit at most.
const GROUP_WRITES_MAX: usize = 256;
const GROUP_SEGMENTS_MAX: usize = 8192;
/// Segments of an Item that is written soon: about five milliseconds of work.
const SMALL_SEGMENTS_MAX: usize = 64;
/// Commits that may go by while a merge is under way; then the next one waits for it, or small blocks would pile up.
const COMMITS_PER_MERGE_MAX: usize = 256;

/// Commits after which merging, or deriving, is tried again that failed for want of room, of memory or the like.
const COMMITS_BEFORE_RETRY: usize = 64;

/// Called once, on a writing thread, when the write is on the disk or has failed. The value: whether there was
/// something to remove, or a space could be changed (true for other writes).
pub type Done = Box<dyn FnOnce(Result<bool>) + Send>;

struct Waiting {
    write: Write,
    done: Done,
}

/// How far the making of a merged block is.
#[derive(Default)]
enum Merging {
    #[default]
    Idle,
    /// A thread will look whether there is one to make.
    Due,
    Running,
    /// To be put in its place by the next commit.
    Made(Merged),
    Committing,
}

/// Commits for which work in the background rests after a failure.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Rest(usize);

impl Rest {
    /// What is damaged, or of another model, stays so while the index is open.
    const FOR_EVER: Self = Self(usize::MAX);

    fn after(error: &ShardError) -> Self {
        let lasts = matches!(error.code, "shard_corrupt" | "shard_model_mismatch");
        if lasts { Self::FOR_EVER } else { Self(COMMITS_BEFORE_RETRY) }
    }

    fn is_over(self) -> bool {
        self == Self::default()
    }

    fn commit(&mut self) {
        if *self != Self::FOR_EVER {
            self.0 = self.0.saturating_sub(1);
        }
    }
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// A thread works on this queue, or will.
    scheduled: bool,
    merging: Merging,
    /// Commits since a merge was thought of.
    commits: usize,
    /// The thread's turn is over until the merge that is under way ends, which has another taken.
    parked: bool,
    closing: bool,
    /// The deriving thread works on this queue, or will; and whether it is to look again.
    deriving: bool,
    derive_again: bool,
    derive_rest: Rest,
    merge_rest: Rest,
    /// Why either rests, until somebody has been told.
    failure: Option<ShardError>,
}

impl State {
    /// True when the index is to be put in the deriving thread's line; false when it is there, or must not be.
    fn begins_deriving(&mut self) -> bool {
        if self.closing || !self.derive_rest.is_over() {
            return false;
        }
        self.derive_again = self.deriving;
        !std::mem::replace(&mut self.deriving, true)
    }

    fn merge_ended(&mut self, outcome: Result<()>) {
        self.merging = Merging::Idle;
        if let Err(error) = outcome {
            self.merge_rest = Rest::after(&error);
            self.failure = Some(error);
        }
    }

    fn is_idle(&self) -> bool {
        !self.scheduled && matches!(self.merging, Merging::Idle) && !self.deriving
    }
}

/// The writes of one index.
pub struct WriteQueue {
    store: Store,
    state: Mutex<State>,
    changed: Condvar,
}

impl WriteQueue {
    pub fn new(store: Store) -> Self {
        // What an earlier life of the index left unmerged is looked at after the first commit.
        let state = State { commits: merge::FAN, ..State::default() };
        Self { store, state: Mutex::new(state), changed: Condvar::new() }
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
        self.schedule(&mut state);
    }

    /// Refuses further writes and waits until those that were accepted are done.
    pub fn close(self: &Arc<Self>) {
        let mut state = self.lock();
        state.closing = true;
        if matches!(state.merging, Merging::Due) {
            state.merging = Merging::Idle;
            self.unpark(&mut state);
        }
        if state.deriving && background::withdraw(self) {
            state.deriving = false;
        }
        while !state.is_idle() {
            state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Waits until neither writes nor what is made from them in the background are outstanding.
    pub fn settle(&self) {
        let mut state = self.lock();
        while !state.is_idle() {
            state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    pub fn is_closing(&self) -> bool {
        self.lock().closing
    }

    /// Has the deriving thread look at this index, now or once more.
    pub fn derive(self: &Arc<Self>) {
        if self.lock().begins_deriving() {
            background::push(self.clone());
        }
    }

    /// Ends a look of the deriving thread; true when it is to look again.
    pub fn derived(&self, outcome: Result<()>) -> bool {
        let mut state = self.lock();
        let again = std::mem::take(&mut state.derive_again);
        match outcome {
            // The writes that were in its way have it looked at again.
            Err(error) if error.code != "overloaded" => {
                state.derive_rest = Rest::after(&error);
                state.failure.get_or_insert(error);
            }
            _ => {}
        }
        state.deriving = again && !state.closing && state.derive_rest.is_over();
        self.changed.notify_all();
        state.deriving
    }

    /// Why merging or deriving rests, told once.
    pub fn take_failure(&self) -> Option<ShardError> {
        self.lock().failure.take()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Has a thread take a turn, unless one will.
    fn schedule(self: &Arc<Self>, state: &mut State) {
        if !state.scheduled {
            state.scheduled = true;
            self.line_up(state);
        }
    }

    /// Goes on with the turns that a merge was waited for with.
    fn unpark(self: &Arc<Self>, state: &mut State) {
        if std::mem::take(&mut state.parked) {
            self.line_up(state);
        }
    }

    fn line_up(self: &Arc<Self>, state: &State) {
        let small = state.waiting.front().is_none_or(|next| next.write.segments() <= SMALL_SEGMENTS_MAX);
        let queue = self.clone();
        write_pool::run(if small { Length::Short } else { Length::Long }, move || queue.turn());
    }

    /// One group of writes, and the merged block that waits, in one commit.
    fn turn(self: &Arc<Self>) {
        let (group, merged) = self.next_group();
        let removes = group.iter().any(|waiting| matches!(waiting.write, Write::RemoveItem { .. }));
        let (committed, with_merged) = (!group.is_empty() || merged.is_some(), merged.is_some());
        let outcome = if committed { self.commit_group(group, merged) } else { Ok(()) };
        let due = background::is_due(&self.store);
        let mut state = self.lock();
        if committed {
            state.commits += 1;
            state.merge_rest.commit();
            state.derive_rest.commit();
        }
        if with_merged {
            state.merge_ended(outcome);
        }
        if removes || with_merged || state.commits >= merge::FAN {
            self.begin_merge(&mut state);
        }
        if matches!(state.merging, Merging::Due | Merging::Running) && state.commits >= COMMITS_PER_MERGE_MAX {
            // The thread serves the others meanwhile.
            state.parked = true;
            return;
        }
        if state.waiting.is_empty() && !matches!(state.merging, Merging::Made(_)) {
            state.scheduled = false;
            if due && state.begins_deriving() {
                background::push(self.clone());
            }
            self.changed.notify_all();
        } else {
            self.line_up(&state);
        }
    }

    fn begin_merge(self: &Arc<Self>, state: &mut State) {
        if state.closing || !state.merge_rest.is_over() || !matches!(state.merging, Merging::Idle) {
            return;
        }
        state.merging = Merging::Due;
        state.commits = 0;
        // Who closes the index meanwhile does not wait for a thread to come to it.
        let queue = Arc::downgrade(self);
        write_pool::run(Length::Long, move || {
            if let Some(queue) = queue.upgrade() {
                queue.merge();
            }
        });
    }

    /// Small Items are taken with small ones: a large one behind them doesn't hold them up.
    fn next_group(&self) -> (Vec<Waiting>, Option<Merged>) {
        let mut state = self.lock();
        let (mut group, mut segments) = (vec![], 0);
        let is_small = |next: &Waiting| next.write.segments() <= SMALL_SEGMENTS_MAX;
        let begins_small = state.waiting.front().is_some_and(is_small);
        while let Some(next) = state.waiting.front() {
            segments += next.write.segments();
            let too_many = group.len() == GROUP_WRITES_MAX || segments > GROUP_SEGMENTS_MAX;
            if !group.is_empty() && (too_many || (begins_small && !is_small(next))) {
                break;
            }
            group.extend(state.waiting.pop_front());
        }
        let merged = match std::mem::take(&mut state.merging) {
            Merging::Made(merged) => {
                state.merging = Merging::Committing;
                Some(merged)
            }
            other => {
                state.merging = other;
                None
            }
        };
        (group, merged)
    }

    /// Calls every `done`; the outcome is that of the merged block.
    fn commit_group(&self, group: Vec<Waiting>, merged: Option<Merged>) -> Result<()> {
        let (writes, dones): (Vec<Write>, Vec<Done>) =
            group.into_iter().map(|waiting| (waiting.write, waiting.done)).unzip();
        let mut merge_outcome = Ok(());
        let results = guarded(|| {
            let prepared: Vec<Prepared> = writes.into_iter().map(Prepared::new).collect();
            let (results, outcome) = self.commit_together(&prepared, merged.as_ref());
            merge_outcome = outcome;
            Ok(results)
        });
        match results {
            Ok(results) => dones.into_iter().zip(results).for_each(|(done, result)| done(result)),
            Err(error) => dones.into_iter().for_each(|done| done(Err(error.clone()))),
        }
        merge_outcome
    }

    /// In one commit; where that fails, without the merged block, and then each write in its own, so that nothing can spoil
    /// the others.
    fn commit_together(&self, writes: &[Prepared], merged: Option<&Merged>) -> (Vec<Result<bool>>, Result<()>) {
        let first = guarded(|| self.commit(writes, merged));
        let (error, outcome) = match (first, merged) {
            (Ok(outcomes), _) => return (outcomes.into_iter().map(Ok).collect(), Ok(())),
            (Err(error), None) => (error, Ok(())),
            (Err(error), Some(_)) if writes.is_empty() => return (vec![], Err(error)),
            (Err(error), Some(_)) => match guarded(|| self.commit(writes, None)) {
                Ok(outcomes) => return (outcomes.into_iter().map(Ok).collect(), Err(error)),
                // Not the merged block's fault alone: it is made again later.
                Err(error) => (error, Ok(())),
            },
        };
        if writes.len() == 1 {
            return (vec![Err(error)], outcome);
        }
        let alone =
            |write| guarded(|| self.commit(std::slice::from_ref(write), None)).map(|outcomes| outcomes == [true]);
        (writes.iter().map(alone).collect(), outcome)
    }

    fn commit(&self, writes: &[Prepared], merged: Option<&Merged>) -> Result<Vec<bool>> {
        let mut writing = Writing::begin(&self.store)?;
        if let Some(merged) = merged {
            merged.apply(&self.store, &mut writing)?;
        }
        let outcomes = writes.iter().map(|write| write.apply(&mut writing)).collect::<Result<Vec<bool>>>()?;
        writing.commit()?;
        Ok(outcomes)
    }

    /// Makes a merged block of small ones, if it is worth it, and has it committed.
    fn merge(self: &Arc<Self>) {
        {
            let mut state = self.lock();
            if !matches!(state.merging, Merging::Due) {
                return;
            }
            state.merging = Merging::Running;
        }
        let outcome = guarded(|| match merge::plan(&self.store)? {
            Some(plan) => merge::run(&self.store, &plan).map(Some),
            None => Ok(None),
        });
        let mut state = self.lock();
        match outcome {
            Ok(Some(merged)) if !state.closing => {
                state.merging = Merging::Made(merged);
                self.schedule(&mut state);
            }
            outcome => state.merge_ended(outcome.map(drop)),
        }
        self.unpark(&mut state);
        self.changed.notify_all();
    }
}

#[cfg(test)]
#[path = "write_queue_tests.rs"]
mod tests;
