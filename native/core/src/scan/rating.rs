//! The exact scores of given rows of a space, and of a fixed sample of its rows.

use heed::RoTxn;

use super::row_blocks::RowBlock;
use super::vector_search::check_query;
use crate::error::Result;
use crate::kernels::kernel::Kernel;
use crate::ranking::rating::{Rating, Sample};
use crate::store::open_store::Store;
use crate::store::spaces::SpaceSpec;

/// A space of up to this many rows is sampled whole; a larger one has at most twice as many samples.
pub const SAMPLE: usize = 512;

/// Rates segments for a query by vector, with a sample of the space's scores if it is `sampled`.
pub fn rate(
    store: &Store,
    txn: &RoTxn<'_>,
    kernel: &'static Kernel,
    space: &SpaceSpec,
    query: &[f32],
    (segments, sampled): (&[u32], bool),
) -> Result<Rating> {
    check_query(space, query)?;
    let mut rating = Rating { scores: vec![f32::NAN; segments.len()], ..Rating::default() };
    let blocks = RowBlock::of_space(store, txn, space)?;
    let score = |block: &RowBlock<'_>, row: usize| -> Result<f32> { Ok((kernel.dot_f32)(query, block.row(row)?)) };
    for block in &blocks {
        for (at, row) in block.rows_among(segments) {
            rating.scores[at] = score(block, row)?;
        }
    }
    if sampled {
        let scores: Result<Vec<f32>> =
            sample(&blocks).into_iter().map(|(block, row)| score(&blocks[block], row)).collect();
        rating.sample = Sample::of(&scores?);
    }
    Ok(rating)
}

/// Rows, as block and row, that depend on the living segments of the space alone: all of a small space, otherwise the
/// first from each multiple of a power of two. So merges change nothing, and an append little.
fn sample(blocks: &[RowBlock<'_>]) -> Vec<(usize, usize)> {
    let rows: usize = blocks.iter().map(|block| block.codes.header.rows as usize).sum();
    let last = blocks.iter().map(|block| block.codes.header.last).max().unwrap_or(0) as usize;
    let mut step = if rows <= SAMPLE { 1 } else { ((last + 1) / SAMPLE + 1).next_power_of_two() / 2 }.max(1);
    loop {
        let sampled = first_of_each(blocks, step, last);
        // The numbers of a space's segments may have wide gaps.
        if step == 1 || sampled.len() >= SAMPLE / 2 {
            return sampled.into_iter().map(|(_, block, row)| (block, row)).collect();
        }
        step /= 2;
    }
}

/// The first living row from each multiple of `step`, by segment: as segment, block and row.
fn first_of_each(blocks: &[RowBlock<'_>], step: usize, last: usize) -> Vec<(u32, usize, usize)> {
    let mut sampled = vec![];
    let mut from = 0;
    while from <= last {
        let nexts = blocks.iter().enumerate().filter_map(|(at, block)| first_from(block, at, from));
        let Some(next) = nexts.min() else { break };
        sampled.push(next);
        from = (next.0 as usize / step + 1) * step;
    }
    sampled
}

/// The first living row of a block from a segment on.
fn first_from(block: &RowBlock<'_>, at: usize, from: usize) -> Option<(u32, usize, usize)> {
    let codes = &block.codes;
    if (codes.header.last as usize) < from {
        return None;
    }
    let begin = codes.segments.lower_bound(from as u32);
    let row = (begin..codes.header.rows as usize).find(|row| !block.dead.has(*row))?;
    Some((codes.segments.get(row), at, row))
}
