//! The best segments of one block, without scoring those that cannot be among them (MaxScore: Turtle and Flood 1995, "Query
//! evaluation: strategies and optimizations", with upper bounds for each window of documents as in Ding and Suel 2011,
//! "Faster top-k document retrieval using block-max indexes").
//!
//! Lists come rarest first. Each is added to the scores of all its documents, until those that only further lists have
//! could no longer reach the k-th best score (`floor`). From there on a list is looked up for the documents alone that
//! were met and whose score, with the most that the rest may add, reaches the floor. So every score is the same sum in the
//! same order, whatever was passed over.

use super::block::WordsBlock;
use super::bm25::Formula;
use super::lists::{TermPostings, WINDOW, windows};
use crate::error::Result;
use crate::ranking::top_k::{Scored, Top};

/// More than all roundings of a sum of 256 summands together, relative to the sum (each at most 2⁻²⁴).
const SLACK: f32 = 1.0 + 1e-4;
/// Steps in which scores are counted to find the k-th best.
const STEPS: usize = 512;
/// A list so long, as a share of the block, is worth a look at the scores before it is added, and so much must be new in them.
const LONG_SHARE: u32 = 16;
const NEWS_SHARE: u32 = 32;

/// The postings of one word in a block, and what the word weighs.
#[derive(Clone, Copy)]
pub struct RankedList<'a> {
    pub postings: TermPostings<'a>,
    /// Bits of the languages whose segments they count for.
    pub languages: u64,
    pub weight: f32,
}

/// Scores of one block's documents; made once, used for block after block.
#[derive(Default)]
pub struct BlockScores {
    scores: Vec<f32>,
    /// One bit for each document that has a score.
    met: Vec<u64>,
    candidates: Vec<(u32, f32)>,
}

impl BlockScores {
    /// Offers the block's best segments to `top`, at least all that belong there; the number of postings that were scored.
    /// `lists`: by falling weight. `holders`: the documents that may be found, where not all may. `best`: with its k.
    pub fn rank(
        &mut self,
        block: &WordsBlock<'_>,
        lists: &[RankedList<'_>],
        formula: Formula,
        holders: Option<&[bool]>,
        best: (&mut Top, usize),
    ) -> Result<u64> {
        let (top, k) = best;
        if lists.is_empty() {
            return Ok(0);
        }
        self.clear(block.view.rows() as usize);
        let allowed = |row: usize| !block.dead.has(row) && holders.is_none_or(|holders| holders[row]);
        let rest = rests(block, lists, formula);
        let (mut floor, mut next, mut unseen) = (top.threshold(), 0, 0u32);
        // While there are fewer than k, the scores of this block itself tell how good the k-th best is at the least.
        let begins = floor == f32::NEG_INFINITY;
        let mut scored = 0;
        while next < lists.len() && rest[next] * SLACK >= floor {
            let length = lists[next].postings.frequency;
            if begins && unseen > block.view.rows() / NEWS_SHARE && length >= block.view.rows() / LONG_SHARE {
                floor = floor.max(self.best_but(k, rest[0], allowed));
                unseen = 0;
                continue;
            }
            self.add(block, &lists[next], formula)?;
            scored += u64::from(length);
            unseen += length;
            next += 1;
        }
        let further = &lists[next..];
        let bounds = window_bounds(block, further, formula);
        self.gather(&bounds[0], floor, allowed);
        for (list, bounds) in further.iter().zip(&bounds[1..]) {
            scored += self.look_up(block, list, formula)?;
            self.candidates.retain(|(row, score)| reaches(*score, bounds, *row, floor));
        }
        for (row, score) in &self.candidates {
            if *score >= top.threshold() {
                top.offer(Scored { score: *score, segment: block.view.segments.get(*row as usize) });
            }
        }
        Ok(scored)
    }

    fn clear(&mut self, rows: usize) {
        self.scores.clear();
        self.scores.resize(rows, 0.0);
        self.met.clear();
        self.met.resize(rows.div_ceil(64), 0);
        self.candidates.clear();
    }

    /// Adds a list to the scores of all its documents.
    fn add(&mut self, block: &WordsBlock<'_>, list: &RankedList<'_>, formula: Formula) -> Result<()> {
        let view = &block.view;
        let every_language = view.header.languages & !list.languages == 0;
        let (scores, met) = (&mut self.scores[..], &mut self.met[..]);
        list.postings.for_each_batch(|documents, counts| {
            for (document, count) in documents.iter().zip(counts) {
                let row = *document as usize;
                if every_language || view.language(*document).bit() & list.languages != 0 {
                    scores[row] += formula.impact(list.weight, *count, view.lengths.get(row));
                    met[row / 64] |= 1 << (row % 64);
                }
            }
        })
    }

    /// A score that at least k allowed documents reach already; −∞ where so many were not met.
    fn best_but(&self, k: usize, ceiling: f32, allowed: impl Fn(usize) -> bool) -> f32 {
        let mut steps = [0u32; STEPS];
        let scale = STEPS as f32 / (ceiling * SLACK);
        for_each_bit(&self.met, |row| {
            if allowed(row) {
                steps[((self.scores[row] * scale) as usize).min(STEPS - 1)] += 1;
            }
        });
        let mut above = 0;
        for (step, count) in steps.iter().enumerate().rev() {
            above += *count as usize;
            if above >= k {
                // Divided by the slack: what stands in a step may lie below its lower end by a rounding.
                return step as f32 / scale / SLACK;
            }
        }
        f32::NEG_INFINITY
    }

    /// The documents that may still be among the best.
    fn gather(&mut self, bounds: &[f32], floor: f32, allowed: impl Fn(usize) -> bool) {
        let (scores, candidates) = (&self.scores, &mut self.candidates);
        for_each_bit(&self.met, |row| {
            if reaches(scores[row], bounds, row as u32, floor) && allowed(row) {
                candidates.push((row as u32, scores[row]));
            }
        });
    }

    /// Adds a list to the candidates' scores alone.
    fn look_up(&mut self, block: &WordsBlock<'_>, list: &RankedList<'_>, formula: Formula) -> Result<u64> {
        let view = &block.view;
        let every_language = view.header.languages & !list.languages == 0;
        let rows: Vec<u32> = self.candidates.iter().map(|candidate| candidate.0).collect();
        let candidates = &mut self.candidates;
        let mut found = 0;
        list.postings.for_each_of(
            rows.len(),
            |at| rows[at],
            |at, count| {
                if every_language || view.language(rows[at]).bit() & list.languages != 0 {
                    candidates[at].1 += formula.impact(list.weight, count, view.lengths.get(rows[at] as usize));
                    found += 1;
                }
            },
        )?;
        Ok(found)
    }
}

#[inline(always)]
fn reaches(score: f32, bounds: &[f32], row: u32, floor: f32) -> bool {
    (score + bounds[row as usize / WINDOW]) * SLACK >= floor
}

/// For each list: the most that it and those after it may add to a score; then 0.
fn rests(block: &WordsBlock<'_>, lists: &[RankedList<'_>], formula: Formula) -> Vec<f32> {
    let shortest = block.view.shortest.iter().min().unwrap_or(0);
    let mut rests = vec![0.0; lists.len() + 1];
    for at in (0..lists.len()).rev() {
        rests[at] = rests[at + 1] + bound(&lists[at], lists[at].postings.most(), shortest, formula);
    }
    rests
}

/// The same for each window of documents.
fn window_bounds(block: &WordsBlock<'_>, lists: &[RankedList<'_>], formula: Formula) -> Vec<Vec<f32>> {
    let count = windows(block.view.rows() as usize);
    let mut bounds = vec![vec![0.0; count]];
    for list in lists.iter().rev() {
        let after = &bounds[bounds.len() - 1];
        let of_window = |(window, after): (usize, &f32)| {
            after + bound(list, list.postings.most_in(window), block.view.shortest.get(window), formula)
        };
        let with_list = after.iter().enumerate().map(of_window).collect();
        bounds.push(with_list);
    }
    bounds.reverse();
    bounds
}

fn bound(list: &RankedList<'_>, most: Option<u32>, shortest: u32, formula: Formula) -> f32 {
    most.map_or_else(|| Formula::impact_max(list.weight), |most| formula.impact(list.weight, most, shortest))
}

#[inline(always)]
fn for_each_bit(bits: &[u64], mut visit: impl FnMut(usize)) {
    for (at, word) in bits.iter().enumerate() {
        let mut left = *word;
        while left != 0 {
            visit(64 * at + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}
