//! A change of model: nothing is lost or mixed, and it can be interrupted anywhere.

use std::path::Path;

use crate::scan::lacking::LACKING_MAX;
use crate::shard::open_shard::Shard;
use crate::store::spaces::SpaceSpec;
use crate::terms::judgement::Prior;
use crate::write::input::{ItemRecord, SegmentInput, prepare};
use crate::write::spaces::SpaceRows;
use crate::write::transaction::Transaction;
use crate::write::write_op::WriteOp;

const OLD: usize = 8;
const NEW: usize = 3;

/// Models 1 and 3 have eight dimensions, model 2 has three.
fn open(folder: &Path, model: u8) -> Shard {
    let dimensions = if model == 2 { NEW } else { OLD };
    Shard::open(folder, vec![SpaceSpec { name: "meaning".into(), dimensions, model: [model; 32] }]).unwrap()
}

fn item(id: &str) -> ItemRecord {
    let sha256 = format!("{:064x}", crc32c::crc32c(id.as_bytes()));
    ItemRecord::parse(&format!(r#"{{"id":"{id}","sha256":"{sha256}","state":"searchable","bytes":1}}"#)).unwrap()
}

fn append(shard: &Shard, id: &str, vectors: &[&[(usize, Vec<f32>)]]) {
    let segments = vectors.iter().map(|vectors| SegmentInput {
        record: "{}".into(),
        words: Some("word".into()),
        vectors: vectors.to_vec(),
        ..SegmentInput::default()
    });
    shard.write(WriteOp::Append { item: item(id), segments: segments.collect() }).unwrap();
}

fn old(index: usize) -> Vec<f32> {
    (0..OLD).map(|at| if at == index % OLD { 1.0 } else { 0.1 }).collect()
}

fn new(index: usize) -> Vec<f32> {
    (0..NEW).map(|at| if at == index % NEW { 1.0 } else { 0.1 }).collect()
}

fn serving(shard: &Shard) -> Option<String> {
    shard.snapshot().unwrap().serving("meaning").unwrap()
}

fn names(shard: &Shard) -> Vec<String> {
    shard.spaces().unwrap().into_iter().map(|space| space.name).collect()
}

fn lacking(shard: &Shard) -> Vec<u32> {
    let names = names(shard);
    shard.snapshot().unwrap().lacking(&names[1], &names[0], &[], 100).unwrap()
}

fn put(shard: &Shard, segments: &[u32]) {
    let values = segments.iter().flat_map(|segment| new(*segment as usize)).collect();
    shard.write(WriteOp::PutRows(SpaceRows { space: 0, segments: segments.to_vec(), values })).unwrap();
}

fn switch(shard: &Shard, given_up: &[u32]) -> bool {
    shard.write(WriteOp::SwitchSpace { from: 1, to: 0, given_up: given_up.to_vec() }).unwrap()
}

fn found(shard: &Shard, space: &str, query: &[f32]) -> Vec<u32> {
    let mut found: Vec<u32> = shard
        .snapshot()
        .unwrap()
        .search_vector(space, query, 100)
        .unwrap()
        .hits
        .iter()
        .map(|hit| hit.segment)
        .collect();
    found.sort_unstable();
    found
}

/// An index of five Segments by model 1, opened for model 2.
fn changed(folder: &Path) -> Shard {
    let shard = open(folder, 1);
    append(&shard, "a", &[&[(0, old(0))], &[(0, old(1))], &[(0, old(2))]]);
    append(&shard, "b", &[&[(0, old(3))], &[(0, old(4))]]);
    shard.close().unwrap();
    open(folder, 2)
}

#[test]
fn the_old_model_serves_until_the_new_one_has_every_row() {
    let folder = tempfile::tempdir().unwrap();
    let shard = changed(folder.path());
    assert_eq!(names(&shard), ["meaning@0202020202020202", "meaning"]);
    assert_eq!(serving(&shard).unwrap(), "meaning");
    assert_eq!(found(&shard, "meaning", &old(0)), [0, 1, 2, 3, 4]);
    assert_eq!(lacking(&shard), [0, 1, 2, 3, 4]);
    put(&shard, &[3, 1, 1]);
    assert_eq!(lacking(&shard), [0, 2, 4]);
    assert!(!switch(&shard, &[0, 2]), "one has no row and is not given up");
    assert_eq!(serving(&shard).unwrap(), "meaning");
    put(&shard, &[0, 1, 2, 3, 4]);
    assert!(switch(&shard, &[]));
    assert_eq!(serving(&shard).unwrap(), "meaning@0202020202020202");
    assert_eq!(found(&shard, "meaning@0202020202020202", &new(0)), [0, 1, 2, 3, 4], "each once");
    assert_eq!(found(&shard, "meaning", &old(0)), [0u32; 0], "the old vectors were removed");
    shard.close().unwrap();
    assert_eq!(names(&open(folder.path(), 2)), ["meaning@0202020202020202"]);
}

#[test]
fn items_added_or_removed_during_the_change_are_neither_lost_nor_brought_back() {
    let folder = tempfile::tempdir().unwrap();
    let shard = changed(folder.path());
    put(&shard, &[0]);
    append(&shard, "c", &[&[(0, new(5)), (1, old(5))]]);
    append(&shard, "d", &[&[(1, old(6))]]);
    shard.write(WriteOp::RemoveItem { id: "b".into() }).unwrap();
    assert_eq!(lacking(&shard), [1, 2, 6]);
    put(&shard, &[1, 2, 3, 4]);
    assert!(!switch(&shard, &[]));
    put(&shard, &[6]);
    assert!(switch(&shard, &[]));
    append(&shard, "e", &[&[(0, new(7)), (1, old(7))]]);
    assert_eq!(found(&shard, "meaning@0202020202020202", &new(0)), [0, 1, 2, 5, 6, 7]);
    assert_eq!(found(&shard, "meaning", &old(0)), [0u32; 0], "a removed space does not come back");
}

#[test]
fn a_change_can_be_resumed_abandoned_or_reverted() {
    let folder = tempfile::tempdir().unwrap();
    let shard = changed(folder.path());
    put(&shard, &[0, 1]);
    shard.close().unwrap();

    let shard = open(folder.path(), 2);
    assert_eq!(lacking(&shard), [2, 3, 4], "resumed");
    shard.close().unwrap();

    let shard = open(folder.path(), 1);
    assert_eq!(names(&shard), ["meaning", "meaning@0202020202020202"]);
    assert_eq!(serving(&shard).unwrap(), "meaning", "reverted: all that is left is to remove the new space");
    assert!(!shard.write(WriteOp::RemoveSpace { space: 0 }).unwrap(), "what serves stays");
    assert!(shard.write(WriteOp::RemoveSpace { space: 1 }).unwrap());
    shard.close().unwrap();

    let shard = open(folder.path(), 3);
    assert_eq!(names(&shard), ["meaning@0303030303030303", "meaning"], "a third model of the same dimensions");
    assert_eq!(lacking(&shard), [0, 1, 2, 3, 4]);
    assert!(switch(&shard, &[0, 1, 2, 3, 4]), "all of them given up");
    assert_eq!(serving(&shard), None);
}

#[test]
fn no_segment_is_lost_however_many_others_are_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), 1);
    let given_up: Vec<u32> = (0..=LACKING_MAX as u32).collect();
    let last = given_up.len() as u32;
    let segment = |number| SegmentInput {
        record: "{}".into(),
        vectors: vec![(0, old(number as usize))],
        ..SegmentInput::default()
    };
    let segments = (0..=last).map(segment).collect();
    shard.write(WriteOp::Append { item: item("a"), segments }).unwrap();
    shard.close().unwrap();
    let shard = open(folder.path(), 2);
    let lacking = |given_up| {
        let names = names(&shard);
        shard.snapshot().unwrap().lacking(&names[1], &names[0], given_up, 10).unwrap()
    };
    assert_eq!(lacking(&[]), (0..10).collect::<Vec<u32>>());
    assert_eq!(lacking(&given_up), [last]);
    assert!(!switch(&shard, &given_up), "one has no row and is not given up");
    put(&shard, &[last]);
    assert!(switch(&shard, &given_up));
    assert_eq!(found(&shard, "meaning@0202020202020202", &new(0)), [last]);
}

#[test]
fn blocks_whose_commit_failed_are_not_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let shard = changed(folder.path());
    {
        let queue = shard.queue().unwrap();
        let mut transaction = Transaction::begin(queue.store()).unwrap();
        let one = SegmentInput { record: "{}".into(), vectors: vec![(1, old(5))], ..SegmentInput::default() };
        transaction.append(&item("c"), &prepare(vec![one], &mut Prior::default())).unwrap();
        assert!(!transaction.switch_space(1, 0, &[]).unwrap());
    }
    let rows: Vec<Vec<(usize, Vec<f32>)>> = (5..205).map(|number| vec![(1, old(number))]).collect();
    let segments = rows.iter().map(|vectors| SegmentInput {
        record: "{}".into(),
        vectors: vectors.clone(),
        ..SegmentInput::default()
    });
    shard.write(WriteOp::Append { item: item("c"), segments: segments.collect() }).unwrap();
    let snapshot = shard.snapshot().unwrap();
    assert_eq!(snapshot.search_vector("meaning", &old(0), 300).unwrap().hits.len(), 205);
}

#[test]
fn an_index_without_vectors_takes_any_model_and_changing_back_and_forth_keeps_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), 1);
    append(&shard, "a", &[&[(0, old(0))]]);
    shard.write(WriteOp::RemoveItem { id: "a".into() }).unwrap();
    shard.close().unwrap();
    let shard = open(folder.path(), 2);
    assert_eq!(names(&shard), ["meaning"], "nothing is there to change from");
    append(&shard, "b", &[&[(0, new(1))]]);
    shard.close().unwrap();
    for model in [1, 2, 1] {
        let shard = open(folder.path(), model);
        let row = if model == 2 { new(1) } else { old(1) };
        assert_eq!(lacking(&shard), [1]);
        let space = names(&shard)[0].clone();
        shard.write(WriteOp::PutRows(SpaceRows { space: 0, segments: vec![1], values: row.clone() })).unwrap();
        assert!(switch(&shard, &[]));
        assert_eq!(serving(&shard).unwrap(), space);
        assert_eq!(found(&shard, &space, &row), [1]);
        shard.close().unwrap();
    }
}

#[test]
fn rows_of_other_dimensions_or_with_nan_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let shard = changed(folder.path());
    let spaces = shard.spaces().unwrap();
    for values in [vec![0.5; NEW - 1], vec![f32::NAN; NEW]] {
        assert!(SpaceRows { space: 0, segments: vec![0], values }.check(&spaces).is_err());
    }
    assert!(SpaceRows { space: 0, segments: vec![0], values: vec![0.5; NEW] }.check(&spaces).is_ok());
}
