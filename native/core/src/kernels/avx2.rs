//! AVX2 and FMA: 32 codes or 8 floats at a time.

use std::arch::x86_64::*;

use super::bits::{BitsQuery, BitsTerms, GROUP};
use super::kernel::{BoundRows, BoundTerms, CodedQuery, Kernel, bounds_loop};
use super::lanes::{LANES, finish_f32};

/// The kernels of this file that the machine can run: its functions are called through them alone.
pub(super) fn detect() -> Option<Kernel> {
    let detected = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    detected.then_some(Kernel { name: "avx2", dots_i8, dot_f32, bounds, pair_i8, bits_reach })
}

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

pub(super) fn pair_i8(left: &[i8], right: &[i8]) -> i32 {
    assert_eq!(left.len(), right.len());
    // Safety: the kernels with it are listed only where AVX2 was detected; the lengths were checked.
    unsafe { pair_i8_avx2(left, right) }
}

#[target_feature(enable = "avx2")]
unsafe fn pair_i8_avx2(left: &[i8], right: &[i8]) -> i32 {
    let whole = left.len() / 16 * 16;
    let mut sum = _mm256_setzero_si256();
    for at in (0..whole).step_by(16) {
        let wide = |codes: &[i8]| {
            // Safety: `at + 16 <= whole`.
            _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(codes.as_ptr().add(at).cast()) })
        };
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(wide(left), wide(right)));
    }
    let rest = left[whole..].iter().zip(&right[whole..]).map(|(left, right)| i32::from(*left) * i32::from(*right));
    sum_of_lanes(sum) + rest.sum::<i32>()
}

fn bits_reach(query: &BitsQuery, terms: &BitsTerms, group: &[u8], uppers: &mut [f32; GROUP]) -> u64 {
    query.check(group);
    // Safety: the kernel is listed only where AVX2 was detected; the length was checked.
    unsafe { bits_reach_avx2(query, terms, group, uppers) }
}

/// Two registers of 32 rows; each byte's sums are at most 120, so two are added before they are widened.
#[target_feature(enable = "avx2")]
unsafe fn bits_reach_avx2(query: &BitsQuery, terms: &BitsTerms, group: &[u8], uppers: &mut [f32; GROUP]) -> u64 {
    let (nibble, low_bytes) = (_mm256_set1_epi8(15), _mm256_set1_epi16(0x00ff));
    let (mut even, mut odd) = ([_mm256_setzero_si256(); 2], [_mm256_setzero_si256(); 2]);
    for at in (0..query.planes.len()).step_by(2) {
        for half in 0..2 {
            let of = |at: usize| {
                // Safety: a table has sixteen bytes, and the planes lie within the group.
                let (tables, bytes) = unsafe {
                    let table = |at: usize| _mm_loadu_si128(query.tables[at].as_ptr().cast());
                    let bytes = _mm256_loadu_si256(group.as_ptr().add(at * GROUP + 32 * half).cast());
                    ([table(2 * at), table(2 * at + 1)].map(|table| _mm256_broadcastsi128_si256(table)), bytes)
                };
                let low = _mm256_shuffle_epi8(tables[0], _mm256_and_si256(bytes, nibble));
                let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
                _mm256_add_epi8(low, _mm256_shuffle_epi8(tables[1], high))
            };
            let sums = _mm256_add_epi8(of(at), of(at + 1));
            even[half] = _mm256_add_epi16(even[half], _mm256_and_si256(sums, low_bytes));
            odd[half] = _mm256_add_epi16(odd[half], _mm256_srli_epi16::<8>(sums));
        }
    }
    let mut reached = 0;
    for half in 0..2 {
        let (low, high) = (_mm256_unpacklo_epi16(even[half], odd[half]), _mm256_unpackhi_epi16(even[half], odd[half]));
        let eights = [
            _mm256_castsi256_si128(low),
            _mm256_castsi256_si128(high),
            _mm256_extracti128_si256::<1>(low),
            _mm256_extracti128_si256::<1>(high),
        ];
        for (eighth, sums) in eights.into_iter().enumerate() {
            let row = 32 * half + 8 * eighth;
            // Safety: the features are those of the caller, the length was checked; there are eight upper ends from
            // each of these rows on.
            let below = unsafe {
                let upper = eight_uppers(query, terms, group, row, sums);
                _mm256_storeu_ps(uppers.as_mut_ptr().add(row), upper);
                _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(upper, _mm256_set1_ps(terms.threshold))) as u8
            };
            reached |= u64::from(!below) << row;
        }
    }
    reached
}

/// The upper ends of eight rows.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn eight_uppers(query: &BitsQuery, terms: &BitsTerms, group: &[u8], row: usize, sums: __m128i) -> __m256 {
    let column = |column: usize| {
        let at = query.planes.len() * GROUP + 4 * (column * GROUP + row);
        // Safety: three columns of 64 numbers follow the planes.
        unsafe { _mm256_loadu_ps(group.as_ptr().add(at).cast()) }
    };
    let sums = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(sums));
    let sums = _mm256_sub_ps(_mm256_mul_ps(_mm256_set1_ps(query.step), sums), _mm256_set1_ps(query.sum));
    let upper = _mm256_add_ps(_mm256_set1_ps(terms.base), _mm256_mul_ps(column(0), sums));
    let upper = _mm256_add_ps(upper, _mm256_mul_ps(_mm256_set1_ps(query.low), column(1)));
    _mm256_add_ps(upper, _mm256_mul_ps(column(2), _mm256_set1_ps(terms.reach)))
}
