//! The reference for every other kernel. It runs on any machine.

use super::bits::{BitsQuery, BitsTerms, GROUP};
use super::kernel::{BoundRows, BoundTerms, CodedQuery, Kernel, bounds_loop};
use super::lanes::{LANES, f32_at, finish_f32};

pub const KERNEL: Kernel = Kernel { name: "scalar", dots_i8, dot_f32, bounds, pair_i8, bits_reach };

fn dots_i8(query: &CodedQuery, codes: &[i8], out: &mut [i32]) {
    let dimensions = query.dimensions();
    assert_eq!(codes.len(), dimensions * out.len());
    for (row, dot) in out.iter_mut().enumerate() {
        let codes = &codes[row * dimensions..(row + 1) * dimensions];
        *dot = codes.iter().zip(&query.codes).map(|(code, query)| i32::from(*code) * i32::from(*query)).sum();
    }
}

fn dot_f32(query: &[f32], row: &[u8]) -> f32 {
    assert_eq!(row.len(), 4 * query.len());
    let mut lanes = [0f32; LANES];
    let whole = query.len() / LANES * LANES;
    for at in 0..whole {
        lanes[at % LANES] = query[at].mul_add(f32_at(row, at), lanes[at % LANES]);
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
    bounds_loop(dots, scales, residuals, terms, threshold, out)
}

fn pair_i8(left: &[i8], right: &[i8]) -> i32 {
    assert_eq!(left.len(), right.len());
    left.iter().zip(right).map(|(left, right)| i32::from(*left) * i32::from(*right)).sum()
}

fn bits_reach(query: &BitsQuery, terms: &BitsTerms, group: &[u8], uppers: &mut [f32; GROUP]) -> u64 {
    query.check(group);
    let mut sums = [0u16; GROUP];
    for (tables, bytes) in query.tables.chunks_exact(2).zip(group.chunks_exact(GROUP)) {
        for (sum, byte) in sums.iter_mut().zip(bytes) {
            *sum += u16::from(tables[0][usize::from(byte & 15)]) + u16::from(tables[1][usize::from(byte >> 4)]);
        }
    }
    query.reached(terms, &sums, group, uppers)
}
