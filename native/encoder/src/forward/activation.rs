//! Functions of one number, as polynomials.

use crate::lanes::isa::Isa;

/// 2^f for f in −½..=½ by Lawson's minimax fit: relative error 7.5e-5, a hundredth of a byte's step.
const POWER: [f32; 4] = [0.999_928_07, 0.693_261, 0.242_611_13, 0.055_171_67];
/// Smallest exponent: 2^−120 is still a normal number.
const EXPONENT_MIN: f32 = -120.0;

/// 2^x for x ≤ 0.
#[inline(always)]
pub fn power_of_two<I: Isa>(isa: I, x: I::F) -> I::F {
    let x = isa.max(x, isa.splat(EXPONENT_MIN));
    let whole = isa.round(x);
    let part = isa.sub(x, isa.to_float(whole));
    isa.scale_by_power(polynomial(isa, part, POWER), whole)
}

/// Φ(x) − ½ = x · p(x²) for |x| ≤ 4 by Lawson's minimax fit of x · Φ(x), with an error of 3.8e-5 in that product.
const NORMAL: [f32; 8] = [
    0.398_673_4,
    -0.065_887_84,
    0.009_505_4,
    -0.001_006_490_9,
    7.485_512e-5,
    -3.657_138_2e-6,
    1.041_962_5e-7,
    -1.301_297_7e-9,
];
/// Beyond it Φ is that of ±4, within 4.1e-5 of 1 and 0.
const NORMAL_END: f32 = 4.0;
/// Below every value of [`gelu`]: its least is −0.16997.
pub const GELU_LEAST: f32 = -0.1701;

/// x · Φ(x), where Φ is the normal distribution's.
#[inline(always)]
pub fn gelu<I: Isa>(isa: I, x: I::F) -> I::F {
    let near = isa.min(isa.max(x, isa.splat(-NORMAL_END)), isa.splat(NORMAL_END));
    let polynomial = polynomial(isa, isa.mul(near, near), NORMAL);
    isa.mul(x, isa.fma(near, polynomial, isa.splat(0.5)))
}

/// Horner's scheme: the coefficient of the constant comes first.
#[inline(always)]
fn polynomial<I: Isa, const N: usize>(isa: I, x: I::F, coefficients: [f32; N]) -> I::F {
    let mut sum = isa.splat(coefficients[N - 1]);
    for coefficient in coefficients[..N - 1].iter().rev() {
        sum = isa.fma(sum, x, isa.splat(*coefficient));
    }
    sum
}
