//! AMX: products of tiles of 16 rows and 64 bytes. Packed panels and rows of bytes are tiles as they are: a panel's halves are
//! two tiles of 16 columns, whose lines are 128 bytes apart.
//!
//! All eight tile registers are configured alike once for each pass: two have rows, two have columns, four have sums.

use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};

use super::tile::{AHEAD, COLUMNS, Product, QUAD, Signed, Sums, Tiling};

/// Rows of a tile register, and i32 in one of its rows.
pub const TILE_ROWS: usize = 16;
/// Bytes of a row of a tile register.
pub const TILE_BYTES: usize = 64;
/// Up to so many rows, which are one tile of vector registers, are multiplied there: both ways wait for the weights, and tiles
/// need longer to begin.
const FEW_ROWS: usize = 12;

/// Tile registers. A token exists only where they may be used.
pub trait Unit: Copy {
    type Tiles: Tiles;
    /// Keeps the registers configured until it is dropped.
    type Ready;

    fn ready(self) -> Self::Ready;
    fn tiles(self) -> Self::Tiles;
}

/// Eight tile registers of [`TILE_ROWS`] rows and [`TILE_BYTES`] bytes.
///
/// # Safety
/// For all methods: the registers are configured; numbers of registers are below 8; each row that is read or written exists.
pub trait Tiles {
    /// Clears a register.
    ///
    /// # Safety
    /// As of all methods.
    unsafe fn zero<const TILE: usize>(&mut self);
    /// Reads rows that are `stride` bytes apart.
    ///
    /// # Safety
    /// As of all methods.
    unsafe fn load<const TILE: usize>(&mut self, from: *const u8, stride: usize);
    /// Adds the products of `ROWS` and `COLUMNS` to `SUMS`: rows are signed or not, columns are signed.
    ///
    /// # Safety
    /// As of all methods.
    unsafe fn multiply<const SIGNED_ROWS: bool, const SUMS: usize, const ROWS: usize, const COLUMNS: usize>(&mut self);
    /// Writes rows that are `stride` bytes apart.
    ///
    /// # Safety
    /// As of all methods.
    unsafe fn store<const TILE: usize>(&mut self, to: *mut i32, stride: usize);
}

/// Tiles, and vector registers for a few rows.
#[derive(Clone, Copy)]
pub struct Amx<U, F> {
    unit: U,
    few: F,
}

impl<U: Unit, F: Tiling> Amx<U, F> {
    pub fn new(unit: U, few: F) -> Self {
        Self { unit, few }
    }
}

impl<U: Unit, F: Tiling> Tiling for Amx<U, F> {
    const ROWS: usize = 2 * TILE_ROWS;
    const GRAIN: usize = TILE_ROWS;
    const DEPTH: usize = TILE_BYTES;
    const OFFSET: i32 = 0;
    type Ready = U::Ready;

    #[inline(always)]
    fn ready(self) -> U::Ready {
        self.unit.ready()
    }

    #[inline(always)]
    unsafe fn tile(self, product: &Product<'_>, sums: &mut Sums) {
        // Safety: the caller's.
        unsafe { self.tile_after(Some(product), sums, |_| {}) }
    }

    #[inline(always)]
    unsafe fn tile_after(self, product: Option<&Product<'_>>, sums: &mut Sums, take: impl FnOnce(&Sums)) {
        const { assert!(F::ROWS >= FEW_ROWS && TILE_ROWS.is_multiple_of(F::GRAIN) && TILE_BYTES.is_multiple_of(F::DEPTH)) };
        let are_few = |product: &&Product| product.rows.count <= FEW_ROWS && product.signed == Signed::Panel;
        let few = product.filter(are_few);
        let many = product.filter(|product| !are_few(product));
        let mut tiles = self.unit.tiles();
        if let Some(product) = many {
            // Safety: the token, and the caller's bounds.
            unsafe { multiply(self.unit, &mut tiles, product) };
        }
        // The tile registers are busy meanwhile. Sums that were just stored would be waited for.
        take(sums);
        // Safety: as above; those of few rows are wider than needed.
        unsafe {
            if let Some(product) = few {
                self.few.tile(product, sums);
            }
            if let Some(product) = many {
                store(&mut tiles, product, sums);
            }
        }
    }
}

/// The sums of a product, in tile registers.
///
/// # Safety
/// The product's bounds hold, for whole tiles.
#[inline(always)]
unsafe fn multiply<U: Unit>(_: U, tiles: &mut U::Tiles, product: &Product<'_>) {
    // Safety: the token, and the caller's bounds.
    unsafe {
        match (product.signed, product.rows.count > TILE_ROWS, product.is_new) {
            (Signed::Panel, false, false) => of_rows::<U, false, false, false>(tiles, product),
            (Signed::Panel, false, true) => of_rows::<U, false, false, true>(tiles, product),
            (Signed::Panel, true, false) => of_rows::<U, false, true, false>(tiles, product),
            (Signed::Panel, true, true) => of_rows::<U, false, true, true>(tiles, product),
            (Signed::Both, false, _) => of_rows::<U, true, false, false>(tiles, product),
            (Signed::Both, true, _) => of_rows::<U, true, true, false>(tiles, product),
            (Signed::Rows, ..) => unreachable!("rows of signed bytes are multiplied by signed bytes"),
        }
    }
}

/// Bytes from a line of a panel, or of sums, to the next.
const LINE: usize = COLUMNS * QUAD;

/// The sums of 16 rows, or of 32 where `TWO`, in tile registers.
///
/// # Safety
/// The product's bounds hold, for whole tiles.
#[inline(never)]
unsafe fn of_rows<U: Unit, const SIGNED_ROWS: bool, const TWO: bool, const NEW: bool>(
    tiles: &mut U::Tiles,
    product: &Product<'_>,
) {
    const STEP: usize = TILE_BYTES * COLUMNS;
    let stride = product.rows.stride;
    // Safety: the token; rows and panel have whole tiles. What is ahead need not exist.
    unsafe {
        tiles.zero::<0>();
        tiles.zero::<1>();
        if TWO {
            tiles.zero::<2>();
            tiles.zero::<3>();
        }
        let (mut rows, mut panel) = (product.rows.bytes.as_ptr(), product.panel.as_ptr());
        for _ in 0..product.depth.div_ceil(TILE_BYTES) {
            tiles.load::<6>(panel, LINE);
            tiles.load::<4>(rows, stride);
            tiles.load::<7>(panel.add(TILE_BYTES), LINE);
            tiles.multiply::<SIGNED_ROWS, 0, 4, 6>();
            tiles.multiply::<SIGNED_ROWS, 1, 4, 7>();
            if TWO {
                tiles.load::<5>(rows.add(TILE_ROWS * stride), stride);
                tiles.multiply::<SIGNED_ROWS, 2, 5, 6>();
                tiles.multiply::<SIGNED_ROWS, 3, 5, 7>();
            }
            if NEW {
                for line in (0..STEP).step_by(64) {
                    _mm_prefetch::<_MM_HINT_T1>(panel.wrapping_add(AHEAD + line).cast());
                }
            }
            rows = rows.wrapping_add(TILE_BYTES);
            panel = panel.wrapping_add(STEP);
        }
    }
}

/// Writes the sums of a product, and adds where they start.
///
/// # Safety
/// The product's bounds hold, for whole tiles.
#[inline(always)]
unsafe fn store<T: Tiles>(tiles: &mut T, product: &Product<'_>, sums: &mut Sums) {
    // Safety: the token, and the caller's bounds.
    unsafe {
        let to = sums.as_mut_ptr().cast::<i32>();
        tiles.store::<0>(to, LINE);
        tiles.store::<1>(to.add(COLUMNS / 2), LINE);
        if product.rows.count > TILE_ROWS {
            tiles.store::<2>(to.add(TILE_ROWS * COLUMNS), LINE);
            tiles.store::<3>(to.add(TILE_ROWS * COLUMNS + COLUMNS / 2), LINE);
        }
    }
    for (sums, start) in sums.iter_mut().zip(product.starts).take(product.rows.count) {
        if *start != 0 {
            sums.iter_mut().for_each(|sum| *sum += start);
        }
    }
}
