//! Ratings of given Segments, by vectors and by words.

use super::*;
use crate::shard::query::WordsQuery;
use crate::terms::spelt_right::SpeltRight;

fn towards(angle: f32) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    (vector[0], vector[1]) = (angle.cos(), angle.sin());
    vector
}

fn meaning() -> Query {
    Query::Vector { space: "meaning".into(), vector: towards(0.0) }
}

fn words(text: &str) -> Query {
    Query::Words(WordsQuery::new(text.into(), None, SpeltRight::default()))
}

fn passage(id: &str, text: &str, vector: &[f32]) -> SegmentInput {
    SegmentInput { record: format!(r#"{{"item":"{id}","place":0,"text":"{text}"}}"#), ..segment(vector, text) }
}

fn filled(shard: &Shard, texts: &[&str]) {
    for (number, text) in texts.iter().enumerate() {
        let id = format!("i{number}");
        append(shard, &id, vec![passage(&id, text, &towards(number as f32 / 10.0))]);
    }
}

#[test]
fn a_rating_gives_the_scores_that_a_search_gives() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    filled(&shard, &["red fox", "red red hen", "a fox and a hen", "a heron", "red heron by the water"]);
    let snapshot = shard.snapshot().unwrap();
    for query in [meaning(), words("red fox heron")] {
        let mut hits = snapshot.answer(&query, &SearchOptions::best(10)).unwrap().hits;
        hits.sort_by_key(|hit| hit.segment);
        assert_eq!(hits.len(), 5);
        let segments: Vec<u32> = hits.iter().map(|hit| hit.segment).collect();
        let rating = snapshot.rate(&query, &segments, true, None).unwrap();
        assert_eq!(rating.scores, hits.iter().map(|hit| hit.score).collect::<Vec<_>>());
    }
    let rating = snapshot.rate(&words("red fox"), &[0, 1, 3], true, None).unwrap();
    assert_eq!((rating.held[0], rating.held[2]), (1.0, 0.0), "both words, and none");
    assert!(rating.held[1] > 0.0 && rating.held[1] < 1.0, "one of them");
    assert!(rating.information > 0.0);
}

#[test]
fn a_few_segments_with_the_words_as_written_are_told_from_those_with_the_stems() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    filled(&shard, &["The Bridges of a family", "a bridge, bridged", "see bridges.example.org", "no such word"]);
    let record = r#"{"id":"t","sha256":"","state":"searchable","bytes":1,"title":"Bridges"}"#;
    let titled = ItemRecord::parse(&record.replace("\"\"", &format!("\"{}\"", "0".repeat(64)))).unwrap();
    let below = SegmentInput { words: Some("Bridges\na text".into()), ..passage("t", "a text", &towards(0.0)) };
    shard.write(WriteOp::Append { item: titled, segments: vec![below], replaces: vec![] }).unwrap();
    let snapshot = shard.snapshot().unwrap();
    let written = |text: &str| snapshot.rate(&words(text), &[1], true, None).unwrap().written;
    assert_eq!(written("bridges"), [0, 2, 4]);
    assert_eq!(written("Bridges family"), [0]);
    assert_eq!(written("bridging"), [] as [u32; 0]);
    assert_eq!(written("bridges absentword"), [] as [u32; 0]);
}

#[test]
fn the_sample_of_a_space_depends_on_its_living_rows_and_not_on_how_they_are_stored() {
    let rows: Vec<Vec<f32>> = (0..3_000).map(|number| towards((number * 7 % 31) as f32)).collect();
    let sampled = |step: usize| {
        let folder = tempfile::tempdir().unwrap();
        let shard = open(folder.path());
        for (number, some) in rows.chunks(step).enumerate() {
            append(&shard, &format!("i{number}"), some.iter().map(|row| segment(row, "")).collect());
        }
        shard.when_idle().unwrap();
        shard.snapshot().unwrap().rate(&meaning(), &[], true, None).unwrap().sample
    };
    let few = sampled(1_500);
    assert_eq!(few, sampled(100));
    assert!((512..1_024).contains(&few.count), "{}", few.count);
    let mean = rows.iter().map(|row| row[0]).sum::<f32>() / rows.len() as f32;
    assert!((few.mean - mean).abs() < 0.1, "{} and {mean}", few.mean);
}

#[test]
fn a_segment_without_a_row_is_not_a_number_and_a_space_without_rows_has_no_sample() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    append(&shard, "a", vec![SegmentInput { vectors: vec![], ..segment(&[], "words alone") }]);
    let rating = shard.snapshot().unwrap().rate(&meaning(), &[0], true, None).unwrap();
    assert!(rating.scores[0].is_nan());
    assert_eq!(rating.sample.count, 0);
}

#[test]
fn what_a_query_finds_does_not_depend_on_what_its_index_was_asked_before() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let texts = ["lighthouses and tides", "the harbour keeper counts gulls", "the harbour keeper counts gulls"];
    filled(&shard, &texts.repeat(20));
    let segments: Vec<u32> = (0..60).collect();
    let asked = ["harbuor keeper", "lighthouse", "gulls \"keeper counts\"", "harbuor keeper"].map(words);
    let found = |snapshot: &crate::shard::snapshot::Snapshot, query: &Query| {
        let ranking = snapshot.answer(query, &SearchOptions::best(50)).unwrap();
        let rating = snapshot.rate(query, &segments, false, None).unwrap();
        (ranking.hits, ranking.corrected, rating)
    };
    let alone = asked.each_ref().map(|query| found(&shard.snapshot().unwrap(), query));
    let snapshot = shard.snapshot().unwrap();
    for (query, alone) in asked.iter().zip(&alone) {
        assert_eq!(&found(&snapshot, query), alone);
        assert_eq!(&found(&snapshot, query), alone);
    }
    assert_eq!(alone[0].1.as_deref(), Some("harbour keeper"));
}
