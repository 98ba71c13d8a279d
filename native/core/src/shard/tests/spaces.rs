//! An index keeps its models, whichever is in use when it is opened.

use std::path::Path;

use crate::blocks::vectors::VectorRows;
use crate::shard::open_shard::Shard;
use crate::store::spaces::SpaceSpec;
use crate::write::input::{ItemRecord, SegmentInput};
use crate::write::write_op::WriteOp;

fn spec(name: &str, model: u8) -> SpaceSpec {
    // Models 1 and 3 have eight dimensions, model 2 has three.
    SpaceSpec { name: name.into(), dimensions: if model == 2 { 3 } else { 8 }, model: [model; 32] }
}

fn open(folder: &Path, wanted: &[SpaceSpec]) -> Shard {
    Shard::open(folder, wanted.to_vec()).unwrap()
}

fn append(shard: &Shard, id: &str, space: usize) {
    let sha256 = format!("{:064x}", crc32c::crc32c(id.as_bytes()));
    let item = format!(r#"{{"id":"{id}","sha256":"{sha256}","state":"searchable","bytes":1}}"#);
    let dimensions = shard.spaces().unwrap()[space].dimensions;
    let segment = SegmentInput {
        record: "{}".into(),
        words: Some("word".into()),
        vectors: vec![(space, vec![1.0; dimensions])],
        ..SegmentInput::default()
    };
    let item = ItemRecord::parse(&item).unwrap();
    shard.write(WriteOp::Append { item, segments: vec![segment], replaces: vec![] }).unwrap();
}

fn found(shard: &Shard, space: usize) -> usize {
    let SpaceSpec { name, dimensions, .. } = shard.spaces().unwrap()[space].clone();
    let query = vec![1.0; dimensions];
    shard.snapshot().unwrap().search_vector(&name, &query, 100).unwrap().hits.len()
}

#[test]
fn what_is_stored_keeps_its_model_and_takes_more_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), &[spec("meaning", 1)]);
    append(&shard, "a", 0);
    shard.close().unwrap();
    for model in [2, 3] {
        let shard = open(folder.path(), &[spec("meaning", model)]);
        assert_eq!(shard.spaces().unwrap(), [spec("meaning", 1)]);
        append(&shard, &format!("by {model}"), 0);
        shard.close().unwrap();
    }
    assert_eq!(found(&open(folder.path(), &[spec("meaning", 2)]), 0), 3);
}

#[test]
fn roles_that_have_nothing_take_the_model_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), &[spec("meaning", 1), spec("look", 1)]);
    append(&shard, "a", 0);
    shard.close().unwrap();
    let shard = open(folder.path(), &[spec("look", 2), spec("meaning", 2)]);
    assert_eq!(shard.spaces().unwrap(), [spec("look", 2), spec("meaning", 1)]);
    append(&shard, "b", 0);
    shard.close().unwrap();
    let without_models = open(folder.path(), &[]);
    assert_eq!(without_models.spaces().unwrap(), [spec("meaning", 1), spec("look", 2)]);
    assert_eq!([found(&without_models, 0), found(&without_models, 1)], [1, 1]);
}

#[test]
fn another_model_takes_all_rows_at_once_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), &[spec("meaning", 1), spec("look", 1)]);
    for id in ["a", "b", "c"] {
        append(&shard, id, 0);
    }
    append(&shard, "picture", 1);
    shard.write(WriteOp::RemoveItem { id: "b".into() }).unwrap();
    let change = |segments: &[u32]| {
        let rows = VectorRows { segments: segments.to_vec(), values: vec![0.5; 3 * segments.len()] };
        shard.write(WriteOp::ChangeModel { space: spec("meaning", 2), rows }).unwrap()
    };
    let before = shard.snapshot().unwrap();
    assert!(!change(&[0, 1]), "the third has no row");
    assert_eq!(found(&shard, 0), 2, "nothing was changed");
    assert!(change(&[0, 1, 2]), "the second is gone");
    assert_eq!(before.search_vector("meaning", &[1.0; 8], 100).unwrap().hits.len(), 2, "who reads goes on");
    drop(before);
    shard.close().unwrap();
    let shard = open(folder.path(), &[spec("meaning", 1), spec("look", 1)]);
    assert_eq!(shard.spaces().unwrap(), [spec("meaning", 2), spec("look", 1)]);
    assert_eq!([found(&shard, 0), found(&shard, 1)], [2, 1]);
    append(&shard, "d", 0);
    assert_eq!(found(&shard, 0), 3);
}
