//! Answers by a graph against proved ones, after writes, removals and damage.

use std::fs;
use std::path::{Path, PathBuf};

use crate::graph::open_graph::{Graph, GraphRecord, WIDENINGS};
use crate::ranking::options::SearchOptions;
use crate::ranking::top_k::Method;
use crate::scan::bits_tests::{append, ask, open, vector};
use crate::shard::open_shard::Shard;
use crate::shard::query::Query;
use crate::store::methods::Methods;
use crate::store::neighbours::NeighbourIndex;
use crate::write::write_op::WriteOp;

const METHODS: Methods = Methods { bits_rows_min: usize::MAX, graph_rows_min: 600, ..Methods::MEASURED };

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "usearch")).collect()
}

/// Hits of the proved best k of forty queries, and how many of them the graph lost.
fn lost(shard: &Shard, k: usize) -> (u64, u64) {
    let (mut expected, mut found) = (0, 0);
    for seed in 0..40 {
        let options = SearchOptions { k, ..SearchOptions::default() };
        let (all, good) =
            shard.snapshot().unwrap().probe_vector("meaning", &vector(1_000_000 + seed), &options).unwrap();
        (expected, found) = (expected + all, found + good);
    }
    (expected, expected - found)
}

#[test]
fn a_large_space_is_searched_by_a_graph_at_high_recall() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..500);
    shard.when_idle().unwrap();
    assert_eq!((ask(&shard, &vector(7), 5, false).method, files(folder.path()).len()), (Method::Proved, 0));
    append(&shard, "b", 500..4000);
    shard.when_idle().unwrap();
    let ranking = ask(&shard, &vector(7), 5, false);
    assert_eq!((ranking.method, ranking.exact, ranking.hits[0].segment), (Method::Graph, false, 7));
    assert_eq!(ask(&shard, &vector(7), 5, false), ranking, "the same query gives the same answer");
    assert_eq!(ask(&shard, &vector(7), 5, true).method, Method::Proved);
    for k in [1, 10, 100] {
        let (all, lost) = lost(&shard, k);
        assert!(lost <= all / 1000 + 1, "k {k}: {lost} of {all}");
    }
    assert_eq!(files(folder.path()).len(), 1);
    let metadata = fs::metadata(&files(folder.path())[0]).unwrap();
    assert!(metadata.len() > 4000 * 100);
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
    assert_eq!(before.search_vector("meaning", &vector(1550), 1).unwrap().hits[0].segment, 1550);
}

#[test]
fn a_graph_is_rebuilt_when_many_rows_were_added_after_it_and_its_old_file_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..1000);
    shard.when_idle().unwrap();
    let first = files(folder.path());
    let before = shard.snapshot().unwrap();
    append(&shard, "b", 1000..2000);
    shard.when_idle().unwrap();
    let second = files(folder.path());
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_ne!(first, second);
    // A reader from before the second graph sees what it saw.
    let query = Query::Vector { space: "meaning".into(), vector: vector(1500) };
    let ranking = before.answer(&query, &SearchOptions { k: 1000, ..SearchOptions::default() }).unwrap();
    assert_eq!(ranking.method, Method::Proved, "not by a graph that is newer than the reader");
    let hits = ranking.hits;
    assert!(hits.len() == 1000 && hits.iter().all(|hit| hit.segment < 1000));
    assert_eq!(ask(&shard, &vector(1500), 1, false).hits[0].segment, 1500);
}

#[test]
fn a_graph_is_opened_again_and_a_damaged_or_missing_one_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..1000);
    shard.when_idle().unwrap();
    let ranking = ask(&shard, &vector(7), 50, false);
    shard.close().unwrap();
    let file = files(folder.path()).remove(0);
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    let reopen = || {
        let shard = open(folder.path(), METHODS);
        shard.when_idle().unwrap();
        let again = ask(&shard, &vector(7), 50, false);
        assert_eq!((again.method, &again.hits), (Method::Graph, &ranking.hits));
        shard.close().unwrap();
    };
    reopen();
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), written, "it was opened, not built");
    for damage in 0..3 {
        let path = files(folder.path()).remove(0);
        let mut bytes = fs::read(&path).unwrap();
        match damage {
            0 => bytes[9_000] ^= 4,
            1 => bytes.truncate(5_000),
            _ => bytes.clear(),
        }
        fs::write(&path, bytes).unwrap();
        reopen();
    }
    fs::remove_file(&files(folder.path())[0]).unwrap();
    reopen();
}

#[test]
fn a_graph_whose_recall_falls_short_is_searched_wider_and_then_retired() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..1000);
    shard.when_idle().unwrap();
    shard.close().unwrap();
    let name = files(folder.path())[0].file_name().unwrap().to_string_lossy().into_owned();
    let record = GraphRecord { file: name, bytes: 0, crc32c: 0, rows: 1000, last: 999, transaction: 0, widening: 0 };
    let graph = Graph::view(folder.path(), record, vector(0).len()).unwrap();
    graph.probed(1_000, 0);
    assert!(graph.search(&vector(1), 10).is_some(), "too few were probed to tell");
    for _ in 0..WIDENINGS.len() {
        assert!(graph.search(&vector(1), 10).is_some());
        graph.probed(2_000, 1_990);
    }
    assert_eq!(graph.search(&vector(1), 10), None);
}

#[test]
fn an_index_closes_while_its_graph_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..4096);
    shard.close().unwrap();
    let shard = open(folder.path(), METHODS);
    shard.close().unwrap();
    assert_eq!(ask(&open(folder.path(), Methods::MEASURED), &vector(7), 1, false).hits[0].segment, 7);
}
