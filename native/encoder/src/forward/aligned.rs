//! Memory that begins with a line of the caches: vectors of 64 bytes then lie in one line each, and are read in one step.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::lanes::isa::Line;

const LINE: usize = 64;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CacheLine([u8; LINE]);

/// A type of which any bytes are a value.
///
/// # Safety
/// No padding, no invalid values, and an alignment of at most [`LINE`].
pub unsafe trait Plain: Copy {}

// Safety: numbers, and arrays of them.
unsafe impl Plain for u8 {}
unsafe impl Plain for Line {}

/// A vector whose elements begin with a line of the caches.
pub struct Aligned<T> {
    lines: Vec<CacheLine>,
    count: usize,
    of: PhantomData<T>,
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Self { lines: Vec::new(), count: 0, of: PhantomData }
    }
}

impl<T: Plain> Aligned<T> {
    /// An empty vector with room for so many elements.
    pub fn with_capacity(count: usize) -> Self {
        Self { lines: Vec::with_capacity((count * size_of::<T>()).div_ceil(LINE)), ..Self::default() }
    }

    /// Memory that it has, used or not: its start and its bytes.
    pub fn capacity_ptr(&self) -> (*const u8, usize) {
        (self.lines.as_ptr().cast(), self.lines.capacity() * LINE)
    }

    /// Makes room for so many elements. New ones are zero or what stood there before.
    pub fn resize(&mut self, count: usize) {
        let lines = (count * size_of::<T>()).div_ceil(LINE);
        if lines > self.lines.len() {
            self.lines.resize(lines, CacheLine([0; LINE]));
        }
        self.count = count;
    }

    pub fn extend_from_slice(&mut self, more: &[T]) {
        let start = self.count;
        self.resize(start + more.len());
        self[start..].copy_from_slice(more);
    }
}

impl<T: Plain> From<&[T]> for Aligned<T> {
    fn from(elements: &[T]) -> Self {
        let mut aligned = Self::with_capacity(elements.len());
        aligned.extend_from_slice(elements);
        aligned
    }
}

impl<T: Plain> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // Safety: so many elements are within the lines, and any bytes are valid ones.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.count) }
    }
}

impl<T: Plain> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // Safety: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.count) }
    }
}
