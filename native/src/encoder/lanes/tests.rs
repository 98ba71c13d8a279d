use proptest::prelude::*;

use super::isa::{Isa, LANES, Line, Pass};
use super::kernel::{Kernel, available, by_name};
use super::tile::{ByteRows, COLUMNS, Product, ROWS, Signed, Sums, tiles};

/// Bytes that are the same in each run, over their whole range, with runs of extremes.
fn bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match state >> 60 {
                0 => 255,
                1 => 128,
                2 => 127,
                _ => (state >> 40) as u8,
            }
        })
        .collect()
}

struct Tile<'a>(Product<'a>);

impl Pass for Tile<'_> {
    type Output = Sums;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Sums {
        let mut sums = [[i32::MIN; COLUMNS]; ROWS];
        isa.tile(&self.0, &mut sums);
        sums
    }
}

fn scalar() -> Kernel {
    by_name(Some("scalar")).unwrap()
}

#[test]
fn every_tile_gives_the_scalar_sums_for_every_count_of_rows_and_leaves_the_others() {
    for kernel in available() {
        for count in 1..=ROWS {
            for depth in [4, 8, 32, 384, 1536] {
                for signed in [Signed::Panel, Signed::Rows] {
                    let stride = depth + 4 * (count % 3);
                    let rows = bytes((count - 1) * stride + depth, count as u64 * 31 + depth as u64);
                    let panel = bytes(depth * COLUMNS, count as u64 * 17 + 5);
                    let starts = std::array::from_fn(|row| row as i32 * 1000 - 7);
                    let rows = ByteRows { bytes: &rows, stride, count };
                    let product = Product { rows, panel: &panel, signed, starts: &starts };
                    let sums = kernel.run(Tile(product));
                    assert!(sums == scalar().run(Tile(product)), "{} {count} {depth} {signed:?}", kernel.name);
                    assert!(sums[count..].iter().flatten().all(|sum| *sum == i32::MIN), "{}", kernel.name);
                }
            }
        }
    }
}

#[test]
fn the_scalar_tile_is_the_sum_of_products() {
    let (rows, panel) = (bytes(8, 3), bytes(8 * COLUMNS, 4));
    let rows_of = ByteRows { bytes: &rows, stride: 8, count: 1 };
    let sums = scalar().run(Tile(Product { rows: rows_of, panel: &panel, signed: Signed::Panel, starts: &[9; ROWS] }));
    for (column, sum) in sums[0].iter().enumerate() {
        let weight = |at: usize| i32::from(panel[at / 4 * 4 * COLUMNS + column * 4 + at % 4] as i8);
        let products: i32 = (0..8).map(|at| i32::from(rows[at]) * weight(at)).sum();
        assert_eq!(*sum, 9 + products);
    }
}

#[test]
fn a_tile_beyond_its_bytes_is_refused_by_every_kernel() {
    let (rows, panel) = (bytes(31, 1), bytes(16 * COLUMNS, 2));
    for kernel in available() {
        for (stride, count) in [(16, 2), (usize::MAX, 2), (16, 0), (1, ROWS + 1)] {
            let rows = ByteRows { bytes: &rows, stride, count };
            let product = Product { rows, panel: &panel, signed: Signed::Panel, starts: &[0; ROWS] };
            assert!(std::panic::catch_unwind(|| kernel.run(Tile(product))).is_err(), "{} {count}", kernel.name);
        }
    }
}

#[test]
fn tiles_cover_all_rows_in_order_and_evenly() {
    for rows in 0..200 {
        let mut next = 0;
        let mut counts = Vec::new();
        for (start, count) in tiles(rows) {
            assert_eq!(start, next);
            next += count;
            counts.push(count);
        }
        assert_eq!(next, rows);
        let (least, most) = (counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0));
        assert!(*most <= ROWS && most - least <= 1);
    }
    assert_eq!(tiles(13).map(|(_, count)| count).collect::<Vec<_>>(), [6, 7]);
}

/// Every operation on floats, one after the other, as bits.
struct Operations {
    a: Line,
    b: Line,
    c: Line,
}

impl Pass for Operations {
    type Output = Vec<u32>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Vec<u32> {
        let (a, b, c) = (isa.load(&self.a), isa.load(&self.b), isa.load(&self.c));
        let rounded = isa.round(a);
        let power = isa.round(isa.min(isa.max(b, isa.splat(-60.0)), isa.splat(60.0)));
        let lines = [
            isa.add(a, b),
            isa.sub(a, b),
            isa.mul(a, b),
            isa.fma(a, b, c),
            isa.min(a, b),
            isa.max(a, b),
            isa.abs(a),
            isa.to_float(rounded),
            isa.to_float(isa.add_whole(rounded, power)),
            isa.scale_by_power(isa.splat(1.25), power),
        ];
        let mut found = vec![
            isa.sum(a).to_bits(),
            isa.least(a).to_bits(),
            isa.greatest(a).to_bits(),
            isa.sum_whole(rounded) as u32,
        ];
        for line in lines {
            let mut out = [0.0; LANES];
            isa.store(line, &mut out);
            found.extend(out.map(f32::to_bits));
        }
        let mut bytes = [0; LANES];
        isa.store_bytes(isa.round(isa.min(isa.max(a, isa.splat(-128.0)), isa.splat(127.0))), &mut bytes);
        found.extend(bytes.map(u32::from));
        isa.store_bytes(isa.round(isa.min(isa.max(a, isa.splat(0.0)), isa.splat(255.0))), &mut bytes);
        found.extend(bytes.map(u32::from));
        let mut quads = [77; 4 * LANES];
        for at in 0..4 {
            isa.put_bytes(isa.add_whole(rounded, isa.load_whole(&[at as i32; LANES])), at, &mut quads);
        }
        found.extend(quads.map(u32::from));
        found
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_operation_gives_the_scalar_bits(
        a in prop::array::uniform16(-1000f32..1000.0),
        b in prop::array::uniform16(-300f32..300.0),
        c in prop::array::uniform16(-1e6f32..1e6),
    ) {
        let reference = scalar().run(Operations { a, b, c });
        for kernel in available() {
            prop_assert!(kernel.run(Operations { a, b, c }) == reference, "{}", kernel.name);
        }
    }
}

#[test]
fn an_unknown_kernel_is_an_error_that_names_the_known_ones() {
    let error = by_name(Some("abacus")).err().unwrap();
    assert!(error.contains("abacus") && error.contains("scalar"), "{error}");
    assert_eq!(by_name(Some("")).unwrap().name, available()[0].name);
}
