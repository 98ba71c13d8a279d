//! An approximate index of nearest neighbours in a file beside the blocks: what the store and a search know of it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::ranking::segment_filter::SegmentFilter;

/// How the names of such files begin.
pub const FILE_PREFIX: &str = "graph-";

/// An open index over the rows of one space. It holds every row of a Segment up to `last` that lives in a snapshot with
/// its record.
pub trait NeighbourIndex: Send + Sync {
    /// What the store remembers of it.
    fn record(&self) -> &[u8];

    /// The last Segment that it holds.
    fn last(&self) -> u32;

    /// The mean share of the true best rows that its answers have, as measured on this index.
    fn recall(&self) -> f64;

    /// Segments that probably hold the best `k` rows and some more, nearest first; removed ones may be among them. None
    /// if it is busy, or not good enough.
    fn search(&self, query: &[f32], k: usize, within: Option<&SegmentFilter>) -> Option<Vec<u32>>;

    /// Takes note of a probe: how many hits a proof found, and how many of them this index did.
    fn probed(&self, expected: u64, found: u64);
}

/// The files of such indexes in a folder, whether they are used or not.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![];
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(FILE_PREFIX) {
            files.push(entry.path());
        }
    }
    Ok(files)
}
