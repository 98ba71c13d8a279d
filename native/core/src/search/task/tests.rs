//! Changes of an index while the text of a search is encoded.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::inputs::SearchInputs;
use super::pending::{PendingSearch, VectorList};
use super::run::Wanted;
use crate::filter::order::Order;
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
        lists: [VectorList { list: 0, space: space.into() }].into(),
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

/// An index of many Items of the same words, each of a day: the older, the more of them and the nearer the query's vector.
fn of_days(folder: &Path, days: u32) -> Arc<Shard> {
    let shard = open(folder, 1);
    for day in 0..days {
        let (id, month) = (format!("i{day}"), 1 + day / 28);
        let created = format!("{}-{:02}-{:02}T00:00:00.000Z", 2000 + month / 12, 1 + month % 12, 1 + day % 28);
        let json = format!(
            r#"{{"id":"{id}","sha256":"{day:064x}","state":"searchable","bytes":1,"created_at":"{created}","metadata":{{"day":{day}}}}}"#
        );
        let words = "gulls at dawn ".repeat(1 + (days - day) as usize / 100);
        let angle = day as f32 / days as f32;
        let segment = SegmentInput {
            record: format!(r#"{{"item":"{id}","locator":{{}},"place":0,"text":"{words}"}}"#),
            words: Some(words),
            vectors: vec![(0, vec![angle.cos(), angle.sin()])],
            ..SegmentInput::default()
        };
        let op = WriteOp::Append { item: ItemRecord::parse(&json).unwrap(), segments: vec![segment], replaces: vec![] };
        shard.write(op).unwrap();
    }
    shard
}

/// The Items that a search in an order finds, and the weights of them all. `depth`: places that each list reaches.
fn ordered(shard: &Arc<Shard>, order: &str, min_confidence: f64, depth: usize) -> (Vec<String>, Vec<f64>) {
    let mut search = pending(shard, "meaning", 10);
    let order = Arc::new(Order::from_json(order).unwrap());
    // From now on the index knows its Items.
    shard.snapshot().unwrap().ordered(&order, None).unwrap();
    let order = Some(order);
    let wanted = Wanted { k: 10, depth, min_confidence, order, ..Wanted::default() };
    let plan = search.inputs.clone().plan();
    search.inputs = SearchInputs::new(plan, wanted);
    search.inputs.ask_words("gulls".into(), SpeltRight::default(), false);
    let json = search.answer(&[1.0, 0.0]).unwrap().answer.unwrap().hits.json;
    let hits: Vec<serde_json::Value> = serde_json::from_slice(&json).unwrap();
    let ids = hits.iter().map(|hit| hit["item"]["id"].as_str().unwrap().to_owned()).collect();
    (ids, hits.iter().map(|hit| hit["weight"].as_f64().unwrap_or(1.0)).collect())
}

#[test]
fn an_order_is_part_of_the_scan() {
    let folder = tempfile::tempdir().unwrap();
    let shard = of_days(folder.path(), 600);
    let range = |days: std::ops::Range<u32>| days.map(|day| format!("i{day}")).collect::<Vec<_>>();
    let newest: Vec<String> = range(590..600).into_iter().rev().collect();
    // A list of 64 places has none of the newest, which match least.
    assert_eq!(ordered(&shard, r#"{"ascending":true}"#, 0.001, 64).0, range(0..10));
    assert_eq!(ordered(&shard, "{}", 0.001, 64).0, newest);
    assert_eq!(ordered(&shard, r#"{"field":"day"}"#, 0.001, 64).0, newest);
    for decay in [
        r#"{"field":"day","decay":{"half_life":5}}"#,
        r#"{"field":"day","decay":{"half_life":50,"from":{"number":300}}}"#,
        r#"{"decay":{"half_life":40,"from":{"days":11300}}}"#,
        r#"{"field":"none","decay":{"half_life":5}}"#,
    ] {
        let (found, weights) = ordered(&shard, decay, 0.0, 64);
        assert_eq!(found, ordered(&shard, decay, 0.0, 600).0, "as when every place is rated: {decay}");
        assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)));
    }
    let (found, weights) = ordered(&shard, r#"{"field":"day","decay":{"half_life":5}}"#, 0.0, 64);
    assert_eq!((found[0].as_str(), weights[0]), ("i599", 1.0));
    assert!(
        (ordered(&shard, r#"{"field":"day","decay":{"half_life":1,"from":{"number":599.5}}}"#, 0.0, 64).1[0]
            - 0.5f64.sqrt())
        .abs()
            < 1e-5
    );
}

#[test]
fn what_a_search_is_like_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path(), 1);
    append(&shard, "a", 5);
    let mut search = pending(&shard, "meaning", 10);
    search.inputs.leave_out(0, 1);
    search.inputs.leave_out(3, 3);
    assert_eq!(hits(&search), Some(2));
}
