//! Numbers of 16 bits (IEEE 754 binary16).

/// The same number as f32. Every one of 16 bits has one.
pub fn wide(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(half >> 10) & 31, u32::from(half) & 1023);
    match exponent {
        // Zero and the numbers below the normal ones: multiples of 2⁻²⁴.
        0 => f32::from_bits(sign | (fraction as f32 * 2f32.powi(-24)).to_bits()),
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_number_is_what_its_parts_say() {
        for half in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 1023));
            let size = match exponent {
                31 => continue,
                0 => fraction * 2f64.powi(-24),
                _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
            };
            let expected = if half < 0x8000 { size } else { -size };
            assert_eq!(f64::from(wide(half)).to_bits(), expected.to_bits(), "{half:#06x}");
        }
        assert_eq!((wide(0x7c00), wide(0xfc00)), (f32::INFINITY, f32::NEG_INFINITY));
        assert!(wide(0x7c01).is_nan());
    }
}
