//! NEON: a vector is four registers of 128 bits. How bytes are multiplied is that of a [`Dot`].

use std::arch::aarch64::*;

use super::isa::{Isa, LANES, Line, Pass};
use super::neon_dots::Dot;

/// Exists only where the dot product's own instructions were detected; NEON belongs to every 64-bit ARM. All `unsafe` of
/// this file rests on that, and on the sizes of the arrays that are read and written.
#[derive(Clone, Copy)]
pub struct Neon<D>(D);

impl<D: Dot> Neon<D> {
    pub fn detect() -> Option<Self> {
        D::detect().map(Self)
    }
}

/// Registers of a vector.
const QUARTERS: usize = LANES / 4;

type Floats = [float32x4_t; QUARTERS];
type Wholes = [int32x4_t; QUARTERS];

#[inline(always)]
fn each<A: Copy, B: Copy, C>(a: [A; QUARTERS], b: [B; QUARTERS], f: impl Fn(A, B) -> C) -> [C; QUARTERS] {
    std::array::from_fn(|quarter| f(a[quarter], b[quarter]))
}

/// `a` where it is less, otherwise `b`: `vminq` would order the zeros by their signs.
#[inline(always)]
fn lesser(a: float32x4_t, b: float32x4_t) -> float32x4_t {
    unsafe { vbslq_f32(vcltq_f32(a, b), a, b) }
}

/// `a` where it is greater, otherwise `b`.
#[inline(always)]
fn greater(a: float32x4_t, b: float32x4_t) -> float32x4_t {
    unsafe { vbslq_f32(vcgtq_f32(a, b), a, b) }
}

/// The lanes in one, those 8 apart first.
#[inline(always)]
fn folded(a: Floats, f: impl Fn(float32x4_t, float32x4_t) -> float32x4_t) -> f32 {
    let four = f(f(a[0], a[2]), f(a[1], a[3]));
    unsafe {
        let two = f(four, vextq_f32::<2>(four, four));
        vgetq_lane_f32::<0>(f(two, vextq_f32::<1>(two, two)))
    }
}

/// The low bytes of the lanes.
#[inline(always)]
fn low_bytes(a: Wholes) -> uint8x16_t {
    unsafe {
        let [a, b, c, d] = a.map(|quarter| vmovn_s32(quarter));
        let [low, high] = [vmovn_s16(vcombine_s16(a, b)), vmovn_s16(vcombine_s16(c, d))];
        vreinterpretq_u8_s8(vcombine_s8(low, high))
    }
}

impl<D: Dot> Isa for Neon<D> {
    type F = Floats;
    type N = Wholes;
    type Tiling = D;

    /// Nothing but the dot product needs more than each 64-bit ARM has, and the tiles are compiled for it.
    #[inline(always)]
    fn run<P: Pass>(self, pass: P) -> P::Output {
        pass.run(self)
    }

    #[inline(always)]
    fn tiling(self) -> D {
        self.0
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Floats {
        unsafe { [vdupq_n_f32(value); QUARTERS] }
    }

    #[inline(always)]
    fn load(self, from: &Line) -> Floats {
        std::array::from_fn(|quarter| unsafe { vld1q_f32(from.as_ptr().add(4 * quarter)) })
    }

    #[inline(always)]
    fn store(self, value: Floats, to: &mut Line) {
        for (quarter, value) in value.into_iter().enumerate() {
            unsafe { vst1q_f32(to.as_mut_ptr().add(4 * quarter), value) };
        }
    }

    #[inline(always)]
    fn add(self, a: Floats, b: Floats) -> Floats {
        each(a, b, |a, b| unsafe { vaddq_f32(a, b) })
    }

    #[inline(always)]
    fn sub(self, a: Floats, b: Floats) -> Floats {
        each(a, b, |a, b| unsafe { vsubq_f32(a, b) })
    }

    #[inline(always)]
    fn mul(self, a: Floats, b: Floats) -> Floats {
        each(a, b, |a, b| unsafe { vmulq_f32(a, b) })
    }

    #[inline(always)]
    fn div(self, a: Floats, b: Floats) -> Floats {
        each(a, b, |a, b| unsafe { vdivq_f32(a, b) })
    }

    #[inline(always)]
    fn fma(self, a: Floats, b: Floats, c: Floats) -> Floats {
        std::array::from_fn(|quarter| unsafe { vfmaq_f32(c[quarter], a[quarter], b[quarter]) })
    }

    #[inline(always)]
    fn min(self, a: Floats, b: Floats) -> Floats {
        each(a, b, lesser)
    }

    #[inline(always)]
    fn max(self, a: Floats, b: Floats) -> Floats {
        each(a, b, greater)
    }

    #[inline(always)]
    fn sqrt(self, a: Floats) -> Floats {
        a.map(|quarter| unsafe { vsqrtq_f32(quarter) })
    }

    #[inline(always)]
    fn abs(self, a: Floats) -> Floats {
        a.map(|quarter| unsafe { vabsq_f32(quarter) })
    }

    #[inline(always)]
    fn sum(self, a: Floats) -> f32 {
        folded(a, |a, b| unsafe { vaddq_f32(a, b) })
    }

    #[inline(always)]
    fn least(self, a: Floats) -> f32 {
        folded(a, lesser)
    }

    #[inline(always)]
    fn greatest(self, a: Floats) -> f32 {
        folded(a, greater)
    }

    #[inline(always)]
    fn load_whole(self, from: &[i32; LANES]) -> Wholes {
        std::array::from_fn(|quarter| unsafe { vld1q_s32(from.as_ptr().add(4 * quarter)) })
    }

    #[inline(always)]
    fn put_bytes(self, value: Wholes, at: u32, to: &mut [u8; 4 * LANES]) {
        unsafe {
            let bits = vdupq_n_s32(8 * at as i32);
            for (quarter, value) in value.into_iter().enumerate() {
                let low = vandq_u32(vreinterpretq_u32_s32(value), vdupq_n_u32(0xff));
                let shifted = vreinterpretq_u8_u32(vshlq_u32(low, bits));
                let to = to.as_mut_ptr().add(16 * quarter);
                vst1q_u8(to, if at == 0 { shifted } else { vorrq_u8(shifted, vld1q_u8(to)) });
            }
        }
    }

    #[inline(always)]
    fn to_float(self, a: Wholes) -> Floats {
        a.map(|quarter| unsafe { vcvtq_f32_s32(quarter) })
    }

    #[inline(always)]
    fn round(self, a: Floats) -> Wholes {
        a.map(|quarter| unsafe { vcvtnq_s32_f32(quarter) })
    }

    #[inline(always)]
    fn scale_by_power(self, a: Floats, n: Wholes) -> Floats {
        each(a, n, |a, n| unsafe { vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(a), vshlq_n_s32::<23>(n))) })
    }

    #[inline(always)]
    fn add_whole(self, a: Wholes, b: Wholes) -> Wholes {
        each(a, b, |a, b| unsafe { vaddq_s32(a, b) })
    }

    #[inline(always)]
    fn store_bytes(self, value: Wholes, to: &mut [u8; LANES]) {
        unsafe { vst1q_u8(to.as_mut_ptr(), low_bytes(value)) }
    }

    #[inline(always)]
    fn sum_whole(self, a: Wholes) -> i32 {
        unsafe { vaddvq_s32(vaddq_s32(vaddq_s32(a[0], a[1]), vaddq_s32(a[2], a[3]))) }
    }
}
