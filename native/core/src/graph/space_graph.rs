//! The graph of one space. It measures by the same scores as the codes, with our kernels: usearch's own are left out.

use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use crate::blocks::vectors::quantise;
use crate::error::{Result, ShardError};
use crate::kernels::detection;
use crate::kernels::kernel::Kernel;
use crate::ranking::segment_filter::SegmentFilter;
use crate::store::neighbours::NeighbourIndex;

/// Edges of a node: the usual number for vectors of some hundred dimensions.
const CONNECTIVITY: usize = 16;
/// Nodes visited for each insertion.
const EXPANSION_ADD: usize = 128;
/// Concurrent searches of one graph. Further ones scan.
const SEARCHES_MAX: usize = 16;
/// How many nodes a search keeps in view beside those that are wanted. A graph that needs more is of no use.
pub const WIDTHS: [usize; 10] = [64, 96, 144, 200, 300, 400, 600, 800, 1200, 1600];
/// The recall below which the scan serves.
pub const RECALL_MIN: f64 = 0.985;
/// Hits that probes must have expected before what they found counts.
const PROBED_MIN: u64 = 2_000;

/// What the store remembers of a graph's file, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphRecord {
    pub file: String,
    pub bytes: u64,
    pub crc32c: u32,
    pub rows: u64,
    pub last: u32,
    /// Index into [`WIDTHS`]; beyond it the graph is not searched.
    pub width: usize,
    /// Recall at this width, of searches for a sample of rows with noise.
    pub recall: f64,
}

impl GraphRecord {
    /// None if this is not the JSON of a graph's record.
    pub fn read(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }
}

/// A mapped graph.
pub struct SpaceGraph {
    index: Index,
    pub record: GraphRecord,
    /// The record as the store has it.
    json: Vec<u8>,
    width: AtomicUsize,
    searching: AtomicUsize,
    /// Hits that probes expected and found since the width last changed.
    expected: AtomicU64,
    found: AtomicU64,
}

/// A node: a row's codes, then its scale.
pub fn node_of(codes: &[i8], scale: f32) -> Vec<i8> {
    let scale = scale.to_le_bytes().map(|byte| byte as i8);
    [codes, &scale].concat()
}

/// Elements of a node.
fn elements(dimensions: usize) -> usize {
    dimensions + 4
}

fn scale_of(node: &[i8], dimensions: usize) -> f32 {
    f32::from_le_bytes([0, 1, 2, 3].map(|at| node[dimensions + at] as u8))
}

/// The values that a node stands for.
pub fn values_of(node: &[i8]) -> Vec<f32> {
    let dimensions = node.len() - 4;
    let scale = scale_of(node, dimensions);
    node[..dimensions].iter().map(|code| scale * f32::from(*code)).collect()
}

/// An empty graph for vectors of `dimensions` dimensions.
pub fn empty(dimensions: usize) -> Result<Index> {
    let options = IndexOptions {
        dimensions: elements(dimensions),
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

/// A graph in memory, as a file has it, to which rows can be added. Compare the file's checksum first.
pub fn loaded(path: &Path, dimensions: usize) -> Result<Index> {
    let mut index = empty(dimensions)?;
    index.load(text_of(path)?).map_err(failed)?;
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
    // Safety: the graph passes vectors of the length that it was made with.
    let (left, right) = unsafe {
        (
            std::slice::from_raw_parts(left, elements(dimensions)),
            std::slice::from_raw_parts(right, elements(dimensions)),
        )
    };
    let scales = scale_of(left, dimensions) * scale_of(right, dimensions);
    1.0 - scales * (kernel.pair_i8)(&left[..dimensions], &right[..dimensions]) as f32
}

pub fn failed(error: impl Display) -> ShardError {
    ShardError::internal(format!("A graph failed: {error}"))
}

pub fn text_of(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| failed("its path is not text"))
}

impl SpaceGraph {
    /// Maps a graph's file. Compare its checksum first: a damaged file could end the process.
    pub fn view(folder: &Path, record: GraphRecord, dimensions: usize) -> Result<Self> {
        let mut index = empty(dimensions)?;
        index.reserve_capacity_and_threads(1, SEARCHES_MAX).map_err(failed)?;
        index.view(text_of(&folder.join(&record.file))?).map_err(failed)?;
        if index.size() as u64 != record.rows || index.dimensions() != elements(dimensions) {
            return Err(failed("it is not the one that its index remembers"));
        }
        measure_with_ours(&mut index, dimensions)?;
        let json = serde_json::to_vec(&record).map_err(failed)?;
        let (width, searching) = (AtomicUsize::new(record.width), AtomicUsize::new(0));
        let (expected, found) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { index, record, json, width, searching, expected, found })
    }

    /// As [`NeighbourIndex::search`], with `width` nodes in view beside those that are wanted and half as many.
    pub fn search_widely(
        &self,
        query: &[f32],
        k: usize,
        width: usize,
        within: Option<&SegmentFilter>,
    ) -> Option<Vec<u32>> {
        let mut codes = Vec::with_capacity(elements(query.len()));
        let scale = quantise(query, &mut codes).scale;
        let (node, wanted) = (node_of(&codes, scale), (width + k + k / 2).min(self.index.size()));
        if self.searching.fetch_add(1, Ordering::AcqRel) >= SEARCHES_MAX {
            self.searching.fetch_sub(1, Ordering::AcqRel);
            return None;
        }
        let found = match within {
            None => self.index.search(&node, wanted),
            Some(within) => self.index.filtered_search(&node, wanted, |segment| within.has(segment as u32)),
        };
        self.searching.fetch_sub(1, Ordering::AcqRel);
        Some(found.ok()?.keys.into_iter().map(|key| key as u32).collect())
    }

    fn probed_recall(&self) -> Option<f64> {
        let (expected, found) = (self.expected.load(Ordering::Relaxed), self.found.load(Ordering::Relaxed));
        (expected >= PROBED_MIN).then(|| found as f64 / expected as f64)
    }
}

impl NeighbourIndex for SpaceGraph {
    fn record(&self) -> &[u8] {
        &self.json
    }

    fn last(&self) -> u32 {
        self.record.last
    }

    fn recall(&self) -> f64 {
        (self.probed_recall().unwrap_or(self.record.recall) * 1e4).floor() / 1e4
    }

    fn search(&self, query: &[f32], k: usize, within: Option<&SegmentFilter>) -> Option<Vec<u32>> {
        let width = WIDTHS.get(self.width.load(Ordering::Relaxed))?;
        self.search_widely(query, k, *width, within)
    }

    /// If too little was found, later searches look wider. Beyond the widest, the graph is no longer searched.
    fn probed(&self, expected: u64, found: u64) {
        self.expected.fetch_add(expected, Ordering::Relaxed);
        self.found.fetch_add(found, Ordering::Relaxed);
        if self.probed_recall().is_some_and(|recall| recall < RECALL_MIN) {
            self.expected.store(0, Ordering::Relaxed);
            self.found.store(0, Ordering::Relaxed);
            let wider = |width| (width < WIDTHS.len()).then_some(width + 1);
            let _ = self.width.fetch_update(Ordering::Relaxed, Ordering::Relaxed, wider);
        }
    }
}
