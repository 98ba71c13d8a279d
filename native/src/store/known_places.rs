//! Places of Segments: pages, shots or sections of an Item, each known by its first Segment.
//!
//! A Segment's place never changes and its number is never used again, so what one reader has looked up holds for all.
//! A search then needs no look-up in the tree for a Segment that any search has found before.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::Result;

/// Segments whose places are kept together: 16 KiB.
const CHUNK: usize = 4096;
type Chunk = [AtomicU32; CHUNK];

/// The places that were looked up since the index was opened.
#[derive(Default)]
pub struct KnownPlaces {
    /// First Segment of each Segment's place, plus one. 0 if it is not known yet.
    chunks: RwLock<Vec<Option<Arc<Chunk>>>>,
}

impl KnownPlaces {
    /// The place of a Segment that exists, looked up once.
    pub fn of(&self, segment: u32, look_up: impl FnOnce() -> Result<u32>) -> Result<u32> {
        let (at, offset) = (segment as usize / CHUNK, segment as usize % CHUNK);
        let known = self.chunks.read().unwrap_or_else(PoisonError::into_inner).get(at).cloned().flatten();
        let chunk = known.unwrap_or_else(|| self.add(at));
        match chunk[offset].load(Ordering::Relaxed) {
            0 => {
                let place = look_up()?;
                chunk[offset].store(place.saturating_add(1), Ordering::Relaxed);
                Ok(place)
            }
            place => Ok(place - 1),
        }
    }

    fn add(&self, at: usize) -> Arc<Chunk> {
        let mut chunks = self.chunks.write().unwrap_or_else(PoisonError::into_inner);
        if chunks.len() <= at {
            chunks.resize(at + 1, None);
        }
        chunks[at].get_or_insert_with(|| Arc::new([const { AtomicU32::new(0) }; CHUNK])).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn a_place_is_looked_up_once() {
        let (known, asked) = (KnownPlaces::default(), RefCell::new(vec![]));
        for segment in [9_000, 5, 9_000, u32::MAX - 1, 5] {
            let place = known.of(segment, || {
                asked.borrow_mut().push(segment);
                Ok(segment / 2)
            });
            assert_eq!(place.unwrap(), segment / 2);
        }
        assert_eq!(*asked.borrow(), [9_000, 5, u32::MAX - 1]);
    }
}
