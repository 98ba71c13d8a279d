//! One suite for every kernel that this machine has.

use proptest::prelude::*;

use super::detection::{available, by_name};
use super::kernel::{BoundRows, BoundTerms, CodedQuery, Kernel};
use super::lanes::LANES;
use super::{bits, scalar};

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
    fn every_kernel_gives_the_exact_dot_product_of_two_rows(
        (left, right, shift) in lengths().prop_flat_map(|length| (codes(length), codes(length), 0..64usize))
    ) {
        let expected: i32 = left.iter().zip(&right).map(|(left, right)| i32::from(*left) * i32::from(*right)).sum();
        let mut shifted = vec![0i8; shift];
        shifted.extend(&right);
        for kernel in available() {
            prop_assert_eq!((kernel.pair_i8)(&left, &shifted[shift..]), expected, "{}", kernel.name);
        }
    }

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

/// A group of 64 rows from bytes and columns, at any address.
fn group_of(planes: &[u8], columns: &[f32], shift: usize) -> Vec<u8> {
    let mut group = vec![0; shift];
    group.extend(planes);
    group.extend(columns.iter().flat_map(|value| value.to_le_bytes()));
    group
}

proptest! {
    #[test]
    fn every_kernel_gives_the_same_upper_ends_by_bits(
        (query, planes, columns, shift) in
            proptest::sample::select(vec![64usize, 128, 384, 512, 768, 1280, 4096]).prop_flat_map(|dimensions| (
                proptest::collection::vec(-1.0f32..1.0, dimensions),
                proptest::collection::vec(any::<u8>(), dimensions / 8 * bits::GROUP),
                proptest::collection::vec(0.0f32..0.1, 3 * bits::GROUP),
                0..64usize,
            )),
        base in -1.0f32..1.0,
        reach in 0.0f32..3.0,
    ) {
        let coded = bits::BitsQuery::new(&query);
        let group = group_of(&planes, &columns, shift);
        // The meaning of the bits, in plain arithmetic.
        let upper: Vec<f32> = (0..bits::GROUP).map(|row| {
            let mut sum = 0u32;
            for (at, eight) in coded.planes.iter().enumerate() {
                let byte = planes[at * bits::GROUP + row];
                sum += (0..4).map(|plane| (byte & eight[plane]).count_ones() << plane).sum::<u32>();
            }
            let terms = bits::BitsTerms { base, reach, threshold: 0.0 };
            let of = |column: usize| columns[column * bits::GROUP + row];
            coded.upper(&terms, u16::try_from(sum).unwrap(), [of(0), of(1), of(2)])
        }).collect();
        let mut sorted = upper.clone();
        sorted.sort_by(f32::total_cmp);
        // A threshold that is one row's own upper end: that row reaches it.
        for threshold in [f32::NEG_INFINITY, sorted[32], sorted[63], f32::INFINITY] {
            let terms = bits::BitsTerms { base, reach, threshold };
            let expected = (0..bits::GROUP).map(|row| u64::from(upper[row] >= threshold) << row).sum::<u64>();
            for kernel in available() {
                let mut uppers = [f32::NAN; bits::GROUP];
                let reached = (kernel.bits_reach)(&coded, &terms, &group[shift..], &mut uppers);
                prop_assert_eq!(reached, expected, "{} {}", kernel.name, threshold);
                prop_assert_eq!(uppers.map(f32::to_bits).to_vec(), upper.iter().map(|upper| upper.to_bits()).collect::<Vec<_>>(), "{}", kernel.name);
            }
        }
    }
}

#[test]
fn extreme_bits_do_not_overflow() {
    for dimensions in [64, 384, bits::BITS_DIMENSIONS_MAX] {
        // All values but one are the largest: codes of 15 but for one of 0.
        let mut query = vec![1.0; dimensions];
        query[5] = 0.0;
        let coded = bits::BitsQuery::new(&query);
        let columns = [[1.0f32; bits::GROUP], [0.0; bits::GROUP], [0.0; bits::GROUP]].concat();
        let group = group_of(&vec![0xff; dimensions / 8 * bits::GROUP], &columns, 3);
        let all = (dimensions - 1) as f32;
        for kernel in available() {
            for (threshold, expected) in [(all - 1.0, u64::MAX), (all + 2.0, 0)] {
                let terms = bits::BitsTerms { base: 0.0, reach: 0.0, threshold };
                let reached = (kernel.bits_reach)(&coded, &terms, &group[3..], &mut [0.0; bits::GROUP]);
                assert_eq!(reached, expected, "{}", kernel.name);
            }
        }
    }
}

#[test]
fn a_query_without_differences_or_of_tiny_numbers_is_kept() {
    for query in [vec![0.0f32; 64], vec![0.25; 64], vec![1e-40; 64]] {
        let coded = bits::BitsQuery::new(&query);
        assert!(coded.residual().is_finite() && coded.low.is_finite() && coded.sum.is_finite());
    }
}
