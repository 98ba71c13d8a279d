//! The rows of a space that may belong to an answer. They are found by their int8 codes, with a sure bound; where a
//! block has bits, only those rows are looked at that their bits leave a chance, with a statistical bound.

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
/// Rows whose codes are prefetched before they are looked at, where they lie apart.
const AHEAD: usize = 8;

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
    pub codes: CodesView<'t>,
    pub dead: Dead<'t>,
}

/// The candidates of one search, as they gather.
pub struct Candidates<'o> {
    kernel: &'static Kernel,
    query: QueryCodes,
    rotated: Option<RotatedQuery<'o>>,
    options: &'o SearchOptions,
    /// Lower ends of scores: k rows surely reach its threshold.
    lower: TopK,
    rows: Vec<Candidate>,
}

impl<'o> Candidates<'o> {
    pub fn new(kernel: &'static Kernel, query: &'o [f32], options: &'o SearchOptions) -> Self {
        let query = QueryCodes::new(query);
        Self { kernel, rotated: None, query, options, lower: TopK::new(options.k), rows: vec![] }
    }

    /// As [`Self::new`], for blocks that have bits.
    pub fn with_bits(kernel: &'static Kernel, query: &'o [f32], options: &'o SearchOptions, deviations: f32) -> Self {
        let candidates = Self::new(kernel, query, options);
        let rotated = RotatedQuery::new(query, candidates.query.norm, deviations);
        Self { rotated: Some(rotated), ..candidates }
    }

    /// Looks at the codes of every row.
    pub fn add_by_codes(&mut self, block: &CodesBlock<'_>) -> Result<()> {
        self.add_stretch(block, 0..block.codes.header.rows as usize)
    }

    /// Looks at the codes of some rows, given as stretches, ascending.
    pub fn add_rows(&mut self, block: &CodesBlock<'_>, stretches: &[Range<usize>]) -> Result<()> {
        let bound = self.query.terms(block.codes.header.norm_max, self.query.coded.dimensions());
        let mut ahead = stretches.iter().filter(|rows| rows.len() < STRETCH_MIN);
        ahead.by_ref().take(AHEAD).for_each(|rows| rows.clone().for_each(|row| self.prefetch_row(block, row)));
        for rows in stretches {
            if rows.len() >= STRETCH_MIN {
                self.add_stretch(block, rows.clone())?;
                continue;
            }
            self.options.stop.check()?;
            if let Some(next) = ahead.next() {
                next.clone().for_each(|row| self.prefetch_row(block, row));
            }
            rows.clone().for_each(|row| self.offer_row(block, row, bound));
        }
        Ok(())
    }

    fn add_stretch(&mut self, block: &CodesBlock<'_>, rows: Range<usize>) -> Result<()> {
        let view = &block.codes;
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

    /// Looks at the codes of those rows alone whose bits leave them a chance. `allowed`: a bit for each row that may be
    /// found, group by group; None for all.
    pub fn add_by_bits(&mut self, block: &CodesBlock<'_>, bits: &BitsView<'_>, allowed: Option<&[u64]>) -> Result<()> {
        // Without the rotated query every code is looked at.
        let Some(rotated) = self.rotated.take() else { return self.add_by_codes(block) };
        let outcome = self.add_by_rotated(&rotated, block, bits, allowed);
        self.rotated = Some(rotated);
        outcome
    }

    /// Prefetches the codes of a group's rows, and looks at them after the next group's bits.
    fn add_by_rotated(
        &mut self,
        rotated: &RotatedQuery<'_>,
        block: &CodesBlock<'_>,
        bits: &BitsView<'_>,
        allowed: Option<&[u64]>,
    ) -> Result<()> {
        let mut terms = rotated.terms(self.kernel, bits);
        let bound = self.query.terms(block.codes.header.norm_max, self.query.coded.dimensions());
        let mut before = (0, 0u64);
        for group in 0..bits.groups() {
            self.options.stop.check()?;
            let wanted = allowed.map_or(u64::MAX, |allowed| allowed[group]) & bits.rows_of(group);
            if wanted == 0 {
                continue;
            }
            terms.threshold = self.lower.threshold();
            let reached = (self.kernel.bits_reach)(&rotated.bits, &terms, bits.group(group)) & wanted;
            for_each_row(group, reached, |row| self.prefetch_row(block, row));
            for_each_row(before.0, before.1, |row| self.offer_row(block, row, bound));
            before = (group, reached);
        }
        for_each_row(before.0, before.1, |row| self.offer_row(block, row, bound));
        Ok(())
    }

    /// Prefetches what [`Self::offer_row`] reads.
    fn prefetch_row(&self, block: &CodesBlock<'_>, row: usize) {
        let view = &block.codes;
        let dimensions = self.query.coded.dimensions();
        prefetch(&view.codes[row * dimensions..(row + 1) * dimensions]);
        prefetch(&view.scales[4 * row..][..4]);
        prefetch(&view.residuals[4 * row..][..4]);
    }

    fn offer_row(&mut self, block: &CodesBlock<'_>, row: usize, terms: BoundTerms) {
        let view = &block.codes;
        let dimensions = self.query.coded.dimensions();
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
        let segment = block.codes.segments.get(row);
        self.rows.push(Candidate { upper, segment, block: block.index, row: row as u32 });
        self.lower.offer(Scored { score: estimate - error, segment });
    }

    /// The rows that may still belong to the answer, by falling upper end.
    pub fn into_sorted(self) -> Vec<Candidate> {
        let threshold = self.lower.threshold();
        let mut rows = self.rows;
        rows.retain(|row| row.upper >= threshold);
        rows.sort_unstable_by(|left, right| right.upper.total_cmp(&left.upper).then(left.segment.cmp(&right.segment)));
        rows
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

/// Calls `visit` for the rows of a group whose bits are set.
#[inline(always)]
fn for_each_row(group: usize, bits: u64, mut visit: impl FnMut(usize)) {
    let mut left = bits;
    while left != 0 {
        visit(group * GROUP + left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

fn copy_f32s(column: &[u8], from: usize, out: &mut [f32]) {
    let column = &column[4 * from..4 * (from + out.len())];
    for (number, bytes) in out.iter_mut().zip(column.chunks_exact(4)) {
        *number = f32::from_bits(u32_at(bytes, 0));
    }
}
