//! How much of an answer is wanted, and how a search is given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Result, ShardError};

/// How much of the answer is wanted.
#[derive(Debug, Clone, Default)]
pub struct Want {
    pub k: usize,
    /// `k` counts places instead of Segments.
    pub places: bool,
    /// Every list is to be proved, whatever it costs.
    pub exact: bool,
    pub stop: Stop,
}

impl Want {
    /// The best k Segments.
    pub fn best(k: usize) -> Self {
        Self { k, ..Self::default() }
    }
}

/// Shared by a search and whoever may give it up.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// An error once the search was given up: looked at after every few microseconds of work.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(ShardError::new("interrupted", "The search was given up."));
        }
        Ok(())
    }
}
