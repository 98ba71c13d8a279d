//! Dot products of bytes in 128 bits: of mixed signs (i8mm), of signed bytes (dotprod), or widened by NEON alone.
//!
//! The instructions of the first two have no stable intrinsics: they are written as assembly.

use std::arch::aarch64::*;
use std::arch::{asm, is_aarch64_feature_detected};

use super::tile::{COLUMNS, Product, QUAD, Signed, Sums, Tiling, in_registers};

/// Columns of a part, and the registers that have a quad of each.
const PART_COLUMNS: usize = 16;
const VECTORS: usize = PART_COLUMNS / 4;
/// Bytes of a row in one register.
const ROW_BYTES: usize = 16;
/// What makes an unsigned byte signed, and the bits by which that multiplies.
const OFFSET: u8 = 128;
const OFFSET_BITS: i32 = 7;

/// How four products of bytes are added to each i32. A token exists only where its instructions were detected.
pub trait Dot: Tiling {
    /// Most rows of a part: their sums stay in registers.
    const PART_ROWS: usize;
    /// Whether it multiplies unsigned with signed bytes. Otherwise both are signed: the unsigned ones come less 128.
    const MIXED: bool;
    /// Sums of four columns.
    type Sum: Copy;

    fn detect() -> Option<Self>;
    fn start(self, start: i32) -> Self::Sum;
    fn finish(self, sum: Self::Sum) -> int32x4_t;

    /// Adds the products of a quad of four columns and the quad of a row at `LANE`.
    fn add<const SIGNED_ROWS: bool, const LANE: i32>(
        self,
        sum: Self::Sum,
        columns: uint8x16_t,
        row: uint8x16_t,
    ) -> Self::Sum;
}

/// `usdot` and `sudot`.
#[derive(Clone, Copy)]
pub struct Mixed(());

/// `sdot`.
#[derive(Clone, Copy)]
pub struct SignedPairs(());

/// NEON alone, which belongs to every 64-bit ARM: products of 16 bits, added in pairs.
#[derive(Clone, Copy)]
pub struct Widened(());

macro_rules! tiling {
    ($dot:ty, $features:literal) => {
        impl Tiling for $dot {
            in_registers!();

            #[inline(always)]
            unsafe fn tile(self, product: &Product<'_>, sums: &mut Sums) {
                #[inline(never)]
                #[target_feature(enable = $features)]
                unsafe fn compiled<D: Dot>(dot: D, product: &Product<'_>, sums: &mut Sums) {
                    // Safety: that of this function.
                    unsafe { in_parts(dot, product, sums) }
                }
                // Safety: the token, and the caller's bounds.
                unsafe { compiled(self, product, sums) }
            }
        }
    };
}

tiling!(Mixed, "neon,dotprod,i8mm");
tiling!(SignedPairs, "neon,dotprod");
tiling!(Widened, "neon");

/// One instruction that adds products of `$columns` and of a lane of `$row` to `$sum`.
macro_rules! by_lane {
    ($name:literal, $sum:ident, $columns:ident, $row:ident) => {
        asm!(
            concat!($name, " {sum:v}.4s, {columns:v}.16b, {row:v}.4b[{lane}]"),
            sum = inout(vreg) $sum,
            columns = in(vreg) $columns,
            row = in(vreg) $row,
            lane = const LANE,
            options(pure, nomem, nostack, preserves_flags),
        )
    };
}

impl Dot for Mixed {
    const PART_ROWS: usize = 4;
    const MIXED: bool = true;
    type Sum = int32x4_t;

    fn detect() -> Option<Self> {
        (is_aarch64_feature_detected!("dotprod") && is_aarch64_feature_detected!("i8mm")).then_some(Self(()))
    }

    #[inline(always)]
    fn start(self, start: i32) -> int32x4_t {
        // Safety: NEON belongs to every 64-bit ARM.
        unsafe { vdupq_n_s32(start) }
    }

    #[inline(always)]
    fn finish(self, sum: int32x4_t) -> int32x4_t {
        sum
    }

    #[inline(always)]
    fn add<const SIGNED_ROWS: bool, const LANE: i32>(
        self,
        mut sum: int32x4_t,
        columns: uint8x16_t,
        row: uint8x16_t,
    ) -> int32x4_t {
        // Safety: the token.
        unsafe {
            if SIGNED_ROWS {
                by_lane!("usdot", sum, columns, row);
            } else {
                by_lane!("sudot", sum, columns, row);
            }
        }
        sum
    }
}

impl Dot for SignedPairs {
    const PART_ROWS: usize = 4;
    const MIXED: bool = false;
    type Sum = int32x4_t;

    fn detect() -> Option<Self> {
        is_aarch64_feature_detected!("dotprod").then_some(Self(()))
    }

    #[inline(always)]
    fn start(self, start: i32) -> int32x4_t {
        // Safety: NEON belongs to every 64-bit ARM.
        unsafe { vdupq_n_s32(start) }
    }

    #[inline(always)]
    fn finish(self, sum: int32x4_t) -> int32x4_t {
        sum
    }

    #[inline(always)]
    fn add<const SIGNED_ROWS: bool, const LANE: i32>(
        self,
        mut sum: int32x4_t,
        columns: uint8x16_t,
        row: uint8x16_t,
    ) -> int32x4_t {
        // Safety: the token.
        unsafe { by_lane!("sdot", sum, columns, row) };
        sum
    }
}

impl Dot for Widened {
    const PART_ROWS: usize = 2;
    const MIXED: bool = false;
    /// Two sums for each column, in order.
    type Sum = [int32x4_t; 2];

    fn detect() -> Option<Self> {
        Some(Self(()))
    }

    #[inline(always)]
    fn start(self, start: i32) -> Self::Sum {
        // Safety: NEON belongs to every 64-bit ARM.
        unsafe {
            let first = vsetq_lane_s32::<2>(start, vsetq_lane_s32::<0>(start, vdupq_n_s32(0)));
            [first; 2]
        }
    }

    #[inline(always)]
    fn finish(self, [low, high]: Self::Sum) -> int32x4_t {
        // Safety: as above.
        unsafe { vpaddq_s32(low, high) }
    }

    #[inline(always)]
    fn add<const SIGNED_ROWS: bool, const LANE: i32>(
        self,
        [low, high]: Self::Sum,
        columns: uint8x16_t,
        row: uint8x16_t,
    ) -> Self::Sum {
        // Safety: as above.
        unsafe {
            let columns = vreinterpretq_s8_u8(columns);
            let quad = vreinterpretq_s8_s32(vdupq_laneq_s32::<LANE>(vreinterpretq_s32_u8(row)));
            let first = vmull_s8(vget_low_s8(columns), vget_low_s8(quad));
            [vpadalq_s16(low, first), vpadalq_s16(high, vmull_high_s8(columns, quad))]
        }
    }
}

/// # Safety
/// The product's bounds hold.
#[inline(always)]
unsafe fn in_parts<D: Dot>(dot: D, product: &Product<'_>, sums: &mut Sums) {
    const { assert!(D::PART_ROWS <= 4 && COLUMNS.is_multiple_of(PART_COLUMNS)) };
    let count = product.rows.count;
    let parts = count.div_ceil(D::PART_ROWS);
    for part in 0..parts {
        let (first, end) = (part * count / parts, (part + 1) * count / parts);
        for column in (0..COLUMNS).step_by(PART_COLUMNS) {
            macro_rules! of_rows {
                ($($count:literal)*) => {
                    match (end - first, product.signed) {
                        $(
                            // Safety: that of this function.
                            ($count, Signed::Panel) => unsafe { of_rows::<D, false, $count>(dot, product, first, column, sums) },
                            ($count, Signed::Rows) => unsafe { of_rows::<D, true, $count>(dot, product, first, column, sums) },
                        )*
                        _ => unreachable!("a part has 1 to 4 rows"),
                    }
                };
            }
            of_rows!(1 2 3 4);
        }
    }
}

/// The sums of some rows, from `first` on, and of 16 columns, from `column` on.
///
/// # Safety
/// The product's bounds hold, and it has the rows.
#[inline(always)]
unsafe fn of_rows<D: Dot, const SIGNED_ROWS: bool, const COUNT: usize>(
    dot: D,
    product: &Product<'_>,
    first: usize,
    column: usize,
    sums: &mut Sums,
) {
    let (stride, depth) = (product.rows.stride, product.depth);
    // Safety: each line of the panel and each row of the rows has each quad.
    unsafe {
        let rows = product.rows.bytes.as_ptr().add(first * stride);
        let panel = product.panel.as_ptr().add(column * QUAD);
        let mut part = Part::<D, SIGNED_ROWS, COUNT>::new(dot, &product.starts[first..]);
        let whole = depth / ROW_BYTES * ROW_BYTES;
        for at in (0..whole).step_by(ROW_BYTES) {
            let rows = std::array::from_fn(|row| vld1q_u8(rows.add(row * stride + at)));
            let panel = panel.add(at * COLUMNS);
            part.add::<0>(panel, &rows);
            part.add::<1>(panel.add(COLUMNS * QUAD), &rows);
            part.add::<2>(panel.add(2 * COLUMNS * QUAD), &rows);
            part.add::<3>(panel.add(3 * COLUMNS * QUAD), &rows);
        }
        for at in (whole..depth).step_by(QUAD) {
            let quad = |row: usize| rows.add(row * stride + at).cast::<u32>().read_unaligned();
            let rows = std::array::from_fn(|row| vreinterpretq_u8_u32(vdupq_n_u32(quad(row))));
            part.add::<0>(panel.add(at * COLUMNS), &rows);
        }
        part.finish(&mut sums[first..], column);
    }
}

/// The registers of some rows and 16 columns.
struct Part<D: Dot, const SIGNED_ROWS: bool, const COUNT: usize> {
    dot: D,
    sums: [[D::Sum; VECTORS]; COUNT],
    /// Sums of the signed operand where both are taken as signed: of each column of a signed panel, or of each signed row, in
    /// all lanes of its first vector.
    signed: [D::Sum; VECTORS],
}

impl<D: Dot, const SIGNED_ROWS: bool, const COUNT: usize> Part<D, SIGNED_ROWS, COUNT> {
    #[inline(always)]
    fn new(dot: D, starts: &[i32]) -> Self {
        Self {
            dot,
            sums: std::array::from_fn(|row| [dot.start(starts[row]); VECTORS]),
            signed: [dot.start(0); VECTORS],
        }
    }

    /// Adds the products of a line of the panel and of the rows' quads at `LANE`.
    ///
    /// # Safety
    /// The panel has 16 columns there.
    #[inline(always)]
    unsafe fn add<const LANE: i32>(&mut self, panel: *const u8, rows: &[uint8x16_t; COUNT]) {
        // Safety: that of this function; NEON belongs to every 64-bit ARM.
        unsafe {
            let (offset, ones) = (vdupq_n_u8(OFFSET), vdupq_n_u8(1));
            let rows = rows.map(|row| if D::MIXED || SIGNED_ROWS { row } else { veorq_u8(row, offset) });
            if !D::MIXED && SIGNED_ROWS {
                for (sum, row) in self.signed.iter_mut().zip(rows) {
                    *sum = self.dot.add::<SIGNED_ROWS, LANE>(*sum, ones, row);
                }
            }
            for vector in 0..VECTORS {
                let columns = vld1q_u8(panel.add(ROW_BYTES * vector));
                let columns = if !D::MIXED && SIGNED_ROWS { veorq_u8(columns, offset) } else { columns };
                for (sums, row) in self.sums.iter_mut().zip(rows) {
                    sums[vector] = self.dot.add::<SIGNED_ROWS, LANE>(sums[vector], columns, row);
                }
                if !D::MIXED && !SIGNED_ROWS {
                    self.signed[vector] = self.dot.add::<SIGNED_ROWS, LANE>(self.signed[vector], columns, ones);
                }
            }
        }
    }

    /// # Safety
    /// NEON alone.
    #[inline(always)]
    unsafe fn finish(self, sums: &mut [[i32; COLUMNS]], column: usize) {
        for (row, (found, sums)) in self.sums.into_iter().zip(sums).enumerate() {
            let to = sums[column..column + PART_COLUMNS].as_mut_ptr();
            for (vector, sum) in found.into_iter().enumerate() {
                let mut sum = self.dot.finish(sum);
                // Safety: the part has 16 columns; NEON belongs to every 64-bit ARM.
                unsafe {
                    if !D::MIXED {
                        let signed = self.dot.finish(self.signed[if SIGNED_ROWS { row } else { vector }]);
                        sum = vaddq_s32(sum, vshlq_n_s32::<OFFSET_BITS>(signed));
                    }
                    vst1q_s32(to.add(4 * vector), sum);
                }
            }
        }
    }
}
