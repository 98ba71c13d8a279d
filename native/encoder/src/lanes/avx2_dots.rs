//! Dot products of bytes in 256 bits: VNNI, in its two encodings, and AVX2 alone.

use std::arch::x86_64::*;

use super::avx2_near;
use super::near::{Far, GROUP};
use super::tile::{AHEAD, COLUMNS, NearProduct, Product, QUAD, ROWS, Signed, Sums, Tiling, in_registers};

/// Rows of a tile of 16 columns that 16 registers hold.
const PART_ROWS: usize = 6;
/// Columns of that tile: half of a panel.
const PART_COLUMNS: usize = 16;

/// How four products of unsigned and signed bytes are added to each i32. A token exists only where its instructions were
/// detected.
pub trait Dot: Tiling {
    fn detect() -> Option<Self>;

    /// `sums + Σ unsigned · signed` of each four bytes, exactly.
    fn add(self, sums: __m256i, unsigned: __m256i, signed: __m256i) -> __m256i;
}

/// VNNI as AVX-512 encodes it.
#[derive(Clone, Copy)]
pub struct Avx512Vnni(());

/// VNNI without AVX-512.
#[derive(Clone, Copy)]
pub struct AvxVnni(());

/// AVX2 alone. `pmaddubsw` saturates at 16 bits, so that even and odd bytes are widened and multiplied in two steps.
#[derive(Clone, Copy)]
pub struct Widened(());

/// `vpdpbusd` as the manual describes it, in software: the tiles of [`AvxVnni`] are tested on machines without it.
#[cfg(test)]
#[derive(Clone, Copy)]
pub struct ModelledVnni(());

macro_rules! tiling {
    ($dot:ty, $features:literal $(, $near:item)*) => {
        impl Tiling for $dot {
            in_registers!();
            $($near)*

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

tiling!(Avx512Vnni, "avx2,fma,avx512f,avx512vl,avx512vnni");
tiling!(AvxVnni, "avx2,fma,avxvnni");
#[cfg(test)]
tiling!(ModelledVnni, "avx2,fma");
tiling!(
    Widened,
    "avx2,fma",
    const NEAR: bool = true;,
    const PART: usize = avx2_near::PART_ROWS;,
    #[inline(always)]
    fn near(self, bytes: &[u8], centre: u8, near: &mut [[i8; GROUP]], far: &mut [Far]) -> (i32, Option<usize>) {
        #[target_feature(enable = "avx2,fma")]
        fn compiled(bytes: &[u8], centre: u8, near: &mut [[i8; GROUP]], far: &mut [Far]) -> (i32, Option<usize>) {
            // Safety: the instructions are there.
            unsafe { avx2_near::divide(bytes, centre, near, far) }
        }
        // Safety: the token.
        unsafe { compiled(bytes, centre, near, far) }
    },
    #[inline(always)]
    unsafe fn tile_near(self, product: &NearProduct<'_>, sums: &mut Sums) {
        #[inline(never)]
        #[target_feature(enable = "avx2,fma")]
        unsafe fn compiled(product: &NearProduct<'_>, sums: &mut Sums) {
            // Safety: that of this function.
            unsafe { avx2_near::tile(product, sums) }
        }
        // Safety: the token, and the caller's check.
        unsafe { compiled(product, sums) }
    }
);

impl Dot for Avx512Vnni {
    fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512vl")).then_some(Self(()))
    }

    #[inline(always)]
    fn add(self, sums: __m256i, unsigned: __m256i, signed: __m256i) -> __m256i {
        // Safety: the token.
        unsafe { _mm256_dpbusd_epi32(sums, unsigned, signed) }
    }
}

impl Dot for AvxVnni {
    fn detect() -> Option<Self> {
        is_x86_feature_detected!("avxvnni").then_some(Self(()))
    }

    #[inline(always)]
    fn add(self, sums: __m256i, unsigned: __m256i, signed: __m256i) -> __m256i {
        // Safety: the token.
        unsafe { _mm256_dpbusd_avx_epi32(sums, unsigned, signed) }
    }
}

#[cfg(test)]
impl Dot for ModelledVnni {
    fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    fn add(self, sums: __m256i, unsigned: __m256i, signed: __m256i) -> __m256i {
        type Bytes<T> = [[T; QUAD]; 8];
        // Safety: these types have as many bytes, and any bytes are values of each.
        let (unsigned, signed) = unsafe {
            (std::mem::transmute::<__m256i, Bytes<u8>>(unsigned), std::mem::transmute::<__m256i, Bytes<i8>>(signed))
        };
        // Safety: as above.
        let mut sums = unsafe { std::mem::transmute::<__m256i, [i32; 8]>(sums) };
        for (sum, (unsigned, signed)) in sums.iter_mut().zip(unsigned.into_iter().zip(signed)) {
            for (unsigned, signed) in unsigned.into_iter().zip(signed) {
                *sum = sum.wrapping_add(i32::from(unsigned) * i32::from(signed));
            }
        }
        // Safety: as above.
        unsafe { std::mem::transmute::<[i32; 8], __m256i>(sums) }
    }
}

impl Dot for Widened {
    fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    #[inline(always)]
    fn add(self, sums: __m256i, unsigned: __m256i, signed: __m256i) -> __m256i {
        // Safety: the token.
        unsafe {
            let even = _mm256_and_si256(unsigned, _mm256_set1_epi16(0xff));
            let odd = _mm256_srli_epi16::<8>(unsigned);
            let signed_even = _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(signed));
            let signed_odd = _mm256_srai_epi16::<8>(signed);
            let products = _mm256_add_epi32(_mm256_madd_epi16(even, signed_even), _mm256_madd_epi16(odd, signed_odd));
            _mm256_add_epi32(sums, products)
        }
    }
}

/// # Safety
/// The product's bounds hold.
#[inline(always)]
unsafe fn in_parts<D: Dot>(dot: D, product: &Product<'_>, sums: &mut Sums) {
    const { assert!(ROWS == 2 * PART_ROWS && COLUMNS == 2 * PART_COLUMNS) };
    // Safety: that of this function.
    unsafe {
        match product.signed {
            Signed::Panel => in_rows::<D, false>(dot, product, sums),
            Signed::Rows => in_rows::<D, true>(dot, product, sums),
            Signed::Both => unreachable!("refused by the check"),
        }
    }
}

/// # Safety
/// The product's bounds hold.
#[inline(always)]
unsafe fn in_rows<D: Dot, const SIGNED_ROWS: bool>(dot: D, product: &Product<'_>, sums: &mut Sums) {
    let count = product.rows.count;
    let parts = if count > PART_ROWS { [count.div_ceil(2), count / 2] } else { [count, 0] };
    let mut first = 0;
    for rows in parts {
        for column in [0, PART_COLUMNS] {
            macro_rules! of_rows {
                ($($count:literal)*) => {
                    match rows {
                        0 => {}
                        // Safety: that of this function.
                        $($count => unsafe { part::<D, SIGNED_ROWS, $count>(dot, product, first, column, sums) },)*
                        _ => unreachable!("a part has at most 6 rows"),
                    }
                };
            }
            of_rows!(1 2 3 4 5 6);
        }
        first += rows;
    }
}

/// The sums of some rows, from `first` on, and of 16 columns, from `column` on.
///
/// # Safety
/// The product's bounds hold, and it has the rows.
#[inline(always)]
unsafe fn part<D: Dot, const SIGNED_ROWS: bool, const COUNT: usize>(
    dot: D,
    product: &Product<'_>,
    first: usize,
    column: usize,
    sums: &mut Sums,
) {
    let stride = product.rows.stride;
    // Safety: the token; each line of the panel and each row of the rows has each quad. What is ahead need not exist.
    unsafe {
        let mut found = [[_mm256_setzero_si256(); 2]; COUNT];
        for (row, found) in found.iter_mut().enumerate() {
            *found = [_mm256_set1_epi32(product.starts[first + row]); 2];
        }
        let bytes = product.rows.bytes.as_ptr().add(first * stride);
        let mut panel = product.panel.as_ptr().add(column * QUAD).cast::<__m256i>();
        for at in (0..product.depth).step_by(QUAD) {
            let columns = [_mm256_loadu_si256(panel), _mm256_loadu_si256(panel.add(1))];
            _mm_prefetch::<_MM_HINT_T1>(panel.wrapping_byte_add(AHEAD).cast());
            panel = panel.byte_add(COLUMNS * QUAD);
            for (row, found) in found.iter_mut().enumerate() {
                let quad = _mm256_set1_epi32(bytes.add(row * stride + at).cast::<i32>().read_unaligned());
                for (found, columns) in found.iter_mut().zip(columns) {
                    let (unsigned, signed) = if SIGNED_ROWS { (columns, quad) } else { (quad, columns) };
                    *found = dot.add(*found, unsigned, signed);
                }
            }
        }
        // An array: where its length is not known, the sums would be in memory.
        let sums: &mut [[i32; COLUMNS]; COUNT] = sums[first..].first_chunk_mut().expect("a line for each row");
        for (found, sums) in found.iter().zip(sums) {
            let to = sums[column..column + PART_COLUMNS].as_mut_ptr().cast::<__m256i>();
            _mm256_storeu_si256(to, found[0]);
            _mm256_storeu_si256(to.add(1), found[1]);
        }
    }
}
