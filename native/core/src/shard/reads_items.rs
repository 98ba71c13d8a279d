//! How a filter reads the Items of a snapshot.

use super::snapshot::Snapshot;
use crate::error::Result;
use crate::filter::known_items::{ItemVisitor, ReadsItems};
use crate::store::records::{ItemEntry, unsealed};

impl ReadsItems for Snapshot {
    fn state(&self) -> usize {
        self.txn.id()
    }

    fn newest(&self) -> Result<Self> {
        Self::open(self.queue.clone())
    }

    fn segments_of(&self, id: &str) -> Result<Option<(u32, u32)>> {
        self.segments_of_item(id)
    }

    fn each_item(&self, known: &dyn Fn(u32) -> bool, visit: &mut ItemVisitor) -> Result<()> {
        let databases = &self.queue.store().databases;
        for value in databases.entries.iter(&self.txn)? {
            let (id, value) = value?;
            let entry = ItemEntry::read(unsealed(id.as_bytes(), value)?)?;
            if entry.count > 0 && known(entry.first) {
                continue;
            }
            let record = self.record_of(entry.sequence)?;
            visit((entry.first, entry.count), record.unwrap_or_default().as_bytes())?;
        }
        Ok(())
    }
}
