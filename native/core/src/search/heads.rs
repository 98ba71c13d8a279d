//! The moments that a list names.

use super::segment_map::{SegmentMap, SegmentSet};
use crate::ranking::hit_group::HitGroup;
use crate::ranking::top_k::Ranking;

/// Moments of a film that each list names.
const MOMENTS_MAX: usize = 10;

/// The best Segment of a moment in a list.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    pub at: HitGroup,
    pub segment: u32,
    pub score: f64,
    /// Rank of its place in the list, from 1.
    pub rank: u32,
}

/// The moments of a list's first `depth` places, best first.
pub fn heads_of(ranking: &Ranking, depth: usize) -> Vec<Head> {
    struct Met {
        rank: u32,
        moments: usize,
    }
    let mut heads: Vec<Head> = Vec::with_capacity(depth.min(ranking.hits.len()));
    let mut moments = SegmentSet::default();
    let mut met: SegmentMap<Met> = SegmentMap::default();
    for (hit, at) in ranking.hits.iter().zip(&ranking.places) {
        if moments.contains(&at.moment) {
            continue;
        }
        let number = met.len();
        let of = match met.get_mut(&at.place) {
            Some(of) => of,
            None if number == depth => continue,
            None => met.entry(at.place).or_insert(Met { rank: number as u32 + 1, moments: 0 }),
        };
        if of.moments == MOMENTS_MAX {
            continue;
        }
        of.moments += 1;
        moments.insert(at.moment);
        heads.push(Head { at: *at, segment: hit.segment, score: f64::from(hit.score), rank: of.rank });
    }
    heads
}
