//! The removed rows of a block.

/// One bit for each row: set if its Item was removed. Rows beyond the last byte are alive.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dead<'a>(pub &'a [u8]);

impl<'a> Dead<'a> {
    /// The dead rows, ascending.
    pub fn rows(self) -> impl Iterator<Item = u32> + 'a {
        let bytes = self.0.iter().enumerate().filter(|(_, byte)| **byte != 0);
        bytes.flat_map(|(at, byte)| (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| 8 * at as u32 + bit))
    }

    /// The dead rows of a block that has `rows` rows.
    pub fn rows_below(self, rows: u32) -> Vec<u32> {
        self.rows().take_while(|row| *row < rows).collect()
    }

    #[inline(always)]
    pub fn has(self, row: usize) -> bool {
        self.0.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1)
    }

    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub fn count(self) -> usize {
        self.0.iter().map(|byte| byte.count_ones() as usize).sum()
    }
}
