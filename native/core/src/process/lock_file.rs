//! The file in which LMDB notes its readers. It is mapped, and the kernel ends a process with SIGBUS that touches a page
//! of a mapped file for which a full disk has no block.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// LMDB's name for it.
const NAME: &str = "lock.mdb";
/// Two pages: LMDB's header and 125 readers, which take the first free place. It grows the file to its own size without
/// blocks; a Tenant has at most `TENANT_SEARCHES_AT_ONCE` searches, 64 by default.
const BYTES: libc::off_t = 8192;

/// Takes the blocks of the file in an existing folder, before LMDB maps it. What is in the file stays.
///
/// # Errors
/// `StorageFull` if there is no room.
pub fn reserve_lock_file(folder: &Path) -> io::Result<()> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(NAME))?;
    // SAFETY: the descriptor is open, and no memory is passed.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, BYTES) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn its_blocks_are_taken_and_its_bytes_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        reserve_lock_file(folder.path()).unwrap();
        let found = path.metadata().unwrap();
        assert_eq!(found.len(), BYTES as u64);
        assert!(found.blocks() * 512 >= BYTES as u64);
        std::fs::write(&path, vec![7; 200_000]).unwrap();
        reserve_lock_file(folder.path()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), vec![7; 200_000]);
    }
}
