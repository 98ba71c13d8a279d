//! The integer product that every matrix multiplication of the encoder is made of.

use super::isa::LANES;
use super::near::{Far, GROUP, NearRows};

/// Most rows of a tile whose sums are in vector registers: with 32 columns, they take 24 of the 32 of AVX-512.
pub const ROWS: usize = 12;
/// Most rows of any instruction set's tile.
pub const ROWS_MAX: usize = 32;
/// Columns of one tile, and of one packed panel.
pub const COLUMNS: usize = 32;
/// Bytes whose products one instruction adds up.
pub const QUAD: usize = 4;

/// So many bytes before they are read, weights are asked for: two panels of MiniLM. The processor's own guess is later, and memory
/// takes longer than the products of a few rows. They come to the second cache: asked into the first, they made short texts slower.
pub const AHEAD: usize = 24 << 10;

/// Sums of a tile: one line of columns for each row.
pub type Sums = [[i32; COLUMNS]];

/// Memory for the sums of one tile, in whole lines of the caches.
#[repr(align(64))]
pub struct SumsOfTile(pub [[i32; COLUMNS]; ROWS_MAX]);

/// Rows of bytes at equal distances, one after the other.
#[derive(Clone, Copy)]
pub struct ByteRows<'a> {
    pub bytes: &'a [u8],
    /// Bytes from the start of a row to that of the next.
    pub stride: usize,
    /// 1..=[`ROWS`], or the most of the instruction set.
    pub count: usize,
}

/// Which operand of a tile is signed; the other is unsigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signed {
    /// Rows are u8, the panel is i8.
    Panel,
    /// Rows are i8, the panel is u8.
    Rows,
    /// Rows and panel are i8: for instruction sets whose [`Tiling::OFFSET`] is 0.
    Both,
}

/// One product of rows and a panel: `sums[r][c] = starts[r] + Σ_d rows[r][d] · panel[d / 4][c][d % 4]`.
///
/// Some instruction sets compute more than is asked for. What they read besides must exist, see [`Tiling::GRAIN`] and
/// [`Tiling::DEPTH`].
#[derive(Clone, Copy)]
pub struct Product<'a> {
    pub rows: ByteRows<'a>,
    /// Lines of 32 columns of 4 bytes: the panel, and what stands behind it.
    pub panel: &'a [u8],
    /// Length of a row's product, a multiple of 4.
    pub depth: usize,
    pub signed: Signed,
    pub starts: &'a [i32; ROWS_MAX],
    /// Whether the panel is read for the first time, so that weights behind it should be asked for.
    pub is_new: bool,
}

impl Product<'_> {
    /// The one check of bounds: every kernel calls it before it reads by pointer. `rows_max` and the two last arguments are
    /// those of its [`Tiling`].
    ///
    /// # Panics
    /// If the count of rows is not in 1..=`rows_max`, the depth is not of whole quads, the panel, the rows or the sums are
    /// too short, or the signs are not for this instruction set.
    #[inline(always)]
    pub fn check<T: Tiling>(&self, sums: &Sums) {
        let ByteRows { bytes, stride, count } = self.rows;
        assert!((1..=T::ROWS).contains(&count), "a tile has 1 to {} rows", T::ROWS);
        assert!(self.depth.is_multiple_of(QUAD), "a product has whole quads");
        assert!(T::OFFSET == 0 || self.signed != Signed::Both, "one operand is unsigned");
        let count = count.next_multiple_of(T::GRAIN);
        assert!(count <= sums.len(), "the sums have a line for each row");
        // In a release build the next multiple of the largest depths would be 0.
        let depth = self.depth.checked_next_multiple_of(T::DEPTH);
        let panel = depth.and_then(|depth| depth.checked_mul(COLUMNS));
        assert!(panel.is_some_and(|bytes| bytes <= self.panel.len()), "the panel has the whole depth");
        let last = stride.checked_mul(count - 1).and_then(|start| start.checked_add(depth?));
        assert!(last.is_some_and(|end| end <= bytes.len()), "the rows of a tile lie within their bytes");
    }
}

/// The same of rows of u8 in another form, and a panel of i8: the depth is theirs.
#[derive(Clone, Copy)]
pub struct NearProduct<'a> {
    pub rows: &'a NearRows,
    /// The first of the rows, and how many.
    pub first: usize,
    pub count: usize,
    /// The panel, and what stands behind it.
    pub panel: &'a [u8],
    /// Sums of the panel's columns.
    pub totals: [&'a [i32; LANES]; 2],
}

impl NearProduct<'_> {
    /// # Panics
    /// If the count of rows is not in 1..=[`ROWS`], one of them has no near form, or panel or sums are too short.
    #[inline(always)]
    pub fn check(&self, sums: &Sums) {
        assert!((1..=ROWS.min(sums.len())).contains(&self.count), "a tile has 1 to {ROWS} rows");
        assert!(self.rows.are_near(self.first, self.count), "rows have few far quads");
        assert!(self.rows.depth() * COLUMNS <= self.panel.len(), "the panel has the whole depth");
    }
}

/// How an instruction set multiplies bytes. A token exists only where the instructions were detected.
pub trait Tiling: Copy {
    /// Most rows of a tile, at most [`ROWS_MAX`].
    const ROWS: usize;
    /// Rows are computed in multiples of this: so many must lie within the bytes and the sums, whatever they contain.
    const GRAIN: usize;
    /// Depth is computed in multiples of this. Behind the depth of each row, up to the next multiple, are zeros; the panel
    /// may have anything there.
    const DEPTH: usize;
    /// Added to a signed byte that rows of signed bytes are multiplied by: 128 where that operand must be unsigned.
    const OFFSET: i32;
    /// Rows are divided over tiles in multiples of this.
    const PART: usize = Self::GRAIN;
    /// Whether rows of u8 are quicker multiplied by many panels as [`NearRows`]: the two methods for these exist.
    const NEAR: bool = false;
    /// Keeps the processor ready for tiles until it is dropped.
    type Ready;

    fn ready(self) -> Self::Ready;

    /// # Safety
    /// The product has passed [`Product::check`] with these sums.
    unsafe fn tile(self, product: &Product<'_>, sums: &mut Sums);

    /// Divides a row of bytes: writes its near numbers and its far quads. Returns the sum of the bytes' differences from the centre,
    /// and the number of far quads: none if they are more than `far` has places, less those of one step.
    ///
    /// # Panics
    /// If the bytes are not whole steps, there are not as many groups, or this is no tiling for near rows.
    fn near(self, _bytes: &[u8], _centre: u8, _near: &mut [[i8; GROUP]], _far: &mut [Far]) -> (i32, Option<usize>) {
        unreachable!("this tiling multiplies bytes as they are")
    }

    /// # Safety
    /// The product has passed [`NearProduct::check`] with these sums.
    unsafe fn tile_near(self, _product: &NearProduct<'_>, _sums: &mut Sums) {
        unreachable!("this tiling multiplies bytes as they are")
    }

    /// Has what is in the sums taken before they are overwritten by a product, if there is one.
    ///
    /// # Safety
    /// That of [`Tiling::tile`].
    #[inline(always)]
    unsafe fn tile_after(self, product: Option<&Product<'_>>, sums: &mut Sums, take: impl FnOnce(&Sums)) {
        take(sums);
        if let Some(product) = product {
            // Safety: the caller's.
            unsafe { self.tile(product, sums) }
        }
    }
}

/// Constants of the tilings whose sums are in vector registers.
macro_rules! in_registers {
    () => {
        const ROWS: usize = crate::lanes::tile::ROWS;
        const GRAIN: usize = 1;
        const DEPTH: usize = crate::lanes::tile::QUAD;
        const OFFSET: i32 = 128;
        type Ready = ();

        #[inline(always)]
        fn ready(self) {}
    };
}
pub(super) use in_registers;

/// Divides rows evenly over tiles of at most `most`, in multiples of `grain`: the start and the count of each. 13 rows of at
/// most 12 are 7 and 6, because a tile of one row would leave most of the multipliers idle.
pub fn tiles(rows: usize, most: usize, grain: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let grains = rows.div_ceil(grain);
    let count = rows.div_ceil(most);
    (0..count).map(move |tile| {
        let end = |tile: usize| (tile * grains / count * grain).min(rows);
        (end(tile), end(tile + 1) - end(tile))
    })
}
