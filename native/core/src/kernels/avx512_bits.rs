//! AVX-512: one bit per dimension, 64 rows to a register.

use std::arch::x86_64::*;

use super::bits::{BitsQuery, BitsTerms, GROUP};

/// By tables: four bits of each row select one of sixteen sums.
pub fn bits_reach(query: &BitsQuery, terms: &BitsTerms, group: &[u8], uppers: &mut [f32; GROUP]) -> u64 {
    query.check(group);
    // Safety: the kernel is listed only where its features were detected; the length was checked.
    unsafe { by_tables(query, terms, group, uppers) }
}

/// By counting: four passes, one for each bit of the query's values.
pub fn bits_reach_popcnt(query: &BitsQuery, terms: &BitsTerms, group: &[u8], uppers: &mut [f32; GROUP]) -> u64 {
    query.check(group);
    // Safety: as above.
    unsafe { by_counting(query, terms, group, uppers) }
}

/// Adds up what `sums_of` gives for each byte of the rows (at most 120 each), two at a time before they are widened.
macro_rules! summed {
    ($query:expr, $terms:expr, $group:expr, $uppers:expr, $sums_of:expr) => {{
        let low_bytes = _mm512_set1_epi16(0x00ff);
        let (mut even, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for at in (0..$query.planes.len()).step_by(2) {
            let of = |at: usize| {
                // Safety: the planes lie before the columns, within the group.
                let bytes = unsafe { _mm512_loadu_si512($group.as_ptr().add(at * GROUP).cast()) };
                $sums_of(bytes, at)
            };
            let sums = _mm512_add_epi8(of(at), of(at + 1));
            even = _mm512_add_epi16(even, _mm512_and_si512(sums, low_bytes));
            odd = _mm512_add_epi16(odd, _mm512_srli_epi16::<8>(sums));
        }
        // Safety: the features are those of the caller, the length was checked.
        unsafe { reached($query, $terms, $group, $uppers, even, odd) }
    }};
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
unsafe fn by_tables(query: &BitsQuery, terms: &BitsTerms, group: &[u8], uppers: &mut [f32; GROUP]) -> u64 {
    let nibble = _mm512_set1_epi8(15);
    let table = |at: usize| {
        // Safety: a table has sixteen bytes.
        _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(query.tables[at].as_ptr().cast()) })
    };
    summed!(query, terms, group, uppers, |bytes: __m512i, at: usize| {
        let low = _mm512_shuffle_epi8(table(2 * at), _mm512_and_si512(bytes, nibble));
        let high = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), nibble);
        _mm512_add_epi8(low, _mm512_shuffle_epi8(table(2 * at + 1), high))
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bitalg,avx512vpopcntdq,avx2")]
unsafe fn by_counting(query: &BitsQuery, terms: &BitsTerms, group: &[u8], uppers: &mut [f32; GROUP]) -> u64 {
    summed!(query, terms, group, uppers, |bytes: __m512i, at: usize| {
        let counts =
            |plane: usize| _mm512_popcnt_epi8(_mm512_and_si512(bytes, _mm512_set1_epi8(query.planes[at][plane] as i8)));
        let twice = |sum: __m512i, plane: usize| _mm512_add_epi8(_mm512_add_epi8(sum, sum), counts(plane));
        twice(twice(twice(counts(3), 2), 1), 0)
    })
}

/// [`BitsReach`](super::bits::BitsReach), where `even` and `odd` have the sums of the rows with even and odd numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
unsafe fn reached(
    query: &BitsQuery,
    terms: &BitsTerms,
    group: &[u8],
    uppers: &mut [f32; GROUP],
    even: __m512i,
    odd: __m512i,
) -> u64 {
    let (low, high) = (_mm512_unpacklo_epi16(even, odd), _mm512_unpackhi_epi16(even, odd));
    let sums = [
        pair(_mm512_castsi512_si128(low), _mm512_castsi512_si128(high)),
        pair(_mm512_extracti32x4_epi32::<1>(low), _mm512_extracti32x4_epi32::<1>(high)),
        pair(_mm512_extracti32x4_epi32::<2>(low), _mm512_extracti32x4_epi32::<2>(high)),
        pair(_mm512_extracti32x4_epi32::<3>(low), _mm512_extracti32x4_epi32::<3>(high)),
    ];
    let mut reached = 0;
    for (sixteenth, sum) in sums.into_iter().enumerate() {
        let column = |column: usize| {
            let at = query.planes.len() * GROUP + 4 * (column * GROUP + 16 * sixteenth);
            // Safety: three columns of 64 numbers follow the planes.
            unsafe { _mm512_loadu_ps(group.as_ptr().add(at).cast()) }
        };
        let sum = _mm512_sub_ps(_mm512_mul_ps(_mm512_set1_ps(query.step), sum), _mm512_set1_ps(query.sum));
        let upper = _mm512_add_ps(_mm512_set1_ps(terms.base), _mm512_mul_ps(column(0), sum));
        let upper = _mm512_add_ps(upper, _mm512_mul_ps(_mm512_set1_ps(query.low), column(1)));
        let upper = _mm512_add_ps(upper, _mm512_mul_ps(column(2), _mm512_set1_ps(terms.reach)));
        // Safety: there are sixteen upper ends from each of these rows on.
        unsafe { _mm512_storeu_ps(uppers.as_mut_ptr().add(16 * sixteenth), upper) };
        let below = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(upper, _mm512_set1_ps(terms.threshold));
        reached |= u64::from(!below) << (16 * sixteenth);
    }
    reached
}

/// Sixteen sums as floats.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn pair(low: __m128i, high: __m128i) -> __m512 {
    _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_set_m128i(high, low)))
}
