//! An open index.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use heed::CompactionOption;

use super::snapshot::Snapshot;
use crate::derive::DERIVATIONS;
use crate::error::{Result, ShardError};
use crate::kernels::detection;
use crate::store::databases;
use crate::store::methods::Methods;
use crate::store::open_store::Store;
use crate::store::spaces::SpaceSpec;
use crate::write::queue_state::Done;
use crate::write::write_op::WriteOp;
use crate::write::write_queue::WriteQueue;

/// How long closing waits for snapshots that are still open.
const CLOSE_WAIT: Duration = Duration::from_secs(10);

/// An open index. Closing it waits for accepted writes and for snapshots.
pub struct Shard {
    queue: RwLock<Option<Arc<WriteQueue>>>,
    closing: Mutex<()>,
}

impl Shard {
    /// Opens the index of a folder that exists and that no other `Shard` has open.
    pub fn open(folder: &Path, spaces: Vec<SpaceSpec>) -> Result<Self> {
        Self::open_with(folder, spaces, Methods::default())
    }

    /// As [`Self::open`], with other thresholds of the search methods.
    pub fn open_with(folder: &Path, spaces: Vec<SpaceSpec>, methods: Methods) -> Result<Self> {
        detection::chosen().map_err(ShardError::internal)?;
        let store = Store::open(folder, spaces, methods)?;
        let queue = Arc::new(WriteQueue::new(store, DERIVATIONS));
        if queue.store().may_derive() {
            queue.derive();
        }
        Ok(Self { queue: RwLock::new(Some(queue)), closing: Mutex::default() })
    }

    /// Waits until no write is outstanding, and nothing that is derived from writes in the background.
    pub fn when_idle(&self) -> Result<()> {
        self.queue()?.when_idle();
        Ok(())
    }

    pub fn spaces(&self) -> Result<Vec<SpaceSpec>> {
        Ok(self.queue()?.store().spaces.clone())
    }

    /// Which of the spaces the index held when it was opened.
    pub fn stored_spaces(&self) -> Result<Vec<bool>> {
        Ok(self.queue()?.store().stored.clone())
    }

    pub fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::open(self.queue()?)
    }

    /// Why merging or deriving rests: for some commits, or, if a block is damaged, until the index is opened again.
    /// Reported once. Nothing is lost, but searches get slower.
    pub fn take_merge_failure(&self) -> Option<ShardError> {
        self.queue().ok()?.take_failure()
    }

    /// Queues a write. `done` is called on another thread once the write is on the disk, or has failed.
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

    /// Copies the index, as its last commit left it, into an existing, empty folder, where it can be opened. Not
    /// synced.
    ///
    /// Writers and readers continue, but pages that are freed in the meantime are not used again before the copy ends.
    /// Free pages, and what removed Items left in them, are not copied.
    pub fn copy_to(&self, folder: &Path) -> Result<()> {
        let queue = self.queue()?;
        queue.store().env.copy_to_path(folder.join(databases::FILE), CompactionOption::Enabled)?;
        Ok(())
    }

    /// Closes the environment, after accepted writes and open snapshots have ended. Idempotent.
    pub fn close(&self) -> Result<()> {
        let _closing = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(queue) = self.queue.write().unwrap_or_else(PoisonError::into_inner).take() else {
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
        self.queue.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(ShardError::closed)
    }
}
