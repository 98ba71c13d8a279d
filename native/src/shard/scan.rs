//! Search of a vector space: int8 codes with a sure bound, then f32 for the rows that the bound leaves a chance.
//!
//! First all codes are scanned. A row's exact score lies within estimate ± error, so the k-th best of all lower ends is a
//! score that k rows surely reach; a row whose upper end is below it can be left out. The rest is rescored, likeliest
//! first, until no upper end reaches the k-th best exact score: what was not rescored is proved not to belong to the
//! answer.

use heed::RoTxn;

use super::block::u32_at;
use super::error::{Result, ShardError};
use super::question::Want;
use super::store::{BlockKey, Checked, SpaceSpec, Store};
use super::top::{Ranking, Scored, Top};
use super::vectors::{CodesView, RowsView, check_finite, quantise};
use super::write::check_model;
use crate::kernels::{BoundRows, BoundTerms, CodedQuery, Kernel, LANES};
use std::sync::Arc;

/// Rows whose estimates are computed before any of them is looked at: their numbers stay in the first-level cache.
const CHUNK: usize = 256;

struct Block<'t> {
    key: BlockKey,
    codes: CodesView<'t>,
    checked: Arc<Checked>,
    rows: Option<RowsView<'t>>,
}

/// A row that may belong to the answer.
#[derive(Clone, Copy)]
struct Candidate {
    upper: f32,
    segment: u32,
    block: u32,
    row: u32,
}

/// The exact best k rows of a space for a query, in the order of their f32 scores, then of insertion.
pub fn search(
    store: &Store,
    txn: &RoTxn<'_>,
    kernel: &Kernel,
    space: &SpaceSpec,
    query: &[f32],
    want: &Want,
) -> Result<Ranking> {
    if query.len() != space.dimensions {
        return Err(ShardError::internal(format!(
            "A query of {} has {} dimensions instead of {}.",
            space.name,
            query.len(),
            space.dimensions
        )));
    }
    check_finite(query)?;
    let mut ranking = Ranking { exact: true, ..Ranking::default() };
    let Some(family) = store.space_family(txn, space)? else { return Ok(ranking) };
    if want.k == 0 {
        return Ok(ranking);
    }
    let mut blocks = vec![];
    for entry in store.blocks_of(txn, family)? {
        let (key, value) = entry?;
        let codes = CodesView::read(value)?;
        check_model(space, &codes.header)?;
        blocks.push(Block { key, codes, checked: store.checked(key, &codes.header, value)?, rows: None });
    }
    let candidates = scan(store, txn, kernel, &blocks, query, want, &mut ranking)?;
    rescore(store, txn, kernel, &mut blocks, query, want, candidates, &mut ranking)?;
    Ok(ranking)
}

struct QueryCodes {
    coded: CodedQuery,
    scale: f32,
    residual: f32,
    norm: f32,
}

impl QueryCodes {
    fn new(query: &[f32]) -> Self {
        let mut codes = Vec::with_capacity(query.len());
        let coded = quantise(query, &mut codes);
        Self { coded: CodedQuery::new(&codes), scale: coded.scale, residual: coded.residual, norm: coded.norm }
    }

    /// The parts of the bound that are the same for every row of a block whose norms are at most `norm_max`.
    ///
    /// An f32 dot product is off by at most (n / 32 + 6) roundings of ‖q‖‖d‖ (Higham 2002, section 3.1); the bound's own
    /// arithmetic adds a few more. Sixteen more, each counted twice, cover both.
    fn terms(&self, norm_max: f32, dimensions: usize) -> BoundTerms {
        let roundings = (dimensions.div_ceil(LANES) + 16) as f32 * f32::EPSILON;
        let slack = self.residual * norm_max + roundings * self.norm * norm_max + f32::MIN_POSITIVE;
        BoundTerms { query_scale: self.scale, query_norm: self.norm, slack: slack * (1.0 + 1e-5) }
    }
}

fn scan(
    store: &Store,
    txn: &RoTxn<'_>,
    kernel: &Kernel,
    blocks: &[Block<'_>],
    query: &[f32],
    want: &Want,
    ranking: &mut Ranking,
) -> Result<Vec<Candidate>> {
    let query = QueryCodes::new(query);
    let dimensions = query.coded.dimensions();
    let mut lower = Top::new(want.k);
    let mut candidates = vec![];
    let (mut dots, mut scales, mut residuals) = ([0i32; CHUNK], [0f32; CHUNK], [0f32; CHUNK]);
    let (mut estimates, mut errors) = ([0f32; CHUNK], [0f32; CHUNK]);
    for (index, block) in blocks.iter().enumerate() {
        let view = &block.codes;
        let dead = store.dead(txn, block.key)?;
        let terms = query.terms(view.header.norm_max, dimensions);
        let rows = view.header.rows as usize;
        ranking.scanned += rows as u64;
        for from in (0..rows).step_by(CHUNK) {
            want.stop.check()?;
            let count = CHUNK.min(rows - from);
            (kernel.dots_i8)(
                &query.coded,
                &view.codes[from * dimensions..(from + count) * dimensions],
                &mut dots[..count],
            );
            copy_f32s(view.scales, from, &mut scales[..count]);
            copy_f32s(view.residuals, from, &mut residuals[..count]);
            let mut out = BoundRows { estimates: &mut estimates, errors: &mut errors };
            let mut threshold = lower.threshold();
            if !(kernel.bounds)(&dots[..count], &scales[..count], &residuals[..count], terms, threshold, &mut out) {
                continue;
            }
            for offset in 0..count {
                let upper = estimates[offset] + errors[offset];
                if upper < threshold || dead.has(from + offset) {
                    continue;
                }
                let segment = view.segments.get(from + offset);
                candidates.push(Candidate { upper, segment, block: index as u32, row: (from + offset) as u32 });
                lower.offer(Scored { score: estimates[offset] - errors[offset], segment });
                threshold = lower.threshold();
            }
        }
    }
    let threshold = lower.threshold();
    candidates.retain(|candidate| candidate.upper >= threshold);
    Ok(candidates)
}

fn copy_f32s(column: &[u8], from: usize, out: &mut [f32]) {
    let column = &column[4 * from..4 * (from + out.len())];
    for (number, bytes) in out.iter_mut().zip(column.chunks_exact(4)) {
        *number = f32::from_bits(u32_at(bytes, 0));
    }
}

#[allow(clippy::too_many_arguments, reason = "one step of a search, split off to fit a screen")]
fn rescore<'t>(
    store: &Store,
    txn: &'t RoTxn<'_>,
    kernel: &Kernel,
    blocks: &mut [Block<'t>],
    query: &[f32],
    want: &Want,
    mut candidates: Vec<Candidate>,
    ranking: &mut Ranking,
) -> Result<()> {
    candidates
        .sort_unstable_by(|left, right| right.upper.total_cmp(&left.upper).then(left.segment.cmp(&right.segment)));
    let mut top = Top::new(want.k);
    for candidate in candidates {
        if candidate.upper < top.threshold() {
            break;
        }
        want.stop.check()?;
        let block = &mut blocks[candidate.block as usize];
        let row = candidate.row as usize;
        let rows = match block.rows {
            Some(rows) => rows,
            None => *block.rows.insert(rows_of(store, txn, block.key, &block.codes, &block.checked)?),
        };
        block.checked.row(row, || rows.verify_row(row))?;
        top.offer(Scored { score: (kernel.dot_f32)(query, rows.row(row)), segment: candidate.segment });
        ranking.rescored += 1;
    }
    ranking.hits = top.into_ranking();
    Ok(())
}

fn rows_of<'t>(
    store: &Store,
    txn: &'t RoTxn<'_>,
    key: BlockKey,
    codes: &CodesView<'_>,
    checked: &Checked,
) -> Result<RowsView<'t>> {
    let missing = || ShardError::corrupt("The vectors of a block are missing.");
    let value = store.databases.rows.get(txn, &key.bytes())?.ok_or_else(missing)?;
    let rows = RowsView::read(value)?;
    Store::check_rows_header(checked, value)?;
    let (left, right) = (rows.header, codes.header);
    if (left.rows, left.width, left.first, left.last) != (right.rows, right.width, right.first, right.last) {
        return Err(ShardError::corrupt("A block's codes and rows do not belong together."));
    }
    Ok(rows)
}
