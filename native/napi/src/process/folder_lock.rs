use farthing_core::process::{folder_lock, lock_file};
use napi::{Error, Result};
use napi_derive::napi;
use std::path::Path;

/// The lock of a data folder. It is released by `release`, or when the process ends.
#[napi]
pub struct FolderLock(Option<folder_lock::FolderLock>);

#[napi]
impl FolderLock {
    #[napi(catch_unwind)]
    pub fn release(&mut self) {
        self.0 = None;
    }
}

/// Takes the lock of an existing folder. Null if another process has it.
#[napi(catch_unwind)]
pub fn lock_folder(folder: String) -> Result<Option<FolderLock>> {
    folder_lock::lock_folder(Path::new(&folder))
        .map(|lock| lock.map(|lock| FolderLock(Some(lock))))
        .map_err(|error| Error::from_reason(format!("cannot lock {folder}: {error}")))
}

/// Takes the blocks of LMDB's lock file in an existing folder, before LMDB maps it: on a full disk the kernel would end the
/// process.
#[napi(catch_unwind)]
pub fn reserve_lock_file(folder: String) -> Result<()> {
    lock_file::reserve_lock_file(Path::new(&folder))
        .map_err(|error| Error::from_reason(format!("cannot make the lock file in {folder}: {error}")))
}
