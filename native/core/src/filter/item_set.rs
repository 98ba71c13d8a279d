//! A set of the Items of a table, one bit each.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemSet {
    bits: Vec<u64>,
    items: usize,
}

impl ItemSet {
    pub fn none(items: usize) -> Self {
        Self { bits: vec![0; items.div_ceil(64)], items }
    }

    pub fn all(items: usize) -> Self {
        let mut all = Self { bits: vec![u64::MAX; items.div_ceil(64)], items };
        all.clear_beyond();
        all
    }

    pub fn add(&mut self, item: u32) {
        self.bits[item as usize / 64] |= 1 << (item % 64);
    }

    pub fn add_all(&mut self, items: &[u32]) {
        items.iter().for_each(|item| self.add(*item));
    }

    /// Keeps what the other has, too.
    pub fn and(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(mine, theirs)| *mine &= theirs);
    }

    pub fn or(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(mine, theirs)| *mine |= theirs);
    }

    pub fn invert(&mut self) {
        self.bits.iter_mut().for_each(|bits| *bits = !*bits);
        self.clear_beyond();
    }

    /// Ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.bits.iter().enumerate().flat_map(|(at, bits)| {
            let mut left = *bits;
            std::iter::from_fn(move || {
                let next = (left != 0).then(|| 64 * at + left.trailing_zeros() as usize);
                left &= left.wrapping_sub(1);
                next
            })
        })
    }

    fn clear_beyond(&mut self) {
        if let Some(last) = self.bits.last_mut().filter(|_| !self.items.is_multiple_of(64)) {
            *last &= (1 << (self.items % 64)) - 1;
        }
    }
}
