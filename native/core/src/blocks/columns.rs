//! Columns of little-endian numbers in a block's body, at any alignment.

use std::ops::Range;

use crate::error::{Result, ShardError};

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// A column of u32.
#[derive(Debug, Clone, Copy)]
pub struct U32Column<'a>(pub &'a [u8]);

impl<'a> U32Column<'a> {
    pub fn len(self) -> usize {
        self.0.len() / 4
    }

    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    #[inline(always)]
    pub fn get(self, at: usize) -> u32 {
        u32_at(self.0, 4 * at)
    }

    pub fn iter(self) -> impl Iterator<Item = u32> + 'a {
        self.0.chunks_exact(4).map(|bytes| u32_at(bytes, 0))
    }

    /// Index of a number in an ascending column.
    pub fn position(self, wanted: u32) -> Option<usize> {
        let at = self.lower_bound(wanted);
        (at < self.len() && self.get(at) == wanted).then_some(at)
    }

    /// The indices of those of some ascending numbers that are not below the first or above the last of an ascending column.
    pub fn within(self, wanted: &[u32]) -> Range<usize> {
        let Some(last) = self.len().checked_sub(1) else { return 0..0 };
        let (first, last) = (self.get(0), self.get(last));
        wanted.partition_point(|number| *number < first)..wanted.partition_point(|number| *number <= last)
    }

    /// Index of the first number that is not less than `wanted`, in an ascending column.
    pub fn lower_bound(self, wanted: u32) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle) < wanted { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// Cuts a body into columns, from the front. Every cut is checked.
pub struct Columns<'a>(pub &'a [u8]);

impl<'a> Columns<'a> {
    pub fn take(&mut self, bytes: Option<usize>) -> Result<&'a [u8]> {
        match bytes.and_then(|bytes| self.0.split_at_checked(bytes)) {
            Some((column, rest)) => {
                self.0 = rest;
                Ok(column)
            }
            None => Err(ShardError::corrupt("A block is shorter than its rows.")),
        }
    }
}

pub fn push_u32s(value: &mut Vec<u8>, numbers: impl IntoIterator<Item = u32>) {
    value.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
}

pub fn push_f32s(value: &mut Vec<u8>, numbers: impl IntoIterator<Item = f32>) {
    value.extend(numbers.into_iter().flat_map(f32::to_le_bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_searched() {
        let mut bytes = vec![];
        push_u32s(&mut bytes, [2, 5, 9]);
        let column = U32Column(&bytes);
        assert_eq!(
            (column.position(5), column.position(6), column.lower_bound(6), column.lower_bound(10)),
            (Some(1), None, 2, 3)
        );
        assert_eq!(column.within(&[1, 2, 6, 9, 10]), 1..4);
        assert!(
            column.within(&[0, 1]).is_empty()
                && column.within(&[]).is_empty()
                && U32Column(&[]).within(&[1]).is_empty()
        );
    }
}
