//! AVX2 and FMA: 32 codes or 8 floats at a time.

use std::arch::x86_64::*;

use super::{BoundRows, BoundTerms, CodedQuery, Kernel, LANES, bounds_loop, finish_f32};

/// Only to be called where `available()` lists it.
pub const KERNEL: Kernel = Kernel { name: "avx2", dots_i8, dot_f32, bounds };

fn dots_i8(query: &CodedQuery, codes: &[i8], out: &mut [i32]) {
    assert_eq!(codes.len(), query.dimensions() * out.len());
    // Safety: the kernel is listed only where AVX2 was detected; the lengths were checked.
    unsafe { dots_i8_avx2(query, codes, out) }
}

/// |query| × (code with the query's sign): the products of two bytes fit 16 bits because no code is −128.
#[target_feature(enable = "avx2")]
unsafe fn dots_i8_avx2(query: &CodedQuery, codes: &[i8], out: &mut [i32]) {
    let dimensions = query.dimensions();
    let whole = dimensions / 32 * 32;
    let ones = _mm256_set1_epi16(1);
    for (row, dot) in out.iter_mut().enumerate() {
        let codes = &codes[row * dimensions..(row + 1) * dimensions];
        let mut sum = _mm256_setzero_si256();
        for at in (0..whole).step_by(32) {
            // Safety: `at + 32 <= dimensions`, the length of all three.
            let (code, signed, magnitude) = unsafe {
                (
                    _mm256_loadu_si256(codes.as_ptr().add(at).cast()),
                    _mm256_loadu_si256(query.codes.as_ptr().add(at).cast()),
                    _mm256_loadu_si256(query.magnitudes.as_ptr().add(at).cast()),
                )
            };
            let pairs = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(code, signed));
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
        }
        let rest: i32 = codes[whole..]
            .iter()
            .zip(&query.codes[whole..])
            .map(|(code, query)| i32::from(*code) * i32::from(*query))
            .sum();
        *dot = sum_of_lanes(sum) + rest;
    }
}

#[target_feature(enable = "avx2")]
fn sum_of_lanes(sum: __m256i) -> i32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two)))
}

fn dot_f32(query: &[f32], row: &[u8]) -> f32 {
    assert_eq!(row.len(), 4 * query.len());
    // Safety: the kernel is listed only where AVX2 and FMA were detected; the lengths were checked.
    unsafe { dot_f32_fma(query, row) }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn dot_f32_fma(query: &[f32], row: &[u8]) -> f32 {
    let mut sums = [_mm256_setzero_ps(); LANES / 8];
    let whole = query.len() / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let from = at + 8 * lane;
            // Safety: `from + 8 <= whole`, and the row has four bytes for each of the query's numbers.
            let (left, right) = unsafe {
                (_mm256_loadu_ps(query.as_ptr().add(from)), _mm256_loadu_ps(row.as_ptr().add(4 * from).cast()))
            };
            *sum = _mm256_fmadd_ps(left, right, *sum);
        }
    }
    let mut lanes = [0f32; LANES];
    for (lane, sum) in sums.iter().enumerate() {
        // Safety: there are eight lanes for each sum.
        unsafe { _mm256_storeu_ps(lanes.as_mut_ptr().add(8 * lane), *sum) };
    }
    finish_f32(lanes, query, row, whole, f32::mul_add)
}

fn bounds(
    dots: &[i32],
    scales: &[f32],
    residuals: &[f32],
    terms: BoundTerms,
    threshold: f32,
    out: &mut BoundRows<'_>,
) -> bool {
    #[target_feature(enable = "avx2")]
    fn wide(
        dots: &[i32],
        scales: &[f32],
        residuals: &[f32],
        terms: BoundTerms,
        threshold: f32,
        out: &mut BoundRows<'_>,
    ) -> bool {
        bounds_loop(dots, scales, residuals, terms, threshold, out)
    }
    // Safety: the kernel is listed only where AVX2 was detected.
    unsafe { wide(dots, scales, residuals, terms, threshold, out) }
}
