//! NEON: 16 codes or 4 floats at a time.

use std::arch::aarch64::*;

use super::bits::{BitsQuery, BitsTerms, GROUP};
use super::kernel::{BoundRows, BoundTerms, CodedQuery, Kernel, bounds_loop};
use super::lanes::{LANES, finish_f32};

/// The kernels of this file that the machine can run, best first. NEON belongs to every 64-bit ARM.
pub(super) fn detect() -> Vec<Kernel> {
    vec![Kernel { name: "neon", dots_i8, dot_f32, bounds, bits_reach }]
}

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

fn bits_reach(query: &BitsQuery, terms: &BitsTerms, group: &[u8]) -> u64 {
    query.check(group);
    let mut sums = [0u16; GROUP];
    // Safety: NEON belongs to every 64-bit ARM; a table has sixteen bytes, the planes lie within the group, and sixteen
    // sums are written from each of four rows' starts.
    unsafe {
        for sixteenth in 0..GROUP / 16 {
            let (mut first, mut second) = (vdupq_n_u16(0), vdupq_n_u16(0));
            for at in 0..query.planes.len() {
                let bytes = vld1q_u8(group.as_ptr().add(at * GROUP + 16 * sixteenth));
                let table = |at: usize| vld1q_u8(query.tables[at].as_ptr());
                let low = vqtbl1q_u8(table(2 * at), vandq_u8(bytes, vdupq_n_u8(15)));
                let sum = vaddq_u8(low, vqtbl1q_u8(table(2 * at + 1), vshrq_n_u8::<4>(bytes)));
                first = vaddw_u8(first, vget_low_u8(sum));
                second = vaddw_high_u8(second, sum);
            }
            vst1q_u16(sums.as_mut_ptr().add(16 * sixteenth), first);
            vst1q_u16(sums.as_mut_ptr().add(16 * sixteenth + 8), second);
        }
    }
    query.reached(terms, &sums, group)
}
