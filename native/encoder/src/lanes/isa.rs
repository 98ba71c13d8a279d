//! Operations that an instruction set offers to the encoder.

use super::tile::{NearProduct, Product, Sums, Tiling};

/// Lanes of a vector.
pub const LANES: usize = 16;
/// A vector in memory.
pub type Line = [f32; LANES];

/// Work that is written once for every instruction set. `run` must be `#[inline(always)]`, and so must be what it
/// calls with the token: only then is it compiled with the instructions.
pub trait Pass {
    type Output;
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}

/// A token of an instruction set that this machine has. Its methods are the same operations everywhere, to the bit.
pub trait Isa: Copy {
    /// Sixteen f32 lanes.
    type F: Copy;
    /// Sixteen i32 lanes.
    type N: Copy;
    /// How it multiplies bytes.
    type Tiling: Tiling;

    /// Runs a pass, compiled with these instructions.
    fn run<P: Pass>(self, pass: P) -> P::Output;

    fn tiling(self) -> Self::Tiling;

    fn splat(self, value: f32) -> Self::F;
    fn load(self, from: &Line) -> Self::F;
    fn store(self, value: Self::F, to: &mut Line);
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a · b + c` with one rounding.
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `b` where they compare as equal.
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    /// `b` where they compare as equal.
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    fn sqrt(self, a: Self::F) -> Self::F;
    fn abs(self, a: Self::F) -> Self::F;
    /// Sum of the lanes: lanes 8 apart first, then 4, 2 and 1.
    fn sum(self, a: Self::F) -> f32;
    fn least(self, a: Self::F) -> f32;
    fn greatest(self, a: Self::F) -> f32;

    /// The [`sum`](Isa::sum) of each row.
    #[inline(always)]
    fn sums_of(self, rows: &[Line; LANES]) -> Self::F {
        self.of_rows(
            rows,
            #[inline(always)]
            |row| self.sum(row),
        )
    }

    /// The least lane of each row.
    #[inline(always)]
    fn least_of(self, rows: &[Line; LANES]) -> Self::F {
        self.of_rows(
            rows,
            #[inline(always)]
            |row| self.least(row),
        )
    }

    /// The greatest lane of each row.
    #[inline(always)]
    fn greatest_of(self, rows: &[Line; LANES]) -> Self::F {
        self.of_rows(
            rows,
            #[inline(always)]
            |row| self.greatest(row),
        )
    }

    /// One number of each row.
    #[inline(always)]
    fn of_rows(self, rows: &[Line; LANES], of: impl Fn(Self::F) -> f32) -> Self::F {
        let mut found = [0.0; LANES];
        for (found, row) in found.iter_mut().zip(rows) {
            *found = of(self.load(row));
        }
        self.load(&found)
    }

    fn load_whole(self, from: &[i32; LANES]) -> Self::N;
    /// Writes the low byte of lane `n` to byte `4 n + at` of `to`, `at` in 0..4. Later bytes of each four are lost at 0, and
    /// must be zero otherwise: bytes are put in order.
    fn put_bytes(self, value: Self::N, at: u32, to: &mut [u8; 4 * LANES]);
    fn to_float(self, a: Self::N) -> Self::F;
    /// Nearest integers, ties to even. The lanes must be within i32.
    fn round(self, a: Self::F) -> Self::N;
    /// `a · 2^n`, by adding to the exponent: the result must be a normal number.
    fn scale_by_power(self, a: Self::F, n: Self::N) -> Self::F;
    fn add_whole(self, a: Self::N, b: Self::N) -> Self::N;
    /// The low byte of each lane, which is in −128..=255.
    fn store_bytes(self, value: Self::N, to: &mut [u8; LANES]);
    /// The same of four vectors, one after the other, whose lanes are in 0..=255.
    #[inline(always)]
    fn store_unsigned_bytes(self, values: [Self::N; 4], to: &mut [u8; 4 * LANES]) {
        for (value, to) in values.into_iter().zip(to.as_chunks_mut().0) {
            self.store_bytes(value, to);
        }
    }
    fn sum_whole(self, a: Self::N) -> i32;

    /// Writes the sums of the product's rows. Of further rows of `sums`, those up to the next multiple of
    /// [`Tiling::GRAIN`] may be overwritten; the others are left as they are.
    ///
    /// # Panics
    /// See [`Product::check`].
    #[inline(always)]
    fn tile(self, product: &Product<'_>, sums: &mut Sums) {
        product.check::<Self::Tiling>(sums);
        // Safety: it was checked.
        unsafe { self.tiling().tile(product, sums) }
    }

    /// Writes the sums of a product of near rows, where [`Tiling::NEAR`] says that they are quicker.
    ///
    /// # Panics
    /// See [`NearProduct::check`].
    #[inline(always)]
    fn tile_near(self, product: &NearProduct<'_>, sums: &mut Sums) {
        product.check(sums);
        // Safety: it was checked.
        unsafe { self.tiling().tile_near(product, sums) }
    }

    /// Has what is in the sums taken before they are overwritten by a product, if there is one. Where products do not need vector
    /// registers, that goes on beside them. `take` must be `#[inline(always)]`.
    ///
    /// # Panics
    /// See [`Product::check`].
    #[inline(always)]
    fn tile_after(self, product: Option<&Product<'_>>, sums: &mut Sums, take: impl FnOnce(&Sums)) {
        if let Some(product) = product {
            product.check::<Self::Tiling>(sums);
        }
        // Safety: it was checked.
        unsafe { self.tiling().tile_after(product, sums, take) }
    }
}
