//! Filters against a brute-force oracle: every Item of a snapshot is tried, and of an unfiltered answer is kept what may be found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::filter::expression::Filter;
use crate::ranking::segment_filter::SegmentFilter;
use crate::shard::query::WordsQuery;
use crate::shard::snapshot::Snapshot;
use crate::store::methods::Methods;
use crate::terms::spelt_right::SpeltRight;

const TEXTS: [&str; 6] =
    ["red fox den", "fox red den", "a red fox and a grey owl", "an owl", "the den of foxes", "nothing"];
const NAMES: [&str; 4] = ["Report.PDF", "notes.txt", "photo 1.jpg", "über-uns.html"];
const TYPES: [&str; 3] = ["application/pdf", "text/plain", "image/jpeg"];
const TIMES: [&str; 3] = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z", "2026-02-01T00:00:00.000Z"];

#[derive(Debug, Clone)]
struct Facts {
    name: usize,
    media_type: usize,
    time: usize,
    year: Option<i64>,
    language: Option<&'static str>,
    draft: Option<bool>,
}

/// The Item that contains another (an archive, a mail): it never changes.
fn parent_of(id: u8) -> Option<u8> {
    (!id.is_multiple_of(5)).then_some(id / 3)
}

fn ancestors(id: u8) -> impl Iterator<Item = u8> {
    std::iter::successors(parent_of(id), |id| parent_of(*id))
}

impl Facts {
    fn record(&self, id: u8) -> ItemRecord {
        let mut metadata = Map::new();
        self.year.map(|year| metadata.insert("year".into(), json!(year)));
        self.language.map(|language| metadata.insert("language".into(), json!(language)));
        self.draft.map(|draft| metadata.insert("draft".into(), json!(draft)));
        let mut record = json!({
            "id": format!("i{id}"), "sha256": format!("{:064x}", id), "state": "searchable", "bytes": 1,
            "name": NAMES[self.name], "media_type": TYPES[self.media_type], "created_at": TIMES[self.time], "metadata": metadata,
        });
        if let Some(parent) = parent_of(id) {
            record["parent_item_id"] = json!(format!("i{parent}"));
            record["path"] = json!(format!("Inside/{}", NAMES[self.name]));
            record["members"] = json!(1);
        }
        ItemRecord::parse(&record.to_string()).unwrap()
    }
}

fn facts() -> impl Strategy<Value = Facts> {
    let year = proptest::option::of(2019..2023i64);
    let language = proptest::option::of(prop_oneof![Just("de"), Just("en"), Just("fr")]);
    (0..4usize, 0..3usize, 0..3usize, year, language, proptest::option::of(any::<bool>())).prop_map(
        |(name, media_type, time, year, language, draft)| Facts { name, media_type, time, year, language, draft },
    )
}

#[derive(Debug, Clone)]
enum Written {
    Append(u8, Facts, Vec<(Vec<f32>, usize, u8)>),
    Remove(u8),
    Reopen,
}

fn written() -> impl Strategy<Value = Written> {
    let segments = proptest::collection::vec((vector(), 0..TEXTS.len(), 0..4u8), 1..5);
    prop_oneof![
        9 => (0..30u8, facts(), segments).prop_map(|(id, facts, segments)| Written::Append(id, facts, segments)),
        2 => (0..30u8).prop_map(Written::Remove),
        1 => Just(Written::Reopen),
    ]
}

fn filter() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        proptest::collection::vec(0..30u8, 0..4)
            .prop_map(|ids| json!({"items": ids.iter().map(|id| format!("i{id}")).collect::<Vec<_>>()})),
        prop_oneof![Just("*.pdf"), Just("*o*1*"), Just("inside/*"), Just("ÜBER?uns*"), Just("x")]
            .prop_map(|name| json!({"name": [name]})),
        prop_oneof![Just("image/*"), Just("text/plain"), Just("*")]
            .prop_map(|of| json!({"media_type": [of, "image/png"]})),
        (0..3usize).prop_map(|at| json!({"created_after": TIMES[at]})),
        (0..3usize).prop_map(|at| json!({"created_before": TIMES[at], "created_after": TIMES[0]})),
        (2018..2024i64, 0..4i64)
            .prop_map(|(from, more)| json!({"metadata": {"year": {"gte": from, "lt": from + more}}})),
        (2018..2024i64)
            .prop_map(|from| json!({"metadata": {"year": {"gt": from, "lte": 2021.0}, "draft": {"exists": true}}})),
        Just(json!({"metadata": {"language": {"in": ["de", "fr", 2020, true]}}})),
        Just(json!({"metadata": {"language": {"gt": "de"}, "draft": {"in": [false]}}})),
        any::<bool>()
            .prop_map(|exists| json!({"metadata": {"year": {"exists": exists}, "nowhere": {"exists": !exists}}})),
        Just(json!({"metadata": {"year": {"gte": "2020"}}})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let some = || proptest::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            some().prop_map(|all| json!({"and": all})),
            some().prop_map(|any| json!({"or": any})),
            inner.clone().prop_map(|not| json!({"not": not})),
            (inner.clone(), inner.clone())
                .prop_map(|(one, two)| json!({"not": one, "or": [two], "media_type": ["*/*"]})),
        ]
    })
}

/// Whether an Item meets a filter, read word by word. `parents`: the ids that it lies in.
fn meets(filter: &Value, item: &Value, parents: &[String]) -> bool {
    filter.as_object().unwrap().iter().all(|(name, wanted)| match name.as_str() {
        "items" => {
            wanted.as_array().unwrap().iter().any(|id| *id == item["id"] || parents.iter().any(|parent| id == parent))
        }
        "name" => any_glob(wanted, &[&item["name"], &item["path"]]),
        "media_type" => any_glob(wanted, &[&item["media_type"]]),
        "created_after" => item["created_at"].as_str() >= wanted.as_str(),
        "created_before" => item["created_at"].as_str() < wanted.as_str(),
        "metadata" => wanted.as_object().unwrap().iter().all(|(field, of)| holds(of, &item["metadata"][field])),
        "and" => wanted.as_array().unwrap().iter().all(|each| meets(each, item, parents)),
        "or" => wanted.as_array().unwrap().iter().any(|each| meets(each, item, parents)),
        "not" => !meets(wanted, item, parents),
        other => panic!("{other}"),
    })
}

fn any_glob(patterns: &Value, texts: &[&Value]) -> bool {
    fn naive(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|at| naive(rest, &name[at..])),
            Some((letter, rest)) => {
                name.split_first().is_some_and(|(first, left)| (*letter == '?' || letter == first) && naive(rest, left))
            }
        }
    }
    let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    let texts: Vec<&str> = texts.iter().filter_map(|text| text.as_str()).collect();
    patterns
        .as_array()
        .unwrap()
        .iter()
        .any(|pattern| texts.iter().any(|text| naive(&letters(pattern.as_str().unwrap()), &letters(text))))
}

fn holds(condition: &Value, value: &Value) -> bool {
    let ordering = |wanted: &Value| match (value, wanted) {
        (Value::Number(one), Value::Number(two)) => one.as_f64().partial_cmp(&two.as_f64()),
        (Value::String(one), Value::String(two)) => Some(one.cmp(two)),
        (Value::Bool(one), Value::Bool(two)) => Some(one.cmp(two)),
        _ => None,
    };
    condition.as_object().unwrap().iter().all(|(name, wanted)| match name.as_str() {
        "in" => wanted.as_array().unwrap().iter().any(|wanted| ordering(wanted).is_some_and(|order| order.is_eq())),
        "gt" => ordering(wanted).is_some_and(|order| order.is_gt()),
        "gte" => ordering(wanted).is_some_and(|order| order.is_ge()),
        "lt" => ordering(wanted).is_some_and(|order| order.is_lt()),
        "lte" => ordering(wanted).is_some_and(|order| order.is_le()),
        "exists" => wanted.as_bool().unwrap() != value.is_null(),
        other => panic!("{other}"),
    })
}

/// The Segments of a snapshot that a filter lets it find, Item by Item.
fn expected(snapshot: &Snapshot, filter: &Value) -> BTreeSet<u32> {
    let items: Vec<Value> = serde_json::from_str(&snapshot.items(None, 10_000).unwrap()).unwrap();
    let parent_of: BTreeMap<String, String> = items
        .iter()
        .filter_map(|item| Some((item["id"].as_str()?.to_owned(), item["parent_item_id"].as_str()?.to_owned())))
        .collect();
    let parents =
        |id: &str| std::iter::successors(parent_of.get(id), |id| parent_of.get(*id)).cloned().collect::<Vec<_>>();
    let met = items.iter().filter(|item| meets(filter, item, &parents(item["id"].as_str().unwrap())));
    met.flat_map(|item| {
        let (first, count) = snapshot.segments_of_item(item["id"].as_str().unwrap()).unwrap().unwrap();
        first..first + count
    })
    .collect()
}

fn within(snapshot: &Snapshot, filter: &Value) -> Arc<SegmentFilter> {
    snapshot.within(&Filter::from_json(&filter.to_string()).unwrap()).unwrap()
}

/// The Segments that it names and the snapshot has.
fn living(snapshot: &Snapshot, within: &SegmentFilter) -> BTreeSet<u32> {
    let all = within.ranges().iter().flat_map(|range| range.0..=range.1);
    all.filter(|segment| snapshot.record(*segment).unwrap().is_some()).collect()
}

fn inputs(segments: &[(Vec<f32>, usize, u8)]) -> Vec<SegmentInput> {
    let input = |(place, (vector, text, look)): (usize, &(Vec<f32>, usize, u8))| SegmentInput {
        record: format!(r#"{{"item":"x","place":{place},"text":"{}"}}"#, TEXTS[*text]),
        place: place as u32,
        words: Some(TEXTS[*text].into()),
        picture: Some(PictureInput { digest: [*look; 32], fingerprint: vec![0xa5 ^ *look; 16] }),
        vectors: vec![(0, vector.clone())],
    };
    segments.iter().enumerate().map(input).collect()
}

fn words_query(text: &str) -> Query {
    Query::Words(WordsQuery::new(text.into(), None, SpeltRight::default()))
}

#[test]
fn an_item_without_segments_is_not_taken_for_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    append(&shard, "first", vec![segment(&[0.5; DIMENSIONS], "red fox")]);
    shard.write(WriteOp::PutItem { item: item("waiting", "pending") }).unwrap();
    let within = shard.snapshot().unwrap().within(&Filter { items: Some(vec!["waiting".into()]), ..Filter::default() });
    assert!(within.unwrap().is_empty());
}

#[test]
fn an_archive_stands_for_the_files_of_all_archives_inside_empty_ones_beside_them_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    // 9 and 11 came in 3, 28 in 9.
    for id in [9, 11, 28] {
        let facts = Facts { name: 0, media_type: 0, time: 0, year: None, language: None, draft: None };
        let segments = inputs(&[(vec![0.0; 24], 0, 0)]);
        shard.write(WriteOp::Append { item: facts.record(id), segments, replaces: vec![] }).unwrap();
    }
    let snapshot = shard.snapshot().unwrap();
    let found = living(&snapshot, &within(&snapshot, &json!({"items": ["i3"]})));
    assert_eq!(found, BTreeSet::from([0, 1, 2]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_filtered_list_is_the_whole_list_without_what_may_not_be_found(
        steps in proptest::collection::vec(written(), 1..60),
        filters in proptest::collection::vec(filter(), 1..4),
        query in vector(),
        k in prop_oneof![1..20usize, 1..1000usize],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut shard = open(folder.path());
        let mut gone = BTreeSet::new();
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                Written::Append(id, ..) if ancestors(id).any(|outer| gone.contains(&outer)) => {}
                Written::Append(id, facts, segments) => {
                    gone.remove(&id);
                    shard.write(WriteOp::Append { item: facts.record(id), segments: inputs(&segments), replaces: vec![] }).unwrap();
                }
                // Its contents go with it, and nothing comes into it later.
                Written::Remove(id) => {
                    for inner in (0..30).filter(|inner| *inner == id || ancestors(*inner).any(|outer| outer == id)) {
                        gone.insert(inner);
                        shard.write(WriteOp::RemoveItem { id: format!("i{inner}") }).unwrap();
                    }
                }
                Written::Reopen => {
                    shard.close().unwrap();
                    shard = open(folder.path());
                }
            }
            // The table is loaded once, and what is written later is added to it.
            if at % 7 == 0 {
                let snapshot = shard.snapshot().unwrap();
                prop_assert_eq!(living(&snapshot, &within(&snapshot, &filters[0])), expected(&snapshot, &filters[0]));
            }
        }
        let snapshot = shard.snapshot().unwrap();
        let asked = [
            (Query::Vector { space: "meaning".into(), vector: query.clone() }, None),
            (Query::Vector { space: "meaning".into(), vector: query }, Some("\"red fox\"")),
            (words_query("red fox owl"), None),
            (words_query("\"red fox\" owl den"), None),
            (Query::Picture { fingerprint: vec![0xa5; 16], digest: [1; 32] }, None),
        ];
        for filter in &filters {
            let (allowed, within) = (expected(&snapshot, filter), within(&snapshot, filter));
            prop_assert_eq!(&living(&snapshot, &within), &allowed, "{}", filter);
            prop_assert_eq!(snapshot.has_any(&within).unwrap(), !allowed.is_empty());
            for (query, phrases) in &asked {
                let conditional = Conditional { query: query.clone(), phrases_of: phrases.map(Into::into) };
                let all = snapshot.answer_if(&conditional, &SearchOptions::best(10_000)).unwrap();
                let best = SearchOptions { within: Some(within.clone()), ..SearchOptions::best(k) };
                let found = snapshot.answer_if(&conditional, &best).unwrap();
                let kept: Vec<Scored> = all.hits.into_iter().filter(|hit| allowed.contains(&hit.segment)).take(k).collect();
                prop_assert!(found.exact);
                prop_assert_eq!(found.hits, kept, "{} {:?}", filter, query);
            }
            let rating = snapshot.rate(&words_query("red fox owl"), &[], false, Some(&within)).unwrap();
            prop_assert!(rating.written.iter().all(|segment| allowed.contains(segment)));
        }
    }

    #[test]
    fn rows_that_are_skipped_by_their_bits_keep_to_a_filter(
        rows in proptest::collection::vec((vector(), proptest::option::of(2019..2023i64)), 100..400),
        query in vector(),
        from in 2018..2024i64,
        k in 1..40usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let methods = Methods { bits_rows_min: 20, bits_rows_per_hit: 1, ..Methods::MEASURED };
        let shard = Shard::open_with(folder.path(), spaces(1), methods).unwrap();
        for (id, (vector, year)) in rows.iter().enumerate() {
            let metadata = year.map_or(json!({}), |year| json!({"year": year}));
            let record = json!({"id": format!("i{id}"), "sha256": "0".repeat(64), "state": "searchable", "bytes": 1, "metadata": metadata});
            let item = ItemRecord::parse(&record.to_string()).unwrap();
            shard.write(WriteOp::Append { item, segments: vec![segment(vector, "x")], replaces: vec![] }).unwrap();
        }
        shard.when_idle().unwrap();
        let snapshot = shard.snapshot().unwrap();
        let filter = json!({"metadata": {"year": {"gte": from}}});
        let (allowed, within) = (expected(&snapshot, &filter), within(&snapshot, &filter));
        let asked = Query::Vector { space: "meaning".into(), vector: query.clone() };
        let best = SearchOptions { within: Some(within), ..SearchOptions::best(k) };
        let quick = snapshot.answer(&asked, &best).unwrap();
        prop_assert!(quick.hits.iter().all(|hit| allowed.contains(&hit.segment)));
        let of_allowed = rows.iter().enumerate().filter(|row| allowed.contains(&(row.0 as u32)));
        let of_allowed: BTreeMap<u32, Vec<f32>> = of_allowed.map(|(at, row)| (at as u32, row.0.clone())).collect();
        let proved = snapshot.answer(&asked, &SearchOptions { exact: true, ..best }).unwrap();
        prop_assert!(proved.exact);
        prop_assert_eq!(&proved.hits, &naive(&of_allowed, &query, k));
        if quick.exact {
            prop_assert_eq!(quick.hits, proved.hits);
        }
    }
}

#[test]
fn readers_keep_to_their_snapshot_while_items_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let (done, filter) = (AtomicBool::new(false), json!({"metadata": {"year": {"in": [2020]}}}));
    let item = |id: u8, year| {
        Facts { name: 0, media_type: 0, time: 0, year: Some(year), language: None, draft: None }.record(id)
    };
    let one = |number: usize| inputs(&[(vec![0.5; DIMENSIONS], number % TEXTS.len(), 0)]);
    for id in 0..40 {
        shard.write(WriteOp::Append { item: item(id, 2020), segments: one(0), replaces: vec![] }).unwrap();
    }
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let early = shard.snapshot().unwrap();
                    let late = shard.snapshot().unwrap();
                    for snapshot in [&late, &early] {
                        assert_eq!(living(snapshot, &within(snapshot, &filter)), expected(snapshot, &filter));
                    }
                }
            });
        }
        for round in 0..1500usize {
            let id = (round % 40) as u8;
            let year = 2020 + (round / 40 % 2) as i64;
            if round % 3 == 0 {
                shard.write(WriteOp::RemoveItem { id: format!("i{id}") }).unwrap();
            }
            shard.write(WriteOp::Append { item: item(id, year), segments: one(round), replaces: vec![] }).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
}
