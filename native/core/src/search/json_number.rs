//! Numbers of an answer, as `JSON.stringify` writes them.

/// Units of the last digit that is shown. `src/server/http/exchange/json-text.ts` rounds all other numbers to the same.
const UNITS: f64 = 1e6;
/// Above it, a double has no digits to round.
const ROUNDED_BELOW: f64 = 9e15 / UNITS;

/// The number as it is shown.
pub fn rounded(value: f64) -> f64 {
    if value.abs() < ROUNDED_BELOW { (value * UNITS).round() / UNITS } else { value }
}

/// Writes the number to six digits after the point. What is no number in JSON becomes null.
pub fn push_number(out: &mut Vec<u8>, value: f64) {
    push_exact(out, rounded(value));
}

/// Writes the shortest digits that read as the same number. What is no number in JSON becomes null.
pub fn push_exact(out: &mut Vec<u8>, value: f64) {
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
            (0.1 + 0.2, "0.3"),
            (-2.0 / 3.0, "-0.666667"),
            (8_999_999_999.123_457, "8999999999.123457"),
            (0.000001, "0.000001"),
            (4e-7, "0"),
            (-1.25e-9, "0"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (f64::from(0.3f32), "0.3"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(written(value), expected);
        }
    }

    proptest! {
        #[test]
        fn a_number_has_at_most_six_digits_after_the_point(value in -ROUNDED_BELOW..ROUNDED_BELOW) {
            let text = written(value);
            prop_assert!(text.split_once('.').is_none_or(|(_, digits)| digits.len() <= 6), "{}", text);
            prop_assert!((text.parse::<f64>().unwrap() - value).abs() <= 0.5 / UNITS + value.abs() * f64::EPSILON);
        }

        #[test]
        fn an_exact_number_reads_as_it_was_and_a_large_one_is_exact(value in proptest::num::f64::NORMAL) {
            let mut exact = Vec::new();
            push_exact(&mut exact, value);
            let exact = String::from_utf8(exact).unwrap();
            prop_assert_eq!(exact.parse::<f64>().unwrap(), value);
            prop_assert!(value.abs() < ROUNDED_BELOW || written(value) == exact);
        }

        #[test]
        fn numbers_keep_their_order(one in -20.0..20.0, more in 0.0..1e-5) {
            prop_assert!(written(one).parse::<f64>().unwrap() <= written(one + more).parse::<f64>().unwrap());
        }
    }
}
