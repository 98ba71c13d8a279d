//! The rows of a space that may belong to an answer. They are found by their int8 codes, with a sure bound; where a
//! block has bits, only those rows are looked at that their bits leave a chance, with a statistical bound.
//!
//! A row's codes are a cache miss, its bits are not. So rows that pass by their bits wait, the best of them are looked
//! at first, and most of the others are below the threshold before their turn comes.

use std::ops::Range;

use crate::blocks::bits::{BitsView, RotatedQuery};
use crate::blocks::columns::u32_at;
use crate::blocks::dead::Dead;
use crate::blocks::vectors::{CodesView, quantise};
use crate::error::Result;
use crate::kernels::bits::GROUP;
use crate::kernels::kernel::{BoundRows, BoundTerms, CodedQuery, Kernel};
use crate::kernels::lanes::LANES;
use crate::kernels::prefetch::prefetch;
use crate::ranking::options::SearchOptions;
use crate::ranking::top_k::{Scored, TopK};

/// Rows whose estimates are computed together, before any is looked at: their numbers stay in the first-level cache.
const CHUNK: usize = 256;
/// Rows beside each other from which on they are looked at together.
const STRETCH_MIN: usize = 8;
/// Bytes of codes prefetched ahead where rows lie apart: enough to hide a miss, and a quarter of a first-level cache.
const AHEAD_BYTES: usize = 8 << 10;
/// Rows that wait at most, if few hits are wanted: they fit the first-level cache.
const WAITING_MIN: usize = 1024;
/// Rows that wait at most, for each hit wanted: the more wait, the fewer codes are read.
const WAITING_PER_HIT: usize = 8;
/// Rows looked at together, for each hit wanted: the best k by codes are mostly among the best 2k by bits.
const BEST_PER_HIT: usize = 2;

/// A row that may belong to the answer.
#[derive(Clone, Copy)]
pub struct Candidate {
    pub upper: f32,
    pub segment: u32,
    pub block: u32,
    pub row: u32,
}

/// A block of codes with its number in this search and its dead rows.
#[derive(Clone, Copy)]
pub struct CodesBlock<'t> {
    pub index: u32,
    pub view: CodesView<'t>,
    pub dead: Dead<'t>,
}

/// A row whose codes may be looked at. `upper` is the highest score that it may have by its bits.
#[derive(Clone, Copy)]
struct Waiting<'o> {
    upper: f32,
    row: u32,
    block: &'o CodesBlock<'o>,
}

/// A row that was found in another way.
#[derive(Clone, Copy)]
pub struct NearRow<'b> {
    pub block: &'b CodesBlock<'b>,
    pub row: u32,
}

/// The candidates of one search, as they gather.
pub struct Candidates<'o> {
    kernel: &'static Kernel,
    query: QueryCodes,
    options: &'o SearchOptions,
    /// Lower ends of scores: k rows surely reach its threshold.
    lower: TopK,
    waiting: Vec<Waiting<'o>>,
    rows: Vec<Candidate>,
}

impl<'o> Candidates<'o> {
    pub fn new(kernel: &'static Kernel, query: &[f32], options: &'o SearchOptions) -> Self {
        let lower = TopK::new(options.k);
        Self { kernel, query: QueryCodes::new(query), options, lower, waiting: vec![], rows: vec![] }
    }

    /// The query for [`Self::add_by_bits`]: rows are skipped that are `deviations` standard deviations too low.
    pub fn rotated<'q>(&self, query: &'q [f32], deviations: f32) -> RotatedQuery<'q> {
        RotatedQuery::new(query, self.query.norm, deviations)
    }

    /// Looks at the codes of every row.
    pub fn add_by_codes(&mut self, block: &CodesBlock<'_>) -> Result<()> {
        self.add_stretch(block, 0..block.view.header.rows as usize)
    }

    /// Looks at the codes of some rows, given as stretches, ascending.
    pub fn add_rows(&mut self, block: &CodesBlock<'_>, stretches: &[Range<usize>]) -> Result<()> {
        let (long, short): (Vec<_>, Vec<_>) = stretches.iter().cloned().partition(|rows| rows.len() >= STRETCH_MIN);
        let apart = short.into_iter().flatten();
        self.add_apart(apart.map(|row| Waiting { upper: f32::INFINITY, row: row as u32, block }))?;
        long.into_iter().try_for_each(|rows| self.add_stretch(block, rows))
    }

    /// Looks at the codes of rows, the most promising first.
    pub fn add_near(&mut self, rows: &[NearRow<'_>]) -> Result<()> {
        self.add_apart(rows.iter().map(|near| Waiting { upper: f32::INFINITY, row: near.row, block: near.block }))
    }

    fn add_stretch(&mut self, block: &CodesBlock<'_>, rows: Range<usize>) -> Result<()> {
        let view = &block.view;
        let dimensions = self.query.coded.dimensions();
        let terms = self.query.terms(view.header.norm_max, dimensions);
        let (mut dots, mut scales, mut residuals) = ([0i32; CHUNK], [0f32; CHUNK], [0f32; CHUNK]);
        let (mut estimates, mut errors) = ([0f32; CHUNK], [0f32; CHUNK]);
        for from in rows.clone().step_by(CHUNK) {
            self.options.stop.check()?;
            let count = CHUNK.min(rows.end - from);
            let codes = &view.codes[from * dimensions..(from + count) * dimensions];
            (self.kernel.dots_i8)(&self.query.coded, codes, &mut dots[..count]);
            copy_f32s(view.scales, from, &mut scales[..count]);
            copy_f32s(view.residuals, from, &mut residuals[..count]);
            let mut out = BoundRows { estimates: &mut estimates, errors: &mut errors };
            let threshold = self.lower.threshold();
            let bounds = self.kernel.bounds;
            if !bounds(&dots[..count], &scales[..count], &residuals[..count], terms, threshold, &mut out) {
                continue;
            }
            for offset in 0..count {
                self.offer(block, from + offset, estimates[offset], errors[offset]);
            }
        }
        Ok(())
    }

    /// Looks at the codes of those rows alone whose bits leave them a chance, at the latest in [`Self::into_sorted`].
    /// `allowed`: a bit for each row that may be found, group by group; None for all.
    pub fn add_by_bits(
        &mut self,
        block: &'o CodesBlock<'o>,
        (rotated, bits): (&RotatedQuery<'_>, &BitsView<'_>),
        allowed: Option<&[u64]>,
    ) -> Result<()> {
        let room = WAITING_MIN.max(WAITING_PER_HIT * self.options.k);
        let mut terms = rotated.terms(self.kernel, bits);
        let mut uppers = [0f32; GROUP];
        for group in 0..bits.groups() {
            self.options.stop.check()?;
            let wanted = allowed.map_or(u64::MAX, |allowed| allowed[group]) & bits.rows_of(group);
            if wanted == 0 {
                continue;
            }
            terms.threshold = self.lower.threshold();
            let mut left = (self.kernel.bits_reach)(&rotated.bits, &terms, bits.group(group), &mut uppers) & wanted;
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                self.waiting.push(Waiting { upper: uppers[at], row: (group * GROUP + at) as u32, block });
                left &= left - 1;
            }
            if self.waiting.len() >= room {
                self.look_at_best(room / 2)?;
            }
        }
        Ok(())
    }

    /// Looks at the codes of the waiting rows with the highest upper ends, and drops those that cannot reach the
    /// threshold any more, until at most `remaining` wait.
    fn look_at_best(&mut self, remaining: usize) -> Result<()> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let mut best = BEST_PER_HIT * self.options.k;
        while waiting.len() > remaining {
            if best < waiting.len() {
                waiting.select_nth_unstable_by(best, |left, right| right.upper.total_cmp(&left.upper));
            }
            self.add_apart(waiting.iter().take(best).copied())?;
            waiting.drain(..best.min(waiting.len()));
            let threshold = self.lower.threshold();
            waiting.retain(|row| reaches(row.upper, threshold));
            best *= 2;
        }
        self.waiting = waiting;
        Ok(())
    }

    /// Looks at the codes of rows that lie apart, as long as they may reach the threshold.
    fn add_apart<'b>(&mut self, rows: impl Iterator<Item = Waiting<'b>> + Clone) -> Result<()> {
        let dimensions = self.query.coded.dimensions();
        let mut ahead = rows.clone();
        ahead.by_ref().take(AHEAD_BYTES.div_ceil(dimensions)).for_each(|row| self.prefetch_row(row));
        for row in rows {
            self.options.stop.check()?;
            ahead.by_ref().take(1).for_each(|row| self.prefetch_row(row));
            if reaches(row.upper, self.lower.threshold()) {
                self.offer_row(row);
            }
        }
        Ok(())
    }

    /// Prefetches what [`Self::offer_row`] reads.
    fn prefetch_row(&self, Waiting { row, block: CodesBlock { view, .. }, .. }: Waiting<'_>) {
        let (row, dimensions) = (row as usize, self.query.coded.dimensions());
        prefetch(&view.codes[row * dimensions..(row + 1) * dimensions]);
        prefetch(&view.scales[4 * row..][..4]);
        prefetch(&view.residuals[4 * row..][..4]);
    }

    fn offer_row(&mut self, Waiting { row, block, .. }: Waiting<'_>) {
        let (row, view, dimensions) = (row as usize, &block.view, self.query.coded.dimensions());
        let terms = self.query.terms(view.header.norm_max, dimensions);
        let mut dot = [0];
        (self.kernel.dots_i8)(&self.query.coded, &view.codes[row * dimensions..(row + 1) * dimensions], &mut dot);
        let number = |column: &[u8]| f32::from_bits(u32_at(column, 4 * row));
        let estimate = number(view.scales) * terms.query_scale * dot[0] as f32;
        let error = number(view.residuals) * terms.query_norm + terms.slack;
        self.offer(block, row, estimate, error);
    }

    #[inline(always)]
    fn offer(&mut self, block: &CodesBlock<'_>, row: usize, estimate: f32, error: f32) {
        let upper = estimate + error;
        if upper < self.lower.threshold() || block.dead.has(row) {
            return;
        }
        let segment = block.view.segments.get(row);
        self.rows.push(Candidate { upper, segment, block: block.index, row: row as u32 });
        self.lower.offer(Scored { score: estimate - error, segment });
    }

    /// The rows that may still belong to the answer, by falling upper end.
    pub fn into_sorted(mut self) -> Result<Vec<Candidate>> {
        self.look_at_best(0)?;
        let threshold = self.lower.threshold();
        let mut rows = self.rows;
        rows.retain(|row| row.upper >= threshold);
        rows.sort_unstable_by(|left, right| right.upper.total_cmp(&left.upper).then(left.segment.cmp(&right.segment)));
        Ok(rows)
    }
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
        let quantised = quantise(query, &mut codes);
        Self {
            coded: CodedQuery::new(&codes),
            scale: quantised.scale,
            residual: quantised.residual,
            norm: quantised.norm,
        }
    }

    /// The parts of the bound that are the same for every row of a block whose norms are at most `norm_max`.
    ///
    /// An f32 dot product is off by at most (n / 32 + 6) roundings of ‖q‖‖d‖ (Higham 2002, section 3.1). The bound's
    /// own arithmetic adds a few more. Sixteen more, each counted twice, cover both.
    fn terms(&self, norm_max: f32, dimensions: usize) -> BoundTerms {
        let roundings = (dimensions.div_ceil(LANES) + 16) as f32 * f32::EPSILON;
        let slack = self.residual * norm_max + roundings * self.norm * norm_max + f32::MIN_POSITIVE;
        BoundTerms { query_scale: self.scale, query_norm: self.norm, slack: slack * (1.0 + 1e-5) }
    }
}

/// Whether a row with this upper end may reach the threshold. NaN may.
#[inline(always)]
fn reaches(upper: f32, threshold: f32) -> bool {
    let below = upper < threshold;
    !below
}

fn copy_f32s(column: &[u8], from: usize, out: &mut [f32]) {
    let column = &column[4 * from..4 * (from + out.len())];
    for (number, bytes) in out.iter_mut().zip(column.chunks_exact(4)) {
        *number = f32::from_bits(u32_at(bytes, 0));
    }
}
