//! The queue of one index's writes.
//!
//! Writes that wait together share one commit (group commit), so that a small Item is durable at little cost, and many
//! of them cost hardly more. Small blocks are merged beside it: the merged block is computed from a snapshot and put in
//! place by the next commit.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};

use super::merge::{self, Merged};
use super::queue_state::{Backoff, Deriving, Done, Merging, State, Waiting};
use super::transaction::Transaction;
use super::write_op::{Prepared, WriteOp};
use crate::error::{Result, ShardError, catch_panic};
use crate::store::open_store::Store;
use crate::store::records::Family;
use crate::terms::judgement::Prior;
use crate::threads::derive_pool::{self, Kind};
use crate::threads::write_pool::{self, Length};
use crate::words::postings::PostingsView;

/// Writes of one index that may wait; more are refused as overload.
const WAITING_MAX: usize = 1024;
/// Writes, and Segments, that share one commit at most.
const GROUP_WRITES_MAX: usize = 256;
const GROUP_SEGMENTS_MAX: usize = 8192;
/// Segments of a short write: about five milliseconds of work.
const SHORT_SEGMENTS_MAX: usize = 64;
/// Commits that may happen while a merge is under way. The next one then waits for it, or small blocks would pile up.
const COMMITS_PER_MERGE_MAX: usize = 256;

/// Derives what is missing from the index of a queue, on the thread of its kind. It ends early once the queue is closing.
pub type Derivation = (Kind, fn(&Arc<WriteQueue>) -> Result<()>);

/// The writes of one index.
pub struct WriteQueue {
    store: Store,
    derivations: &'static [Derivation],
    state: Mutex<State>,
    changed: Condvar,
    /// The languages of the index, once a write has asked for them.
    languages: Mutex<Option<Prior>>,
}

impl WriteQueue {
    /// `derivations` run whenever there may be something to derive.
    pub fn new(store: Store, derivations: &'static [Derivation]) -> Self {
        // Blocks left unmerged when the index was last closed are considered after the first commit.
        let deriving = derivations.iter().map(|_| Deriving::default()).collect();
        let state = State { commits: merge::FAN_IN, deriving, ..State::default() };
        Self { store, derivations, state: Mutex::new(state), changed: Condvar::new(), languages: Mutex::default() }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Queues a write. `done` is called in any case, at once if the write is refused.
    pub fn submit(self: &Arc<Self>, op: WriteOp, done: Done) {
        let mut state = self.lock();
        if state.closing || state.waiting.len() >= WAITING_MAX {
            let closing = state.closing;
            drop(state);
            let overload = || ShardError::new("overloaded", "Too many writes to this index are waiting.");
            return done(Err(if closing { ShardError::closed() } else { overload() }));
        }
        state.waiting.push_back(Waiting { op, done });
        self.schedule(&mut state);
    }

    /// Queues a write and waits for it.
    pub fn write(self: &Arc<Self>, op: WriteOp) -> Result<bool> {
        let (send, receive) = mpsc::channel();
        self.submit(op, Box::new(move |result| drop(send.send(result))));
        receive.recv().unwrap_or_else(|_| Err(ShardError::internal("A write was given up.")))
    }

    /// As [`Self::write`], for background work: false if the write failed because the index is closing.
    pub fn write_unless_closing(self: &Arc<Self>, op: WriteOp) -> Result<bool> {
        match self.write(op) {
            Err(_) if self.is_closing() => Ok(false),
            outcome => outcome,
        }
    }

    /// Refuses further writes and waits until the accepted ones are done.
    pub fn close(self: &Arc<Self>) {
        let mut state = self.lock();
        state.closing = true;
        if matches!(state.merging, Merging::Due) {
            state.merging = Merging::Idle;
            self.unpark(&mut state);
        }
        for ((kind, _), deriving) in self.derivations.iter().zip(&mut state.deriving) {
            if deriving.runs && derive_pool::withdraw(*kind, self.address()) {
                deriving.runs = false;
            }
        }
        self.wait_until_idle(state);
    }

    /// Waits until no write is outstanding, and nothing that is made from writes in the background.
    pub fn when_idle(&self) {
        self.wait_until_idle(self.lock());
    }

    fn wait_until_idle(&self, mut state: MutexGuard<'_, State>) {
        while !state.is_idle() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn is_closing(&self) -> bool {
        self.lock().closing
    }

    /// Why merging or deriving rests; reported once.
    pub fn take_failure(&self) -> Option<ShardError> {
        self.lock().failure.take()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the deriving threads look at this index, or look again after they have.
    pub fn derive(self: &Arc<Self>) {
        let begun = self.lock().begin_deriving();
        begun.into_iter().for_each(|at| self.queue_derivation(at));
    }

    fn queue_derivation(self: &Arc<Self>, at: usize) {
        let (queue, (kind, derive)) = (self.clone(), self.derivations[at]);
        derive_pool::run(kind, self.address(), move || {
            let outcome = catch_panic(|| derive(&queue));
            if queue.derived(at, outcome) {
                queue.queue_derivation(at);
            }
        });
    }

    /// By which the deriving threads know this queue.
    fn address(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self) as usize
    }

    /// Ends a look of a deriving thread. True if it is to look again.
    fn derived(&self, at: usize, outcome: Result<()>) -> bool {
        let mut state = self.lock();
        match outcome {
            // Too many writes were waiting: their end has the index looked at again.
            Err(error) if error.code != "overloaded" => {
                state.deriving[at].backoff = Backoff::after(&error);
                state.failure.get_or_insert(error);
            }
            _ => {}
        }
        let closing = state.closing;
        let again = state.deriving[at].ended(closing);
        self.changed.notify_all();
        again
    }

    /// Has a thread take a turn, unless one will.
    fn schedule(self: &Arc<Self>, state: &mut State) {
        if !state.scheduled {
            state.scheduled = true;
            self.queue_turn(state);
        }
    }

    /// Continues with the turns that waited for a merge.
    fn unpark(self: &Arc<Self>, state: &mut State) {
        if std::mem::take(&mut state.parked) {
            self.queue_turn(state);
        }
    }

    fn queue_turn(self: &Arc<Self>, state: &State) {
        let short = state.waiting.front().is_none_or(is_short);
        let queue = self.clone();
        write_pool::run(if short { Length::Short } else { Length::Long }, move || queue.turn());
    }

    /// One group of writes, and the merged block that waits, in one commit.
    fn turn(self: &Arc<Self>) {
        let (group, merged) = self.next_group();
        let removes = group.iter().any(|waiting| matches!(waiting.op, WriteOp::RemoveItem { .. }));
        let (committed, with_merged) = (!group.is_empty() || merged.is_some(), merged.is_some());
        let outcome = if committed { self.commit_group(group, merged) } else { Ok(()) };
        let may_derive = self.store.may_derive();
        let mut state = self.lock();
        if committed {
            state.count_commit();
        }
        if with_merged {
            state.merge_ended(outcome);
        }
        if removes || with_merged || state.commits >= merge::FAN_IN {
            self.begin_merge(&mut state);
        }
        if matches!(state.merging, Merging::Due | Merging::Running) && state.commits >= COMMITS_PER_MERGE_MAX {
            // The thread is free for other indexes until the merge ends.
            state.parked = true;
            return;
        }
        if state.waiting.is_empty() && !matches!(state.merging, Merging::Made(_)) {
            state.scheduled = false;
            if may_derive {
                state.begin_deriving().into_iter().for_each(|at| self.queue_derivation(at));
            }
            self.changed.notify_all();
        } else {
            self.queue_turn(&state);
        }
    }

    fn begin_merge(self: &Arc<Self>, state: &mut State) {
        if state.closing || !state.merge_backoff.is_over() || !matches!(state.merging, Merging::Idle) {
            return;
        }
        state.merging = Merging::Due;
        state.commits = 0;
        // Weak: closing the index does not wait for a thread that has not begun.
        let queue = Arc::downgrade(self);
        write_pool::run(Length::Long, move || {
            if let Some(queue) = queue.upgrade() {
                queue.merge();
            }
        });
    }

    /// The writes of the next commit. A group that begins with a short write has short ones alone: a long one behind
    /// them does not hold them up.
    fn next_group(&self) -> (Vec<Waiting>, Option<Merged>) {
        let mut state = self.lock();
        let (mut group, mut segments) = (vec![], 0);
        let begins_short = state.waiting.front().is_some_and(is_short);
        while let Some(next) = state.waiting.front() {
            segments += next.op.segments();
            let too_many = group.len() == GROUP_WRITES_MAX || segments > GROUP_SEGMENTS_MAX;
            if !group.is_empty() && (too_many || (begins_short && !is_short(next))) {
                break;
            }
            group.extend(state.waiting.pop_front());
        }
        (group, state.take_merged())
    }

    /// Calls every `done`. The outcome is that of the merged block.
    fn commit_group(&self, group: Vec<Waiting>, merged: Option<Merged>) -> Result<()> {
        let (ops, dones): (Vec<WriteOp>, Vec<Done>) =
            group.into_iter().map(|waiting| (waiting.op, waiting.done)).unzip();
        let mut merge_outcome = Ok(());
        let results = catch_panic(|| {
            let prepared = self.prepare(ops);
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

    /// Analyses the texts of writes.
    fn prepare(&self, ops: Vec<WriteOp>) -> Vec<Prepared> {
        let mut languages = self.languages.lock().unwrap_or_else(PoisonError::into_inner);
        // Without an answer a text is judged by itself: a damaged block is reported by searches.
        let languages = languages.get_or_insert_with(|| languages_of(&self.store).unwrap_or_default());
        ops.into_iter().map(|op| Prepared::new(op, languages)).collect()
    }

    /// Commits all together. If that fails, the merged block is left out; if that fails too, each write is committed
    /// alone, so that none can spoil the others.
    fn commit_together(&self, ops: &[Prepared], merged: Option<&Merged>) -> (Vec<Result<bool>>, Result<()>) {
        let first = catch_panic(|| self.commit(ops, merged));
        let (error, outcome) = match (first, merged) {
            (Ok(outcomes), _) => return (outcomes.into_iter().map(Ok).collect(), Ok(())),
            (Err(error), None) => (error, Ok(())),
            (Err(error), Some(_)) if ops.is_empty() => return (vec![], Err(error)),
            (Err(error), Some(_)) => match catch_panic(|| self.commit(ops, None)) {
                Ok(outcomes) => return (outcomes.into_iter().map(Ok).collect(), Err(error)),
                // Not the merged block's fault alone: it is made again later.
                Err(error) => (error, Ok(())),
            },
        };
        if ops.len() == 1 {
            return (vec![Err(error)], outcome);
        }
        let alone = |op| catch_panic(|| self.commit(std::slice::from_ref(op), None)).map(|outcomes| outcomes == [true]);
        (ops.iter().map(alone).collect(), outcome)
    }

    fn commit(&self, ops: &[Prepared], merged: Option<&Merged>) -> Result<Vec<bool>> {
        let mut transaction = Transaction::begin(&self.store)?;
        if let Some(merged) = merged {
            merged.apply(&mut transaction)?;
        }
        let outcomes = ops.iter().map(|op| op.apply(&mut transaction)).collect::<Result<Vec<bool>>>()?;
        transaction.commit()?;
        Ok(outcomes)
    }

    /// Merges small blocks, if it is worth it, and has the merged block committed.
    fn merge(self: &Arc<Self>) {
        {
            let mut state = self.lock();
            if !matches!(state.merging, Merging::Due) {
                return;
            }
            state.merging = Merging::Running;
        }
        let outcome = catch_panic(|| match merge::plan(&self.store)? {
            Some(keys) => merge::run(&self.store, keys).map(Some),
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

/// How many Segments of an index are in each language.
fn languages_of(store: &Store) -> Result<Prior> {
    let txn = store.env.read_txn()?;
    let mut languages = Prior::default();
    for entry in store.blocks_of(&txn, Family::WORDS)? {
        PostingsView::read(entry?.1)?.languages().for_each(|language| languages.add(language, 1));
    }
    Ok(languages)
}

fn is_short(waiting: &Waiting) -> bool {
    waiting.op.segments() <= SHORT_SEGMENTS_MAX
}

#[cfg(test)]
#[path = "write_queue_tests.rs"]
mod tests;
