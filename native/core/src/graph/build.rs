//! Making graphs in the background. Rows are read in short transactions, so that no reader keeps old pages and no
//! writer waits. A graph is written under another name, synced and renamed; only then does the index remember it, with
//! its checksum. So a crash leaves a file that the index does not know: it is removed, and the graph made again.
//!
//! One thread adds the rows: several at once do not see each other's newest rows.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use heed::RoTxn;
use usearch::Index;

use super::space_graph::{self, GraphRecord, RECALL_MIN, SpaceGraph, WIDTHS, failed};
use crate::blocks::columns::u32_at;
use crate::blocks::vectors::CodesView;
use crate::error::Result;
use crate::scan::vector_search;
use crate::store::keys;
use crate::store::neighbours::{self, FILE_PREFIX};
use crate::store::open_store::Store;
use crate::store::records::Family;
use crate::store::spaces::SpaceSpec;
use crate::write::write_op::WriteOp;
use crate::write::write_queue::WriteQueue;

/// Segments that one transaction reads.
const CHUNK: u32 = 8192;
/// Rows that are added before it is looked whether the index is closing.
const PIECE: usize = 64;
/// Searches that choose how widely the graph is searched, and how many hits they want.
const TRIALS: u32 = 96;
const TRIAL_DEPTHS: [usize; 3] = [10, 30, 100];
/// A trial's query is a row, half of another one and noise of this length. A row alone, with whatever noise, is found
/// more easily than a question: most of its best hits are each other's neighbours.
const TRIAL_OTHER: f32 = 0.5;
const TRIAL_NOISE: f32 = 0.6;
/// The recall that a width is chosen for.
const RECALL_WANTED: f64 = 0.99;
/// A graph is extended once rows of this share of its own are scanned besides, and made anew once this share is dead.
const LATER_SHARE: f64 = 0.1;
const DEAD_SHARE: f64 = 0.25;

/// Numbers of living rows of a space: all, and those of Segments after the graph's last. `last`: the last Segment.
#[derive(Default)]
struct Census {
    rows: usize,
    later: usize,
    last: u32,
}

fn census(store: &Store, txn: &RoTxn<'_>, family: Family, last: Option<u32>) -> Result<Census> {
    let mut census = Census::default();
    for entry in store.blocks_of(txn, family)? {
        let (key, value) = entry?;
        let codes = CodesView::read(value)?;
        let rows = codes.header.rows as usize;
        let begin = last.map_or(0, |last| codes.segments.lower_bound(last.saturating_add(1)));
        let dead = store.dead(txn, key)?.rows_below(codes.header.rows);
        census.rows += rows - dead.len();
        census.later += rows - begin - dead.iter().filter(|row| **row as usize >= begin).count();
        census.last = census.last.max(codes.header.last);
    }
    Ok(census)
}

/// Opens the graphs that exist, makes those that are missing or old, and removes those of spaces that got small.
pub fn derive(queue: &Arc<WriteQueue>) -> Result<()> {
    let store = queue.store();
    for space in &store.spaces {
        let txn = store.env.read_txn()?;
        let Some(family) = store.space_family(&txn, space)? else { continue };
        if store.graph(&txn, space, family).is_none() {
            open(store, &txn, family, space)?;
        }
        let known = store.graph(&txn, space, family).and_then(|graph| GraphRecord::read(graph.record()));
        let census = census(store, &txn, family, known.as_ref().map(|graph| graph.last))?;
        let remembers = store.meta_record(&txn, &keys::graph(&space.name))?.is_some();
        drop(txn);
        if census.rows < store.methods.graph_rows_min {
            // Some room, or a space near the threshold would lose and get its graph over and over.
            if remembers && census.rows < store.methods.graph_rows_min / 2 {
                store.set_graph(family, None);
                queue.write_unless_closing(WriteOp::PutGraph { space: space.clone(), record: None })?;
            }
            continue;
        }
        let Some(known) = known else {
            build(queue, family, space, &census, None)?;
            continue;
        };
        let held = known.rows as f64;
        if (census.rows - census.later) as f64 <= (1.0 - DEAD_SHARE) * held {
            build(queue, family, space, &census, None)?;
        } else if census.later as f64 > LATER_SHARE * held {
            build(queue, family, space, &census, Some(&known))?;
        }
    }
    remove_others(store)
}

/// Opens the graph that the store remembers, if its file is intact. Otherwise it is made again.
fn open(store: &Store, txn: &RoTxn<'_>, family: Family, space: &SpaceSpec) -> Result<()> {
    let json = store.meta_record(txn, &keys::graph(&space.name))?;
    let Some(record) = json.and_then(GraphRecord::read) else { return Ok(()) };
    let path = store.folder.join(&record.file);
    if checksum(&path).ok() == Some((record.bytes, record.crc32c))
        && let Ok(graph) = SpaceGraph::view(&store.folder, record, space.dimensions)
    {
        store.set_graph(family, Some(Arc::new(graph)));
    }
    Ok(())
}

fn checksum(path: &Path) -> Result<(u64, u32)> {
    let mut file = File::open(path)?;
    let (mut bytes, mut crc) = (0, 0);
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok((bytes, crc)),
            length => {
                crc = crc32c::crc32c_append(crc, &piece[..length]);
                bytes += length as u64;
            }
        }
    }
}

/// Makes a graph of all rows, or adds the later ones to one that exists.
fn build(
    queue: &Arc<WriteQueue>,
    family: Family,
    space: &SpaceSpec,
    census: &Census,
    from: Option<&GraphRecord>,
) -> Result<()> {
    let store = queue.store();
    let index = match from {
        Some(record) => space_graph::loaded(&store.folder.join(&record.file), space.dimensions)?,
        None => space_graph::empty(space.dimensions)?,
    };
    let added = from.map_or(census.rows, |_| census.later);
    index.reserve_capacity_and_threads(index.size() + added, 1).map_err(failed)?;
    let mut first = from.map_or(0, |record| record.last.saturating_add(1));
    while first <= census.last {
        let end = first.saturating_add(CHUNK - 1).min(census.last);
        let txn = store.env.read_txn()?;
        let rows = nodes(store, &txn, family, first, end)?;
        drop(txn);
        for piece in rows.chunks(PIECE) {
            if queue.is_closing() {
                return Ok(());
            }
            piece.iter().try_for_each(|(segment, node)| index.add(u64::from(*segment), node)).map_err(failed)?;
        }
        let Some(next) = end.checked_add(1) else { break };
        first = next;
    }
    let record = save(store, &index, family, census.last)?;
    drop(index);
    let graph = SpaceGraph::view(&store.folder, record, space.dimensions)?;
    let Some((width, recall)) = width_for(queue, &graph, family, space)? else { return Ok(()) };
    let record = GraphRecord { width, recall, ..graph.record.clone() };
    let graph = SpaceGraph::view(&store.folder, record, space.dimensions)?;
    let json = serde_json::to_vec(&graph.record).map_err(failed)?;
    if queue.write_unless_closing(WriteOp::PutGraph { space: space.clone(), record: Some(json) })? {
        store.set_graph(family, Some(Arc::new(graph)));
    }
    Ok(())
}

/// The living rows of a range of Segments, as nodes.
fn nodes(store: &Store, txn: &RoTxn<'_>, family: Family, first: u32, last: u32) -> Result<Vec<(u32, Vec<i8>)>> {
    let mut nodes = vec![];
    for entry in store.blocks_of(txn, family)? {
        let (key, value) = entry?;
        let view = CodesView::read(value)?;
        if view.header.last < first || view.header.first > last {
            continue;
        }
        store.checked(key, &view.header, value)?;
        let (dead, dimensions) = (store.dead(txn, key)?, view.header.width as usize);
        for row in view.segments.lower_bound(first)..view.segments.lower_bound(last.saturating_add(1)) {
            if !dead.has(row) {
                let scale = f32::from_bits(u32_at(view.scales, 4 * row));
                let codes = &view.codes[row * dimensions..(row + 1) * dimensions];
                nodes.push((view.segments.get(row), space_graph::node_of(codes, scale)));
            }
        }
    }
    Ok(nodes)
}

/// Writes the file, durably.
fn save(store: &Store, index: &Index, family: Family, last: u32) -> Result<GraphRecord> {
    let draft = store.folder.join(format!("{FILE_PREFIX}{}.new", family.0));
    index.save(space_graph::text_of(&draft)?).map_err(failed)?;
    File::open(&draft)?.sync_all()?;
    let (bytes, crc32c) = checksum(&draft)?;
    // A name of its own: the former file is mapped.
    let file = format!("{FILE_PREFIX}{}-{last}-{crc32c:08x}", family.0);
    fs::rename(&draft, store.folder.join(&file))?;
    File::open(&store.folder)?.sync_all()?;
    Ok(GraphRecord { file, bytes, crc32c, rows: index.size() as u64, last, width: WIDTHS.len(), recall: 0.0 })
}

/// The least width at which trials find what a proof does, and the recall there. The widest if none is enough, and none
/// if that is not either. None if the index is closing.
fn width_for(
    queue: &Arc<WriteQueue>,
    graph: &SpaceGraph,
    family: Family,
    space: &SpaceSpec,
) -> Result<Option<(usize, f64)>> {
    let store = queue.store();
    let (mut trials, mut shares) = (0, [0f64; WIDTHS.len()]);
    let step = (graph.record.last / TRIALS).max(1);
    let mut other: Option<Vec<f32>> = None;
    for number in 0..=graph.record.last / step {
        if queue.is_closing() {
            return Ok(None);
        }
        let txn = store.env.read_txn()?;
        let from = number * step;
        let Some((_, node)) = nodes(store, &txn, family, from, from + step.min(CHUNK) - 1)?.into_iter().next() else {
            continue;
        };
        let row = space_graph::values_of(&node);
        let query = query_like(&row, other.as_ref().unwrap_or(&row), u64::from(number));
        other = Some(row);
        let depth = TRIAL_DEPTHS[number as usize % TRIAL_DEPTHS.len()];
        let best = vector_search::proved(store, &txn, space, &query, depth)?;
        let best: Vec<u32> = best.into_iter().filter(|segment| *segment <= graph.record.last).collect();
        trials += 1;
        for (share, width) in shares.iter_mut().zip(WIDTHS) {
            let mut near = graph.search_widely(&query, depth, width, None).unwrap_or_default();
            near.sort_unstable();
            let found = best.iter().filter(|segment| near.binary_search(segment).is_ok()).count();
            *share += if best.is_empty() { 1.0 } else { found as f64 / best.len() as f64 };
        }
    }
    let recalls = shares.map(|share| share / f64::from(trials.max(1)));
    let enough = recalls.iter().position(|recall| *recall >= RECALL_WANTED).unwrap_or(WIDTHS.len() - 1);
    let width = if recalls[enough] < RECALL_MIN { WIDTHS.len() } else { enough };
    Ok(Some((width, recalls[enough])))
}

/// A query that is as far from a row as questions are from the passages that answer them.
fn query_like(row: &[f32], other: &[f32], seed: u64) -> Vec<f32> {
    let norm = row.iter().map(|value| value * value).sum::<f32>().sqrt();
    let spread = TRIAL_NOISE * norm * (3.0 / row.len() as f32).sqrt();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let with_noise = row.iter().zip(other).map(|(value, other)| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // A uniform number in −1..1 has the standard deviation 1/√3.
        value + TRIAL_OTHER * other + spread * ((state >> 40) as f32 / (1u64 << 23) as f32 - 1.0)
    });
    with_noise.collect()
}

/// Removes the files of graphs that no record names. A mapped file stays readable until it is closed.
fn remove_others(store: &Store) -> Result<()> {
    let txn = store.env.read_txn()?;
    let mut used = vec![];
    for space in &store.spaces {
        let record = store.meta_record(&txn, &keys::graph(&space.name))?.and_then(GraphRecord::read);
        used.extend(record.map(|record| store.folder.join(record.file)));
    }
    let others = neighbours::files(&store.folder)?.into_iter().filter(|path| !used.contains(path));
    others.into_iter().try_for_each(|path| Ok(fs::remove_file(path)?))
}
