//! Dot products of a query with many rows, in every instruction set worth having: chosen once, then a function pointer.
//!
//! **Invariant: every kernel gives the same bits.** Integer sums are exact; the f32 dot product is defined as 32 lanes of
//! fused multiply-adds (element `i` goes to lane `i mod 32`) and one fixed tree of additions, which each kernel follows.
//! So scores, and with them the order of hits, do not depend on the machine.

use std::sync::OnceLock;

use super::bits::BitsReach;
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::scalar;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// Largest dimension of a vector: sums of products of 8-bit codes stay far below 2^31, and far above what models have.
pub const DIMENSIONS_MAX: usize = 16_384;

/// A query as the int8 kernels want it. Codes lie in −127..=127.
#[derive(Debug, Clone)]
pub struct CodedQuery {
    pub(super) codes: Vec<i8>,
    /// |code| of each dimension, for instructions that multiply an unsigned by a signed byte.
    pub(super) magnitudes: Vec<u8>,
    /// One bit for each dimension whose code is negative, 64 to a word.
    pub(super) negative: Vec<u64>,
    pub(super) sum: i32,
}

impl CodedQuery {
    /// `codes` must lie in −127..=127; −128 is taken as −127.
    pub fn new(codes: &[i8]) -> Self {
        let codes: Vec<i8> = codes.iter().map(|code| (*code).max(-127)).collect();
        let mut negative = vec![0u64; codes.len().div_ceil(64)];
        for (at, _) in codes.iter().enumerate().filter(|(_, code)| **code < 0) {
            negative[at / 64] |= 1 << (at % 64);
        }
        let magnitudes = codes.iter().map(|code| code.unsigned_abs()).collect();
        let sum = codes.iter().map(|code| i32::from(*code)).sum();
        Self { codes, magnitudes, negative, sum }
    }

    pub fn dimensions(&self) -> usize {
        self.codes.len()
    }
}

/// What turns an integer dot product into an upper bound of the exact score:
/// `upper = scale_of_row · query_scale · dot + residual_of_row · query_norm + slack`.
#[derive(Debug, Clone, Copy)]
pub struct BoundTerms {
    pub query_scale: f32,
    pub query_norm: f32,
    pub slack: f32,
}

/// Writes the dot product of the query with each row of `codes` (`out.len()` rows of the query's dimensions, each
/// code in −127..=127) into `out`.
pub type DotsI8 = fn(query: &CodedQuery, codes: &[i8], out: &mut [i32]);
/// Dot product of a query and a row given as its little-endian bytes (four a dimension, any alignment).
pub type DotF32 = fn(query: &[f32], row: &[u8]) -> f32;
/// Writes the estimate (`scale · query_scale · dot`) and the error bound of each row; all slices have one length. True
/// when a row's estimate plus bound reaches `threshold`.
pub type Bounds = fn(
    dots: &[i32],
    scales: &[f32],
    residuals: &[f32],
    terms: BoundTerms,
    threshold: f32,
    out: &mut BoundRows<'_>,
) -> bool;

/// Dot product of two rows of codes of one length.
pub type PairI8 = fn(left: &[i8], right: &[i8]) -> i32;

/// Where a kernel writes its estimates and error bounds.
pub struct BoundRows<'a> {
    pub estimates: &'a mut [f32],
    pub errors: &'a mut [f32],
}

/// One implementation of every loop that runs over rows.
pub struct Kernel {
    pub name: &'static str,
    pub dots_i8: DotsI8,
    pub dot_f32: DotF32,
    pub bounds: Bounds,
    pub pair_i8: PairI8,
    pub bits_reach: BitsReach,
}

const CACHE_LINE: usize = 64;

/// Asks for bytes that are read soon; where the processor is not one we know how to ask, nothing.
#[inline(always)]
pub fn prefetch<T>(bytes: &[T]) {
    const { assert!(size_of::<T>() == 1) };
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // From the start of the first line, so that the last one is asked for wherever the bytes begin.
        let from = bytes.as_ptr() as usize % CACHE_LINE;
        for at in (0..from + bytes.len()).step_by(CACHE_LINE) {
            // Safety: a hint: no address is wrong. SSE belongs to every 64-bit processor of this kind.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast::<i8>().wrapping_add(at).wrapping_sub(from)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, CACHE_LINE);
}

/// Lanes of the f32 dot product.
pub const LANES: usize = 32;

/// The last step of every f32 kernel: the elements after the last whole group of lanes, then the tree of additions.
#[inline(always)]
pub(super) fn finish_f32(
    mut lanes: [f32; LANES],
    query: &[f32],
    row: &[u8],
    from: usize,
    fused: impl Fn(f32, f32, f32) -> f32,
) -> f32 {
    for (lane, at) in lanes.iter_mut().zip(from..query.len()) {
        *lane = fused(query[at], f32_at(row, at), *lane);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for at in 0..width {
            lanes[at] += lanes[at + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[inline(always)]
pub(super) fn f32_at(row: &[u8], at: usize) -> f32 {
    f32::from_le_bytes([row[4 * at], row[4 * at + 1], row[4 * at + 2], row[4 * at + 3]])
}

/// The loop of [`Bounds`], compiled once for each instruction set; multiplications and additions are never fused, so
/// that every kernel gives the same bits.
#[inline(always)]
pub(super) fn bounds_loop(
    dots: &[i32],
    scales: &[f32],
    residuals: &[f32],
    terms: BoundTerms,
    threshold: f32,
    out: &mut BoundRows<'_>,
) -> bool {
    let rows = dots.len();
    let (scales, residuals) = (&scales[..rows], &residuals[..rows]);
    let (estimates, errors) = (&mut out.estimates[..rows], &mut out.errors[..rows]);
    let mut reached = 0u32;
    for row in 0..rows {
        let estimate = scales[row] * terms.query_scale * dots[row] as f32;
        let error = residuals[row] * terms.query_norm + terms.slack;
        estimates[row] = estimate;
        errors[row] = error;
        reached |= u32::from(estimate + error >= threshold);
    }
    reached != 0
}

/// The kernels that this machine can run, best first. The scalar reference is always the last.
pub fn available() -> &'static [Kernel] {
    static AVAILABLE: OnceLock<Vec<Kernel>> = OnceLock::new();
    AVAILABLE.get_or_init(detect)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    if avx512 && is_x86_feature_detected!("avx512vnni") {
        kernels.push(avx512::VNNI);
    }
    if avx512 {
        kernels.push(avx512::WITHOUT_VNNI);
    }
    if avx512 && is_x86_feature_detected!("avx512bitalg") && is_x86_feature_detected!("avx512vpopcntdq") {
        kernels.push(avx512::POPCNT);
    }
    if avx2 {
        kernels.push(avx2::KERNEL);
    }
    kernels.push(scalar::KERNEL);
    kernels
}

#[cfg(target_arch = "aarch64")]
fn detect() -> Vec<Kernel> {
    // NEON belongs to every 64-bit ARM.
    vec![neon::KERNEL, scalar::KERNEL]
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn detect() -> Vec<Kernel> {
    vec![scalar::KERNEL]
}

/// The kernel of this process: the best of the machine, or the one that `FARTHING_KERNEL` names.
///
/// # Errors
/// When that name is not one of the machine's kernels: a forced kernel is never silently another.
pub fn chosen() -> Result<&'static Kernel, String> {
    static CHOSEN: OnceLock<Result<&'static Kernel, String>> = OnceLock::new();
    CHOSEN.get_or_init(|| by_name(std::env::var("FARTHING_KERNEL").ok().as_deref())).clone()
}

pub(super) fn by_name(name: Option<&str>) -> Result<&'static Kernel, String> {
    let kernels = available();
    let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(&kernels[0]) };
    kernels.iter().find(|kernel| kernel.name == name).ok_or_else(|| {
        let names: Vec<_> = kernels.iter().map(|kernel| kernel.name).collect();
        format!("FARTHING_KERNEL is {name}; this machine has {}", names.join(", "))
    })
}
