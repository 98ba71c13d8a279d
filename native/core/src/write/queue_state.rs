//! State of a write queue: the writes that wait, and how far merging and deriving are.

use std::collections::VecDeque;

use super::merge::Merged;
use super::write_op::WriteOp;
use crate::error::{Result, ShardError};

/// Commits after which merging or deriving is tried again if it failed for want of room, of memory or the like.
pub const COMMITS_BEFORE_RETRY: usize = 64;

/// Called once, on a writing thread, when the write is on the disk or has failed. The value: whether there was
/// something to remove, or a space could be changed. It is true for all other writes.
pub type Done = Box<dyn FnOnce(Result<bool>) + Send>;

pub struct Waiting {
    pub op: WriteOp,
    pub done: Done,
}

/// How far the merge of small blocks is.
#[derive(Default)]
pub enum Merging {
    #[default]
    Idle,
    /// A thread will look for one to make.
    Due,
    Running,
    /// The next commit puts the merged block in its place.
    Made(Merged),
    Committing,
}

/// Commits for which background work rests after a failure.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Backoff(usize);

impl Backoff {
    /// A damaged block, or one of another model, stays so while the index is open.
    pub const FOREVER: Self = Self(usize::MAX);

    pub fn after(error: &ShardError) -> Self {
        let lasts = matches!(error.code, "shard_corrupt" | "shard_model_mismatch");
        if lasts { Self::FOREVER } else { Self(COMMITS_BEFORE_RETRY) }
    }

    pub fn is_over(self) -> bool {
        self == Self::default()
    }

    fn count_commit(&mut self) {
        if *self != Self::FOREVER {
            self.0 = self.0.saturating_sub(1);
        }
    }
}

/// How far the thread for one kind of derived data is with a queue.
#[derive(Default)]
pub struct Deriving {
    /// It works on this queue, or will.
    pub runs: bool,
    /// It is to look again after that.
    again: bool,
    pub backoff: Backoff,
}

impl Deriving {
    /// True if the caller must queue the index for deriving. False if it is queued already, or deriving rests.
    pub fn begins(&mut self) -> bool {
        if !self.backoff.is_over() {
            return false;
        }
        self.again = self.runs;
        !std::mem::replace(&mut self.runs, true)
    }

    /// Ends a look. True if the thread is to look again.
    pub fn ended(&mut self, closing: bool) -> bool {
        let again = std::mem::take(&mut self.again);
        self.runs = again && !closing && self.backoff.is_over();
        self.runs
    }
}

#[derive(Default)]
pub struct State {
    pub waiting: VecDeque<Waiting>,
    /// A thread works on this queue, or will.
    pub scheduled: bool,
    pub merging: Merging,
    /// Commits since a merge was last considered.
    pub commits: usize,
    /// The next turn waits for the merge that is under way; its end schedules it.
    pub parked: bool,
    pub closing: bool,
    /// One for each derivation of the queue.
    pub deriving: Vec<Deriving>,
    pub merge_backoff: Backoff,
    /// Why merging or deriving rests, until it was reported.
    pub failure: Option<ShardError>,
}

impl State {
    /// The derivations that the caller must queue.
    pub fn begin_deriving(&mut self) -> Vec<usize> {
        if self.closing {
            return vec![];
        }
        self.deriving.iter_mut().enumerate().filter_map(|(at, deriving)| deriving.begins().then_some(at)).collect()
    }

    pub fn count_commit(&mut self) {
        self.commits += 1;
        self.merge_backoff.count_commit();
        self.deriving.iter_mut().for_each(|deriving| deriving.backoff.count_commit());
    }

    pub fn merge_ended(&mut self, outcome: Result<()>) {
        self.merging = Merging::Idle;
        if let Err(error) = outcome {
            self.merge_backoff = Backoff::after(&error);
            self.failure = Some(error);
        }
    }

    /// Takes the merged block that waits for a commit.
    pub fn take_merged(&mut self) -> Option<Merged> {
        match std::mem::take(&mut self.merging) {
            Merging::Made(merged) => {
                self.merging = Merging::Committing;
                Some(merged)
            }
            other => {
                self.merging = other;
                None
            }
        }
    }

    pub fn is_idle(&self) -> bool {
        !self.scheduled && matches!(self.merging, Merging::Idle) && self.deriving.iter().all(|deriving| !deriving.runs)
    }
}
