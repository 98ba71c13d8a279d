//! AVX-512: 64 codes or 16 floats at a time, with the byte dot product of VNNI where the machine has it.

use std::arch::x86_64::*;

use super::avx2::pair_i8;
use super::avx512_bits::{bits_reach, bits_reach_popcnt};
use super::kernel::{BoundRows, BoundTerms, CodedQuery, Kernel, bounds_loop};
use super::lanes::{LANES, finish_f32};

const WITHOUT_VNNI: Kernel = Kernel { name: "avx512", dots_i8, dot_f32, bounds, pair_i8, bits_reach };
const VNNI: Kernel = Kernel { name: "avx512vnni", dots_i8: dots_i8_vnni, ..WITHOUT_VNNI };
/// Counts bits by `vpopcnt` instead of looking up sums.
const POPCNT: Kernel = Kernel { name: "avx512popcnt", bits_reach: bits_reach_popcnt, ..WITHOUT_VNNI };

/// The kernels of this file that the machine can run, best first: its functions are called through them alone.
pub(super) fn detect() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let avx512 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    if avx512 && is_x86_feature_detected!("avx512vnni") {
        kernels.push(VNNI);
    }
    if avx512 {
        kernels.push(WITHOUT_VNNI);
    }
    if avx512 && is_x86_feature_detected!("avx512bitalg") && is_x86_feature_detected!("avx512vpopcntdq") {
        kernels.push(POPCNT);
    }
    kernels
}

/// 64 bytes from `at` on, with zeros after the last.
///
/// # Safety
/// `at + 64 <= bytes.len()` where `whole`, `at <= bytes.len()` otherwise.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn load<T>(bytes: &[T], at: usize, whole: bool) -> __m512i {
    const { assert!(size_of::<T>() == 1) };
    // Safety: a whole load lies within the slice. The mask leaves out what is beyond it, and masked bytes are not read.
    unsafe {
        let from = bytes.as_ptr().add(at);
        if whole {
            _mm512_loadu_si512(from.cast())
        } else {
            _mm512_maskz_loadu_epi8((1 << (bytes.len() - at)) - 1, from.cast())
        }
    }
}

/// Sums of the four vectors' lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn four_sums(sums: [__m512i; 4]) -> __m128i {
    let halves = sums.map(|sum| _mm256_add_epi32(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum)));
    let pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(halves[0], halves[1]), _mm256_hadd_epi32(halves[2], halves[3]));
    _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256::<1>(pairs))
}

/// Runs `row` over all rows, four at a time, so that four sums share one reduction; memory is read in order.
macro_rules! for_each_row {
    ($query:expr, $codes:expr, $out:expr, $correction:expr, $row:expr) => {{
        let dimensions = $query.dimensions();
        let rows = $out.len();
        let of = |row: usize| &$codes[row * dimensions..(row + 1) * dimensions];
        let correction = _mm_set1_epi32($correction);
        let mut at = 0;
        while at < rows {
            let group = (rows - at).min(4);
            let mut sums = [_mm512_setzero_si512(); 4];
            for (offset, sum) in sums.iter_mut().enumerate().take(group) {
                // Safety: the features are those of the caller.
                *sum = unsafe { $row($query, of(at + offset)) };
            }
            let dots = _mm_sub_epi32(four_sums(sums), correction);
            // Safety: the mask keeps the store within the group's rows.
            unsafe { _mm_mask_storeu_epi32($out.as_mut_ptr().add(at), (1u8 << group) - 1, dots) };
            at += group;
        }
    }};
}

fn dots_i8(query: &CodedQuery, codes: &[i8], out: &mut [i32]) {
    assert_eq!(codes.len(), query.dimensions() * out.len());
    // Safety: the kernel is listed only where its features were detected; the lengths were checked.
    unsafe { dots_i8_bw(query, codes, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
unsafe fn dots_i8_bw(query: &CodedQuery, codes: &[i8], out: &mut [i32]) {
    for_each_row!(query, codes, out, 0, row_bw);
}

/// |query| × (code with the query's sign): the products of two bytes fit 16 bits because no code is −128.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
unsafe fn row_bw(query: &CodedQuery, codes: &[i8]) -> __m512i {
    let (zero, ones) = (_mm512_setzero_si512(), _mm512_set1_epi16(1));
    let products = |group: usize, whole: bool| {
        // Safety: the group lies within the dimensions, the length of both.
        let (code, magnitude) = unsafe { (load(codes, group * 64, whole), load(&query.magnitudes, group * 64, whole)) };
        let signed = _mm512_mask_sub_epi8(code, query.negative[group], zero, code);
        _mm512_madd_epi16(_mm512_maddubs_epi16(magnitude, signed), ones)
    };
    let whole = codes.len() / 64;
    let mut sum = zero;
    for group in 0..whole {
        sum = _mm512_add_epi32(sum, products(group, true));
    }
    if codes.len().is_multiple_of(64) { sum } else { _mm512_add_epi32(sum, products(whole, false)) }
}

fn dots_i8_vnni(query: &CodedQuery, codes: &[i8], out: &mut [i32]) {
    assert_eq!(codes.len(), query.dimensions() * out.len());
    // Safety: the kernel is listed only where its features were detected; the lengths were checked.
    unsafe { dots_i8_dpbusd(query, codes, out) }
}

/// `dpbusd` wants one side unsigned: 128 is added to the codes, and 128 × the query's sum subtracted at the end.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2")]
unsafe fn dots_i8_dpbusd(query: &CodedQuery, codes: &[i8], out: &mut [i32]) {
    for_each_row!(query, codes, out, 128 * query.sum, row_vnni);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2")]
unsafe fn row_vnni(query: &CodedQuery, codes: &[i8]) -> __m512i {
    let offset = _mm512_set1_epi8(i8::MIN);
    let add = |sum: __m512i, at: usize, whole: bool| {
        // Safety: `at` lies within the dimensions, the length of both.
        let (code, signed) = unsafe { (load(codes, at, whole), load(&query.codes, at, whole)) };
        _mm512_dpbusd_epi32(sum, _mm512_xor_si512(code, offset), signed)
    };
    let whole = codes.len() / 64 * 64;
    let mut sum = _mm512_setzero_si512();
    for at in (0..whole).step_by(64) {
        sum = add(sum, at, true);
    }
    if whole < codes.len() { add(sum, whole, false) } else { sum }
}

fn dot_f32(query: &[f32], row: &[u8]) -> f32 {
    assert_eq!(row.len(), 4 * query.len());
    // Safety: the kernel is listed only where its features were detected; the lengths were checked.
    unsafe { dot_f32_wide(query, row) }
}

#[target_feature(enable = "avx512f,fma")]
unsafe fn dot_f32_wide(query: &[f32], row: &[u8]) -> f32 {
    let mut sums = [_mm512_setzero_ps(); LANES / 16];
    let whole = query.len() / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let from = at + 16 * lane;
            // Safety: `from + 16 <= whole`, and the row has four bytes for each of the query's numbers.
            let (left, right) = unsafe {
                (_mm512_loadu_ps(query.as_ptr().add(from)), _mm512_loadu_ps(row.as_ptr().add(4 * from).cast()))
            };
            *sum = _mm512_fmadd_ps(left, right, *sum);
        }
    }
    let mut lanes = [0f32; LANES];
    for (lane, sum) in sums.iter().enumerate() {
        // Safety: there are sixteen lanes for each sum.
        unsafe { _mm512_storeu_ps(lanes.as_mut_ptr().add(16 * lane), *sum) };
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
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
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
    // Safety: the kernel is listed only where its features were detected.
    unsafe { wide(dots, scales, residuals, terms, threshold, out) }
}
