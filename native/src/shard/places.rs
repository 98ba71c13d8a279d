//! Places of Segments: pages, shots or sections of an Item, each known by its first Segment.
//!
//! A Segment's place never changes and its number is never used again, so what one reader looked up holds for all:
//! a search then needs no look-up in the tree for a Segment that any search has found before.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::Result;
use crate::ranking::top_k::{Ranking, Scored};

/// Segments whose places are kept together: 16 KiB.
const CHUNK: usize = 4096;
/// How often a list may be made twice as deep because many of its Segments share a place.
pub const DEEPENINGS_MAX: u32 = 4;

type Chunk = [AtomicU32; CHUNK];

/// What was looked up since the index was opened.
#[derive(Default)]
pub struct KnownPlaces {
    /// First Segment of each Segment's place, plus one; 0 where it is not known yet.
    chunks: RwLock<Vec<Option<Arc<Chunk>>>>,
}

impl KnownPlaces {
    /// The place of a Segment that is there, looked up at most once.
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

/// The shortest of the best k, 2k, 4k … Segments that reach `k` places, with their places; all there are where they
/// don't, and 16k where many share one. `ask` gives the best so many Segments, or half as many where these reach `k` places: a longer answer begins with the shorter one.
pub fn reach_places(
    k: usize,
    mut ask: impl FnMut(usize) -> Result<Ranking>,
    places_of: impl Fn(&[Scored]) -> Result<Vec<u32>>,
) -> Result<Ranking> {
    let longest = k << DEEPENINGS_MAX;
    let mut asked = longest.min(2 * k);
    loop {
        let mut ranking = ask(asked)?;
        ranking.places = places_of(&ranking.hits)?;
        let mut enough = k;
        while enough <= asked {
            if ranking.hits.len() < enough || enough == longest || distinct(&ranking.places[..enough]) >= k {
                ranking.hits.truncate(enough);
                ranking.places.truncate(enough);
                return Ok(ranking);
            }
            enough *= 2;
        }
        asked = longest.min(4 * asked);
    }
}

/// How many different places there are.
pub fn distinct(places: &[u32]) -> usize {
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use proptest::prelude::*;

    use super::*;

    fn best(places: &[u32], n: usize) -> Ranking {
        let segments = 0..places.len().min(n) as u32;
        let hits = segments.map(|segment| Scored { score: -(segment as f32), segment }).collect();
        Ranking { hits, exact: true, ..Ranking::default() }
    }

    /// One question after the other, each twice as deep.
    fn step_by_step(places: &[u32], k: usize) -> usize {
        let mut n = k;
        for deepening in 0.. {
            let found = places.len().min(n);
            if found < n || deepening == DEEPENINGS_MAX || distinct(&places[..found]) >= k {
                return found;
            }
            n *= 2;
        }
        unreachable!()
    }

    proptest! {
        #[test]
        fn a_list_is_as_deep_as_asked_step_by_step(places in proptest::collection::vec(0..20u32, 0..300), k in 0..30usize) {
            let ranking = reach_places(k, |n| Ok(best(&places, n)), |hits| {
                Ok(hits.iter().map(|hit| places[hit.segment as usize]).collect())
            }).unwrap();
            prop_assert_eq!(ranking.hits.len(), step_by_step(&places, k));
            prop_assert_eq!(&ranking.places, &places[..ranking.hits.len()]);
        }
    }

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
