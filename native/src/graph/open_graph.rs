//! A graph over the vectors of one space (HNSW, Malkov and Yashunin 2018; the `usearch` crate). It is for spaces so
//! large that scanning every row takes longer than following edges.
//!
//! It holds the int8 code and the scale of each row, and measures by the same scores as the codes. It covers the
//! Segments up to `last`. Later ones are scanned, and removed ones are left out when they are found. It is built in the
//! background (`build.rs`), kept in a file beside the index, and read through a map. Its results are rescored, like
//! what a scan finds.
//!
//! **Nothing but time depends on it.** Without its file, with a damaged one, or if its measured recall falls short, the
//! scan answers.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use crate::blocks::vectors::quantise;
use crate::error::{Result, ShardError};
use crate::kernels::detection;
use crate::kernels::kernel::Kernel;
use crate::store::neighbours::NeighbourIndex;

/// Edges of a node: the usual number for vectors of some hundred dimensions.
const CONNECTIVITY: usize = 16;
/// Nodes visited for each insertion.
const EXPANSION_ADD: usize = 128;
/// Concurrent searches of one graph. Further ones scan.
pub const SEARCHES_MAX: usize = 16;
/// How many times k a search may look for. A graph that needs more is of no use.
pub const WIDENINGS: [f32; 6] = [1.5, 2.0, 3.0, 4.0, 6.0, 8.0];
/// Least number of rows that a search looks for.
const FOUND_MIN: usize = 128;
/// Probed hits from which the measured recall counts, and the recall that must be kept.
const PROBED_MIN: u64 = 2_000;
const RECALL_MIN: f64 = 0.999;

/// What the store remembers of a graph's file, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphRecord {
    pub file: String,
    pub bytes: u64,
    pub crc32c: u32,
    pub rows: u64,
    pub last: u32,
    /// Number of the newest transaction that it was built from.
    pub transaction: u64,
    /// Index into [`WIDENINGS`].
    pub widening: usize,
}

impl GraphRecord {
    /// None if this is not the JSON of a graph's record.
    pub fn read(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }
}

/// An open graph.
pub struct Graph {
    index: Index,
    pub record: GraphRecord,
    /// The record as the store has it.
    json: Vec<u8>,
    widening: AtomicUsize,
    searching: AtomicUsize,
    /// Hits that probes expected and found since the widening last changed.
    expected: AtomicU64,
    found: AtomicU64,
}

/// Bytes of a node: the codes and the scale.
fn width(dimensions: usize) -> usize {
    dimensions + 4
}

/// A vector as a node.
pub fn node(values: &[f32]) -> Vec<i8> {
    let mut codes = Vec::with_capacity(width(values.len()));
    let scale = quantise(values, &mut codes).scale;
    with_scale(codes, scale)
}

pub fn with_scale(mut codes: Vec<i8>, scale: f32) -> Vec<i8> {
    codes.extend(scale.to_le_bytes().map(|byte| byte as i8));
    codes
}

/// An empty graph for vectors of `dimensions` dimensions.
pub fn empty(dimensions: usize) -> Result<Index> {
    let options = IndexOptions {
        dimensions: width(dimensions),
        metric: MetricKind::IP,
        quantization: ScalarKind::I8,
        connectivity: CONNECTIVITY,
        expansion_add: EXPANSION_ADD,
        ..IndexOptions::default()
    };
    let mut index = Index::new(&options).map_err(failed)?;
    measure_with_ours(&mut index, dimensions)?;
    Ok(index)
}

/// Makes the graph measure with our kernels. Must be done again after a file was opened.
fn measure_with_ours(index: &mut Index, dimensions: usize) -> Result<()> {
    let kernel = detection::chosen().map_err(ShardError::internal)?;
    index.change_metric::<i8>(Box::new(move |left, right| distance(kernel, dimensions, left, right)));
    Ok(())
}

/// One minus the score of two nodes.
fn distance(kernel: &Kernel, dimensions: usize, left: *const i8, right: *const i8) -> f32 {
    // Safety: the graph passes vectors of the width that it was made with.
    let (left, right) = unsafe {
        (std::slice::from_raw_parts(left, width(dimensions)), std::slice::from_raw_parts(right, width(dimensions)))
    };
    let scale = |node: &[i8]| f32::from_le_bytes([0, 1, 2, 3].map(|at| node[dimensions + at] as u8));
    1.0 - scale(left) * scale(right) * (kernel.pair_i8)(&left[..dimensions], &right[..dimensions]) as f32
}

pub fn failed(error: cxx::Exception) -> ShardError {
    ShardError::internal(format!("The graph failed: {error}"))
}

impl Graph {
    /// Maps a graph's file. Compare its checksum first: a damaged file could end the process.
    pub fn view(folder: &Path, record: GraphRecord, dimensions: usize) -> Result<Self> {
        let mut index = empty(dimensions)?;
        index.reserve_capacity_and_threads(1, SEARCHES_MAX).map_err(failed)?;
        let path = folder.join(&record.file);
        let path = path.to_str().ok_or_else(|| ShardError::internal("The path of a graph is not text."))?;
        index.view(path).map_err(failed)?;
        if index.size() as u64 != record.rows || index.dimensions() != width(dimensions) {
            return Err(ShardError::corrupt("A graph is not the one that its index remembers."));
        }
        measure_with_ours(&mut index, dimensions)?;
        let json = serde_json::to_vec(&record).map_err(|error| ShardError::internal(error.to_string()))?;
        Ok(Self {
            index,
            json,
            widening: AtomicUsize::new(record.widening.min(WIDENINGS.len())),
            record,
            searching: AtomicUsize::new(0),
            expected: AtomicU64::new(0),
            found: AtomicU64::new(0),
        })
    }

    pub fn search_widely(&self, query: &[f32], k: usize, widening: f32) -> Option<Vec<u32>> {
        let wanted = ((k as f32 * widening) as usize).max(FOUND_MIN).min(self.index.size());
        if self.searching.fetch_add(1, Ordering::AcqRel) >= SEARCHES_MAX {
            self.searching.fetch_sub(1, Ordering::AcqRel);
            return None;
        }
        let found = self.index.search(&node(query), wanted);
        self.searching.fetch_sub(1, Ordering::AcqRel);
        Some(found.ok()?.keys.into_iter().map(|key| key as u32).collect())
    }
}

impl NeighbourIndex for Graph {
    fn record(&self) -> &[u8] {
        &self.json
    }

    fn last(&self) -> u32 {
        self.record.last
    }

    fn search(&self, query: &[f32], k: usize) -> Option<Vec<u32>> {
        let widening = WIDENINGS.get(self.widening.load(Ordering::Relaxed))?;
        self.search_widely(query, k, *widening)
    }

    /// If too little was found, later searches look wider. Beyond the widest, the graph is no longer used.
    fn probed(&self, expected: u64, found: u64) {
        let expected = self.expected.fetch_add(expected, Ordering::Relaxed) + expected;
        let found = self.found.fetch_add(found, Ordering::Relaxed) + found;
        if expected >= PROBED_MIN && (found as f64) < RECALL_MIN * expected as f64 {
            self.expected.store(0, Ordering::Relaxed);
            self.found.store(0, Ordering::Relaxed);
            let wider = |widening| (widening < WIDENINGS.len()).then_some(widening + 1);
            let _ = self.widening.fetch_update(Ordering::Relaxed, Ordering::Relaxed, wider);
        }
    }
}
