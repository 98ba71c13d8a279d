use proptest::prelude::*;

use super::isa::{Isa, LANES, Line, Pass};
use super::kernel::{Kernel, available, by_name, modelled_vnni};
use super::near::{Far, GROUP, MOST, NearRows, STEP};
use super::tile::{ByteRows, COLUMNS, NearProduct, Product, QUAD, ROWS, ROWS_MAX, Signed, Tiling, tiles};

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
    type Output = [[i32; COLUMNS]; ROWS_MAX];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let mut sums = [[i32::MIN; COLUMNS]; ROWS_MAX];
        let mut before = 0;
        isa.tile_after(Some(&self.0), &mut sums, |sums| before = sums[0][0]);
        assert_eq!(before, i32::MIN, "they are taken before they are overwritten");
        let taken = sums;
        isa.tile(&self.0, &mut sums);
        assert_eq!(sums, taken);
        sums
    }
}

/// The most rows of a tile, the grain of its rows and of its depth, and the signs of keys.
struct Shape;

impl Pass for Shape {
    type Output = (usize, usize, usize, Signed);

    #[inline(always)]
    fn run<I: Isa>(self, _: I) -> Self::Output {
        let signed = if I::Tiling::OFFSET == 0 { Signed::Both } else { Signed::Rows };
        (I::Tiling::ROWS, I::Tiling::GRAIN, I::Tiling::DEPTH, signed)
    }
}

fn scalar() -> Kernel {
    by_name(Some("scalar")).unwrap()
}

#[test]
fn every_tile_gives_the_sums_of_products_for_every_count_of_rows_and_leaves_the_others() {
    for kernel in available().iter().copied().chain(modelled_vnni()) {
        let (most, grain, grain_of_depth, keys) = kernel.run(Shape);
        for count in 1..=most {
            for depth in [4usize, 8, 32, 96, 384, 1536] {
                for (signed, is_new) in [(Signed::Panel, false), (Signed::Panel, true), (keys, true)] {
                    let (whole_count, whole) = (count.next_multiple_of(grain), depth.next_multiple_of(grain_of_depth));
                    let stride = whole + 4 * (count % 3);
                    let mut rows = bytes((whole_count - 1) * stride + whole, count as u64 * 31 + depth as u64);
                    // Zeros behind the depth of each row; anything in the rows that only fill a tile.
                    for row in 0..count {
                        rows[row * stride + depth..row * stride + whole].fill(0);
                    }
                    let panel = bytes(whole * COLUMNS, count as u64 * 17 + 5);
                    let starts = std::array::from_fn(|row| (row as i32 * 1000 - 7) * (row as i32 % 2));
                    let byte_rows = ByteRows { bytes: &rows, stride, count };
                    let product = Product { rows: byte_rows, panel: &panel, depth, signed, starts: &starts, is_new };
                    let sums = kernel.run(Tile(product));
                    let of = format!("{} {count} {depth} {signed:?}", kernel.name);
                    for (row, sums) in sums.iter().enumerate().take(count) {
                        assert_eq!(*sums, plain(&product, row), "{of}, row {row}");
                    }
                    assert!(sums[whole_count..].iter().flatten().all(|sum| *sum == i32::MIN), "{of}");
                }
            }
        }
    }
}

/// One row's sums by their definition.
fn plain(product: &Product<'_>, row: usize) -> [i32; COLUMNS] {
    let signed = |byte: u8, is_signed: bool| if is_signed { i32::from(byte as i8) } else { i32::from(byte) };
    std::array::from_fn(|column| {
        let term = |at: usize| {
            let byte = signed(product.rows.bytes[row * product.rows.stride + at], product.signed != Signed::Panel);
            let weight = product.panel[at / 4 * 4 * COLUMNS + column * 4 + at % 4];
            byte * signed(weight, product.signed != Signed::Rows)
        };
        product.starts[row] + (0..product.depth).map(term).sum::<i32>()
    })
}

/// Rows in the form that a tiling multiplies quickly, if it has one.
struct Near<'a> {
    rows: &'a [Vec<u8>],
    centres: &'a [u8],
    panel: &'a [u8],
}

impl Pass for Near<'_> {
    /// The rows, and the sums of those that have few far quads: all of them at once, and from each row on.
    type Output = Option<(NearRows, Vec<Option<[i32; COLUMNS]>>)>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        if !I::Tiling::NEAR {
            return None;
        }
        let Self { rows, centres, panel } = self;
        let mut near = NearRows::default();
        near.resize(rows.len(), rows[0].len());
        for (row, (bytes, centre)) in rows.iter().zip(centres).enumerate() {
            near.set(isa.tiling(), row, bytes, *centre);
        }
        let totals: [[i32; LANES]; 2] = std::array::from_fn(|half| {
            std::array::from_fn(|lane| {
                let column = half * LANES + lane;
                let weight = |at: usize| i32::from(panel[at / QUAD * QUAD * COLUMNS + column * QUAD + at % QUAD] as i8);
                (0..rows[0].len()).map(weight).sum()
            })
        });
        let mut found = vec![None; rows.len()];
        for first in 0..rows.len() {
            for count in (1..=ROWS.min(rows.len() - first)).filter(|count| near.are_near(first, *count)) {
                let mut sums = [[i32::MIN; COLUMNS]; ROWS_MAX];
                let product = NearProduct { rows: &near, first, count, panel, totals: [&totals[0], &totals[1]] };
                isa.tile_near(&product, &mut sums);
                for (row, sums) in sums.into_iter().enumerate() {
                    assert_eq!(sums == [i32::MIN; COLUMNS], row >= count, "only the rows are written");
                    if row < count {
                        assert_eq!(
                            *found[first + row].get_or_insert(sums),
                            sums,
                            "a row has the same sums in any tile"
                        );
                    }
                }
            }
        }
        Some((near, found))
    }
}

/// What a row's near numbers and far quads add up to, after checking that no sum of 16 bits can overflow.
fn joined(near: &NearRows, row: usize) -> Vec<i32> {
    let (numbers, far) = near.row(row);
    let mut bytes: Vec<i32> = near.near(row, 1).iter().map(|number| numbers.centre + i32::from(*number)).collect();
    for group in near.near(row, 1).as_chunks::<GROUP>().0 {
        for lane in [[0, 1, 4, 5], [2, 3, 6, 7]] {
            for sign in [1, -1] {
                assert!(lane.iter().map(|at| (sign * i32::from(group[*at])).max(0)).sum::<i32>() <= MOST);
            }
        }
    }
    for Far { line, bytes: part } in far {
        assert!(part.as_chunks::<2>().0.iter().all(|[a, b]| i32::from(*a).abs() + i32::from(*b).abs() <= MOST));
        for (to, part) in bytes[*line as usize / COLUMNS..].iter_mut().zip(part) {
            *to += i32::from(*part);
        }
    }
    assert_eq!(bytes.iter().sum::<i32>() - numbers.centre * bytes.len() as i32, numbers.sum);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Weights and bytes are anything, extremes more often than not; rows are near their centre but for some bytes, or not at all.
    #[test]
    fn near_rows_are_their_bytes_and_have_the_sums_of_their_products(
        depth in prop::sample::select(vec![STEP, 2 * STEP, 3 * STEP, 384, 1536]),
        count in 1usize..=2 * ROWS,
        spread in prop::sample::select(vec![0u8, 3, 20, 60, 127]),
        outliers in prop::sample::select(vec![2u64, 10, 100, 10_000]),
        extreme in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let centres = bytes(count, seed);
        let rows: Vec<Vec<u8>> = centres
            .iter()
            .enumerate()
            .map(|(row, centre)| {
                let noise = bytes(2 * depth, seed ^ (row as u64 + 1) << 32);
                let (noise, chances) = noise.split_at(depth);
                let near = |noise: u8| (i32::from(*centre) + i32::from(noise as i8) * i32::from(spread) / 128).clamp(0, 255);
                let is_far = |chance: u8, at: usize| (u64::from(chance) * 256 + at as u64 % 256).is_multiple_of(outliers);
                let byte = |(at, (noise, chance)): (usize, (&u8, &u8))| if is_far(*chance, at) { *noise } else { near(*noise) as u8 };
                noise.iter().zip(chances).enumerate().map(byte).collect()
            })
            .collect();
        let mut panel = bytes(depth * COLUMNS, seed ^ 7);
        if extreme {
            panel.iter_mut().for_each(|weight| *weight = if *weight & 1 == 0 { 127 } else { 128 });
        }
        for kernel in available() {
            let Some((near, found)) = kernel.run(Near { rows: &rows, centres: &centres, panel: &panel }) else { continue };
            for (row, sums) in found.iter().enumerate() {
                prop_assert_eq!(near.are_near(row, 1), sums.is_some());
                let Some(sums) = sums else { continue };
                prop_assert_eq!(joined(&near, row), rows[row].iter().map(|byte| i32::from(*byte)).collect::<Vec<_>>());
                let stride = depth;
                let byte_rows = ByteRows { bytes: &rows[row], stride, count: 1 };
                let (signed, starts) = (Signed::Panel, &[0; ROWS_MAX]);
                let product = Product { rows: byte_rows, panel: &panel, depth, signed, starts, is_new: false };
                prop_assert_eq!(*sums, plain(&product, 0), "{}", kernel.name);
            }
        }
    }
}

#[test]
fn a_row_without_a_middle_has_no_near_form_and_one_with_few_outliers_has() {
    let of = |row: Vec<u8>| [(row, 128u8)];
    let rows = [
        of((0..384).map(|at| if at % 2 == 0 { 255 } else { 0 }).collect()),
        of((0..384).map(|at| if at % 96 == 0 { 255 } else { 120 }).collect()),
    ];
    for (rows, expected) in rows.into_iter().zip([false, true]) {
        let (rows, centres): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        for kernel in available() {
            let found = kernel.run(Near { rows: &rows, centres: &centres, panel: &vec![1; 384 * COLUMNS] });
            assert!(found.is_none_or(|(near, _)| near.are_near(0, 1) == expected), "{}", kernel.name);
        }
    }
}

#[test]
fn a_tile_beyond_its_bytes_is_refused_by_every_kernel() {
    let (rows, panel) = (bytes(31, 1), bytes(16 * COLUMNS, 2));
    for kernel in available() {
        for (stride, count, depth) in [
            (16, 2, 16),
            (usize::MAX, 2, 16),
            (16, 0, 16),
            (1, ROWS_MAX + 1, 4),
            (0, 1, 20),
            (0, 1, 3),
            (0, 1, usize::MAX - 3),
        ] {
            let rows = ByteRows { bytes: &rows, stride, count };
            let product =
                Product { rows, panel: &panel, depth, signed: Signed::Panel, starts: &[0; ROWS_MAX], is_new: true };
            let refused = std::panic::catch_unwind(|| kernel.run(Tile(product))).is_err();
            assert!(refused, "{} {stride} {count} {depth}", kernel.name);
        }
    }
}

#[test]
fn tiles_cover_all_rows_in_order_and_evenly() {
    for (most, grain) in [(12, 1), (32, 16)] {
        for rows in 0..200 {
            let mut next = 0;
            let mut grains = Vec::new();
            for (start, count) in tiles(rows, most, grain) {
                assert!(start == next && start % grain == 0 && (1..=most).contains(&count));
                next += count;
                grains.push(count.div_ceil(grain));
            }
            assert_eq!(next, rows);
            let (least, most) = (grains.iter().min().unwrap_or(&0), grains.iter().max().unwrap_or(&0));
            assert!(most - least <= 1);
        }
    }
    assert_eq!(tiles(13, 12, 1).map(|(_, count)| count).collect::<Vec<_>>(), [6, 7]);
    assert_eq!(tiles(40, 32, 16).map(|(_, count)| count).collect::<Vec<_>>(), [16, 24]);
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
            isa.div(a, b),
            isa.fma(a, b, c),
            isa.min(a, b),
            isa.max(a, b),
            isa.abs(a),
            isa.sqrt(isa.abs(a)),
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
        let bytes_of = |factor: f32| isa.round(isa.min(isa.abs(isa.mul(a, isa.splat(factor))), isa.splat(255.0)));
        let mut four = [0; 4 * LANES];
        isa.store_unsigned_bytes([0.1, 0.2, 0.7, 1.3].map(bytes_of), &mut four);
        found.extend(four.map(u32::from));
        let rows: [Line; LANES] = std::array::from_fn(|row| {
            let mut line = [self.a, self.b, self.c][row % 3];
            line.rotate_left(row);
            line
        });
        for of_rows in [isa.sums_of(&rows), isa.least_of(&rows), isa.greatest_of(&rows)] {
            let mut line = [0.0; LANES];
            isa.store(of_rows, &mut line);
            found.extend(line.map(f32::to_bits));
        }
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
