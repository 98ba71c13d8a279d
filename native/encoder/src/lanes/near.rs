//! Rows of bytes as small numbers around a centre, for instructions whose sums of products saturate at 16 bits.

use super::tile::{QUAD, Tiling};

/// Bytes of a row whose products with a column are added in two sums of 16 bits: two quads.
pub const GROUP: usize = 2 * QUAD;
/// Most that the positive numbers of such a sum add up to, and the negative ones: their products with any unsigned bytes
/// then fit in 16 bits.
pub const MOST: i32 = 127;
/// A row with more far quads than one for so many of its quads is not multiplied in this form: it would take longer.
const QUADS_OF_FAR: usize = 2;
/// Bytes of a row that are divided together: its size is a multiple.
pub const STEP: usize = GROUPS * GROUP;
pub const GROUPS: usize = 4;
/// Room for the far quads of so many bytes. A number of 9 bits is at most five times half of [`MOST`].
pub const FAR_OF_STEP: usize = 6 * STEP / QUAD;

/// Part of a row in one quad of its depth: four i8, the magnitudes of each two at most [`MOST`] together.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
pub struct Far {
    /// Where the quad's line starts in a panel, in bytes: below the depth times [`COLUMNS`](super::tile::COLUMNS).
    pub line: u32,
    pub bytes: [i8; QUAD],
}

/// Rows of u8, each of which is its centre, near numbers and far quads together: exactly, whatever the bytes are.
#[derive(Default)]
pub struct NearRows {
    depth: usize,
    /// See [`MOST`].
    near: Vec<[i8; GROUP]>,
    /// As many places for each row as [`Tiling::near`] needs.
    far: Vec<Far>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Default)]
pub struct Row {
    pub centre: i32,
    /// Sum of the bytes' differences from the centre.
    pub sum: i32,
    /// Number of far quads; none where they are too many.
    far: Option<u32>,
}

impl NearRows {
    /// Makes room for so many rows. None has a near form until it is set.
    ///
    /// # Panics
    /// If the depth is no multiple of [`STEP`].
    pub fn resize(&mut self, rows: usize, depth: usize) {
        assert!(depth.is_multiple_of(STEP), "rows are divided by 32 bytes");
        self.depth = depth;
        self.near.resize(rows * depth / GROUP, [0; GROUP]);
        self.far.resize(rows * self.places(), Far::default());
        self.rows.clear();
        self.rows.resize(rows, Row::default());
    }

    /// Bytes of a row.
    pub fn depth(&self) -> usize {
        self.depth
    }

    fn far_most(&self) -> usize {
        self.depth / QUAD / QUADS_OF_FAR
    }

    fn places(&self) -> usize {
        self.far_most() + FAR_OF_STEP
    }

    /// Whether none of so many rows, from `first` on, has too many far quads.
    ///
    /// # Panics
    /// If there are not so many rows.
    #[inline(always)]
    pub fn are_near(&self, first: usize, count: usize) -> bool {
        self.rows[first..first + count].iter().all(|row| row.far.is_some())
    }

    /// The near numbers of so many rows, from `first` on.
    ///
    /// # Panics
    /// If there are not so many rows.
    #[inline(always)]
    pub fn near(&self, first: usize, count: usize) -> &[i8] {
        let groups = self.depth / GROUP;
        self.near[first * groups..][..count * groups].as_flattened()
    }

    /// A row, and its far quads.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> (Row, &[Far]) {
        let found = self.rows[row];
        (found, &self.far[row * self.places()..][..found.far.unwrap_or(0) as usize])
    }

    /// Sets a row from its bytes.
    ///
    /// # Panics
    /// If there is no such row, or it has another size.
    #[inline(always)]
    pub fn set<T: Tiling>(&mut self, tiling: T, row: usize, bytes: &[u8], centre: u8) {
        assert_eq!(bytes.len(), self.depth);
        let (groups, places, most) = (self.depth / GROUP, self.places(), self.far_most());
        let far = &mut self.far[row * places..][..places];
        let (sum, far) = tiling.near(bytes, centre, &mut self.near[row * groups..][..groups], far);
        let far = far.filter(|count| *count <= most).map(|count| count as u32);
        self.rows[row] = Row { centre: i32::from(centre), sum, far };
    }
}
