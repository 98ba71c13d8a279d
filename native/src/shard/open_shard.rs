//! An open index.

use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use heed::CompactionOption;

use crate::derive::methods;
use crate::error::{Result, ShardError};
use crate::kernels::detection;
use crate::shard::snapshot::Snapshot;
use crate::store::databases;
use crate::store::methods::Methods;
use crate::store::open_store::Store;
use crate::store::spaces::SpaceSpec;
use crate::write::queue_state::Done;
use crate::write::write_op::WriteOp;
use crate::write::write_queue::WriteQueue;

/// How long closing waits for snapshots that nobody closed.
const CLOSE_WAIT: Duration = Duration::from_secs(10);

/// An open index. Closing it waits for writes that were accepted and for snapshots.
pub struct Shard {
    queue: RwLock<Option<Arc<WriteQueue>>>,
    closing: Mutex<()>,
}

impl Shard {
    /// Opens the index of a folder that exists and that no other `Shard` has open.
    pub fn open(folder: &Path, spaces: Vec<SpaceSpec>) -> Result<Self> {
        Self::open_with(folder, spaces, Methods::default())
    }

    /// As [`Self::open`], with sizes of one's own from which the ways of searching serve.
    pub fn open_with(folder: &Path, spaces: Vec<SpaceSpec>, methods: Methods) -> Result<Self> {
        detection::chosen().map_err(ShardError::internal)?;
        let store = Store::open(folder, spaces, methods)?;
        let queue = Arc::new(WriteQueue::new(store, methods::derive));
        if queue.store().may_derive() {
            queue.derive();
        }
        Ok(Self { queue: RwLock::new(Some(queue)), closing: Mutex::default() })
    }

    /// Waits until nothing is left to be derived in the background from what was written before.
    pub fn when_idle(&self) -> Result<()> {
        self.queue()?.when_idle();
        Ok(())
    }

    pub fn spaces(&self) -> Result<Vec<SpaceSpec>> {
        Ok(self.queue()?.store().spaces.clone())
    }

    pub fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::open(self.queue()?)
    }

    /// Why nothing is merged, or derived, for some commits, or for good where blocks are damaged; told once. Nothing is lost by it:
    /// searches get slower.
    pub fn take_merge_failure(&self) -> Option<ShardError> {
        self.queue().ok()?.take_failure()
    }

    /// Puts a write in line; `done` is called on another thread once it is on the disk, or has failed.
    pub fn submit(&self, op: WriteOp, done: Done) {
        match self.queue() {
            Ok(queue) => queue.submit(op, done),
            Err(error) => done(Err(error)),
        }
    }

    /// Writes and waits.
    pub fn write(&self, op: WriteOp) -> Result<bool> {
        self.queue()?.write(op)
    }

    /// Writes the index, as its last commit left it, into a folder that exists and is empty; it can be opened there.
    /// Writers and readers go on meanwhile, but pages that are freed while it lasts are not used again before its end.
    /// Free pages, and what removed Items left in them, are not in the copy. Not synced.
    pub fn copy_to(&self, folder: &Path) -> Result<()> {
        let queue = self.queue()?;
        queue.store().env.copy_to_path(folder.join(databases::FILE), CompactionOption::Enabled)?;
        Ok(())
    }

    /// Closes the environment: waits for accepted writes and open snapshots. Idempotent.
    pub fn close(&self) -> Result<()> {
        let _one = self.closing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some(queue) = self.queue.write().unwrap_or_else(|poisoned| poisoned.into_inner()).take() else {
            return Ok(());
        };
        queue.close();
        let closed = queue.store().env.clone().prepare_for_closing();
        drop(queue);
        if closed.wait_timeout(CLOSE_WAIT) {
            return Ok(());
        }
        Err(ShardError::internal("The index could not be closed: a snapshot is still open."))
    }

    pub(crate) fn queue(&self) -> Result<Arc<WriteQueue>> {
        self.queue.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone().ok_or_else(ShardError::closed)
    }
}
