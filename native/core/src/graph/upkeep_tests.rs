//! The files of graphs: made, extended, opened again, made again, and removed.

use std::fs;
use std::path::Path;

use super::space_graph::GraphRecord;
use super::tests::METHODS;
use crate::blocks::vectors::VectorRows;
use crate::ranking::top_k::Method;
use crate::scan::bits_tests::{DIMENSIONS, append, ask, open, vector};
use crate::shard::open_shard::Shard;
use crate::store::keys;
use crate::store::methods::Methods;
use crate::store::neighbours;
use crate::store::spaces::SpaceSpec;
use crate::write::write_op::WriteOp;

fn record(shard: &Shard) -> Option<GraphRecord> {
    let queue = shard.queue().unwrap();
    let txn = queue.store().env.read_txn().unwrap();
    queue.store().meta_record(&txn, &keys::graph("meaning")).unwrap().and_then(GraphRecord::read)
}

fn names(folder: &Path) -> Vec<String> {
    let files = neighbours::files(folder).unwrap();
    files.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// An index with a graph of 1,000 rows, closed.
fn closed_with_graph(folder: &Path) -> GraphRecord {
    let shard = open(folder, METHODS);
    append(&shard, "a", 0..1000);
    shard.when_idle().unwrap();
    assert_eq!(ask(&shard, &vector(7), 50, false).method, Method::Graph);
    let record = record(&shard).unwrap();
    shard.close().unwrap();
    record
}

#[test]
fn a_graph_is_extended_by_later_rows_and_made_anew_once_many_of_its_own_are_dead() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..1000);
    append(&shard, "b", 1000..1300);
    shard.when_idle().unwrap();
    append(&shard, "c", 1300..1350);
    shard.when_idle().unwrap();
    let first = record(&shard).unwrap();
    assert_eq!((first.rows, first.last), (1300, 1299), "few later rows are scanned");
    shard.write(WriteOp::RemoveItem { id: "b".into() }).unwrap();
    append(&shard, "d", 1350..1500);
    shard.when_idle().unwrap();
    let second = record(&shard).unwrap();
    assert_eq!((second.rows, second.last), (1500, 1499), "300 dead ones among them");
    append(&shard, "e", 1500..1600);
    shard.write(WriteOp::RemoveItem { id: "d".into() }).unwrap();
    shard.when_idle().unwrap();
    let third = record(&shard).unwrap();
    assert_eq!((third.rows, third.last), (1150, 1599), "the living rows alone");
    assert_eq!(names(folder.path()), [third.file], "the former files are gone");
    assert_eq!(ask(&shard, &vector(1550), 1, false).hits[0].segment, 1550);
}

#[test]
fn a_graph_is_opened_again_and_a_damaged_or_missing_one_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let made = closed_with_graph(folder.path());
    let path = folder.path().join(&made.file);
    let (bytes, written) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
    let reopened = || {
        let shard = open(folder.path(), METHODS);
        shard.when_idle().unwrap();
        assert_eq!(ask(&shard, &vector(7), 50, false).method, Method::Graph);
        assert_eq!(names(folder.path()), [record(&shard).unwrap().file]);
        shard.close().unwrap();
    };
    reopened();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written, "it was opened, not made");
    for damage in 0..4 {
        let mut damaged = bytes.clone();
        match damage {
            0 => damaged[9_000] ^= 4,
            1 => damaged.truncate(5_000),
            2 => damaged.clear(),
            _ => damaged.extend([0; 64]),
        }
        fs::write(&path, &damaged).unwrap();
        reopened();
        assert!(fs::read(&path).unwrap() == bytes, "damage {damage}");
    }
    fs::remove_file(&path).unwrap();
    reopened();
}

#[test]
fn what_a_crash_left_is_removed_and_the_graph_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let made = closed_with_graph(folder.path());
    // In the middle of a write, and between the rename and the commit.
    fs::write(folder.path().join("graph-16.new"), [7; 5_000]).unwrap();
    fs::rename(folder.path().join(&made.file), folder.path().join("graph-16-999-00000000")).unwrap();
    let shard = open(folder.path(), METHODS);
    shard.when_idle().unwrap();
    assert_eq!(names(folder.path()), [record(&shard).unwrap().file]);
    assert_eq!(ask(&shard, &vector(7), 50, false).method, Method::Graph);
}

#[test]
fn a_space_that_gets_small_loses_its_graph_and_a_removed_item_leaves_no_code_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..1000);
    shard.when_idle().unwrap();
    assert_eq!(names(folder.path()).len(), 1);
    shard.write(WriteOp::RemoveItem { id: "a".into() }).unwrap();
    shard.when_idle().unwrap();
    assert_eq!((names(folder.path()), record(&shard)), (vec![], None));
    // Also what a crash left of it.
    shard.close().unwrap();
    fs::write(folder.path().join("graph-16-999-00000000"), [7; 100]).unwrap();
    let shard = open(folder.path(), METHODS);
    shard.when_idle().unwrap();
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_copy_of_an_index_has_no_graph_and_makes_its_own() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    closed_with_graph(folder.path());
    let shard = open(folder.path(), METHODS);
    shard.copy_to(copy.path()).unwrap();
    assert_eq!(fs::read_dir(copy.path()).unwrap().count(), 1);
    let copied = open(copy.path(), METHODS);
    copied.when_idle().unwrap();
    let (one, two) = (ask(&shard, &vector(7), 50, false), ask(&copied, &vector(7), 50, false));
    assert_eq!((two.method, two.hits), (Method::Graph, one.hits));
}

#[test]
fn another_model_ends_a_graph() {
    let folder = tempfile::tempdir().unwrap();
    closed_with_graph(folder.path());
    let shard = open(folder.path(), METHODS);
    let space = SpaceSpec { name: "meaning".into(), dimensions: DIMENSIONS, model: [2; 32] };
    let rows = VectorRows { segments: (0..1000).collect(), values: (5000..6000).flat_map(vector).collect() };
    assert!(shard.write(WriteOp::ChangeModel { space: space.clone(), rows }).unwrap());
    assert_eq!(record(&shard), None);
    // One that was made of the former model's rows comes too late.
    let former = SpaceSpec { model: [1; 32], ..space.clone() };
    assert!(!shard.write(WriteOp::PutGraph { space: former, record: Some(vec![]) }).unwrap());
    shard.close().unwrap();
    let shard = Shard::open_with(folder.path(), vec![space], METHODS).unwrap();
    shard.when_idle().unwrap();
    let ranking = ask(&shard, &vector(5007), 1, false);
    assert_eq!((ranking.method, ranking.hits[0].segment), (Method::Graph, 7));
}

#[test]
fn an_index_closes_while_its_graph_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), METHODS);
    append(&shard, "a", 0..4096);
    shard.close().unwrap();
    let shard = open(folder.path(), METHODS);
    shard.close().unwrap();
    assert_eq!(ask(&open(folder.path(), Methods::MEASURED), &vector(7), 1, false).hits[0].segment, 7);
}
