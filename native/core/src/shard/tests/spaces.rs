//! An index keeps its models, whichever is in use when it is opened.

use std::path::Path;

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
