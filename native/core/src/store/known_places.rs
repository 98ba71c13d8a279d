//! The places of Segments that were looked up.
//!
//! A Segment's place never changes and its number is never used again, so what one reader has looked up holds for all.
//! A search then needs no look-up in the tree for a Segment that any search has found before.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::Result;
use crate::ranking::hit_group::HitGroup;

/// Segments whose places are kept together: 16 KiB.
const CHUNK: usize = 2048;
type Chunk = [AtomicU64; CHUNK];

/// The places that were looked up since the index was opened.
#[derive(Default)]
pub struct KnownPlaces {
    /// The place plus one, and in the lower half the moment. 0 if they are not known yet.
    chunks: RwLock<Vec<Option<Arc<Chunk>>>>,
    /// Size and note of those Segments that have one.
    others: RwLock<HashMap<u32, (u32, bool)>>,
}

impl KnownPlaces {
    /// The place of a Segment that exists, looked up once.
    pub fn of(&self, segment: u32, look_up: impl FnOnce() -> Result<HitGroup>) -> Result<HitGroup> {
        let (at, offset) = (segment as usize / CHUNK, segment as usize % CHUNK);
        let known = self.chunks.read().unwrap_or_else(PoisonError::into_inner).get(at).cloned().flatten();
        let chunk = known.unwrap_or_else(|| self.add(at));
        match chunk[offset].load(Ordering::Acquire) {
            0 => {
                let found = look_up()?;
                if found.size > 0 || found.note {
                    let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
                    others.insert(segment, (found.size, found.note));
                }
                chunk[offset].store((u64::from(found.place) + 1) << 32 | u64::from(found.moment), Ordering::Release);
                Ok(found)
            }
            both => {
                let other = self.others.read().unwrap_or_else(PoisonError::into_inner).get(&segment).copied();
                let (size, note) = other.unwrap_or_default();
                Ok(HitGroup { place: ((both >> 32) - 1) as u32, moment: both as u32, size, note })
            }
        }
    }

    fn add(&self, at: usize) -> Arc<Chunk> {
        let mut chunks = self.chunks.write().unwrap_or_else(PoisonError::into_inner);
        if chunks.len() <= at {
            chunks.resize(at + 1, None);
        }
        chunks[at].get_or_insert_with(|| Arc::new([const { AtomicU64::new(0) }; CHUNK])).clone()
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
            let place = HitGroup { place: segment / 2, moment: segment - 1, size: segment % 2, note: segment % 3 == 0 };
            let found = known.of(segment, || {
                asked.borrow_mut().push(segment);
                Ok(place)
            });
            assert_eq!(found.unwrap(), place);
        }
        assert_eq!(*asked.borrow(), [9_000, 5, u32::MAX - 1]);
    }
}
