//! A model's file, and parts of it that stay where they are.

use std::io;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

/// The bytes of a file, shared: the file stays mapped until its last clone is dropped.
#[derive(Clone)]
pub struct ModelFile(Arc<Held>);

enum Held {
    Mapped(Mmap),
    InMemory(Vec<u8>),
}

impl ModelFile {
    /// Maps a file. Nobody may change it in place: a new model gets its name by a rename.
    ///
    /// # Errors
    /// If it cannot be opened or mapped.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = std::fs::File::open(path)?;
        // Safety: models are replaced by a rename, and their checksums are verified before they are opened.
        let mapped = unsafe { Mmap::map(&file)? };
        Ok(Self(Arc::new(Held::Mapped(mapped))))
    }

    /// A part of this file that outlives the borrow; a copy, if the bytes are elsewhere.
    pub fn keep(&self, part: &[u8]) -> Part {
        let start = (part.as_ptr() as usize).wrapping_sub(self.as_ptr() as usize);
        match start.checked_add(part.len()) {
            Some(end) if end <= self.len() => Part { file: self.clone(), range: start..end },
            _ => Part { range: 0..part.len(), file: part.to_vec().into() },
        }
    }
}

impl From<Vec<u8>> for ModelFile {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Held::InMemory(bytes)))
    }
}

impl Deref for ModelFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.0 {
            Held::Mapped(mapped) => mapped,
            Held::InMemory(bytes) => bytes,
        }
    }
}

/// Some bytes of a file.
#[derive(Clone)]
pub struct Part {
    file: ModelFile,
    range: Range<usize>,
}

impl Deref for Part {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.file[self.range.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_file_stays_in_it_and_other_bytes_are_copied() {
        let file = ModelFile::from(b"weights of a model".to_vec());
        let (within, elsewhere) = (file.keep(&file[11..]), file.keep(b"scales"));
        assert_eq!((&within[..], &elsewhere[..]), (&b"a model"[..], &b"scales"[..]));
        assert_eq!(within.as_ptr(), file[11..].as_ptr());
        drop(file);
        assert_eq!(&within[..], b"a model");
    }
}
