//! Answers by a graph against proved ones, with filters, and after writes and removals.

use std::sync::Arc;

use proptest::prelude::*;

use super::space_graph::{GraphRecord, RECALL_MIN, SpaceGraph, WIDTHS};
use crate::ranking::options::SearchOptions;
use crate::ranking::segment_filter::SegmentFilter;
use crate::ranking::top_k::{Method, Ranking};
use crate::scan::bits_tests::{append, ask, open, vector};
use crate::shard::open_shard::Shard;
use crate::shard::query::Query;
use crate::store::methods::Methods;
use crate::store::neighbours::{self, NeighbourIndex};
use crate::write::write_op::WriteOp;

pub const METHODS: Methods =
    Methods { bits_rows_min: 600, bits_rows_per_hit: 1, graph_rows_min: 600, ..Methods::MEASURED };

fn ask_within(shard: &Shard, query: &[f32], k: usize, within: SegmentFilter, exact: bool) -> Ranking {
    let query = Query::Vector { space: "meaning".into(), vector: query.to_vec() };
    let options = SearchOptions { k, exact, within: Some(Arc::new(within)), ..SearchOptions::default() };
    shard.snapshot().unwrap().answer(&query, &options).unwrap()
}

/// Hits of the proved best k of forty queries, and how many of them the graph lost.
fn lost(shard: &Shard, k: usize) -> (usize, usize) {
    let (mut good, mut all) = (0, 0);
    for seed in 0..40 {
        let query = vector(1_000_000 + seed);
        let (proved, quick) = (ask(shard, &query, k, true), ask(shard, &query, k, false));
        assert_eq!((quick.exact, quick.method), (false, Method::Graph));
        assert!((RECALL_MIN..=1.0).contains(&quick.recall), "{}", quick.recall);
        all += proved.hits.len();
        good += proved.hits.iter().filter(|hit| quick.hits.contains(hit)).count();
    }
    (all, all - good)
}

#[test]
fn a_large_space_is_searched_by_a_graph_at_high_recall_with_the_same_scores() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..500);
    shard.when_idle().unwrap();
    assert_eq!(ask(&shard, &vector(7), 5, false).method, Method::Proved);
    assert!(neighbours::files(folder.path()).unwrap().is_empty(), "too few");
    append(&shard, "b", 500..6000);
    shard.when_idle().unwrap();
    assert_eq!(ask(&shard, &vector(7), 5, false), ask(&shard, &vector(7), 5, false));
    let proved = ask(&shard, &vector(7), 5, true);
    assert_eq!((proved.exact, proved.method), (true, Method::Proved));
    for k in [1, 10, 100, 1000] {
        let (all, lost) = lost(&shard, k);
        assert!(lost * 100 <= all, "k {k}: {lost} of {all}");
    }
    assert_eq!(neighbours::files(folder.path()).unwrap().len(), 1);
}

#[test]
fn rows_added_after_the_graph_are_found_at_once_and_removed_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..1500);
    append(&shard, "b", 1500..1600);
    shard.when_idle().unwrap();
    let before = shard.snapshot().unwrap();
    for number in 0..20 {
        append(&shard, &format!("n{number}"), 5000 + number..5001 + number);
        let ranking = ask(&shard, &vector(5000 + number), 1, false);
        assert_eq!((ranking.method, ranking.hits[0].segment), (Method::Graph, 1600 + number as u32));
    }
    shard.write(WriteOp::RemoveItem { id: "b".into() }).unwrap();
    assert!(ask(&shard, &vector(1550), 50, false).hits.iter().all(|hit| !(1500..1600).contains(&hit.segment)));
    let query = Query::Vector { space: "meaning".into(), vector: vector(1550) };
    let hits = before.answer(&query, &SearchOptions { k: 1, ..SearchOptions::default() }).unwrap().hits;
    assert_eq!(hits[0].segment, 1550, "an earlier reader sees what it saw");
}

#[test]
fn a_filter_that_leaves_most_is_searched_by_the_graph_and_one_that_leaves_little_is_scanned() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..4000);
    shard.when_idle().unwrap();
    append(&shard, "b", 4000..4100);
    for (within, method) in [((400, 4050), Method::Graph), ((0, 1000), Method::Bits)] {
        let within = SegmentFilter::of_ranges(vec![within]);
        let (mut good, mut all) = (0, 0);
        for seed in 0..20 {
            let query = vector(1_000_000 + seed);
            let proved = ask_within(&shard, &query, 20, within.clone(), true);
            let quick = ask_within(&shard, &query, 20, within.clone(), false);
            assert_eq!((proved.exact, quick.method), (true, method));
            assert!(quick.hits.iter().all(|hit| within.has(hit.segment)));
            all += proved.hits.len();
            good += proved.hits.iter().filter(|hit| quick.hits.contains(hit)).count();
        }
        assert!((all - good) * 100 <= all, "{good} of {all}");
    }
}

#[test]
fn where_most_of_what_a_graph_finds_is_removed_the_scan_serves() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..8000);
    // A hundred copies of one row, and as many nearly alike.
    for number in 0..8 {
        append(&shard, &format!("c{number}"), 77..78);
    }
    shard.when_idle().unwrap();
    for number in 0..8 {
        shard.write(WriteOp::RemoveItem { id: format!("c{number}") }).unwrap();
    }
    let (quick, proved) = (ask(&shard, &vector(77), 10, false), ask(&shard, &vector(77), 10, true));
    assert_eq!(quick.hits, proved.hits);
}

#[test]
fn searches_at_once_find_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..3000);
    shard.when_idle().unwrap();
    let alone: Vec<Ranking> = (0..20).map(|seed| ask(&shard, &vector(3_000_000 + seed), 10, false)).collect();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for (seed, alone) in (0..).zip(&alone) {
                    assert_eq!(&ask(&shard, &vector(3_000_000 + seed), 10, false), alone);
                }
            });
        }
    });
}

#[test]
fn a_graph_whose_recall_falls_short_is_searched_wider_and_then_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..1000);
    shard.when_idle().unwrap();
    shard.close().unwrap();
    let path = neighbours::files(folder.path()).unwrap().remove(0);
    let file = path.file_name().unwrap().to_string_lossy().into_owned();
    let record = GraphRecord { file, bytes: 0, crc32c: 0, rows: 1000, last: 999, width: 0, recall: 0.99 };
    let graph = SpaceGraph::view(folder.path(), record.clone(), vector(0).len()).unwrap();
    graph.probed(1_000, 0);
    assert!(graph.search(&vector(1), 10, None).is_some(), "too few were probed to tell");
    graph.probed(1_000_000, 999_000);
    assert!((graph.recall() - 0.998).abs() < 0.001, "what probes found counts");
    for _ in 0..WIDTHS.len() {
        assert!(graph.search(&vector(1), 10, None).is_some());
        graph.probed(100_000_000, 90_000_000);
    }
    assert_eq!(graph.search(&vector(1), 10, None), None);
    let short = GraphRecord { width: WIDTHS.len(), ..record };
    let graph = SpaceGraph::view(folder.path(), short, vector(0).len()).unwrap();
    assert_eq!(graph.search(&vector(1), 10, None), None, "nor one that fell short when it was made");
}

#[derive(Debug, Clone)]
enum Step {
    Append(u64),
    Remove(usize),
    Idle,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1u64..400).prop_map(Step::Append),
        3 => (0usize..100).prop_map(Step::Remove),
        2 => Just(Step::Idle),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..16)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever the state of its graph, an index answers as the proof does, within the recall that it states.
    #[test]
    fn an_index_with_a_graph_answers_as_the_proof_after_any_writes(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let mut shard = open(folder.path(), METHODS);
        append(&shard, "first", 0..900);
        shard.when_idle().unwrap();
        let (mut next, mut items) = (900, vec!["first".to_owned()]);
        for step in steps {
            match step {
                Step::Append(rows) => {
                    items.push(format!("i{next}"));
                    append(&shard, &items[items.len() - 1], next..next + rows);
                    next += rows;
                }
                Step::Remove(at) if !items.is_empty() => {
                    let id = items.remove(at % items.len());
                    shard.write(WriteOp::RemoveItem { id }).unwrap();
                }
                Step::Remove(_) => {}
                Step::Idle => shard.when_idle().unwrap(),
                Step::Reopen => {
                    shard.close().unwrap();
                    shard = open(folder.path(), METHODS);
                }
            }
            let (mut good, mut all) = (0, 0);
            for seed in 0..8 {
                let query = vector(2_000_000 + seed);
                let (proved, quick) = (ask(&shard, &query, 20, true), ask(&shard, &query, 20, false));
                prop_assert_eq!(proved.hits.len(), quick.hits.len());
                all += proved.hits.len();
                good += proved.hits.iter().filter(|hit| quick.hits.contains(hit)).count();
            }
            prop_assert!((all - good) * 50 <= all, "{} of {}", good, all);
        }
    }
}
