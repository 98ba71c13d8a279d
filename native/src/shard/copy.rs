//! A copy of an index that is in use.

use std::path::Path;

use heed::CompactionOption;

use crate::error::Result;
use crate::shard::open_shard::Shard;

impl Shard {
    /// Writes the index, as its last commit left it, into a folder that exists and is empty; it can be opened there.
    /// Writers and readers go on meanwhile, but pages that are freed while it lasts are not used again before its end.
    /// Free pages, and what removed Items left in them, are not in the copy. Not synced.
    pub fn copy_to(&self, folder: &Path) -> Result<()> {
        let queue = self.queue()?;
        queue.store().env.copy_to_path(folder.join("data.mdb"), CompactionOption::Enabled)?;
        Ok(())
    }
}
