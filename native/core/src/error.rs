//! Errors of an index: a code, on which callers match, and what was wrong.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A failure. `code` is one of the codes of `src/protocol/error.ts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardError {
    pub code: &'static str,
    pub detail: String,
}

pub type Result<T> = std::result::Result<T, ShardError>;

impl ShardError {
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }

    pub fn internal(detail: impl Into<String>) -> Self {
        Self::new("internal", detail)
    }

    pub fn corrupt(detail: impl Into<String>) -> Self {
        Self::new("shard_corrupt", detail)
    }

    pub fn closed() -> Self {
        Self::new("not_found", "The index is closed.")
    }

    pub fn is_closed(&self) -> bool {
        *self == Self::closed()
    }
}

impl fmt::Display for ShardError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code, self.detail)
    }
}

impl std::error::Error for ShardError {}

impl From<heed::Error> for ShardError {
    fn from(error: heed::Error) -> Self {
        use heed::MdbError;
        match &error {
            heed::Error::Mdb(MdbError::MapFull) => Self::new("tenant_full", "The index has reached its largest size."),
            heed::Error::Mdb(MdbError::ReadersFull) => {
                Self::new("overloaded", "Too many searches of this index are waiting.")
            }
            heed::Error::Mdb(
                MdbError::Corrupted
                | MdbError::PageNotFound
                | MdbError::Invalid
                | MdbError::VersionMismatch
                | MdbError::Incompatible,
            ) => Self::corrupt(format!("The index file is damaged: {error}.")),
            // LMDB reports a write that a full disk cut short as an input/output error.
            heed::Error::Io(io) if io.raw_os_error() == Some(libc::EIO) => {
                Self::new("storage_full", "No room is left on the disk of the index, or the disk fails.")
            }
            heed::Error::Io(io) => Self::from_io(io),
            heed::Error::Decoding(_) => Self::corrupt("A record of the index file cannot be decoded."),
            _ => Self::internal(error.to_string()),
        }
    }
}

impl ShardError {
    pub fn from_io(error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::new("storage_full", "No room is left on the disk of the index.")
            }
            _ => Self::internal(error.to_string()),
        }
    }
}

/// Turns a panic into an error. A thread serves every index and must not end for one of them, and its caller must get
/// an answer.
pub fn catch_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(ShardError::internal("Work on the index failed unexpectedly.")))
}

impl From<std::io::Error> for ShardError {
    fn from(error: std::io::Error) -> Self {
        Self::from_io(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let outcome: Result<()> = catch_panic(|| panic!("a test"));
        assert_eq!(outcome.unwrap_err().code, "internal");
        assert_eq!(catch_panic(|| Ok(3)), Ok(3));
    }
}
