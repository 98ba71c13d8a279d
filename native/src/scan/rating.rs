//! The exact scores of given rows of a space, and of a fixed sample of its rows.

use std::sync::Arc;

use heed::RoTxn;

use super::vector_search::{check_query, rows_of};
use crate::blocks::dead::Dead;
use crate::blocks::vectors::{CodesView, RowsView};
use crate::error::Result;
use crate::kernels::kernel::Kernel;
use crate::ranking::rating::{Rating, Sample};
use crate::store::checked::Checked;
use crate::store::open_store::Store;
use crate::store::spaces::{SpaceSpec, check_model};

/// A space of up to this many rows is sampled whole; a larger one has at most twice as many samples.
pub const SAMPLE: usize = 512;

struct Block<'t> {
    codes: CodesView<'t>,
    rows: RowsView<'t>,
    dead: Dead<'t>,
    checked: Arc<Checked>,
}

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
    let Some(family) = store.space_family(txn, space)? else { return Ok(rating) };
    let mut blocks = vec![];
    for entry in store.blocks_of(txn, family)? {
        let (key, value) = entry?;
        let codes = CodesView::read(value)?;
        check_model(space, &codes.header)?;
        let checked = store.checked(key, &codes.header, value)?;
        let rows = rows_of(store, txn, key, &codes, &checked)?;
        blocks.push(Block { codes, rows, dead: store.dead(txn, key)?, checked });
    }
    let score = |block: &Block<'_>, row: usize| -> Result<f32> {
        block.checked.row(row, || block.rows.verify_row(row))?;
        Ok((kernel.dot_f32)(query, block.rows.row(row)))
    };
    for block in &blocks {
        for at in block.codes.segments.within(segments) {
            if let Some(row) = block.codes.segments.position(segments[at]) {
                rating.scores[at] = score(block, row)?;
            }
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
fn sample(blocks: &[Block<'_>]) -> Vec<(usize, usize)> {
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
fn first_of_each(blocks: &[Block<'_>], step: usize, last: usize) -> Vec<(u32, usize, usize)> {
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
fn first_from(block: &Block<'_>, at: usize, from: usize) -> Option<(u32, usize, usize)> {
    let codes = &block.codes;
    if (codes.header.last as usize) < from {
        return None;
    }
    let begin = codes.segments.lower_bound(from as u32);
    let row = (begin..codes.header.rows as usize).find(|row| !block.dead.has(*row))?;
    Some((codes.segments.get(row), at, row))
}
