//! The lock of a data folder, which one process owns. It is advisory, and the kernel releases it however the process
//! ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Holds the lock while it lives.
#[derive(Debug)]
pub struct FolderLock {
    /// The open file is the lock.
    _file: File,
}

/// Takes the lock of an existing folder. `None` if another process has it.
pub fn lock_folder(folder: &Path) -> io::Result<Option<FolderLock>> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join("lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(FolderLock { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_and_free_again_after() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock_folder(folder.path()).unwrap();
        assert!(first.is_some());
        assert!(lock_folder(folder.path()).unwrap().is_none());
        drop(first);
        assert!(lock_folder(folder.path()).unwrap().is_some());
    }
}
