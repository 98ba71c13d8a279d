//! The best segments of one block, without scoring those that cannot be among them: MaxScore (Turtle and Flood 1995,
//! "Query evaluation: strategies and optimizations"), with upper bounds for each window of documents (Ding and Suel
//! 2011, "Faster top-k document retrieval using block-max indexes").
//!
//! Lists come rarest first. Each is added to the scores of all its documents, until a document that only further lists
//! have could no longer reach the k-th best score (`floor`). From there on a list is looked up only for documents that
//! have a score and could still reach the floor. So every score is the same sum in the same order, whatever is skipped.

use std::ops::Range;

use super::block::WordsBlock;
use super::bm25::Formula;
use super::lists::{TermPostings, WINDOW, windows};
use crate::error::Result;
use crate::ranking::top_k::{Scored, TopK};

/// More than all roundings of a sum of 256 summands, relative to the sum (each at most 2⁻²⁴).
const SLACK: f32 = 1.0 + 1e-4;
/// Bins of the histogram of scores that finds the k-th best.
const BINS: usize = 512;
/// The scores are counted before a list is added that has this share of the block's documents, or more, and if this
/// share of scores, or more, is new.
const LONG_SHARE: u32 = 16;
const NEWS_SHARE: u32 = 32;
/// Every list is looked up for the documents that may be found where they are at most this share of a block.
const FEW_SHARE: usize = 16;

/// The postings of one word in a block, with its weight.
#[derive(Clone, Copy)]
pub struct RankedList<'a> {
    pub postings: TermPostings<'a>,
    /// Bits of the languages whose segments they count for.
    pub languages: u64,
    pub weight: f32,
}

/// The documents of a block that may be found.
pub enum Only {
    All,
    /// One flag for each.
    Marked(Vec<bool>),
    /// So few that every list is looked up for them alone. Ascending.
    Few(Vec<u32>),
}

impl Only {
    /// The documents of some stretches of a block.
    pub fn of(stretches: Vec<Range<usize>>, documents: u32) -> Self {
        let allowed: usize = stretches.iter().map(Range::len).sum();
        if allowed == documents as usize {
            return Self::All;
        }
        if allowed * FEW_SHARE <= documents as usize {
            return Self::Few(stretches.into_iter().flatten().map(|row| row as u32).collect());
        }
        let mut marked = vec![false; documents as usize];
        stretches.into_iter().for_each(|rows| marked[rows].fill(true));
        Self::Marked(marked)
    }

    pub fn is_none(&self) -> bool {
        match self {
            Self::All => false,
            Self::Marked(marked) => !marked.contains(&true),
            Self::Few(few) => few.is_empty(),
        }
    }
}

/// Scores of one block's documents. Made once and reused for each block.
#[derive(Default)]
pub struct BlockScores {
    scores: Vec<f32>,
    /// One bit for each document that has a score.
    met: Vec<u64>,
    candidates: Vec<(u32, f32)>,
}

impl BlockScores {
    /// Offers the block's best segments: at least all that belong to the best k. Returns the number of postings that
    /// were scored. `lists`: by falling weight. `best`: the best so far, and k.
    pub fn rank(
        &mut self,
        block: &WordsBlock<'_>,
        lists: &[RankedList<'_>],
        formula: Formula,
        only: &Only,
        best: (&mut TopK, usize),
    ) -> Result<u64> {
        let (top_k, k) = best;
        if lists.is_empty() {
            return Ok(0);
        }
        let marked = match only {
            Only::All => None,
            Only::Marked(marked) => Some(&marked[..]),
            Only::Few(few) => return self.rank_few(block, lists, formula, few, top_k),
        };
        self.clear(block.view.rows() as usize);
        let allowed = |row: usize| !block.dead.has(row) && marked.is_none_or(|marked| marked[row]);
        let remaining = remaining_bounds(block, lists, formula);
        let (mut floor, mut next, mut unseen) = (top_k.threshold(), 0, 0u32);
        // While there are fewer than k hits, a lower bound of the k-th best comes from this block's own scores.
        let begins = floor == f32::NEG_INFINITY;
        let mut scored = 0;
        while next < lists.len() && remaining[next] * SLACK >= floor {
            let length = lists[next].postings.frequency;
            if begins && unseen > block.view.rows() / NEWS_SHARE && length >= block.view.rows() / LONG_SHARE {
                floor = floor.max(self.kth_best(k, remaining[0], allowed));
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
        let mut bounds = bounds.chunks_exact(windows(block.view.rows() as usize).max(1));
        self.gather(bounds.next().unwrap_or_default(), floor, allowed);
        for (list, bounds) in further.iter().zip(bounds) {
            scored += self.look_up(block, list, formula)?;
            self.candidates.retain(|(row, score)| reaches(*score, bounds, *row, floor));
        }
        for (row, score) in &self.candidates {
            if *score >= top_k.threshold() {
                top_k.offer(Scored { score: *score, segment: block.view.segments.get(*row as usize) });
            }
        }
        Ok(scored)
    }

    /// As [`Self::rank`], of a few documents.
    fn rank_few(
        &mut self,
        block: &WordsBlock<'_>,
        lists: &[RankedList<'_>],
        formula: Formula,
        few: &[u32],
        top_k: &mut TopK,
    ) -> Result<u64> {
        self.candidates.clear();
        self.candidates.extend(few.iter().filter(|row| !block.dead.has(**row as usize)).map(|row| (*row, 0.0)));
        let mut scored = 0;
        for list in lists {
            scored += self.look_up(block, list, formula)?;
        }
        for (row, score) in self.candidates.iter().filter(|candidate| candidate.1 > 0.0) {
            top_k.offer(Scored { score: *score, segment: block.view.segments.get(*row as usize) });
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

    /// A score that at least k allowed documents have reached. −∞ if fewer have a score.
    fn kth_best(&self, k: usize, ceiling: f32, allowed: impl Fn(usize) -> bool) -> f32 {
        let mut bins = [0u32; BINS];
        let scale = BINS as f32 / (ceiling * SLACK);
        for_each_bit(&self.met, |row| {
            if allowed(row) {
                bins[((self.scores[row] * scale) as usize).min(BINS - 1)] += 1;
            }
        });
        let mut above = 0;
        for (bin, count) in bins.iter().enumerate().rev() {
            above += *count as usize;
            if above >= k {
                // Divided by the slack: a score may lie below the lower end of its bin by a rounding.
                return bin as f32 / scale / SLACK;
            }
        }
        f32::NEG_INFINITY
    }

    /// Gathers the documents that may still be among the best.
    fn gather(&mut self, bounds: &[f32], floor: f32, allowed: impl Fn(usize) -> bool) {
        let (scores, candidates) = (&self.scores, &mut self.candidates);
        for_each_bit(&self.met, |row| {
            if reaches(scores[row], bounds, row as u32, floor) && allowed(row) {
                candidates.push((row as u32, scores[row]));
            }
        });
    }

    /// Adds a list to the candidates' scores only. Returns the number of postings that were scored.
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

/// For each list, the most that it and those after it can add to a score; then 0.
fn remaining_bounds(block: &WordsBlock<'_>, lists: &[RankedList<'_>], formula: Formula) -> Vec<f32> {
    let shortest = block.view.shortest.iter().min().unwrap_or(0);
    let mut remaining = vec![0.0; lists.len() + 1];
    for at in (0..lists.len()).rev() {
        remaining[at] = remaining[at + 1] + bound(&lists[at], lists[at].postings.most(), shortest, formula);
    }
    remaining
}

/// As [`remaining_bounds`], for each window of documents: all windows of one list, then of the next.
fn window_bounds(block: &WordsBlock<'_>, lists: &[RankedList<'_>], formula: Formula) -> Vec<f32> {
    let count = windows(block.view.rows() as usize);
    let mut bounds = vec![0.0; count * (lists.len() + 1)];
    for (at, list) in lists.iter().enumerate().rev() {
        for window in 0..count {
            let of_window = bound(list, list.postings.most_in(window), block.view.shortest.get(window), formula);
            bounds[at * count + window] = bounds[(at + 1) * count + window] + of_window;
        }
    }
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
