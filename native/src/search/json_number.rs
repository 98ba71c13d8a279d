//! Numbers as `JSON.stringify` writes them.

/// Writes the shortest digits that read as the same number. What is no number in JSON becomes null.
pub fn push_number(out: &mut Vec<u8>, value: f64) {
    if !value.is_finite() {
        return out.extend_from_slice(b"null");
    }
    if value == 0.0 {
        return out.push(b'0');
    }
    let written = format!("{value:e}");
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    out.extend_from_slice(sign.as_bytes());
    let digits: Vec<u8> = mantissa.bytes().filter(|byte| *byte != b'.').collect();
    // Digits before the point.
    let point = exponent + 1;
    match usize::try_from(point) {
        Ok(point @ 1..=21) if point >= digits.len() => {
            out.extend_from_slice(&digits);
            out.resize(out.len() + point - digits.len(), b'0');
        }
        Ok(point @ 1..=21) => {
            out.extend_from_slice(&digits[..point]);
            out.push(b'.');
            out.extend_from_slice(&digits[point..]);
        }
        _ if (-5..=0).contains(&point) => {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + point.unsigned_abs() as usize, b'0');
            out.extend_from_slice(&digits);
        }
        _ => {
            out.push(digits[0]);
            if digits.len() > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            out.push(b'e');
            out.push(if exponent < 0 { b'-' } else { b'+' });
            out.extend_from_slice(exponent.unsigned_abs().to_string().as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(value: f64) -> String {
        let mut out = vec![];
        push_number(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-12.5, "-12.5"),
            (100.0, "100"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.000001, "0.000001"),
            (1e-7, "1e-7"),
            (-1.25e-9, "-1.25e-9"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (f64::from(0.3f32), "0.30000001192092896"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(written(value), expected);
        }
    }

    proptest! {
        #[test]
        fn a_number_reads_as_it_was(value in proptest::num::f64::NORMAL) {
            prop_assert_eq!(written(value).parse::<f64>().unwrap(), value);
        }
    }
}
