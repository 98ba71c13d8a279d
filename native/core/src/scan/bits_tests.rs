//! Answers by bits against proved ones, after writes, removals, merges and reopening.

use crate::ranking::options::SearchOptions;
use crate::ranking::top_k::{Method, Ranking};
use crate::shard::open_shard::Shard;
use crate::shard::query::Query;
use crate::store::methods::Methods;
use crate::store::spaces::SpaceSpec;
use crate::write::input::{ItemRecord, SegmentInput};
use crate::write::write_op::WriteOp;

pub const DIMENSIONS: usize = 96;
const METHODS: Methods = Methods { bits_rows_min: 600, bits_rows_per_hit: 1, ..Methods::MEASURED };

pub fn open(folder: &std::path::Path, methods: Methods) -> Shard {
    let space = SpaceSpec { name: "meaning".into(), dimensions: DIMENSIONS, model: [1; 32] };
    Shard::open_with(folder, vec![space], methods).unwrap()
}

/// Vectors near one of a few centres, of unit length; the same for a seed.
pub fn vector(seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    let mut values: Vec<f32> =
        (0..DIMENSIONS).map(|at| next() + if at % 10 == (seed % 10) as usize { 1.0 } else { 0.2 }).collect();
    let norm = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.iter_mut().for_each(|value| *value /= norm);
    values
}

pub fn append(shard: &Shard, id: &str, seeds: std::ops::Range<u64>) {
    let json = format!(r#"{{"id":"{id}","sha256":"{}","state":"searchable","bytes":1}}"#, "0".repeat(64));
    let segments = seeds.map(|seed| SegmentInput {
        record: "{}".into(),
        vectors: vec![(0, vector(seed))],
        ..SegmentInput::default()
    });
    shard
        .write(WriteOp::Append {
            item: ItemRecord::parse(&json).unwrap(),
            segments: segments.collect(),
            replaces: vec![],
        })
        .unwrap();
}

pub fn ask(shard: &Shard, query: &[f32], k: usize, exact: bool) -> Ranking {
    let query = Query::Vector { space: "meaning".into(), vector: query.to_vec() };
    shard.snapshot().unwrap().answer(&query, &SearchOptions { k, exact, ..SearchOptions::default() }).unwrap()
}

/// Hits of the proved best k of sixty queries, and how many of them bits lost.
fn lost(shard: &Shard, k: usize) -> (usize, usize) {
    let (mut good, mut all) = (0, 0);
    for seed in 0..60 {
        let query = vector(1_000_000 + seed);
        let (proved, quick) = (ask(shard, &query, k, true), ask(shard, &query, k, false));
        assert_eq!((proved.exact, proved.method), (true, Method::Proved));
        assert_eq!((quick.exact, quick.method), (false, Method::Bits));
        assert_eq!(ask(shard, &query, k, false), quick, "the same query gives the same answer");
        all += proved.hits.len();
        good += proved.hits.iter().filter(|hit| quick.hits.contains(hit)).count();
    }
    (all, all - good)
}

#[test]
fn large_spaces_are_searched_by_bits_at_high_recall() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..500);
    shard.when_idle().unwrap();
    assert_eq!(ask(&shard, &vector(7), 5, false).method, Method::Proved, "too few");
    append(&shard, "b", 500..6000);
    shard.when_idle().unwrap();
    for k in [1, 10, 100, 1000] {
        let (all, lost) = lost(&shard, k);
        // One in a thousand is expected at worst; few were asked.
        assert!(lost <= all / 1000 + 2, "k {k}: {lost} of {all}");
    }
}

#[test]
fn rows_are_found_before_they_have_bits_and_removed_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..3000);
    shard.when_idle().unwrap();
    for number in 0..40 {
        let seed = 5000 + number;
        append(&shard, &format!("n{number}"), seed..seed + 1);
        assert_eq!(ask(&shard, &vector(seed), 1, false).hits[0].segment, 3000 + number as u32);
    }
    assert_eq!(ask(&shard, &vector(17), 1, false).hits[0].segment, 17);
    shard.write(WriteOp::RemoveItem { id: "n3".into() }).unwrap();
    assert_ne!(ask(&shard, &vector(5003), 1, false).hits[0].segment, 3003);
    shard.write(WriteOp::RemoveItem { id: "a".into() }).unwrap();
    shard.when_idle().unwrap();
    assert_eq!(ask(&shard, &vector(17), 100, false).hits.len(), 39);
}

#[test]
fn bits_are_derived_for_an_index_that_was_written_without_them() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), Methods { bits_rows_min: usize::MAX, ..METHODS });
    append(&shard, "a", 0..2000);
    shard.when_idle().unwrap();
    assert_eq!(ask(&shard, &vector(7), 5, false).method, Method::Proved);
    shard.close().unwrap();
    let shard = open(folder.path(), METHODS);
    shard.when_idle().unwrap();
    assert_eq!(ask(&shard, &vector(7), 5, false).method, Method::Bits);
    let first = ask(&shard, &vector(7), 50, false);
    shard.close().unwrap();
    assert_eq!(ask(&open(folder.path(), METHODS), &vector(7), 50, false), first);
}
