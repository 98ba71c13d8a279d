//! 256-bit vectors in pairs. How bytes are multiplied is that of a [`Tiling`]: AVX2 alone or VNNI.

use std::arch::x86_64::*;

use super::avx512::folded;
use super::isa::{Isa, LANES, Line, Pass};
use super::tile::Tiling;

/// Exists only where AVX2, FMA and the tiling's own instructions were detected. All `unsafe` of this file rests on
/// that, and on the sizes of the arrays that are read and written.
#[derive(Clone, Copy)]
pub struct Avx2<T>(T);

impl<T: Tiling> Avx2<T> {
    pub fn detect(tiling: Option<T>) -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(tiling)?.map(Self)
    }
}

type Pair = [__m256; 2];
type WholePair = [__m256i; 2];

#[target_feature(enable = "avx2,fma")]
fn compiled<T: Tiling, P: Pass>(isa: Avx2<T>, pass: P) -> P::Output {
    let _ready = isa.0.ready();
    pass.run(isa)
}

impl<T: Tiling> Isa for Avx2<T> {
    type F = Pair;
    type N = WholePair;
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
    fn splat(self, value: f32) -> Pair {
        unsafe { [_mm256_set1_ps(value); 2] }
    }

    #[inline(always)]
    fn load(self, from: &Line) -> Pair {
        unsafe { [_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))] }
    }

    #[inline(always)]
    fn store(self, value: Pair, to: &mut Line) {
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), value[0]);
            _mm256_storeu_ps(to.as_mut_ptr().add(8), value[1]);
        }
    }

    #[inline(always)]
    fn add(self, a: Pair, b: Pair) -> Pair {
        unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
    }

    #[inline(always)]
    fn sub(self, a: Pair, b: Pair) -> Pair {
        unsafe { [_mm256_sub_ps(a[0], b[0]), _mm256_sub_ps(a[1], b[1])] }
    }

    #[inline(always)]
    fn mul(self, a: Pair, b: Pair) -> Pair {
        unsafe { [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])] }
    }

    #[inline(always)]
    fn div(self, a: Pair, b: Pair) -> Pair {
        unsafe { [_mm256_div_ps(a[0], b[0]), _mm256_div_ps(a[1], b[1])] }
    }

    #[inline(always)]
    fn fma(self, a: Pair, b: Pair, c: Pair) -> Pair {
        unsafe { [_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])] }
    }

    #[inline(always)]
    fn min(self, a: Pair, b: Pair) -> Pair {
        unsafe { [_mm256_min_ps(a[0], b[0]), _mm256_min_ps(a[1], b[1])] }
    }

    #[inline(always)]
    fn max(self, a: Pair, b: Pair) -> Pair {
        unsafe { [_mm256_max_ps(a[0], b[0]), _mm256_max_ps(a[1], b[1])] }
    }

    #[inline(always)]
    fn sqrt(self, a: Pair) -> Pair {
        unsafe { [_mm256_sqrt_ps(a[0]), _mm256_sqrt_ps(a[1])] }
    }

    #[inline(always)]
    fn abs(self, a: Pair) -> Pair {
        unsafe { a.map(|half| _mm256_andnot_ps(_mm256_set1_ps(-0.0), half)) }
    }

    #[inline(always)]
    fn sum(self, a: Pair) -> f32 {
        unsafe { folded!(_mm256_add_ps(a[0], a[1]), _mm_add_ps, _mm_add_ss) }
    }

    #[inline(always)]
    fn least(self, a: Pair) -> f32 {
        unsafe { folded!(_mm256_min_ps(a[0], a[1]), _mm_min_ps, _mm_min_ss) }
    }

    #[inline(always)]
    fn greatest(self, a: Pair) -> f32 {
        unsafe { folded!(_mm256_max_ps(a[0], a[1]), _mm_max_ps, _mm_max_ss) }
    }

    #[inline(always)]
    fn load_whole(self, from: &[i32; LANES]) -> WholePair {
        let from: *const __m256i = from.as_ptr().cast();
        unsafe { [_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))] }
    }

    #[inline(always)]
    fn put_bytes(self, value: WholePair, at: u32, to: &mut [u8; 4 * LANES]) {
        let to: *mut __m256i = to.as_mut_ptr().cast();
        unsafe {
            let (mask, bits) = (_mm256_set1_epi32(0xff), _mm_cvtsi32_si128(8 * at as i32));
            for (half, value) in value.into_iter().enumerate() {
                let shifted = _mm256_sll_epi32(_mm256_and_si256(value, mask), bits);
                let to = to.add(half);
                let merged = if at == 0 { shifted } else { _mm256_or_si256(shifted, _mm256_loadu_si256(to)) };
                _mm256_storeu_si256(to, merged);
            }
        }
    }

    #[inline(always)]
    fn to_float(self, a: WholePair) -> Pair {
        unsafe { [_mm256_cvtepi32_ps(a[0]), _mm256_cvtepi32_ps(a[1])] }
    }

    #[inline(always)]
    fn round(self, a: Pair) -> WholePair {
        unsafe { [_mm256_cvtps_epi32(a[0]), _mm256_cvtps_epi32(a[1])] }
    }

    #[inline(always)]
    fn scale_by_power(self, a: Pair, n: WholePair) -> Pair {
        let scaled =
            |a, n| unsafe { _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_slli_epi32::<23>(n))) };
        [scaled(a[0], n[0]), scaled(a[1], n[1])]
    }

    #[inline(always)]
    fn add_whole(self, a: WholePair, b: WholePair) -> WholePair {
        unsafe { [_mm256_add_epi32(a[0], b[0]), _mm256_add_epi32(a[1], b[1])] }
    }

    #[inline(always)]
    fn store_bytes(self, value: WholePair, to: &mut [u8; LANES]) {
        unsafe {
            let mask = _mm256_set1_epi32(0xff);
            let words = _mm256_packs_epi32(_mm256_and_si256(value[0], mask), _mm256_and_si256(value[1], mask));
            // Packing works in each half: the middle quarters change places.
            let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(words);
            let bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
            _mm_storeu_si128(to.as_mut_ptr().cast(), bytes);
        }
    }

    #[inline(always)]
    fn sum_whole(self, a: WholePair) -> i32 {
        unsafe {
            let eight = _mm256_add_epi32(a[0], a[1]);
            let four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight));
            let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
            _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two)))
        }
    }
}
