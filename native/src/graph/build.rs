//! Building a graph in the background. Rows are read in short transactions, so that no reader keeps old pages and no
//! writer waits. The file is written beside the index and synced, and only then remembered in it.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::thread::available_parallelism;

use heed::RoTxn;
use usearch::Index;

use crate::blocks::columns::u32_at;
use crate::blocks::vectors::CodesView;
use crate::error::{Result, ShardError};
use crate::graph::open_graph::{self, Graph, GraphRecord, WIDENINGS};
use crate::scan::vector_search;
use crate::store::keys;
use crate::store::neighbours::NeighbourIndex;
use crate::store::open_store::Store;
use crate::store::records::Family;
use crate::store::spaces::SpaceSpec;
use crate::write::write_op::WriteOp;
use crate::write::write_queue::WriteQueue;

/// Segments that one transaction reads.
const CHUNK: u32 = 8192;
/// Rows that a thread inserts before it checks again whether the index is closing.
const PIECE: usize = 64;
/// Rows that are searched for, with some noise, to choose how widely the graph is searched.
const TRIALS: usize = 64;
const TRIAL_DEPTHS: [usize; 3] = [10, 100, 1000];
const TRIAL_NOISE: f32 = 0.4;
const RECALL_MIN: f64 = 0.999;
/// A graph is rebuilt once this share of its rows was added or removed.
const STALE_SHARE: f64 = 0.25;

/// Numbers of rows of a space: all, those of Segments after the graph's last, and the dead ones.
#[derive(Default)]
struct Census {
    rows: usize,
    later: usize,
    dead: usize,
    last: u32,
}

fn census(store: &Store, txn: &RoTxn<'_>, family: Family, last: Option<u32>) -> Result<Census> {
    let mut census = Census::default();
    for entry in store.blocks_of(txn, family)? {
        let (key, value) = entry?;
        let codes = CodesView::read(value)?;
        let rows = codes.header.rows as usize;
        census.rows += rows;
        census.dead += store.dead(txn, key)?.count().min(rows);
        census.later += last.map_or(rows, |last| rows - codes.segments.lower_bound(last.saturating_add(1)));
        census.last = census.last.max(codes.header.last);
    }
    Ok(census)
}

/// Opens the graphs that exist. Builds those that are missing or stale, for spaces that are large enough.
pub fn derive(queue: &Arc<WriteQueue>) -> Result<()> {
    let store = queue.store();
    if store.methods.graph_rows_min == usize::MAX {
        return Ok(());
    }
    let mut families = vec![];
    for space in &store.spaces {
        let txn = store.env.read_txn()?;
        let Some(family) = store.space_family(&txn, space)? else { continue };
        if store.neighbours(&txn, space, family).is_none() {
            open(store, &txn, family, space)?;
        }
        families.push((space, family));
    }
    for (space, family) in families {
        let txn = store.env.read_txn()?;
        let known = store.neighbours(&txn, space, family).and_then(|graph| GraphRecord::read(graph.record()));
        let census = census(store, &txn, family, known.as_ref().map(|graph| graph.last))?;
        drop(txn);
        let large = census.rows - census.dead >= store.methods.graph_rows_min;
        let stale = known.is_none_or(|graph| {
            let lost = (graph.rows as usize).saturating_sub(census.rows - census.later - census.dead);
            (census.later + lost) as f64 > STALE_SHARE * graph.rows as f64
        });
        if large && stale {
            build(queue, family, space, census)?;
        }
    }
    Ok(())
}

/// Opens the graph that the store remembers, if its file is intact. Otherwise it is rebuilt.
fn open(store: &Store, txn: &RoTxn<'_>, family: Family, space: &SpaceSpec) -> Result<()> {
    let json = store.meta_record(txn, &keys::neighbours(&space.name))?;
    let Some(record) = json.and_then(GraphRecord::read) else { return Ok(()) };
    let path = store.folder.join(&record.file);
    if checksum(&path).ok() == Some((record.bytes, record.crc32c))
        && let Ok(graph) = Graph::view(&store.folder, record, space.dimensions)
    {
        store.set_neighbours(family, Arc::new(graph));
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

fn build(queue: &Arc<WriteQueue>, family: Family, space: &SpaceSpec, census: Census) -> Result<()> {
    let store = queue.store();
    let threads = available_parallelism().map_or(1, |count| (count.get() / 2).max(1));
    let index = open_graph::empty(space.dimensions)?;
    // Rows of earlier Segments may be added in the meantime.
    index
        .reserve_capacity_and_threads(census.rows + census.rows / 4 + CHUNK as usize, threads)
        .map_err(open_graph::failed)?;
    let (mut first, mut transaction, mut trials) = (0u32, 0, vec![]);
    loop {
        let end = first.saturating_add(CHUNK - 1).min(census.last);
        let txn = store.env.read_txn()?;
        transaction = transaction.max(txn.id() as u64);
        let rows = nodes(store, &txn, family, first, end)?;
        drop(txn);
        trials.extend(rows.iter().step_by((census.rows / TRIALS).max(1)).map(|(_, node)| node.clone()));
        if !insert(queue, &index, &rows, threads)? {
            return Ok(());
        }
        match end.checked_add(1).filter(|_| end < census.last) {
            Some(next) => first = next,
            None => break,
        }
    }
    let file = format!("graph-{}-{}-{transaction}.usearch", family.0, census.last);
    let record = save(store, &index, file, census.last, transaction)?;
    drop(index);
    let mut graph = Graph::view(&store.folder, record, space.dimensions)?;
    let Some(widening) = widening_for(queue, &graph, space, &trials)? else { return Ok(()) };
    graph = Graph::view(&store.folder, GraphRecord { widening, ..graph.record.clone() }, space.dimensions)?;
    let (key, json) = (keys::neighbours(&space.name), graph.record().to_vec());
    if queue.write_unless_closing(WriteOp::PutDerived { key, json })? {
        store.set_neighbours(family, Arc::new(graph));
    }
    remove_others(store)
}

/// The living rows of a range of Segments, as nodes.
fn nodes(store: &Store, txn: &RoTxn<'_>, family: Family, first: u32, last: u32) -> Result<Vec<(u32, Vec<i8>)>> {
    let mut nodes = vec![];
    for entry in store.blocks_of(txn, family)? {
        let (key, value) = entry?;
        let codes = CodesView::read(value)?;
        if codes.header.last < first || codes.header.first > last {
            continue;
        }
        store.checked(key, &codes.header, value)?;
        let dead = store.dead(txn, key)?;
        let width = codes.header.width as usize;
        for row in codes.segments.lower_bound(first)..codes.header.rows as usize {
            let segment = codes.segments.get(row);
            if segment > last {
                break;
            }
            if !dead.has(row) {
                let scale = f32::from_bits(u32_at(codes.scales, 4 * row));
                nodes.push((
                    segment,
                    open_graph::with_scale(codes.codes[row * width..(row + 1) * width].to_vec(), scale),
                ));
            }
        }
    }
    Ok(nodes)
}

/// Inserts rows. False if the index is closing.
fn insert(queue: &Arc<WriteQueue>, index: &Index, rows: &[(u32, Vec<i8>)], threads: usize) -> Result<bool> {
    let insert_some = |rows: &[(u32, Vec<i8>)]| -> Result<bool> {
        for piece in rows.chunks(PIECE) {
            if queue.is_closing() {
                return Ok(false);
            }
            for (segment, node) in piece {
                index.add(u64::from(*segment), node).map_err(open_graph::failed)?;
            }
        }
        Ok(true)
    };
    if rows.is_empty() {
        return Ok(!queue.is_closing());
    }
    std::thread::scope(|scope| {
        let shares = rows.chunks(rows.len().div_ceil(threads));
        let running: Vec<_> = shares.map(|share| scope.spawn(move || insert_some(share))).collect();
        let failed = || ShardError::internal("A thread that builds a graph ended.");
        running.into_iter().try_fold(true, |all, thread| Ok(thread.join().map_err(|_| failed())?? && all))
    })
}

/// Writes the file and syncs it.
fn save(store: &Store, index: &Index, file: String, last: u32, transaction: u64) -> Result<GraphRecord> {
    let path = store.folder.join(&file);
    let name = path.to_str().ok_or_else(|| ShardError::internal("The path of a graph is not text."))?;
    index.save(name).map_err(open_graph::failed)?;
    File::open(&path)?.sync_all()?;
    File::open(&store.folder)?.sync_all()?;
    let (bytes, crc32c) = checksum(&path)?;
    Ok(GraphRecord { file, bytes, crc32c, rows: index.size() as u64, last, transaction, widening: 0 })
}

/// The least widening at which rows that are searched for with noise are found as by the scan; the last one if none is
/// enough. None if the index is closing.
fn widening_for(queue: &Arc<WriteQueue>, graph: &Graph, space: &SpaceSpec, nodes: &[Vec<i8>]) -> Result<Option<usize>> {
    let store = queue.store();
    let (mut expected, mut found) = (0u64, [0u64; WIDENINGS.len()]);
    for (number, node) in nodes.iter().enumerate() {
        if queue.is_closing() {
            return Ok(None);
        }
        let query = noisy(node, space.dimensions, number as u64);
        let txn = store.env.read_txn()?;
        let depth = TRIAL_DEPTHS[number % TRIAL_DEPTHS.len()];
        let best = vector_search::proved(store, &txn, space, &query, depth)?;
        let best: Vec<u32> = best.into_iter().filter(|segment| *segment <= graph.record.last).collect();
        expected += best.len() as u64;
        for (found, widening) in found.iter_mut().zip(WIDENINGS) {
            let mut near = graph.search_widely(&query, depth, widening).unwrap_or_default();
            near.sort_unstable();
            *found += best.iter().filter(|segment| near.binary_search(segment).is_ok()).count() as u64;
        }
    }
    let enough = |found: &u64| *found as f64 >= RECALL_MIN * expected as f64;
    Ok(Some(found.iter().position(enough).unwrap_or(WIDENINGS.len() - 1)))
}

/// A query that is like a row: its codes, with noise of `TRIAL_NOISE` of its length.
fn noisy(node: &[i8], dimensions: usize, seed: u64) -> Vec<f32> {
    let scale = f32::from_le_bytes([0, 1, 2, 3].map(|at| node[dimensions + at] as u8));
    let mut values: Vec<f32> = node[..dimensions].iter().map(|code| scale * f32::from(*code)).collect();
    let norm = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for value in &mut values {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // A uniform number in −1..1 has the standard deviation 1/√3.
        let uniform = (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
        *value += TRIAL_NOISE * norm * uniform * (3.0 / dimensions as f32).sqrt();
    }
    values
}

/// Removes the files of graphs that are no longer used. An open file stays readable until it is closed.
fn remove_others(store: &Store) -> Result<()> {
    let records = store.neighbour_records();
    let used: Vec<String> = records.iter().filter_map(|json| Some(GraphRecord::read(json)?.file)).collect();
    for entry in fs::read_dir(&store.folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("graph-") && !used.contains(&name) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
