//! Lists that reach a number of places: pages, shots or sections of Items.

use crate::error::Result;
use crate::ranking::top_k::{Ranking, Scored};

/// How often a list may be doubled because many of its Segments share a place.
pub const DEEPENINGS_MAX: u32 = 4;

/// The shortest of the best k, 2k, 4k … 16k Segments that reaches `k` places, with the places of its Segments. It is
/// the longest if none does, and all Segments if there are fewer.
///
/// `best(n)` returns the best n Segments, or the best n/2 if these reach `k` places. A longer list begins with the
/// shorter one.
pub fn reach_places(
    k: usize,
    mut best: impl FnMut(usize) -> Result<Ranking>,
    places_of: impl Fn(&[Scored]) -> Result<Vec<u32>>,
) -> Result<Ranking> {
    let longest = k << DEEPENINGS_MAX;
    let mut depth = longest.min(2 * k);
    loop {
        let mut ranking = best(depth)?;
        ranking.places = places_of(&ranking.hits)?;
        let mut enough = k;
        while enough <= depth {
            if ranking.hits.len() < enough || enough == longest || distinct(&ranking.places[..enough]) >= k {
                ranking.hits.truncate(enough);
                ranking.places.truncate(enough);
                return Ok(ranking);
            }
            enough *= 2;
        }
        depth = longest.min(4 * depth);
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
    use proptest::prelude::*;

    use super::*;

    fn best(places: &[u32], n: usize) -> Ranking {
        let segments = 0..places.len().min(n) as u32;
        let hits = segments.map(|segment| Scored { score: -(segment as f32), segment }).collect();
        Ranking { hits, exact: true, ..Ranking::default() }
    }

    /// One search after the other, each twice as deep.
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
}
