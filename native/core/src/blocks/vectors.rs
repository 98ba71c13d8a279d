//! Blocks of vectors. Codes (int8) and f32 rows are separate values, so that a scan reads codes alone.
//!
//! A row d is coded as d̂ = scale · code, with the norm of the residual, r = ‖d − d̂‖, rounded up. For a query q that
//! is coded as q̂, |⟨q,d⟩ − ⟨q̂,d̂⟩| ≤ ‖q‖·r + ‖q − q̂‖·‖d̂‖ (Cauchy–Schwarz). This bound makes a scan provably exact.

use crate::blocks::block::{self, HEADER_BYTES, Header, Kind};
use crate::blocks::columns::{Columns, U32Column, push_f32s, push_u32s, u32_at};
use crate::blocks::dead::Dead;
use crate::error::{Result, ShardError};

/// Largest magnitude of a vector's element: far above unit length, and far below what overflows a sum.
pub const ELEMENT_MAX: f32 = 1e6;

/// Rows of one space to be stored, in ascending order of their segments.
#[derive(Debug, Default, Clone)]
pub struct VectorRows {
    pub segments: Vec<u32>,
    /// Row by row.
    pub values: Vec<f32>,
}

/// The two values of a new block.
pub struct EncodedVectors {
    pub codes: Vec<u8>,
    pub rows: Vec<u8>,
}

/// Refuses NaN, infinity, and magnitudes that would overflow.
pub fn check_finite(values: &[f32]) -> Result<()> {
    if values.iter().all(|value| value.abs() <= ELEMENT_MAX) {
        return Ok(());
    }
    Err(ShardError::internal("A vector has an element that is not a finite number of usual size."))
}

/// Scale and error of a vector's codes: `values[i] ≈ scale · codes[i]`.
pub struct Quantised {
    pub scale: f32,
    /// ‖values − scale · codes‖, rounded up.
    pub residual: f32,
    /// The larger of ‖values‖ and ‖scale · codes‖, rounded up.
    pub norm: f32,
}

/// Quantises symmetrically to −127..=127.
pub fn quantise(values: &[f32], codes: &mut Vec<i8>) -> Quantised {
    let largest = values.iter().fold(0f32, |largest, value| largest.max(value.abs()));
    let scale = largest / 127.0;
    let inverse = if scale.is_normal() { 1.0 / scale } else { 0.0 };
    let (mut residual, mut norm, mut coded_norm) = (0f64, 0f64, 0f64);
    for value in values {
        let code = (value * inverse).round_ties_even().clamp(-127.0, 127.0);
        let coded = f64::from(scale) * f64::from(code);
        let left = f64::from(*value) - coded;
        residual += left * left;
        norm += f64::from(*value) * f64::from(*value);
        coded_norm += coded * coded;
        codes.push(code as i8);
    }
    Quantised { scale, residual: rounded_up(residual.sqrt()), norm: rounded_up(norm.max(coded_norm).sqrt()) }
}

/// The next larger f32, and a little more for the roundings of the sum in f64.
fn rounded_up(value: f64) -> f32 {
    ((value * (1.0 + 1e-9)) as f32).next_up()
}

/// Makes a block of some rows.
pub fn encode(rows: &VectorRows, dimensions: usize, model: [u8; 32]) -> EncodedVectors {
    let count = rows.segments.len();
    let mut codes: Vec<i8> = Vec::with_capacity(count * dimensions);
    let coded: Vec<Quantised> = rows.values.chunks_exact(dimensions).map(|row| quantise(row, &mut codes)).collect();
    let norm_max = coded.iter().fold(0f32, |norm, row| norm.max(row.norm));
    let bytes: Vec<u8> = rows.values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let checksums: Vec<u32> = bytes.chunks_exact(4 * dimensions).map(crc32c::crc32c).collect();
    let scales: Vec<f32> = coded.iter().map(|row| row.scale).collect();
    let residuals: Vec<f32> = coded.iter().map(|row| row.residual).collect();
    let shape = Shape { dimensions, model, norm_max };
    EncodedVectors {
        codes: sealed_codes(&shape, &rows.segments, codes.iter().map(|code| *code as u8), &scales, &residuals),
        rows: sealed_rows(&shape, &rows.segments, &checksums, &bytes),
    }
}

struct Shape {
    dimensions: usize,
    model: [u8; 32],
    norm_max: f32,
}

impl Shape {
    fn header(&self, kind: Kind, segments: &[u32]) -> Header {
        Header { model: self.model, norm_max: self.norm_max, ..Header::new(kind, segments, self.dimensions) }
    }
}

fn sealed_codes(
    shape: &Shape,
    segments: &[u32],
    codes: impl IntoIterator<Item = u8>,
    scales: &[f32],
    residuals: &[f32],
) -> Vec<u8> {
    let body = segments.len() * (shape.dimensions + 12);
    let mut value = Header::reserve(body);
    value.extend(codes);
    push_f32s(&mut value, scales.iter().copied());
    push_f32s(&mut value, residuals.iter().copied());
    push_u32s(&mut value, segments.iter().copied());
    shape.header(Kind::VectorCodes, segments).seal(&mut value, body);
    value
}

fn sealed_rows(shape: &Shape, segments: &[u32], checksums: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut value = Header::reserve(4 * checksums.len() + bytes.len());
    push_u32s(&mut value, checksums.iter().copied());
    value.extend_from_slice(bytes);
    shape.header(Kind::VectorRows, segments).seal(&mut value, 4 * checksums.len());
    value
}

/// The codes of a block.
#[derive(Clone, Copy)]
pub struct CodesView<'a> {
    pub header: Header,
    pub codes: &'a [i8],
    pub scales: &'a [u8],
    pub residuals: &'a [u8],
    pub segments: U32Column<'a>,
}

impl<'a> CodesView<'a> {
    pub fn read(value: &'a [u8]) -> Result<Self> {
        let header = Header::read(value, Kind::VectorCodes)?;
        let (rows, width) = (header.rows as usize, header.width as usize);
        let mut columns = Columns(&value[HEADER_BYTES..]);
        let codes = columns.take(rows.checked_mul(width))?;
        let view = Self {
            header,
            // Safety: a signed and an unsigned byte have the same size, alignment and valid values.
            codes: unsafe { std::slice::from_raw_parts(codes.as_ptr().cast(), codes.len()) },
            scales: columns.take(Some(4 * rows))?,
            residuals: columns.take(Some(4 * rows))?,
            segments: U32Column(columns.take(Some(4 * rows))?),
        };
        Ok(view)
    }
}

/// The f32 rows of a block.
#[derive(Clone, Copy)]
pub struct RowsView<'a> {
    pub header: Header,
    checksums: U32Column<'a>,
    bytes: &'a [u8],
}

impl<'a> RowsView<'a> {
    pub fn read(value: &'a [u8]) -> Result<Self> {
        let header = Header::read(value, Kind::VectorRows)?;
        let (rows, width) = (header.rows as usize, header.width as usize);
        let mut columns = Columns(&value[HEADER_BYTES..]);
        let checksums = U32Column(columns.take(Some(4 * rows))?);
        Ok(Self { header, checksums, bytes: columns.take(rows.checked_mul(4 * width))? })
    }

    /// The row's little-endian bytes.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &'a [u8] {
        let bytes = 4 * self.header.width as usize;
        &self.bytes[row * bytes..(row + 1) * bytes]
    }

    pub fn verify_row(&self, row: usize) -> Result<()> {
        if crc32c::crc32c(self.row(row)) == self.checksums.get(row) {
            return Ok(());
        }
        Err(ShardError::corrupt("A vector does not match its checksum."))
    }
}

/// A block to be merged.
pub struct Source<'a> {
    pub codes: &'a [u8],
    pub rows: &'a [u8],
    pub dead: Dead<'a>,
}

/// Merges the living rows of several blocks into one, in ascending order of their segments. `None` if no row lives.
/// Codes and rows are copied unchanged, and rows keep their checksums, so that damage stays visible.
pub fn merge(sources: &[Source<'_>]) -> Result<Option<EncodedVectors>> {
    let views = sources.iter().map(verified).collect::<Result<Vec<_>>>()?;
    let Some(first) = views.first().map(|view| view.0.header) else { return Ok(None) };
    if views.iter().any(|view| view.0.header.width != first.width || view.0.header.model != first.model) {
        return Err(ShardError::new("shard_model_mismatch", "Two blocks were made by different models."));
    }
    let mut living: Vec<(u32, usize, usize)> = vec![];
    for (source, (view, _)) in views.iter().enumerate() {
        let rows = (0..view.header.rows as usize).filter(|row| !sources[source].dead.has(*row));
        living.extend(rows.map(|row| (view.segments.get(row), source, row)));
    }
    if living.is_empty() {
        return Ok(None);
    }
    living.sort_unstable();
    let dimensions = first.width as usize;
    let norm_max = views.iter().fold(0f32, |norm, view| norm.max(view.0.header.norm_max));
    let shape = Shape { dimensions, model: first.model, norm_max };
    let segments: Vec<u32> = living.iter().map(|row| row.0).collect();
    let (mut codes, mut scales, mut residuals) = (Vec::with_capacity(living.len() * dimensions), vec![], vec![]);
    let (mut checksums, mut bytes) = (vec![], Vec::with_capacity(living.len() * dimensions * 4));
    for (_, source, row) in living {
        let (view, rows) = &views[source];
        codes.extend(view.codes[row * dimensions..(row + 1) * dimensions].iter().map(|code| *code as u8));
        scales.push(f32::from_bits(u32_at(view.scales, 4 * row)));
        residuals.push(f32::from_bits(u32_at(view.residuals, 4 * row)));
        checksums.push(rows.checksums.get(row));
        bytes.extend_from_slice(rows.row(row));
    }
    let codes = sealed_codes(&shape, &segments, codes, &scales, &residuals);
    Ok(Some(EncodedVectors { codes, rows: sealed_rows(&shape, &segments, &checksums, &bytes) }))
}

fn verified<'a>(source: &Source<'a>) -> Result<(CodesView<'a>, RowsView<'a>)> {
    let (view, rows) = (CodesView::read(source.codes)?, RowsView::read(source.rows)?);
    block::verify(source.codes)?;
    block::verify(source.rows)?;
    if rows.header.rows != view.header.rows || rows.header.width != view.header.width {
        return Err(ShardError::corrupt("A block's codes and rows do not belong together."));
    }
    Ok((view, rows))
}
