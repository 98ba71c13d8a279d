//! How much of a ranked list is wanted, and how a search is cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::segment_filter::SegmentFilter;
use crate::error::{Result, ShardError};

/// How much of the answer is wanted.
#[derive(Debug, Clone, Default)]
pub struct SearchOptions {
    pub k: usize,
    /// `k` counts places instead of Segments.
    pub places: bool,
    /// Prove every list, at any cost.
    pub exact: bool,
    /// The Segments that may be found. None: all.
    pub within: Option<Arc<SegmentFilter>>,
    pub stop: Stop,
}

impl SearchOptions {
    /// The best k Segments.
    pub fn best(k: usize) -> Self {
        Self { k, ..Self::default() }
    }
}

/// Cancels a search. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Searches call this every few microseconds.
    ///
    /// # Errors
    /// `interrupted` once the search was cancelled.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(ShardError::new("interrupted", "The search was given up."));
        }
        Ok(())
    }
}
