//! Checksums, which are compared once while an index is open.

use std::iter::repeat;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::blocks::block::{self, Header, Kind};
use crate::error::Result;

/// Which checksums of a block, or of the records of Segments, were compared since the index was opened.
#[derive(Default)]
pub struct Checked {
    block: AtomicBool,
    rows_header: AtomicBool,
    bits: AtomicBool,
    rows: Vec<AtomicU64>,
}

impl Checked {
    pub fn of(header: &Header) -> Self {
        let words = if header.kind == Kind::VectorCodes { (header.rows as usize).div_ceil(64) } else { 0 };
        Self { rows: (0..words).map(|_| AtomicU64::new(0)).collect(), ..Self::default() }
    }

    /// As it is, with room for so many rows, at least.
    pub fn with_rows(&self, rows: usize) -> Self {
        let words = self.rows.iter().map(|word| word.load(Ordering::Relaxed)).chain(repeat(0));
        let count = self.rows.len().max(rows.div_ceil(64));
        Self { rows: words.take(count).map(AtomicU64::new).collect(), ..Self::default() }
    }

    pub fn has_rows(&self, rows: usize) -> bool {
        rows <= self.rows.len() * 64
    }

    /// Compares the block's own checksum the first time.
    pub fn block(&self, value: &[u8]) -> Result<()> {
        once(&self.block, || block::verify(value))
    }

    /// As [`Self::block`], for the header of its f32 rows.
    pub fn rows_header(&self, value: &[u8]) -> Result<()> {
        once(&self.rows_header, || block::verify(value))
    }

    /// As [`Self::block`], for its bits.
    pub fn bits(&self, value: &[u8]) -> Result<()> {
        once(&self.bits, || block::verify(value))
    }

    /// Compares a row's checksum the first time it is read.
    pub fn row(&self, row: usize, verify: impl FnOnce() -> Result<()>) -> Result<()> {
        let (word, bit) = (&self.rows[row / 64], 1u64 << (row % 64));
        if word.load(Ordering::Relaxed) & bit == 0 {
            verify()?;
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn once(done: &AtomicBool, verify: impl FnOnce() -> Result<()>) -> Result<()> {
    if !done.load(Ordering::Relaxed) {
        verify()?;
        done.store(true, Ordering::Relaxed);
    }
    Ok(())
}
