//! Writers, readers, merges, disposals and closings of a few indexes at once. A snapshot holds whole Items only and
//! never changes, and nothing of a disposed index is ever seen again. `make sanitize` runs this under ThreadSanitizer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock, mpsc};
use std::thread;

use farthing_core::error::ShardError;
use farthing_core::ranking::options::SearchOptions;
use farthing_core::shard::open_shard::Shard;
use farthing_core::shard::query::{Query, WordsQuery};
use farthing_core::shard::snapshot::Snapshot;
use farthing_core::store::spaces::SpaceSpec;
use farthing_core::terms::spelt_right::SpeltRight;
use farthing_core::threads::scan_pool;
use farthing_core::write::input::{ItemRecord, SegmentInput};
use farthing_core::write::write_op::WriteOp;

const SLOTS: usize = 3;
const WRITERS: usize = 3;
const READERS: usize = 3;
const DIMENSIONS: usize = 16;
const SEGMENTS_MAX: u64 = 6;
/// Writes of one round of one writer.
const WRITES: u64 = 4;

/// SplitMix64 (Steele et al. 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// A folder that one index after another uses. Each has another generation.
struct Slot {
    folder: PathBuf,
    current: RwLock<(u64, Arc<Shard>)>,
    /// Held while the index is closed, opened or disposed of.
    changing: Mutex<()>,
}

impl Slot {
    fn get(&self) -> (u64, Arc<Shard>) {
        self.current.read().unwrap().clone()
    }
}

fn open(folder: &Path) -> Shard {
    let spaces = vec![SpaceSpec { name: "meaning".into(), dimensions: DIMENSIONS, model: [1; 32] }];
    Shard::open(folder, spaces).unwrap()
}

/// An Item states its generation and its number of Segments, and so does each Segment.
fn append_of(generation: u64, serial: u64, count: u64) -> WriteOp {
    let id = format!("g{generation}n{serial}c{count}");
    let json = format!(r#"{{"id":"{id}","sha256":"{serial:064x}","state":"searchable","bytes":1}}"#);
    let segments = (0..count).map(|place| SegmentInput {
        record: format!(r#"{{"item":"{id}"}}"#),
        place: place as u32,
        words: Some(format!("common item{serial} generation{generation}")),
        picture: None,
        vectors: vec![(0, (0..DIMENSIONS as u64).map(|at| ((serial + at) % 7) as f32 - 3.0).collect())],
    });
    WriteOp::Append { item: ItemRecord::parse(&json).unwrap(), segments: segments.collect(), replaces: vec![] }
}

/// The index is closed, or too busy: both may happen at any time.
fn expected(error: &ShardError) -> bool {
    matches!(error.code, "not_found" | "overloaded")
}

fn check(snapshot: &Snapshot, generation: u64) {
    let whole = |hits: &[u32]| {
        let mut items: BTreeMap<&str, u64> = BTreeMap::new();
        for segment in hits {
            *items.entry(snapshot.record(*segment).unwrap().expect("a segment that is found is there")).or_default() +=
                1;
        }
        for (record, count) in &items {
            assert!(record.contains(&format!("\"g{generation}n")), "{record} is none of generation {generation}");
            assert!(record.contains(&format!("c{count}\"")), "{count} segments of {record}");
        }
        items.len() as u64
    };
    let totals = snapshot.totals().unwrap();
    let of = |question: Query| {
        let options = SearchOptions::best(100_000);
        snapshot.answer(&question, &options).unwrap().hits.iter().map(|hit| hit.segment).collect::<Vec<_>>()
    };
    let by_words = of(Query::Words(WordsQuery::new("common".into(), None, SpeltRight::default())));
    let by_vector = of(Query::Vector { space: "meaning".into(), vector: vec![0.5; DIMENSIONS] });
    assert_eq!((by_words.len() as u64, by_vector.len() as u64), (totals.segments, totals.segments));
    assert_eq!(whole(&by_words), totals.items);
    let list = snapshot.items(None, 10_000).unwrap();
    assert_eq!(list.matches("\"id\":").count() as u64, totals.items);
    assert_eq!(list.matches(&format!("\"g{generation}n")).count() as u64, totals.items);
    assert_eq!(snapshot.totals().unwrap(), totals, "a snapshot does not change");
}

fn write(slots: &[Slot], mut random: Random, serials: &AtomicU64, rounds: u64) {
    for _ in 0..rounds {
        let (generation, shard) = slots[random.below(SLOTS as u64) as usize].get();
        let (send, receive) = mpsc::channel();
        for _ in 0..WRITES {
            let send = send.clone();
            let serial = serials.fetch_add(1, Ordering::Relaxed);
            let count = 1 + random.below(SEGMENTS_MAX);
            let write = append_of(generation, serial, count);
            shard.submit(write, Box::new(move |done| drop(send.send((serial, count, done)))));
        }
        drop(send);
        for (serial, count, done) in receive {
            match done {
                Ok(_) if random.below(3) == 0 => {
                    let removal = shard.write(WriteOp::RemoveItem { id: format!("g{generation}n{serial}c{count}") });
                    assert!(removal.as_ref().is_ok_and(|was| *was) || removal.is_err_and(|error| expected(&error)));
                }
                Ok(_) => {}
                Err(error) => assert!(expected(&error), "{error}"),
            }
        }
    }
}

fn read(slots: &[Slot], mut random: Random, ended: &AtomicBool) -> u64 {
    let mut snapshots = 0;
    while !ended.load(Ordering::Relaxed) {
        let (generation, shard) = slots[random.below(SLOTS as u64) as usize].get();
        match shard.snapshot() {
            Ok(snapshot) if random.below(3) == 0 => {
                // Like a long search: on a thread of the pool, which drops the snapshot.
                let (send, receive) = mpsc::channel();
                let work = move || {
                    check(&snapshot, generation);
                    drop(snapshot);
                    send.send(()).unwrap();
                };
                scan_pool::run(work).unwrap();
                receive.recv().expect("the snapshot was as it should be");
            }
            Ok(snapshot) => check(&snapshot, generation),
            Err(error) => assert!(expected(&error), "{error}"),
        }
        snapshots += 1;
        thread::yield_now();
    }
    snapshots
}

/// Closes an index and opens it again, or disposes of it and creates a new one in its folder.
fn change(slots: &[Slot], mut random: Random, ended: &AtomicBool, generations: &AtomicU64) -> (u64, u64) {
    let (mut closed, mut disposed) = (0, 0);
    while !ended.load(Ordering::Relaxed) {
        let slot = &slots[random.below(SLOTS as u64) as usize];
        let _one = slot.changing.lock().unwrap();
        let (generation, shard) = slot.get();
        shard.close().unwrap();
        assert_eq!(shard.snapshot().err().map(|error| error.code), Some("not_found"));
        let next = if random.below(2) == 0 {
            std::fs::remove_dir_all(&slot.folder).unwrap();
            std::fs::create_dir(&slot.folder).unwrap();
            disposed += 1;
            generations.fetch_add(1, Ordering::Relaxed)
        } else {
            closed += 1;
            generation
        };
        *slot.current.write().unwrap() = (next, Arc::new(open(&slot.folder)));
        drop(_one);
        for _ in 0..random.below(200) {
            thread::yield_now();
        }
    }
    (closed, disposed)
}

#[test]
fn only_whole_items_of_living_indexes_are_seen_under_concurrency() {
    let number =
        |name: &str, otherwise| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (rounds, seed) = (number("STRESS_ROUNDS", 60), number("SEED", 1));
    let root = tempfile::tempdir().unwrap();
    let slots: Vec<Slot> = (0..SLOTS)
        .map(|at| {
            let folder = root.path().join(at.to_string());
            std::fs::create_dir(&folder).unwrap();
            let current = RwLock::new((at as u64, Arc::new(open(&folder))));
            Slot { folder, current, changing: Mutex::default() }
        })
        .collect();
    let (serials, generations, ended) = (AtomicU64::new(0), AtomicU64::new(SLOTS as u64), AtomicBool::new(false));
    let random = |part: u64| Random(seed * 1_000 + part);
    let (snapshots, changes) = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS as u64)
            .map(|at| {
                scope.spawn({
                    let (slots, serials) = (&slots, &serials);
                    move || write(slots, random(at), serials, rounds)
                })
            })
            .collect();
        let readers: Vec<_> = (0..READERS as u64)
            .map(|at| {
                scope.spawn({
                    let (slots, ended) = (&slots, &ended);
                    move || read(slots, random(100 + at), ended)
                })
            })
            .collect();
        let changer = scope.spawn(|| change(&slots, random(200), &ended, &generations));
        let writers: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        ended.store(true, Ordering::Relaxed);
        let snapshots: u64 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        let changes = changer.join().unwrap();
        writers.into_iter().for_each(|writer| writer.unwrap());
        (snapshots, changes)
    });
    let mut merged = 0;
    for slot in &slots {
        let (generation, shard) = slot.get();
        check(&shard.snapshot().unwrap(), generation);
        // Writes until there was a merge, even if the index is new: after enough commits the next one waits for it.
        for serial in 0..2_000 {
            let blocks = shard.snapshot().unwrap().blocks().unwrap();
            if blocks.iter().any(|(_, rows)| *rows > SEGMENTS_MAX as u32) {
                break;
            }
            shard.write(append_of(generation, 1_000_000 + serial, 1)).unwrap();
        }
        shard.close().unwrap();
        let again = open(&slot.folder);
        let snapshot = again.snapshot().unwrap();
        check(&snapshot, generation);
        merged += u64::from(snapshot.blocks().unwrap().iter().any(|(_, rows)| *rows > SEGMENTS_MAX as u32));
    }
    assert_eq!(merged, SLOTS as u64, "blocks were merged in every index");
    println!(
        "{} items written, {snapshots} snapshots, {} closings, {} disposals",
        serials.load(Ordering::Relaxed),
        changes.0,
        changes.1
    );
}
