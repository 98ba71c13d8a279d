//! Search of a vector space: candidates by int8 codes with a guaranteed error bound, then exact scores in f32.
//!
//! There are three ways to find candidates: the codes of all rows; in a large space, unless a proof is asked for, the
//! codes of the rows that their bits cannot rule out (`blocks/bits.rs`); in a very large one, the rows that a graph finds
//! (`graph`), and the others for those that were added after it. Only the first proves that nothing was missed.
//!
//! A row's exact score lies within estimate ± error. So k rows reach the k-th best of all lower ends, and a row whose
//! upper end is below it can be left out. The others are rescored in descending order of their upper ends, until none
//! reaches the k-th best exact score: no remaining row can belong to the answer.

use std::ops::Range;
use std::sync::Arc;

use heed::RoTxn;

use super::candidates::{Candidate, Candidates, CodesBlock, NearRow};
use crate::blocks::bits::{self, BitsView};
use crate::blocks::rows_within::rows_within;
use crate::blocks::vectors::{CodesView, RowsView, check_finite};
use crate::error::{Result, ShardError};
use crate::kernels::bits::GROUP;
use crate::kernels::detection;
use crate::kernels::kernel::Kernel;
use crate::ranking::options::SearchOptions;
use crate::ranking::top_k::{Method, Ranking, Scored, TopK};
use crate::store::checked::Checked;
use crate::store::methods::BITS_RECALL;
use crate::store::neighbours::NeighbourIndex;
use crate::store::open_store::Store;
use crate::store::records::BlockKey;
use crate::store::spaces::{SpaceSpec, check_model};

/// Called once, with the best k/2 hits, which are known first. If it returns true, the search stops there.
pub type Enough<'a> = &'a dyn Fn(&[Scored]) -> Result<bool>;

struct Block<'t> {
    key: BlockKey,
    codes: CodesBlock<'t>,
    checked: Arc<Checked>,
    rows: Option<RowsView<'t>>,
}

/// The best k rows of a space for a query, ordered by their f32 scores, then by insertion. `exact` says whether this is
/// proved.
pub fn search(
    store: &Store,
    txn: &RoTxn<'_>,
    kernel: &'static Kernel,
    space: &SpaceSpec,
    query: &[f32],
    options: &SearchOptions,
    enough: Option<Enough<'_>>,
) -> Result<Ranking> {
    check_query(space, query)?;
    let Some(family) = store.space_family(txn, space)? else {
        return Ok(Ranking { exact: true, ..Ranking::default() });
    };
    if options.k == 0 {
        return Ok(Ranking { exact: true, ..Ranking::default() });
    }
    let mut blocks = vec![];
    for entry in store.blocks_of(txn, family)? {
        let (key, value) = entry?;
        let view = CodesView::read(value)?;
        check_model(space, &view.header)?;
        let codes = CodesBlock { index: blocks.len() as u32, view, dead: store.dead(txn, key)? };
        blocks.push(Block { key, codes, checked: store.checked(key, &view.header, value)?, rows: None });
    }
    Scan { store, txn, kernel, space, query, options, enough }.best(blocks)
}

/// One search of a space, and what its steps share.
struct Scan<'a, 't> {
    store: &'a Store,
    txn: &'t RoTxn<'a>,
    kernel: &'static Kernel,
    space: &'a SpaceSpec,
    query: &'a [f32],
    options: &'a SearchOptions,
    enough: Option<Enough<'a>>,
}

impl<'t> Scan<'_, 't> {
    fn best(&self, mut blocks: Vec<Block<'t>>) -> Result<Ranking> {
        let mut ranking = Ranking { exact: true, ..Ranking::default() };
        let candidates = self.candidates(&blocks, &mut ranking)?;
        self.rescore(&mut blocks, candidates, &mut ranking)?;
        Ok(ranking)
    }

    /// Rows that may be among the best, by falling upper end. Sets the method in `ranking`, and whether it proves the
    /// answer.
    fn candidates(&self, blocks: &[Block<'_>], ranking: &mut Ranking) -> Result<Vec<Candidate>> {
        let Self { store, kernel, query, options, .. } = *self;
        let rows: usize = blocks.iter().map(|block| block.codes.view.header.rows as usize).sum();
        let allowed = options.within.as_ref().map_or(rows, |within| within.segments().min(rows as u64) as usize);
        let with_bits = !options.exact && store.methods.uses_bits(allowed, options.k) && bits::fits(query.len());
        let mut candidates = Candidates::new(kernel, query, options);
        let rotated = with_bits.then(|| candidates.rotated(query, store.methods.bits_deviations));
        let near = if with_bits { self.near(blocks, rows, allowed) } else { None };
        if let Some((graph, near)) = &near {
            candidates.add_near(near)?;
            ranking.scanned += near.len() as u64;
            (ranking.exact, ranking.method, ranking.recall) = (false, Method::Graph, graph.recall());
        }
        for block in blocks {
            options.stop.check()?;
            let stretches = self.stretches(block, near.as_ref().map(|(graph, _)| graph.last()));
            let all = block.codes.view.header.rows as usize;
            let rows = stretches.as_ref().map_or(all, |stretches| stretches.iter().map(Range::len).sum());
            if rows == 0 {
                continue;
            }
            ranking.scanned += rows as u64;
            let bits = if with_bits { self.bits_of(block)? } else { None };
            match (rotated.as_ref().zip(bits), stretches) {
                (Some((rotated, bits)), stretches) => {
                    let allowed = stretches.map(|stretches| masks_of(&stretches, bits.groups()));
                    candidates.add_by_bits(&block.codes, (rotated, &bits), allowed.as_deref())?;
                    if near.is_none() {
                        (ranking.exact, ranking.method, ranking.recall) = (false, Method::Bits, BITS_RECALL);
                    }
                }
                (None, Some(stretches)) => candidates.add_rows(&block.codes, &stretches)?,
                (None, None) => candidates.add_by_codes(&block.codes)?,
            }
        }
        candidates.into_sorted()
    }

    /// The rows of a block that are scanned: those that are allowed, of Segments after one. None: all.
    fn stretches(&self, block: &Block<'_>, after: Option<u32>) -> Option<Vec<Range<usize>>> {
        let CodesView { header, segments, .. } = block.codes.view;
        let begin = after.map_or(0, |last| segments.lower_bound(last.saturating_add(1)));
        let Some(within) = &self.options.within else {
            return after.map(|_| Vec::from_iter(Some(begin..header.rows as usize).filter(|rows| !rows.is_empty())));
        };
        let allowed = rows_within(&header, segments, within).into_iter();
        Some(allowed.map(|rows| rows.start.max(begin)..rows.end).filter(|rows| !rows.is_empty()).collect())
    }

    /// The space's graph and the rows that it finds, nearest first. None without one that is good enough, if the search
    /// may find few rows, or if many of those that were found are removed: then all are scanned.
    fn near<'b>(
        &self,
        blocks: &'b [Block<'t>],
        rows: usize,
        allowed: usize,
    ) -> Option<(Arc<dyn NeighbourIndex>, Vec<NearRow<'b>>)> {
        let Self { store, txn, space, query, options, .. } = *self;
        if !store.methods.uses_graph(rows, allowed, options.k) {
            return None;
        }
        let graph = store.graph(txn, space, blocks.first()?.key.family)?;
        let found = graph.search(query, options.k, options.within.as_deref())?;
        let mut ascending: Vec<(u32, usize)> = found.iter().copied().zip(0..).collect();
        ascending.sort_unstable();
        let segments: Vec<u32> = ascending.iter().map(|(segment, _)| *segment).collect();
        let mut near = vec![];
        for block in blocks {
            let column = block.codes.view.segments;
            for at in column.within(&segments) {
                if let Some(row) = column.position(segments[at]).filter(|row| !block.codes.dead.has(*row)) {
                    near.push((ascending[at].1, NearRow { block: &block.codes, row: row as u32 }));
                }
            }
        }
        near.sort_unstable_by_key(|(rank, _)| *rank);
        (2 * near.len() >= found.len()).then(|| (graph, near.into_iter().map(|(_, row)| row).collect()))
    }

    /// The bits of a block. None if they are not derived yet.
    fn bits_of(&self, block: &Block<'_>) -> Result<Option<BitsView<'t>>> {
        let Some(value) = self.store.databases.bits.get(self.txn, &block.key.bytes())? else {
            return Ok(None);
        };
        let view = BitsView::read(value)?;
        block.checked.bits(value)?;
        let (left, right) = (view.header, block.codes.view.header);
        if (left.rows, left.width, left.first, left.last) != (right.rows, right.width, right.first, right.last) {
            return Err(ShardError::corrupt("A block's codes and bits do not belong together."));
        }
        Ok(Some(view))
    }

    /// Ranks candidates by their f32 scores until none of the others can reach the k-th best, or the k/2-th best if
    /// these are enough.
    fn rescore(&self, blocks: &mut [Block<'t>], candidates: Vec<Candidate>, ranking: &mut Ranking) -> Result<()> {
        let mut scored: Vec<Scored> = vec![];
        let half = self.enough.map(|_| self.options.k.div_ceil(2));
        for k in half.into_iter().chain([self.options.k]) {
            let mut top_k = TopK::new(k);
            scored.iter().for_each(|row| top_k.offer(*row));
            while let Some(candidate) = candidates.get(scored.len()).filter(|next| next.upper >= top_k.threshold()) {
                self.options.stop.check()?;
                let row = Scored { score: self.score(blocks, candidate)?, segment: candidate.segment };
                top_k.offer(row);
                scored.push(row);
            }
            ranking.hits = top_k.into_sorted();
            if k < self.options.k
                && let Some(enough) = self.enough
                && enough(&ranking.hits)?
            {
                break;
            }
        }
        ranking.rescored += scored.len() as u64;
        Ok(())
    }

    fn score(&self, blocks: &mut [Block<'t>], candidate: &Candidate) -> Result<f32> {
        let block = &mut blocks[candidate.block as usize];
        let row = candidate.row as usize;
        let rows = match block.rows {
            Some(rows) => rows,
            None => *block.rows.insert(rows_of(self.store, self.txn, block.key, &block.codes.view, &block.checked)?),
        };
        block.checked.row(row, || rows.verify_row(row))?;
        Ok((self.kernel.dot_f32)(self.query, rows.row(row)))
    }
}

/// The f32 rows that belong to a block of codes.
pub(super) fn rows_of<'t>(
    store: &Store,
    txn: &'t RoTxn<'_>,
    key: BlockKey,
    codes: &CodesView<'_>,
    checked: &Checked,
) -> Result<RowsView<'t>> {
    let missing = || ShardError::corrupt("The vectors of a block are missing.");
    let value = store.databases.rows.get(txn, &key.bytes())?.ok_or_else(missing)?;
    let rows = RowsView::read(value)?;
    checked.rows_header(value)?;
    let (left, right) = (rows.header, codes.header);
    if (left.rows, left.width, left.first, left.last) != (right.rows, right.width, right.first, right.last) {
        return Err(ShardError::corrupt("A block's codes and rows do not belong together."));
    }
    Ok(rows)
}

/// Refuses a query that is no vector of the space.
pub(super) fn check_query(space: &SpaceSpec, query: &[f32]) -> Result<()> {
    if query.len() != space.dimensions {
        return Err(ShardError::internal(format!(
            "A query of {} has {} dimensions instead of {}.",
            space.name,
            query.len(),
            space.dimensions
        )));
    }
    check_finite(query)
}

/// A bit for each row of the stretches, 64 in a group.
fn masks_of(stretches: &[Range<usize>], groups: usize) -> Vec<u64> {
    let mut masks = vec![0u64; groups];
    for rows in stretches {
        let (first, end) = (rows.start / GROUP, rows.end.div_ceil(GROUP));
        for (group, mask) in masks.iter_mut().enumerate().take(end).skip(first) {
            let (from, to) = (rows.start.max(group * GROUP), rows.end.min((group + 1) * GROUP));
            *mask |= (u64::MAX >> (GROUP - (to - from))) << (from % GROUP);
        }
    }
    masks
}

/// The Segments of the proved best k.
#[cfg(feature = "graph")]
pub fn proved(store: &Store, txn: &RoTxn<'_>, space: &SpaceSpec, query: &[f32], k: usize) -> Result<Vec<u32>> {
    let kernel = detection::chosen().map_err(ShardError::internal)?;
    let options = SearchOptions { k, exact: true, ..SearchOptions::default() };
    Ok(search(store, txn, kernel, space, query, &options, None)?.hits.into_iter().map(|hit| hit.segment).collect())
}

/// How many hits the proved best k are, and how many of them the unproved search finds. (0, 0) if that one is a proof,
/// too.
pub fn probe(
    store: &Store,
    txn: &RoTxn<'_>,
    space: &SpaceSpec,
    query: &[f32],
    options: &SearchOptions,
) -> Result<(u64, u64)> {
    let kernel = detection::chosen().map_err(ShardError::internal)?;
    let quick = search(store, txn, kernel, space, query, &SearchOptions { exact: false, ..options.clone() }, None)?;
    if quick.exact {
        return Ok((0, 0));
    }
    let best = search(store, txn, kernel, space, query, &SearchOptions { exact: true, ..options.clone() }, None)?;
    let least = best.hits.last().map_or(f32::INFINITY, |hit| hit.score);
    let found = quick.hits.iter().filter(|hit| hit.score >= least).count().min(best.hits.len()) as u64;
    let expected = best.hits.len() as u64;
    if quick.method == Method::Graph
        && let Some(graph) = store.space_family(txn, space)?.and_then(|family| store.graph(txn, space, family))
    {
        graph.probed(expected, found);
    }
    Ok((expected, found))
}
