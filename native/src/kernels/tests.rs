//! One suite for every kernel that this machine has.

use proptest::prelude::*;

use super::*;

const REAL_DIMENSIONS: [usize; 5] = [64, 384, 512, 768, 1280];

fn lengths() -> impl Strategy<Value = usize> {
    prop_oneof![0..=130usize, proptest::sample::select(REAL_DIMENSIONS.to_vec())]
}

fn codes(length: usize) -> impl Strategy<Value = Vec<i8>> {
    proptest::collection::vec(prop_oneof![4 => -127..=127i8, 1 => Just(127), 1 => Just(-127), 1 => Just(0)], length)
}

fn floats(length: usize) -> impl Strategy<Value = Vec<f32>> {
    let extremes = prop_oneof![Just(0.0f32), Just(-0.0), Just(1e-38), Just(-1e-45), Just(1e15), Just(-1e15)];
    proptest::collection::vec(prop_oneof![8 => -1.0f32..1.0, 1 => extremes], length)
}

/// The bytes of some numbers, from an address that is not aligned.
fn unaligned_bytes(values: &[f32], shift: usize) -> Vec<u8> {
    let mut bytes = vec![0; shift];
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

proptest! {
    #[test]
    fn every_kernel_gives_the_exact_integer_dot_products(
        (query, rows, shift) in lengths().prop_flat_map(|length| {
            (codes(length), (0..=9usize).prop_flat_map(move |rows| codes(length * rows)), 0..64usize)
        })
    ) {
        let rows_count = rows.len().checked_div(query.len()).unwrap_or(3);
        let expected: Vec<i32> = (0..rows_count)
            .map(|row| (0..query.len()).map(|at| i32::from(query[at]) * i32::from(rows[row * query.len() + at])).sum())
            .collect();
        let mut shifted = vec![0i8; shift];
        shifted.extend(&rows);
        for kernel in available() {
            let mut dots = vec![0; rows_count];
            (kernel.dots_i8)(&CodedQuery::new(&query), &shifted[shift..], &mut dots);
            prop_assert_eq!(&dots, &expected, "{}", kernel.name);
        }
    }

    #[test]
    fn every_kernel_gives_the_same_float_dot_product_within_its_error_bound(
        (query, row, shift) in lengths().prop_flat_map(|length| (floats(length), floats(length), 0..64usize))
    ) {
        let exact: f64 = query.iter().zip(&row).map(|(left, right)| f64::from(*left) * f64::from(*right)).sum();
        let magnitude: f64 = query.iter().zip(&row).map(|(left, right)| (f64::from(*left) * f64::from(*right)).abs()).sum();
        let bytes = unaligned_bytes(&row, shift);
        let reference = (scalar::KERNEL.dot_f32)(&query, &bytes[shift..]);
        // Each product passes through at most n/32 + 6 roundings (Higham 2002, section 3.1).
        let roundings = (query.len() / LANES + 8) as f64;
        prop_assert!((f64::from(reference) - exact).abs() <= roundings * f64::from(f32::EPSILON) * magnitude + 1e-37);
        for kernel in available() {
            let dot = (kernel.dot_f32)(&query, &bytes[shift..]);
            prop_assert_eq!(dot.to_bits(), reference.to_bits(), "{}", kernel.name);
        }
    }

    #[test]
    fn every_kernel_gives_the_same_bounds(
        rows in proptest::collection::vec((-20_000_000..20_000_000i32, 0.0f32..0.01, 0.0f32..0.02), 0..70),
        threshold in -1.0f32..1.0,
    ) {
        let dots: Vec<i32> = rows.iter().map(|row| row.0).collect();
        let scales: Vec<f32> = rows.iter().map(|row| row.1).collect();
        let residuals: Vec<f32> = rows.iter().map(|row| row.2).collect();
        let terms = BoundTerms { query_scale: 0.004, query_norm: 1.0, slack: 0.007 };
        let run = |kernel: &Kernel| {
            let (mut estimates, mut errors) = (vec![0f32; rows.len()], vec![0f32; rows.len()]);
            let mut out = BoundRows { estimates: &mut estimates, errors: &mut errors };
            let reached = (kernel.bounds)(&dots, &scales, &residuals, terms, threshold, &mut out);
            (reached, estimates, errors)
        };
        let expected = run(&scalar::KERNEL);
        let above = expected.1.iter().zip(&expected.2).any(|(estimate, error)| estimate + error >= threshold);
        prop_assert_eq!(expected.0, above);
        for kernel in available() {
            prop_assert_eq!(run(kernel), expected.clone(), "{}", kernel.name);
        }
    }
}

#[test]
fn a_forced_kernel_is_used_or_refused() {
    assert_eq!(by_name(Some("scalar")).unwrap().name, "scalar");
    assert_eq!(by_name(None).unwrap().name, available()[0].name);
    assert!(by_name(Some("abacus")).err().unwrap().contains("scalar"));
}

#[test]
fn extreme_codes_do_not_overflow() {
    for dimensions in REAL_DIMENSIONS {
        for kernel in available() {
            let mut dots = [0; 5];
            (kernel.dots_i8)(&CodedQuery::new(&vec![-127; dimensions]), &vec![-127; 5 * dimensions], &mut dots);
            assert_eq!(dots, [127 * 127 * dimensions as i32; 5], "{}", kernel.name);
        }
    }
}
