//! Changes of an index while the text of a search is encoded.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::inputs::SearchInputs;
use super::pending::{PendingSearch, VectorList};
use super::run::Wanted;
use crate::ranking::options::Stop;
use crate::search::plan::Plan;
use crate::shard::open_shard::Shard;
use crate::store::spaces::SpaceSpec;
use crate::terms::spelt_right::SpeltRight;
use crate::write::input::{ItemRecord, SegmentInput};
use crate::write::write_op::WriteOp;

fn open(folder: &Path, model: u8) -> Arc<Shard> {
    let space = SpaceSpec { name: "meaning".into(), dimensions: 2, model: [model; 32] };
    Arc::new(Shard::open(folder, vec![space]).unwrap())
}

fn append(shard: &Shard, id: &str, count: usize) {
    let json =
        format!(r#"{{"id":"{id}","sha256":"{:064x}","state":"searchable","bytes":1}}"#, crc32c::crc32c(id.as_bytes()));
    let segments = (0..count).map(|place| SegmentInput {
        record: format!(r#"{{"item":"{id}","locator":{{}},"place":{place},"text":"gulls at dawn"}}"#),
        place: place as u32,
        words: Some("gulls at dawn".into()),
        vectors: vec![(0, vec![1.0, 0.0])],
        ..SegmentInput::default()
    });
    let item = ItemRecord::parse(&json).unwrap();
    shard.write(WriteOp::Append { item, segments: segments.collect(), replaces: vec![] }).unwrap();
}

fn pending(shard: &Arc<Shard>, space: &str, k: usize) -> PendingSearch {
    let plan = r#"{"lists": [
        {"name": "text_semantic", "family": "text_semantic", "kind": "passages", "scans": "vectors", "weight": 0.2},
        {"name": "raw_words", "family": "raw", "kind": "passages", "scans": "words", "weight": 1}
    ], "unknown_language_share": 0.2}"#;
    let wanted = Wanted { k, depth: 100, ..Wanted::default() };
    let mut inputs = SearchInputs::new(Arc::new(Plan::from_json(plan).unwrap()), wanted);
    inputs.ask_words("gulls".into(), SpeltRight::default(), false);
    PendingSearch {
        shard: shard.clone(),
        inputs,
        lists: vec![VectorList { list: 0, space: space.into() }],
        stop: Stop::default(),
        made: Instant::now(),
    }
}

/// Number of its hits; None where it was not answered.
fn hits(search: &PendingSearch) -> Option<u32> {
    search.answer(&[1.0, 0.0]).unwrap().answer.map(|answer| answer.hits.count)
}

#[test]
fn what_was_committed_while_the_text_was_encoded_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), 1);
    append(&shard, "a", 1);
    let search = pending(&shard, "meaning", 10);
    append(&shard, "b", 1);
    assert_eq!(hits(&search), Some(2));
}

#[test]
fn an_index_that_was_closed_gives_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), 1);
    append(&shard, "a", 1);
    let search = pending(&shard, "meaning", 10);
    shard.close().unwrap();
    assert_eq!(hits(&search), None);
}

#[test]
fn a_search_that_was_given_up_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), 1);
    append(&shard, "a", 1);
    let search = pending(&shard, "meaning", 10);
    search.stop.stop();
    assert_eq!(search.answer(&[1.0, 0.0]).err().unwrap().code, "interrupted");
}

#[test]
fn a_search_for_many_hits_is_not_answered_where_there_are_many() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), 1);
    append(&shard, "a", 100);
    assert_eq!(hits(&pending(&shard, "meaning", 1000)), Some(100));
    append(&shard, "b", 1);
    assert_eq!(hits(&pending(&shard, "meaning", 100)), Some(100));
    assert_eq!(hits(&pending(&shard, "meaning", 101)), None);
}
