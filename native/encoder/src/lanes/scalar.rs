//! The reference: one lane at a time, on any machine.

use super::isa::{Isa, LANES, Line, Pass};
use super::tile::{COLUMNS, Product, QUAD, ROWS, Signed, Sums, Tiling};

#[derive(Clone, Copy)]
pub struct Scalar;

fn each<A: Copy, B: Copy, C>(a: [A; LANES], b: [B; LANES], f: impl Fn(A, B) -> C) -> [C; LANES] {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

/// The lanes in one, those 8 apart first.
fn folded<T: Copy>(mut lanes: [T; LANES], f: impl Fn(T, T) -> T) -> T {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = f(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}

fn least(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

fn greatest(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

impl Isa for Scalar {
    type F = Line;
    type N = [i32; LANES];
    type Tiling = Self;

    fn run<P: Pass>(self, pass: P) -> P::Output {
        pass.run(self)
    }

    fn tiling(self) -> Self {
        self
    }

    fn splat(self, value: f32) -> Line {
        [value; LANES]
    }

    fn load(self, from: &Line) -> Line {
        *from
    }

    fn store(self, value: Line, to: &mut Line) {
        *to = value;
    }

    fn add(self, a: Line, b: Line) -> Line {
        each(a, b, |a, b| a + b)
    }

    fn sub(self, a: Line, b: Line) -> Line {
        each(a, b, |a, b| a - b)
    }

    fn mul(self, a: Line, b: Line) -> Line {
        each(a, b, |a, b| a * b)
    }

    fn div(self, a: Line, b: Line) -> Line {
        each(a, b, |a, b| a / b)
    }

    fn fma(self, a: Line, b: Line, c: Line) -> Line {
        std::array::from_fn(|lane| a[lane].mul_add(b[lane], c[lane]))
    }

    fn min(self, a: Line, b: Line) -> Line {
        each(a, b, least)
    }

    fn max(self, a: Line, b: Line) -> Line {
        each(a, b, greatest)
    }

    fn sqrt(self, a: Line) -> Line {
        a.map(f32::sqrt)
    }

    fn abs(self, a: Line) -> Line {
        a.map(f32::abs)
    }

    fn sum(self, a: Line) -> f32 {
        folded(a, |a, b| a + b)
    }

    fn least(self, a: Line) -> f32 {
        folded(a, least)
    }

    fn greatest(self, a: Line) -> f32 {
        folded(a, greatest)
    }

    fn load_whole(self, from: &[i32; LANES]) -> Self::N {
        *from
    }

    fn put_bytes(self, value: Self::N, at: u32, to: &mut [u8; 4 * LANES]) {
        for (lane, to) in value.iter().zip(to.as_chunks_mut::<4>().0) {
            if at == 0 {
                *to = [0; 4];
            }
            to[at as usize] = *lane as u8;
        }
    }

    fn to_float(self, a: Self::N) -> Line {
        a.map(|lane| lane as f32)
    }

    fn round(self, a: Line) -> Self::N {
        a.map(|lane| lane.round_ties_even() as i32)
    }

    fn scale_by_power(self, a: Line, n: Self::N) -> Line {
        each(a, n, |a, n| f32::from_bits(a.to_bits().wrapping_add((n << 23) as u32)))
    }

    fn add_whole(self, a: Self::N, b: Self::N) -> Self::N {
        each(a, b, i32::wrapping_add)
    }

    fn store_bytes(self, value: Self::N, to: &mut [u8; LANES]) {
        *to = value.map(|lane| lane as u8);
    }

    fn sum_whole(self, a: Self::N) -> i32 {
        folded(a, i32::wrapping_add)
    }
}

impl Tiling for Scalar {
    const ROWS: usize = ROWS;
    const GRAIN: usize = 1;
    const DEPTH: usize = QUAD;
    const OFFSET: i32 = 0;
    type Ready = ();

    fn ready(self) {}

    /// Safe: its bounds are checked once more.
    unsafe fn tile(self, product: &Product<'_>, sums: &mut Sums) {
        let rows = product.rows;
        for (row, line) in sums.iter_mut().enumerate().take(rows.count) {
            let bytes = &rows.bytes[row * rows.stride..][..product.depth];
            *line = [product.starts[row]; COLUMNS];
            for (quad, weights) in bytes.as_chunks::<QUAD>().0.iter().zip(product.panel.chunks_exact(COLUMNS * QUAD)) {
                for (sum, weights) in line.iter_mut().zip(weights.as_chunks::<QUAD>().0) {
                    for (byte, weight) in quad.iter().zip(weights) {
                        *sum += match product.signed {
                            Signed::Panel => i32::from(*byte) * i32::from(*weight as i8),
                            Signed::Rows => i32::from(*byte as i8) * i32::from(*weight),
                            Signed::Both => i32::from(*byte as i8) * i32::from(*weight as i8),
                        };
                    }
                }
            }
        }
    }
}
