//! The rows of a space that may belong to an answer: found by their int8 codes with a sure bound, after bits with a
//! statistical one where there are bits.

use crate::blocks::bits::{BitsView, RotatedQuery};
use crate::blocks::columns::u32_at;
use crate::blocks::dead::Dead;
use crate::blocks::vectors::{CodesView, quantise};
use crate::error::Result;
use crate::kernels::bits::GROUP;
use crate::kernels::kernel::{BoundRows, BoundTerms, CodedQuery, Kernel};
use crate::kernels::lanes::LANES;
use crate::kernels::prefetch::prefetch;
use crate::ranking::options::Want;
use crate::ranking::top_k::{Scored, Top};

/// Rows whose estimates are computed before any of them is looked at: their numbers stay in the first-level cache.
const CHUNK: usize = 256;

/// A row that may belong to the answer.
#[derive(Clone, Copy)]
pub struct Candidate {
    pub upper: f32,
    pub segment: u32,
    pub block: u32,
    pub row: u32,
}

/// A block of codes, its number in this search, and the rows that are dead.
#[derive(Clone, Copy)]
pub struct Sifted<'t> {
    pub index: u32,
    pub codes: CodesView<'t>,
    pub dead: Dead<'t>,
    /// Rows of lower segments were found in another way.
    pub first: u32,
}

pub struct Sieve<'w> {
    kernel: &'static Kernel,
    query: QueryCodes,
    rotated: Option<RotatedQuery<'w>>,
    want: &'w Want,
    /// Scores that so many rows surely reach.
    lower: Top,
    candidates: Vec<Candidate>,
}

impl<'w> Sieve<'w> {
    pub fn new(kernel: &'static Kernel, query: &'w [f32], want: &'w Want) -> Self {
        let query = QueryCodes::new(query);
        Self { kernel, rotated: None, query, want, lower: Top::new(want.k), candidates: vec![] }
    }

    /// As [`Self::new`], for blocks that have bits.
    pub fn with_bits(kernel: &'static Kernel, query: &'w [f32], want: &'w Want, deviations: f32) -> Self {
        let sieve = Self::new(kernel, query, want);
        let rotated = RotatedQuery::new(query, sieve.query.norm, deviations);
        Self { rotated: Some(rotated), ..sieve }
    }

    /// Looks at the codes of every row.
    pub fn by_codes(&mut self, block: &Sifted<'_>) -> Result<()> {
        let view = &block.codes;
        let dimensions = self.query.coded.dimensions();
        let terms = self.query.terms(view.header.norm_max, dimensions);
        let rows = view.header.rows as usize;
        let (mut dots, mut scales, mut residuals) = ([0i32; CHUNK], [0f32; CHUNK], [0f32; CHUNK]);
        let (mut estimates, mut errors) = ([0f32; CHUNK], [0f32; CHUNK]);
        let begin = view.segments.lower_bound(block.first);
        for from in (begin..rows).step_by(CHUNK) {
            self.want.stop.check()?;
            let count = CHUNK.min(rows - from);
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

    /// Looks at the codes of those rows alone whose bits leave them a chance.
    pub fn by_bits(&mut self, block: &Sifted<'_>, bits: &BitsView<'_>) -> Result<()> {
        // A sieve without the rotated query looks at every code.
        let Some(rotated) = self.rotated.take() else { return self.by_codes(block) };
        let outcome = self.by_rotated(&rotated, block, bits);
        self.rotated = Some(rotated);
        outcome
    }

    /// The codes of a group's rows are on their way from memory while the next group's bits are looked at.
    fn by_rotated(&mut self, rotated: &RotatedQuery<'_>, block: &Sifted<'_>, bits: &BitsView<'_>) -> Result<()> {
        let mut terms = rotated.terms(self.kernel, bits);
        let bound = self.query.terms(block.codes.header.norm_max, self.query.coded.dimensions());
        let mut before = (0, 0u64);
        for group in 0..bits.groups() {
            self.want.stop.check()?;
            terms.threshold = self.lower.threshold();
            let reached = (self.kernel.bits_reach)(&rotated.bits, &terms, bits.group(group)) & bits.rows_of(group);
            for_each_row(group, reached, |row| self.fetch_row(block, row));
            for_each_row(before.0, before.1, |row| self.offer_row(block, row, bound));
            before = (group, reached);
        }
        for_each_row(before.0, before.1, |row| self.offer_row(block, row, bound));
        Ok(())
    }

    /// Looks at the code of one row.
    pub fn by_row(&mut self, block: &Sifted<'_>, row: usize) {
        let bound = self.query.terms(block.codes.header.norm_max, self.query.coded.dimensions());
        self.offer_row(block, row, bound);
    }

    /// Has brought into the cache what [`Self::offer_row`] reads.
    fn fetch_row(&self, block: &Sifted<'_>, row: usize) {
        let view = &block.codes;
        let dimensions = self.query.coded.dimensions();
        prefetch(&view.codes[row * dimensions..(row + 1) * dimensions]);
        prefetch(&view.scales[4 * row..][..4]);
        prefetch(&view.residuals[4 * row..][..4]);
    }

    fn offer_row(&mut self, block: &Sifted<'_>, row: usize, terms: BoundTerms) {
        let view = &block.codes;
        let dimensions = self.query.coded.dimensions();
        let mut dot = [0];
        (self.kernel.dots_i8)(&self.query.coded, &view.codes[row * dimensions..(row + 1) * dimensions], &mut dot);
        let of = |column: &[u8]| f32::from_bits(u32_at(column, 4 * row));
        let estimate = of(view.scales) * terms.query_scale * dot[0] as f32;
        let error = of(view.residuals) * terms.query_norm + terms.slack;
        self.offer(block, row, estimate, error);
    }

    #[inline(always)]
    fn offer(&mut self, block: &Sifted<'_>, row: usize, estimate: f32, error: f32) {
        let upper = estimate + error;
        if upper < self.lower.threshold() || block.dead.has(row) {
            return;
        }
        let segment = block.codes.segments.get(row);
        self.candidates.push(Candidate { upper, segment, block: block.index, row: row as u32 });
        self.lower.offer(Scored { score: estimate - error, segment });
    }

    /// Those that may still belong to the answer, likeliest first.
    pub fn into_candidates(self) -> Vec<Candidate> {
        let threshold = self.lower.threshold();
        let mut candidates = self.candidates;
        candidates.retain(|candidate| candidate.upper >= threshold);
        candidates
            .sort_unstable_by(|left, right| right.upper.total_cmp(&left.upper).then(left.segment.cmp(&right.segment)));
        candidates
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
