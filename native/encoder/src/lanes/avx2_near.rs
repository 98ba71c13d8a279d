//! Products of [`NearRows`] and a panel with AVX2 alone.
//!
//! `vpmaddubsw` multiplies unsigned by signed bytes and adds two products in 16 bits, where it saturates. Weights are made
//! unsigned by adding 128. Near numbers are so small that the products of four of them fit in 16 bits whatever the weights are, so
//! that two results are added before they are widened to 32 bits.

use std::arch::x86_64::*;

use super::near::{FAR_OF_STEP, Far, GROUP, GROUPS, MOST, STEP};
use super::tile::{AHEAD, COLUMNS, NearProduct, QUAD, ROWS, Sums};

/// Rows of a tile of 16 columns: 8 sums and 4 vectors of weights are in registers.
pub const PART_ROWS: usize = 4;
/// Columns of that tile: half of a panel.
const PART_COLUMNS: usize = 16;
/// A quad's line in a panel has so many bytes: 2 to the power of it.
const LINE_BITS: i32 = (COLUMNS * QUAD).ilog2() as i32;
/// Vectors of sums of a row.
const VECTORS: usize = COLUMNS / 8;

/// For each set of eight lanes: their numbers, one after the other.
static LANES_OF: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut count) = (0, 0);
        while lane < 8 {
            if set >> lane & 1 == 1 {
                table[set][count] = lane;
                count += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    table
};

/// See [`Tiling::near`](super::tile::Tiling::near). It does the same for every step, whether there is something far or not: which
/// steps have it cannot be foretold.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub unsafe fn divide(bytes: &[u8], centre: u8, near: &mut [[i8; GROUP]], far: &mut [Far]) -> (i32, Option<usize>) {
    let (steps, rest) = bytes.as_chunks::<STEP>();
    assert!(rest.is_empty() && near.len() * GROUP == bytes.len(), "rows have whole steps");
    let most = far.len().checked_sub(FAR_OF_STEP).expect("a step's far quads have room");
    // Safety: that of this function.
    unsafe {
        let (middle, ones) = (_mm256_set1_epi16(centre.into()), _mm256_set1_epi16(1));
        // Whether four numbers below the centre can be too much.
        let has_large = 4 * i32::from(centre) > MOST;
        let mut sums = _mm256_setzero_si256();
        let mut count = 0;
        for (at, (bytes, near)) in steps.iter().zip(near.as_chunks_mut::<GROUPS>().0).enumerate() {
            let numbers = [numbers(&bytes[..16], middle), numbers(&bytes[16..], middle)];
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_add_epi16(numbers[0], numbers[1]), ones));
            let found = [near_of(numbers[0], has_large), near_of(numbers[1], has_large)];
            let mut rest = [_mm256_sub_epi16(numbers[0], found[0]), _mm256_sub_epi16(numbers[1], found[1])];
            _mm256_storeu_si256(near.as_mut_ptr().cast(), packed(found));
            // Seldom: more than far quads have in one go.
            while _mm256_movemask_epi8(_mm256_or_si256(are_large(rest[0]), are_large(rest[1]))) != 0 {
                let part = [within(rest[0], MOST as i16 / 2), within(rest[1], MOST as i16 / 2)];
                rest = [_mm256_sub_epi16(rest[0], part[0]), _mm256_sub_epi16(rest[1], part[1])];
                count += list(packed(part), at, &mut far[count..]);
            }
            count += list(packed(rest), at, &mut far[count..]);
            if count > most {
                return (0, None);
            }
        }
        let four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
        let sum = _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two)));
        (sum, Some(count))
    }
}

/// Sixteen bytes, less the middle.
#[inline(always)]
unsafe fn numbers(bytes: &[u8], middle: __m256i) -> __m256i {
    // Safety: the caller's; the bytes are sixteen.
    unsafe { _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128(bytes[..16].as_ptr().cast())), middle) }
}

/// Each number, or the nearest of this magnitude.
#[inline(always)]
unsafe fn within(numbers: __m256i, most: i16) -> __m256i {
    // Safety: the caller's.
    unsafe { _mm256_max_epi16(_mm256_min_epi16(numbers, _mm256_set1_epi16(most)), _mm256_set1_epi16(-most)) }
}

/// The near numbers of two groups. Their negative numbers may be `large`.
#[inline(always)]
unsafe fn near_of(numbers: __m256i, large: bool) -> __m256i {
    // Safety: the caller's.
    unsafe {
        let zero = _mm256_setzero_si256();
        let positive = least(_mm256_max_epi16(numbers, zero));
        let negative = _mm256_max_epi16(_mm256_sub_epi16(zero, numbers), zero);
        _mm256_sub_epi16(positive, if large { least(negative) } else { negative })
    }
}

/// Sixteen numbers and sixteen as 32 bytes, in order. They are within i8.
#[inline(always)]
unsafe fn packed([low, high]: [__m256i; 2]) -> __m256i {
    // Safety: the caller's.
    unsafe { _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(low, high)) }
}

/// Whether the magnitudes of two numbers are too much for a far quad.
#[inline(always)]
unsafe fn are_large(numbers: __m256i) -> __m256i {
    // Safety: the caller's.
    unsafe {
        let pairs = _mm256_madd_epi16(_mm256_abs_epi16(numbers), _mm256_set1_epi16(1));
        _mm256_cmpgt_epi32(pairs, _mm256_set1_epi32(MOST))
    }
}

/// Lists those quads of a step that are not zero, and returns how many. All eight are written.
#[inline(always)]
unsafe fn list(quads: __m256i, step: usize, far: &mut [Far]) -> usize {
    // Safety: the caller's.
    unsafe {
        let zeros = _mm256_castsi256_ps(_mm256_cmpeq_epi32(quads, _mm256_setzero_si256()));
        let some = !_mm256_movemask_ps(zeros) as u8;
        let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(LANES_OF[usize::from(some)].as_ptr().cast()));
        let quads = _mm256_permutevar8x32_epi32(quads, lanes);
        let first = _mm256_set1_epi32((step * STEP * COLUMNS) as i32);
        let lines = _mm256_add_epi32(first, _mm256_slli_epi32::<LINE_BITS>(lanes));
        let (even, odd) = (_mm256_unpacklo_epi32(lines, quads), _mm256_unpackhi_epi32(lines, quads));
        let to = far[..STEP / QUAD].as_mut_ptr().cast::<__m256i>();
        _mm256_storeu_si256(to, _mm256_permute2x128_si256::<0x20>(even, odd));
        _mm256_storeu_si256(to.add(1), _mm256_permute2x128_si256::<0x31>(even, odd));
        some.count_ones() as usize
    }
}

/// Numbers that are not below zero, with each sum of four at most [`MOST`]: the largest is less by what is too much.
#[inline(always)]
unsafe fn least(numbers: __m256i) -> __m256i {
    // Safety: the caller's.
    unsafe {
        let (mut found, mut is_more) = less(numbers);
        while _mm256_movemask_epi8(is_more) != 0 {
            (found, is_more) = less(found);
        }
        found
    }
}

/// Numbers that are not below zero, the largest of each sum of four less by what is too much; and where that is not enough.
#[inline(always)]
unsafe fn less(numbers: __m256i) -> (__m256i, __m256i) {
    // Safety: the caller's.
    unsafe {
        let pairs = _mm256_madd_epi16(numbers, _mm256_set1_epi16(1));
        let sums = _mm256_add_epi32(pairs, _mm256_shuffle_epi32::<0b01_00_11_10>(pairs));
        let over = _mm256_max_epi32(_mm256_sub_epi32(sums, _mm256_set1_epi32(MOST)), _mm256_setzero_si256());
        let over = _mm256_or_si256(over, _mm256_slli_epi32::<16>(over));
        let swapped = _mm256_shufflehi_epi16::<0b10_11_00_01>(_mm256_shufflelo_epi16::<0b10_11_00_01>(numbers));
        let largest = _mm256_max_epi16(numbers, swapped);
        let largest = _mm256_max_epi16(largest, _mm256_shuffle_epi32::<0b01_00_11_10>(largest));
        let part = _mm256_and_si256(_mm256_cmpeq_epi16(numbers, largest), _mm256_min_epi16(over, numbers));
        (_mm256_sub_epi16(numbers, part), _mm256_cmpgt_epi16(over, largest))
    }
}

/// Weights as unsigned bytes: themselves and 128.
///
/// # Safety
/// The processor has AVX2; 32 bytes can be read.
#[inline(always)]
unsafe fn unsigned(weights: *const u8) -> __m256i {
    // Safety: that of this function.
    unsafe { _mm256_xor_si256(_mm256_loadu_si256(weights.cast()), _mm256_set1_epi8(-128)) }
}

/// # Safety
/// The processor has AVX2; the product has passed its check with these sums.
#[inline(always)]
pub unsafe fn tile(product: &NearProduct<'_>, sums: &mut Sums) {
    const { assert!(ROWS.is_multiple_of(PART_ROWS) && COLUMNS == 2 * PART_COLUMNS) };
    // Safety: that of this function.
    unsafe {
        for (row, sums) in sums.iter_mut().enumerate().take(product.count) {
            begin(product, product.first + row, sums);
        }
        let parts = product.count.div_ceil(PART_ROWS);
        for part in 0..parts {
            let first = part * product.count / parts;
            for column in [0, PART_COLUMNS] {
                match (part + 1) * product.count / parts - first {
                    1 => add::<1>(product, first, column, sums),
                    2 => add::<2>(product, first, column, sums),
                    3 => add::<3>(product, first, column, sums),
                    _ => add::<4>(product, first, column, sums),
                }
            }
        }
    }
}

/// Writes what the centre and the far quads add to the sums of a row, and takes off what 128 in each weight will add.
///
/// # Safety
/// That of [`tile`].
#[inline(always)]
unsafe fn begin(product: &NearProduct<'_>, row: usize, sums: &mut [i32; COLUMNS]) {
    let (row, far) = product.rows.row(row);
    // Safety: that of this function; lines of far quads are below the depth's.
    unsafe {
        let (centre, start) = (_mm256_set1_epi32(row.centre), _mm256_set1_epi32(-128 * row.sum));
        let ones = _mm256_set1_epi16(1);
        let mut found = [start; VECTORS];
        for (vector, found) in found.iter_mut().enumerate() {
            let totals = product.totals[vector / 2][vector % 2 * 8..].as_ptr();
            let totals = _mm256_loadu_si256(totals.cast());
            *found = _mm256_add_epi32(*found, _mm256_mullo_epi32(centre, totals));
        }
        for far in far {
            let quad = _mm256_set1_epi32(i32::from_ne_bytes(far.bytes.map(|byte| byte as u8)));
            let line = product.panel.as_ptr().add(far.line as usize);
            for (vector, found) in found.iter_mut().enumerate() {
                let products = _mm256_maddubs_epi16(unsigned(line.add(32 * vector)), quad);
                *found = _mm256_add_epi32(*found, _mm256_madd_epi16(products, ones));
            }
        }
        for (vector, found) in found.into_iter().enumerate() {
            _mm256_storeu_si256(sums.as_mut_ptr().add(8 * vector).cast(), found);
        }
    }
}

/// Adds the products of the near numbers of some rows, from `first` on, and of 16 columns, from `column` on.
///
/// # Safety
/// That of [`tile`], and the product has the rows.
#[inline(always)]
unsafe fn add<const COUNT: usize>(product: &NearProduct<'_>, first: usize, column: usize, sums: &mut Sums) {
    let depth = product.rows.depth();
    let rows = product.rows.near(product.first + first, COUNT).as_ptr();
    // An array: where its length is not known, the sums would be in memory.
    let sums: &mut [[i32; COLUMNS]; COUNT] = sums[first..].first_chunk_mut().expect("a line for each row");
    // Safety: that of this function: each line of the panel and each row has each quad. What is ahead need not exist.
    unsafe {
        let mut found = [[_mm256_setzero_si256(); 2]; COUNT];
        for (found, sums) in found.iter_mut().zip(&*sums) {
            let from = sums[column..].as_ptr().cast::<__m256i>();
            *found = [_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))];
        }
        let ones = _mm256_set1_epi16(1);
        let mut panel = product.panel.as_ptr().add(column * QUAD);
        for at in (0..depth).step_by(GROUP) {
            const LINE: usize = COLUMNS * QUAD;
            let next = panel.add(LINE);
            let (a, b) = ([unsigned(panel), unsigned(panel.add(32))], [unsigned(next), unsigned(next.add(32))]);
            _mm_prefetch::<_MM_HINT_T1>(panel.wrapping_add(AHEAD).cast());
            _mm_prefetch::<_MM_HINT_T1>(next.wrapping_add(AHEAD).cast());
            panel = panel.add(2 * LINE);
            for (row, found) in found.iter_mut().enumerate() {
                let quads = rows.add(row * depth + at).cast::<i32>();
                let (quad, next) =
                    (_mm256_set1_epi32(quads.read_unaligned()), _mm256_set1_epi32(quads.add(1).read_unaligned()));
                for (found, (a, b)) in found.iter_mut().zip(a.into_iter().zip(b)) {
                    let products = _mm256_add_epi16(_mm256_maddubs_epi16(a, quad), _mm256_maddubs_epi16(b, next));
                    *found = _mm256_add_epi32(*found, _mm256_madd_epi16(products, ones));
                }
            }
        }
        for (found, sums) in found.iter().zip(sums) {
            let to = sums[column..column + PART_COLUMNS].as_mut_ptr().cast::<__m256i>();
            _mm256_storeu_si256(to, found[0]);
            _mm256_storeu_si256(to.add(1), found[1]);
        }
    }
}
