//! The index against a naive reference, after appends, changes, removals, merges and reopening.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::kernels::scalar;
use crate::ranking::options::SearchOptions;
use crate::ranking::top_k::{Ranking, Scored};
use crate::shard::open_shard::Shard;
use crate::shard::query::{Conditional, Query};
use crate::store::spaces::SpaceSpec;
use crate::threads::scan_pool;
use crate::write::input::{ItemRecord, PictureInput, SegmentInput, digest_of_hex};
use crate::write::merge;
use crate::write::write_op::WriteOp;

mod extents;
mod filters;
mod grep;
mod items;
mod rating;
mod spaces;

const DIMENSIONS: usize = 24;

fn spaces(model: u8) -> Vec<SpaceSpec> {
    vec![SpaceSpec { name: "meaning".into(), dimensions: DIMENSIONS, model: [model; 32] }]
}

fn open(folder: &std::path::Path) -> Shard {
    Shard::open(folder, spaces(1)).unwrap()
}

fn item(id: &str, state: &str) -> ItemRecord {
    let sha256 = format!("{:064x}", crc32c::crc32c(id.as_bytes()));
    ItemRecord::parse(&format!(r#"{{"id":"{id}","sha256":"{sha256}","state":"{state}","bytes":10}}"#)).unwrap()
}

fn segment(vector: &[f32], words: &str) -> SegmentInput {
    SegmentInput {
        record: r#"{"place":3}"#.into(),
        place: 3,
        words: Some(words.into()),
        picture: None,
        vectors: vec![(0, vector.to_vec())],
    }
}

fn append(shard: &Shard, id: &str, segments: Vec<SegmentInput>) {
    shard.write(WriteOp::Append { item: item(id, "searchable"), segments, replaces: vec![] }).unwrap();
}

fn search(shard: &Shard, query: &[f32], k: usize) -> Ranking {
    shard.snapshot().unwrap().search_vector("meaning", query, k).unwrap()
}

fn found_by_words(shard: &Shard, query: &str) -> Vec<u32> {
    shard.snapshot().unwrap().search_words(query, 100).unwrap().hits.iter().map(|hit| hit.segment).collect()
}

/// The result of the f32 rows alone, row by row.
fn naive(rows: &BTreeMap<u32, Vec<f32>>, query: &[f32], k: usize) -> Vec<Scored> {
    let mut all: Vec<Scored> = rows
        .iter()
        .map(|(segment, row)| {
            let bytes: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
            Scored { score: (scalar::KERNEL.dot_f32)(query, &bytes), segment: *segment }
        })
        .collect();
    all.sort();
    all.truncate(k);
    all
}

fn vector() -> impl Strategy<Value = Vec<f32>> {
    // Few different values, so that equal scores happen; some tiny and large ones.
    let element = prop_oneof![4 => -1.0f32..1.0, 2 => Just(0.5f32), 1 => Just(0.0), 1 => Just(1e-30), 1 => Just(90.0)];
    proptest::collection::vec(element, DIMENSIONS)
}

#[derive(Debug, Clone)]
enum Step {
    Append(u8, Vec<Vec<f32>>),
    Remove(u8),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..12u8, proptest::collection::vec(vector(), 0..9)).prop_map(|(id, rows)| Step::Append(id, rows)),
        2 => (0..12u8).prop_map(Step::Remove),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_phrase_is_a_condition_inside_the_scan_of_vectors(
        rows in proptest::collection::vec((vector(), 0..4usize), 1..60), query in vector(), k in 1..20usize, removed in 0..9u8
    ) {
        const TEXTS: [&str; 4] = ["red fox den", "fox red den", "a red fox and a grey owl", "nothing of it"];
        let folder = tempfile::tempdir().unwrap();
        let shard = open(folder.path());
        let mut living = BTreeMap::new();
        for (number, (vector, text)) in rows.iter().enumerate() {
            append(&shard, &format!("i{number}"), vec![segment(vector, TEXTS[*text])]);
            living.insert(number as u32, (vector.clone(), *text));
        }
        shard.write(WriteOp::RemoveItem { id: format!("i{removed}") }).unwrap();
        living.remove(&u32::from(removed));
        for (phrases, having) in [
            ("\"red fox\"", vec![vec![0, 2]]),
            ("\"red fox\" or \"grey owl\"", vec![vec![0, 2], vec![2]]),
            ("\"den fox\"", vec![vec![]]),
            ("6\" red fox", vec![]),
            ("\"red fox", vec![]),
        ] {
            let asked = Query::Vector { space: "meaning".into(), vector: query.clone() };
            let asked = Conditional { query: asked, phrases_of: Some(phrases.into()) };
            let found = shard.snapshot().unwrap().answer_if(&asked, &SearchOptions::best(k)).unwrap();
            // A phrase that stands nowhere is no condition.
            let standing: Vec<&Vec<usize>> =
                having.iter().filter(|texts| living.values().any(|row| texts.contains(&row.1))).collect();
            let allowed = living.iter().filter(|row| standing.iter().all(|texts| texts.contains(&row.1.1)));
            let allowed = allowed.map(|(segment, row)| (*segment, row.0.clone())).collect();
            prop_assert!(found.exact);
            prop_assert_eq!(found.hits, naive(&allowed, &query, k), "{}", phrases);
        }
    }

    #[test]
    fn a_search_gives_what_the_naive_reference_gives(
        steps in proptest::collection::vec(step(), 1..60), query in vector(), k in 0..40usize
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut shard = open(folder.path());
        let mut rows: BTreeMap<u32, Vec<f32>> = BTreeMap::new();
        let mut items: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
        let mut next = 0;
        for step in steps {
            match step {
                Step::Append(id, vectors) => {
                    for old in items.remove(&id).unwrap_or_default() {
                        rows.remove(&old);
                    }
                    append(&shard, &format!("i{id}"), vectors.iter().map(|vector| segment(vector, "alpha")).collect());
                    items.insert(id, (next..next + vectors.len() as u32).collect());
                    for vector in vectors {
                        rows.insert(next, vector);
                        next += 1;
                    }
                }
                Step::Remove(id) => {
                    let removed = shard.write(WriteOp::RemoveItem { id: format!("i{id}") }).unwrap();
                    let expected = items.remove(&id);
                    prop_assert_eq!(removed, expected.is_some());
                    for old in expected.unwrap_or_default() {
                        rows.remove(&old);
                    }
                }
                Step::Reopen => {
                    shard.close().unwrap();
                    shard = open(folder.path());
                }
            }
        }
        let ranking = search(&shard, &query, k);
        prop_assert!(ranking.exact);
        prop_assert_eq!(ranking.hits, naive(&rows, &query, k));
        let segments: Vec<u32> = rows.keys().copied().collect();
        let snapshot = shard.snapshot().unwrap();
        let stored = snapshot.vectors("meaning", &segments).unwrap();
        for (row, stored) in rows.values().zip(stored) {
            let bits: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
            prop_assert_eq!(stored, Some(&bits[..]));
        }
        prop_assert_eq!(snapshot.vectors("meaning", &[next]).unwrap(), [None]);
        let by_words = found_by_words(&shard, "alpha");
        prop_assert_eq!(by_words, rows.keys().copied().collect::<Vec<_>>());
        let totals = shard.snapshot().unwrap().totals().unwrap();
        prop_assert_eq!((totals.items, totals.segments), (items.len() as u64, rows.len() as u64));
    }
}

#[test]
fn many_small_appends_become_few_blocks_and_find_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    for number in 0..600 {
        let mut vector = vec![0f32; DIMENSIONS];
        vector[number % DIMENSIONS] = 1.0;
        append(
            &shard,
            &format!("i{number}"),
            vec![segment(&vector, if number % 3 == 0 { "fizz" } else { "buzz word" })],
        );
    }
    // A merged block comes with a later commit: further writes provide them.
    let of_words = |shard: &Shard| {
        let blocks = shard.snapshot().unwrap().blocks().unwrap();
        blocks.iter().filter(|block| block.0 == 0).count()
    };
    for _ in 0..5_000 {
        if of_words(&shard) < 40 {
            break;
        }
        shard.write(WriteOp::PutItem { item: item("later", "pending") }).unwrap();
    }
    shard.close().unwrap();
    let shard = open(folder.path());
    assert!(of_words(&shard) < 40, "{} blocks", of_words(&shard));
    assert_eq!(found_by_words(&shard, "fizz").len(), 100);
    assert_eq!(shard.snapshot().unwrap().search_words("fizz", 1000).unwrap().hits.len(), 200);
    let mut query = vec![0f32; DIMENSIONS];
    query[5] = 1.0;
    let hits = search(&shard, &query, 3).hits;
    assert_eq!(hits.iter().map(|hit| hit.segment).collect::<Vec<_>>(), [5, 29, 53]);
}

#[test]
fn writes_that_wait_together_share_commits_and_all_succeed() {
    const WRITES: usize = 300;
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let commits = |shard: &Shard| shard.queue().unwrap().store().env.info().last_txn_id;
    // The thread that writes is held until all the others wait.
    let (arrived, has_arrived) = std::sync::mpsc::channel();
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let first = WriteOp::PutItem { item: item("first", "pending") };
    let wait = move |_| {
        arrived.send(()).unwrap();
        held.recv().unwrap();
    };
    shard.submit(first, Box::new(wait));
    has_arrived.recv().unwrap();
    let before = commits(&shard);
    let (send, receive) = std::sync::mpsc::channel();
    for number in 0..WRITES {
        let send = send.clone();
        let segments = vec![segment(&[0.1; DIMENSIONS], &format!("word{number}"))];
        let write = WriteOp::Append { item: item(&format!("i{number}"), "searchable"), segments, replaces: vec![] };
        shard.submit(write, Box::new(move |result| drop(send.send(result))));
    }
    hold.send(()).unwrap();
    assert!((0..WRITES).all(|_| receive.recv().unwrap().unwrap()));
    assert!(commits(&shard) - before <= 4, "{} commits for {WRITES} Items", commits(&shard) - before);
    assert_eq!(shard.snapshot().unwrap().totals().unwrap().items, WRITES as u64);
    assert_eq!(found_by_words(&shard, "word17").len(), 1);
}

#[test]
fn a_list_that_reaches_its_places_early_is_not_scored_further() {
    const K: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let vector =
        |number: u32| (0..DIMENSIONS as u32).map(|at| (((number + 3) * (at + 7) * (at + 1)) as f32).sin()).collect();
    // Two Segments to a place in the first Item, one in the second.
    for (id, share) in [("pairs", 2), ("alone", 1)] {
        let segments = (0..2_000).map(|number| {
            let vector: Vec<f32> = vector(number + 9_000 * share);
            SegmentInput { place: number / share, ..segment(&vector, "word") }
        });
        append(&shard, id, segments.collect());
    }
    let snapshot = shard.snapshot().unwrap();
    let mut ended_early = 0;
    for number in 0..40 {
        let query: Vec<f32> = vector(number * 211);
        let by_vector = Query::Vector { space: "meaning".into(), vector: query.clone() };
        let options = SearchOptions { places: true, exact: true, ..SearchOptions::best(K) };
        let ranking = snapshot.answer(&by_vector, &options).unwrap();
        let whole = snapshot.search_vector("meaning", &query, 2 * K).unwrap();
        assert_eq!(ranking.hits, whole.hits[..ranking.hits.len()]);
        assert_eq!(ranking.places.len(), ranking.hits.len());
        let places: std::collections::BTreeSet<_> = ranking.places.iter().collect();
        assert!(places.len() >= K);
        ended_early += usize::from(ranking.rescored < whole.rescored);
    }
    assert!(ended_early > 0);
}

#[test]
fn a_snapshot_does_not_see_what_comes_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    append(&shard, "a", vec![segment(&[0.2; DIMENSIONS], "early")]);
    let before = shard.snapshot().unwrap();
    append(&shard, "b", vec![segment(&[0.2; DIMENSIONS], "late")]);
    shard.write(WriteOp::RemoveItem { id: "a".into() }).unwrap();
    assert_eq!(before.search_vector("meaning", &[0.2; DIMENSIONS], 10).unwrap().hits.len(), 1);
    assert_eq!(before.search_words("late", 10).unwrap().hits, []);
    assert!(before.item("a").unwrap().is_some());
    assert!(found_by_words(&shard, "early").is_empty());
    assert_eq!(found_by_words(&shard, "late"), [1]);
}

#[test]
fn nan_and_infinity_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30] {
        let mut vector = [0.2; DIMENSIONS];
        vector[7] = bad;
        assert!(segment(&vector, "x").check(&spaces(1)).is_err());
        assert!(shard.snapshot().unwrap().search_vector("meaning", &vector, 3).is_err());
    }
    assert!(segment(&[0.2; DIMENSIONS - 1], "x").check(&spaces(1)).is_err());
}

#[test]
fn deleted_blocks_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    append(&shard, "a", vec![segment(&[0.2; DIMENSIONS], "word")]);
    let queue = shard.queue().unwrap();
    let before = shard.snapshot().unwrap();
    assert_eq!(found_by_words(&shard, "word"), [0]);
    assert_eq!(queue.store().remembered(), 1);
    shard.write(WriteOp::RemoveItem { id: "a".into() }).unwrap();
    shard.when_idle().unwrap();
    assert_eq!(queue.store().remembered(), 0);
    assert_eq!(before.search_words("word", 3).unwrap().hits.len(), 1, "an earlier reader looks at it later");
    assert_eq!(queue.store().remembered(), 1);
    assert_eq!(merge::plan(queue.store()).unwrap(), None);
    assert_eq!(queue.store().remembered(), 0);
}

#[test]
fn one_index_has_a_snapshot_for_every_search_that_may_wait_and_refuses_more_as_overload() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let mut open = vec![];
    let refused = loop {
        match shard.snapshot() {
            Ok(snapshot) => open.push(snapshot),
            Err(error) => break error,
        }
    };
    assert_eq!(refused.code, "overloaded");
    assert!(open.len() > scan_pool::WAITING_MAX + 500, "{} at once", open.len());
    open.pop();
    assert!(shard.snapshot().is_ok());
}
