//! The best k of a stream of scores. Higher is better. Of equal scores the lower segment, which was inserted earlier,
//! is first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::hit_group::HitGroup;

/// A segment with its score. `a < b` when `a` comes before `b` in an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    pub score: f32,
    pub segment: u32,
}

impl Eq for Scored {}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        // `+ 0.0` makes −0 equal to 0.
        (other.score + 0.0).total_cmp(&(self.score + 0.0)).then(self.segment.cmp(&other.segment))
    }
}

/// Keeps the best k of the scores that it is offered.
#[derive(Debug)]
pub struct TopK {
    k: usize,
    heap: BinaryHeap<Scored>,
}

impl TopK {
    pub fn new(k: usize) -> Self {
        Self { k, heap: BinaryHeap::new() }
    }

    #[inline]
    pub fn offer(&mut self, scored: Scored) {
        if self.heap.len() < self.k {
            self.heap.push(scored);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && scored < *worst
        {
            *worst = scored;
        }
    }

    /// The lowest score that still gets in: −∞ until there are k.
    pub fn threshold(&self) -> f32 {
        if self.heap.len() < self.k {
            f32::NEG_INFINITY
        } else {
            self.heap.peek().map_or(f32::INFINITY, |worst| worst.score)
        }
    }

    /// Best first.
    pub fn into_sorted(self) -> Vec<Scored> {
        self.heap.into_sorted_vec()
    }
}

/// How a list was made. The numbers are those of `SCAN_METHODS` in `src/protocol/search.ts`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Method {
    /// Every row that could belong to the answer was scored exactly.
    #[default]
    Proved = 0,
    /// Rows were passed over by a statistical bound.
    Bits = 1,
    /// Rows were found along a graph of neighbours.
    Graph = 2,
}

/// An answer: best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    pub hits: Vec<Scored>,
    /// The place of each hit. Empty unless places were asked for.
    pub places: Vec<HitGroup>,
    /// True when the hits are proved to be the best k of all rows.
    pub exact: bool,
    pub method: Method,
    /// The mean share of the true best k that is expected among the hits, where they are not proved.
    pub recall: f64,
    /// Rows (or postings) that were looked at.
    pub scanned: u64,
    /// Rows whose exact score was computed.
    pub rescored: u64,
    /// The highest score that this query could reach. 0 for lists whose scores have a fixed scale.
    pub ceiling: f32,
    /// The query with slips in its words corrected. None if there are none, and for lists of other things than words.
    pub corrected: Option<String>,
    /// Quoted phrases that stand nowhere: their words were looked for.
    pub relaxed: Vec<String>,
}

impl Ranking {
    /// Merges lists that share no Segments into one.
    pub fn of_parts(parts: Vec<Self>) -> Self {
        let count = parts.len();
        let merged = parts.into_iter().reduce(|mut all, mut part| {
            all.hits.append(&mut part.hits);
            all.places.append(&mut part.places);
            all.recall = match (all.exact, part.exact) {
                (true, _) => part.recall,
                (_, true) => all.recall,
                _ => all.recall.min(part.recall),
            };
            all.exact &= part.exact;
            all.method = all.method.max(part.method);
            all.scanned += part.scanned;
            all.rescored += part.rescored;
            all.ceiling = all.ceiling.max(part.ceiling);
            all.corrected = all.corrected.or(part.corrected);
            all
        });
        let mut all = merged.unwrap_or_default();
        if count > 1 {
            let mut hits: Vec<(Scored, HitGroup)> = all.hits.into_iter().zip(all.places).collect();
            hits.sort_by_key(|hit| hit.0);
            (all.hits, all.places) = hits.into_iter().unzip();
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_k_are_those_of_a_full_sort(scores in proptest::collection::vec(-3i8..3, 0..60), k in 0usize..70) {
            let all: Vec<Scored> =
                scores.iter().enumerate().map(|(segment, score)| Scored { score: f32::from(*score), segment: segment as u32 }).collect();
            let mut sorted = all.clone();
            sorted.sort();
            sorted.truncate(k);
            let mut top_k = TopK::new(k);
            for scored in all.iter().rev() {
                top_k.offer(*scored);
            }
            prop_assert_eq!(top_k.into_sorted(), sorted);
        }
    }
}
