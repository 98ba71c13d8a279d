//! NEON: 16 codes or 4 floats at a time.

use std::arch::aarch64::*;

use super::{BoundRows, BoundTerms, CodedQuery, Kernel, LANES, bounds_loop, finish_f32};

pub const KERNEL: Kernel = Kernel { name: "neon", dots_i8, dot_f32, bounds };

fn dots_i8(query: &CodedQuery, codes: &[i8], out: &mut [i32]) {
    let dimensions = query.dimensions();
    assert_eq!(codes.len(), dimensions * out.len());
    let whole = dimensions / 16 * 16;
    for (row, dot) in out.iter_mut().enumerate() {
        let codes = &codes[row * dimensions..(row + 1) * dimensions];
        // Safety: NEON belongs to every 64-bit ARM; `at + 16 <= dimensions`, the length of both.
        let sum = unsafe {
            let mut sum = vdupq_n_s32(0);
            for at in (0..whole).step_by(16) {
                let code = vld1q_s8(codes.as_ptr().add(at));
                let signed = vld1q_s8(query.codes.as_ptr().add(at));
                let low = vmull_s8(vget_low_s8(code), vget_low_s8(signed));
                sum = vpadalq_s16(sum, low);
                sum = vpadalq_s16(sum, vmull_high_s8(code, signed));
            }
            vaddvq_s32(sum)
        };
        let rest: i32 = codes[whole..]
            .iter()
            .zip(&query.codes[whole..])
            .map(|(code, query)| i32::from(*code) * i32::from(*query))
            .sum();
        *dot = sum + rest;
    }
}

fn dot_f32(query: &[f32], row: &[u8]) -> f32 {
    assert_eq!(row.len(), 4 * query.len());
    let whole = query.len() / LANES * LANES;
    let mut lanes = [0f32; LANES];
    // Safety: NEON belongs to every 64-bit ARM; the reads end at `whole`, and each sum has its four lanes.
    unsafe {
        let mut sums = [vdupq_n_f32(0.0); LANES / 4];
        for at in (0..whole).step_by(LANES) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                let from = at + 4 * lane;
                let right = vreinterpretq_f32_u8(vld1q_u8(row.as_ptr().add(4 * from)));
                *sum = vfmaq_f32(*sum, vld1q_f32(query.as_ptr().add(from)), right);
            }
        }
        for (lane, sum) in sums.iter().enumerate() {
            vst1q_f32(lanes.as_mut_ptr().add(4 * lane), *sum);
        }
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
