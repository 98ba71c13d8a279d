//! The integer product that every matrix multiplication of the encoder is made of.

/// Most rows of one tile: with 32 columns, its sums take 24 of the 32 registers of AVX-512.
pub const ROWS: usize = 12;
/// Columns of one tile, and of one packed panel.
pub const COLUMNS: usize = 32;
/// Bytes whose products one instruction adds up.
pub const QUAD: usize = 4;

/// So many bytes before they are read, weights are asked for: two panels of MiniLM. The processor's own guess is later, and memory
/// takes longer than the products of a few rows. They come to the second cache: asked into the first, they made short texts slower.
pub const AHEAD: usize = 24 << 10;

/// Sums of a tile: one line of columns for each row.
pub type Sums = [[i32; COLUMNS]; ROWS];

/// Rows of bytes at equal distances, one after the other.
#[derive(Clone, Copy)]
pub struct ByteRows<'a> {
    pub bytes: &'a [u8],
    /// Bytes from the start of a row to that of the next.
    pub stride: usize,
    /// 1..=[`ROWS`].
    pub count: usize,
}

/// Which operand of a tile is signed; the other is unsigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signed {
    /// Rows are u8, the panel is i8.
    Panel,
    /// Rows are i8, the panel is u8.
    Rows,
}

/// One product of rows and a panel: `sums[r][c] = starts[r] + Σ_d rows[r][d] · panel[d / 4][c][d % 4]`.
#[derive(Clone, Copy)]
pub struct Product<'a> {
    pub rows: ByteRows<'a>,
    /// `depth / 4` lines of 32 columns of 4 bytes. The depth is the panel's length over [`COLUMNS`].
    pub panel: &'a [u8],
    pub signed: Signed,
    pub starts: &'a [i32; ROWS],
}

impl Product<'_> {
    /// Length of a row's product.
    pub fn depth(&self) -> usize {
        self.panel.len() / COLUMNS
    }

    /// The one check of bounds: every kernel calls it before it reads by pointer.
    ///
    /// # Panics
    /// If the count of rows is not in 1..=[`ROWS`], the panel is not of whole lines, or the last row ends beyond the bytes.
    #[inline(always)]
    pub fn check(&self) {
        let ByteRows { bytes, stride, count } = self.rows;
        assert!((1..=ROWS).contains(&count), "a tile has 1 to 12 rows");
        assert!(self.panel.len().is_multiple_of(COLUMNS * QUAD), "a panel has whole lines");
        let last = stride.checked_mul(count - 1).and_then(|start| start.checked_add(self.depth()));
        assert!(last.is_some_and(|end| end <= bytes.len()), "the rows of a tile lie within their bytes");
    }
}

/// Divides rows evenly over tiles: the start and the count of each. 13 rows are 7 and 6, because a tile of one row
/// would leave most of the multipliers idle.
pub fn tiles(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = rows.div_ceil(ROWS);
    (0..count).map(move |tile| {
        let (start, end) = (tile * rows / count, (tile + 1) * rows / count);
        (start, end - start)
    })
}
