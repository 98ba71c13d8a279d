//! Blocks of bits: one bit for each dimension of a row, beside the block of codes with the same rows (RaBitQ,
//! arXiv:2405.12497). They are derived in the background; nothing waits for them.
//!
//! A row d of a block with the centre c is kept as the signs b of its rotated residual r = P(d − c). With
//! x = (2b − 1)/√D and f = ⟨x, r⟩/‖r‖,
//!
//! ```text
//! ⟨q, d⟩ = ⟨q, c⟩ + ‖r‖/f · ⟨x, Pq⟩
//! ```
//!
//! up to an error with the standard deviation ‖q‖‖r‖ √((1 − f²)/f²/(D − 1)). A search skips rows that are several
//! standard deviations below the score that is needed. This bound is statistical.

use crate::blocks::block::{HEADER_BYTES, Header, Kind};
use crate::blocks::columns::{Columns, push_f32s, u32_at};
use crate::blocks::rotation::Rotation;
use crate::blocks::vectors::RowsView;
use crate::error::{Result, ShardError};
use crate::kernels::bits::{BITS_DIMENSIONS_MAX, BitsQuery, BitsTerms, GROUP, group_bytes};
use crate::kernels::kernel::Kernel;

/// Least value of 1 − f², so that the row's error also covers that of the query's four bits.
const SPREAD_MIN: f64 = 0.36;

/// Whether rows of this many dimensions can be kept as bits.
pub fn fits(dimensions: usize) -> bool {
    (1..=BITS_DIMENSIONS_MAX).contains(&dimensions)
}

/// The block of bits for a block of f32 rows.
pub fn encode(rows: &RowsView<'_>) -> Vec<u8> {
    let (count, dimensions) = (rows.header.rows as usize, rows.header.width as usize);
    let rotation = Rotation::of(dimensions);
    let padded = rotation.padded();
    let centre = centre_of(rows);
    let groups = count.div_ceil(GROUP);
    let body = centre_bytes(dimensions) + groups * group_bytes(padded);
    let mut value = Header::reserve(body);
    push_f32s(&mut value, centre.iter().copied());
    value.resize(HEADER_BYTES + centre_bytes(dimensions), 0);
    let mut rest = vec![0f32; padded];
    for from in (0..count).step_by(GROUP) {
        let start = value.len();
        value.resize(start + group_bytes(padded), 0);
        let group = &mut value[start..];
        for at in 0..GROUP.min(count - from) {
            rest.fill(0.0);
            for ((rest, bytes), centre) in rest.iter_mut().zip(rows.row(from + at).chunks_exact(4)).zip(&centre) {
                *rest = f32::from_bits(u32_at(bytes, 0)) - centre;
            }
            rotation.apply(&mut rest);
            put_row(group, at, &rest);
        }
    }
    let Header { model, first, last, .. } = rows.header;
    Header { model, first, last, rows: count as u32, ..Header::new(Kind::VectorBits, &[], dimensions) }
        .seal(&mut value, body);
    value
}

/// Bytes of the centre, padded to whole cache lines.
fn centre_bytes(dimensions: usize) -> usize {
    (4 * dimensions).next_multiple_of(64)
}

fn centre_of(rows: &RowsView<'_>) -> Vec<f32> {
    let count = rows.header.rows as usize;
    let mut sums = vec![0f64; rows.header.width as usize];
    for row in 0..count {
        for (sum, bytes) in sums.iter_mut().zip(rows.row(row).chunks_exact(4)) {
            *sum += f64::from(f32::from_bits(u32_at(bytes, 0)));
        }
    }
    sums.into_iter().map(|sum| (sum / count.max(1) as f64) as f32).collect()
}

fn put_row(group: &mut [u8], at: usize, rest: &[f32]) {
    let (mut squares, mut magnitudes, mut set) = (0f64, 0f64, 0u32);
    for (plane, eight) in rest.chunks_exact(8).enumerate() {
        let mut byte = 0u8;
        for (bit, value) in eight.iter().enumerate() {
            byte |= u8::from(*value > 0.0) << bit;
            squares += f64::from(*value).powi(2);
            magnitudes += f64::from(value.abs());
        }
        set += byte.count_ones();
        group[plane * GROUP + at] = byte;
    }
    let dimensions = rest.len() as f64;
    // ‖r‖/(f√D) = ‖r‖²/‖r‖₁.
    let scale = if magnitudes > 0.0 { squares / magnitudes } else { 0.0 };
    let cosine = if squares > 0.0 { magnitudes / (squares * dimensions).sqrt() } else { 1.0 };
    let spread = scale * dimensions.sqrt() * ((1.0 - cosine * cosine).max(SPREAD_MIN) / (dimensions - 1.0)).sqrt();
    let columns = rest.len() / 8 * GROUP;
    for (column, value) in [scale, 2.0 * scale * f64::from(set), spread].into_iter().enumerate() {
        let from = columns + 4 * (column * GROUP + at);
        group[from..from + 4].copy_from_slice(&(value as f32).to_le_bytes());
    }
}

/// A block of bits.
#[derive(Clone, Copy)]
pub struct BitsView<'a> {
    pub header: Header,
    centre: &'a [u8],
    groups: &'a [u8],
    group_bytes: usize,
}

impl<'a> BitsView<'a> {
    pub fn read(value: &'a [u8]) -> Result<Self> {
        let header = Header::read(value, Kind::VectorBits)?;
        let (rows, dimensions) = (header.rows as usize, header.width as usize);
        if !fits(dimensions) {
            return Err(ShardError::corrupt("A block of bits has too many dimensions."));
        }
        let group_bytes = group_bytes(dimensions.next_multiple_of(64));
        let mut columns = Columns(&value[HEADER_BYTES..]);
        let centre = &columns.take(Some(centre_bytes(dimensions)))?[..4 * dimensions];
        let groups = columns.take(rows.div_ceil(GROUP).checked_mul(group_bytes))?;
        Ok(Self { header, centre, groups, group_bytes })
    }

    /// The bytes of a group, as `kernels/bits.rs` draws them.
    pub fn group(&self, at: usize) -> &'a [u8] {
        &self.groups[at * self.group_bytes..(at + 1) * self.group_bytes]
    }

    /// One bit for each row that the group has: the last one has fewer than 64.
    pub fn rows_of(&self, group: usize) -> u64 {
        match self.header.rows as usize - group * GROUP {
            left if left >= GROUP => u64::MAX,
            left => (1 << left) - 1,
        }
    }

    pub fn groups(&self) -> usize {
        (self.header.rows as usize).div_ceil(GROUP)
    }
}

/// A query, rotated and quantised for blocks of bits.
pub struct RotatedQuery<'q> {
    query: &'q [f32],
    pub bits: BitsQuery,
    reach: f32,
}

impl<'q> RotatedQuery<'q> {
    /// Rows are skipped that are `deviations` standard deviations below the score that is needed.
    pub fn new(query: &'q [f32], norm: f32, deviations: f32) -> Self {
        let rotation = Rotation::of(query.len());
        let mut rotated = query.to_vec();
        rotated.resize(rotation.padded(), 0.0);
        rotation.apply(&mut rotated);
        let bits = BitsQuery::new(&rotated);
        let residual = f64::from(bits.residual());
        let reach = (f64::from(norm).powi(2) + residual.powi(2) / SPREAD_MIN).sqrt() as f32 * deviations;
        Self { query, bits, reach }
    }

    /// The terms for one block. The caller sets the threshold.
    pub fn terms(&self, kernel: &Kernel, view: &BitsView<'_>) -> BitsTerms {
        let base = (kernel.dot_f32)(self.query, view.centre);
        BitsTerms { base, reach: self.reach, threshold: f32::NEG_INFINITY }
    }
}
