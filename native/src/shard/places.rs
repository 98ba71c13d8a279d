//! Lists that are as deep as the places they must reach.

use crate::error::Result;
use crate::ranking::top_k::{Ranking, Scored};

/// How often a list may be made twice as deep because many of its Segments share a place.
pub const DEEPENINGS_MAX: u32 = 4;

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
}
