//! AVX-512: a vector is one register. How bytes are multiplied is that of a [`Tiling`]; with VNNI a tile of 12 rows and 32
//! columns takes 24 registers.

use std::arch::x86_64::*;

use super::isa::{Isa, LANES, Line, Pass};
use super::tile::{AHEAD, COLUMNS, Product, QUAD, ROWS, Signed, Sums, Tiling, in_registers};

/// Exists only where AVX-512 F, BW, DQ, VL and VNNI and the tiling's own instructions were detected. All `unsafe` of this file
/// rests on that, and on the sizes of the arrays that are read and written.
#[derive(Clone, Copy)]
pub struct Avx512<T>(T);

impl<T: Tiling> Avx512<T> {
    pub fn detect(tiling: Option<T>) -> Option<Self> {
        Vnni::detect().and(tiling).map(Self)
    }
}

/// `vpdpbusd` of 512 bits.
#[derive(Clone, Copy)]
pub struct Vnni(());

impl Vnni {
    pub fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma");
        found.then_some(Self(()))
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
fn compiled<T: Tiling, P: Pass>(isa: Avx512<T>, pass: P) -> P::Output {
    let _ready = isa.0.ready();
    pass.run(isa)
}

/// The lower and the upper eight lanes.
#[inline(always)]
fn halves(a: __m512) -> (__m256, __m256) {
    // Safety: the caller has a token.
    unsafe { (_mm512_castps512_ps256(a), _mm512_extractf32x8_ps::<1>(a)) }
}

/// Eight lanes in one: lanes 4 apart first.
macro_rules! folded {
    ($eight:expr, $of_four:ident, $of_one:ident) => {{
        let eight = $eight;
        let four = $of_four(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
        let two = $of_four(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32($of_one(two, _mm_movehdup_ps(two)))
    }};
}
pub(super) use folded;

/// One number of each row: lanes 8 apart in one first, then those 4, 2 and 1 apart. Each step makes one vector of two.
macro_rules! across {
    ($rows:ident, $of:ident) => {{
        macro_rules! eighths {
            ($row:expr) => {{
                let (a, b) = (_mm512_loadu_ps($rows[$row].as_ptr()), _mm512_loadu_ps($rows[$row + 8].as_ptr()));
                $of(_mm512_shuffle_f32x4::<0b01_00_01_00>(a, b), _mm512_shuffle_f32x4::<0b11_10_11_10>(a, b))
            }};
        }
        macro_rules! quarters {
            ($row:expr) => {{
                let (a, b) = (eighths!($row), eighths!($row + 4));
                $of(_mm512_shuffle_f32x4::<0b10_00_10_00>(a, b), _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b))
            }};
        }
        macro_rules! halves {
            ($row:expr) => {{
                let (a, b) = (quarters!($row), quarters!($row + 2));
                $of(_mm512_shuffle_ps::<0b01_00_01_00>(a, b), _mm512_shuffle_ps::<0b11_10_11_10>(a, b))
            }};
        }
        let (a, b) = (halves!(0), halves!(1));
        let found = $of(_mm512_shuffle_ps::<0b10_00_10_00>(a, b), _mm512_shuffle_ps::<0b11_01_11_01>(a, b));
        let order = _mm512_setr_epi32(0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15);
        _mm512_permutexvar_ps(order, found)
    }};
}

impl<T: Tiling> Isa for Avx512<T> {
    type F = __m512;
    type N = __m512i;
    type Tiling = T;

    #[inline(always)]
    fn run<P: Pass>(self, pass: P) -> P::Output {
        // Safety: the token.
        unsafe { compiled(self, pass) }
    }

    #[inline(always)]
    fn tiling(self) -> T {
        self.0
    }

    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    fn load(self, from: &Line) -> __m512 {
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, value: __m512, to: &mut Line) {
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), value) }
    }

    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_sub_ps(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_div_ps(a, b) }
    }

    #[inline(always)]
    fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn min(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_min_ps(a, b) }
    }

    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_max_ps(a, b) }
    }

    #[inline(always)]
    fn sqrt(self, a: __m512) -> __m512 {
        unsafe { _mm512_sqrt_ps(a) }
    }

    #[inline(always)]
    fn abs(self, a: __m512) -> __m512 {
        unsafe { _mm512_abs_ps(a) }
    }

    #[inline(always)]
    fn sum(self, a: __m512) -> f32 {
        let (low, high) = halves(a);
        unsafe { folded!(_mm256_add_ps(low, high), _mm_add_ps, _mm_add_ss) }
    }

    #[inline(always)]
    fn least(self, a: __m512) -> f32 {
        let (low, high) = halves(a);
        unsafe { folded!(_mm256_min_ps(low, high), _mm_min_ps, _mm_min_ss) }
    }

    #[inline(always)]
    fn greatest(self, a: __m512) -> f32 {
        let (low, high) = halves(a);
        unsafe { folded!(_mm256_max_ps(low, high), _mm_max_ps, _mm_max_ss) }
    }

    #[inline(always)]
    fn sums_of(self, rows: &[Line; LANES]) -> __m512 {
        // Safety: the token; a line has 16 lanes.
        unsafe { across!(rows, _mm512_add_ps) }
    }

    #[inline(always)]
    fn least_of(self, rows: &[Line; LANES]) -> __m512 {
        // Safety: the token; a line has 16 lanes.
        unsafe { across!(rows, _mm512_min_ps) }
    }

    #[inline(always)]
    fn greatest_of(self, rows: &[Line; LANES]) -> __m512 {
        // Safety: the token; a line has 16 lanes.
        unsafe { across!(rows, _mm512_max_ps) }
    }

    #[inline(always)]
    fn load_whole(self, from: &[i32; LANES]) -> __m512i {
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }

    #[inline(always)]
    fn put_bytes(self, value: __m512i, at: u32, to: &mut [u8; 4 * LANES]) {
        unsafe {
            let low = _mm512_and_si512(value, _mm512_set1_epi32(0xff));
            let shifted = _mm512_sll_epi32(low, _mm_cvtsi32_si128(8 * at as i32));
            let merged =
                if at == 0 { shifted } else { _mm512_or_si512(shifted, _mm512_loadu_si512(to.as_ptr().cast())) };
            _mm512_storeu_si512(to.as_mut_ptr().cast(), merged);
        }
    }

    #[inline(always)]
    fn to_float(self, a: __m512i) -> __m512 {
        unsafe { _mm512_cvtepi32_ps(a) }
    }

    #[inline(always)]
    fn round(self, a: __m512) -> __m512i {
        unsafe { _mm512_cvtps_epi32(a) }
    }

    #[inline(always)]
    fn scale_by_power(self, a: __m512, n: __m512i) -> __m512 {
        unsafe { _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_slli_epi32::<23>(n))) }
    }

    #[inline(always)]
    fn add_whole(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi32(a, b) }
    }

    #[inline(always)]
    fn store_bytes(self, value: __m512i, to: &mut [u8; LANES]) {
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(value)) }
    }

    #[inline(always)]
    fn store_unsigned_bytes(self, [a, b, c, d]: [__m512i; 4], to: &mut [u8; 4 * LANES]) {
        unsafe {
            // Packing works in each quarter: its words of four bytes are those of a, b, c, d.
            let packed = _mm512_packus_epi16(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d));
            let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_permutexvar_epi32(order, packed));
        }
    }

    #[inline(always)]
    fn sum_whole(self, a: __m512i) -> i32 {
        unsafe { _mm512_reduce_add_epi32(a) }
    }
}

impl Tiling for Vnni {
    in_registers!();

    #[inline(always)]
    unsafe fn tile(self, product: &Product<'_>, sums: &mut Sums) {
        // Safety: the token, and the caller's bounds.
        unsafe {
            match product.signed {
                Signed::Panel => of_count::<false>(product, sums),
                Signed::Rows => of_count::<true>(product, sums),
                Signed::Both => unreachable!("refused by the check"),
            }
        }
    }
}

/// # Safety
/// The product's bounds hold.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
unsafe fn of_count<const SIGNED_ROWS: bool>(product: &Product<'_>, sums: &mut Sums) {
    macro_rules! of_rows {
        ($($count:literal)*) => {
            // Safety: that of this function.
            match product.rows.count {
                $($count => unsafe { of_rows::<SIGNED_ROWS, $count>(product, sums) },)*
                _ => unreachable!("a tile has 1 to 12 rows"),
            }
        };
    }
    of_rows!(1 2 3 4 5 6 7 8 9 10 11 12);
}

/// # Safety
/// The product's bounds hold for `COUNT` rows.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
unsafe fn of_rows<const SIGNED_ROWS: bool, const COUNT: usize>(product: &Product<'_>, sums: &mut Sums) {
    const { assert!(COUNT <= ROWS && COLUMNS == 2 * LANES) };
    let (bytes, stride) = (product.rows.bytes.as_ptr(), product.rows.stride);
    let mut found = [[_mm512_setzero_si512(); 2]; COUNT];
    for (row, found) in found.iter_mut().enumerate() {
        *found = [_mm512_set1_epi32(product.starts[row]); 2];
    }
    let mut panel = product.panel.as_ptr();
    for at in (0..product.depth).step_by(QUAD) {
        // Safety: each line of the panel and each row of the rows has this quad. What is ahead need not exist.
        unsafe {
            let columns: [__m512i; 2] =
                [_mm512_loadu_si512(panel.cast()), _mm512_loadu_si512(panel.add(LANES * QUAD).cast())];
            _mm_prefetch::<_MM_HINT_T1>(panel.wrapping_add(AHEAD).cast());
            _mm_prefetch::<_MM_HINT_T1>(panel.wrapping_add(AHEAD + LANES * QUAD).cast());
            panel = panel.add(COLUMNS * QUAD);
            for (row, found) in found.iter_mut().enumerate() {
                let quad = _mm512_set1_epi32(bytes.add(row * stride + at).cast::<i32>().read_unaligned());
                for (found, columns) in found.iter_mut().zip(columns) {
                    *found = if SIGNED_ROWS {
                        _mm512_dpbusd_epi32(*found, columns, quad)
                    } else {
                        _mm512_dpbusd_epi32(*found, quad, columns)
                    };
                }
            }
        }
    }
    // An array: where its length is not known, the sums would be in memory.
    let sums: &mut [[i32; COLUMNS]; COUNT] = sums.first_chunk_mut().expect("the sums have a line for each row");
    for (found, sums) in found.iter().zip(sums) {
        let (halves, _) = sums.as_chunks_mut::<LANES>();
        for (found, half) in found.iter().zip(halves) {
            // Safety: a half has 16 lanes.
            unsafe { _mm512_storeu_si512(half.as_mut_ptr().cast(), *found) };
        }
    }
}
