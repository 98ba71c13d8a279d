//! Lines that match a pattern against a naive reference: every line of every text by itself, without a test beforehand.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use regex::RegexBuilder;
use serde_json::{Value, json};

use super::*;
use crate::filter::expression::Filter;
use crate::shard::grep::{Cursor, WantedLines, WrittenLines, grep};
use crate::text::pattern::Pattern;

#[derive(Debug, Clone)]
struct Document {
    title: Option<String>,
    /// None: a picture.
    passages: Vec<Option<String>>,
    is_removed: bool,
}

fn fill(shard: &Shard, documents: &[Document]) {
    for (at, document) in documents.iter().enumerate() {
        let (id, sha256) = (format!("i{at}"), format!("{at:064x}"));
        let record = json!({ "id": id, "sha256": sha256, "state": "searchable", "bytes": 1, "title": document.title });
        let segments = document.passages.iter().enumerate().map(|(at, text)| SegmentInput {
            record: json!({ "item": id, "locator": { "page": at + 1 }, "place": at, "text": text }).to_string(),
            place: at as u32,
            words: Some("x".into()),
            ..SegmentInput::default()
        });
        let (item, segments) = (ItemRecord::parse(&record.to_string()).unwrap(), segments.collect());
        shard.write(WriteOp::Append { item, segments, replaces: vec![] }).unwrap();
    }
    for (at, _) in documents.iter().enumerate().filter(|(_, document)| document.is_removed) {
        shard.write(WriteOp::RemoveItem { id: format!("i{at}") }).unwrap();
    }
}

fn found(shard: &Shard, pattern: &str, ignore_case: bool, wanted: &WantedLines) -> WrittenLines {
    let pattern = Pattern::read(pattern, ignore_case).unwrap();
    grep(&shard.snapshot().unwrap(), &pattern, wanted, Instant::now() + Duration::from_secs(600)).unwrap()
}

fn all(lines_max: usize) -> WantedLines {
    WantedLines { lines_max, ..WantedLines::default() }
}

/// Item, passage, line and text of each.
type Line = (String, u64, u64, String);

fn read(written: &WrittenLines) -> Vec<Line> {
    let lines: Vec<Value> = serde_json::from_slice(&written.json).unwrap();
    assert_eq!(lines.len(), written.count as usize);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let number = |value: &Value| value.as_u64().unwrap();
    let line = |line: &Value| {
        assert_eq!(number(&line["locator"]["page"]), number(&line["passage"]) + 1);
        (text(&line["item"]["id"]), number(&line["passage"]), number(&line["line"]), text(&line["text"]))
    };
    lines.iter().map(line).collect()
}

fn naive(documents: &[Document], pattern: &str, ignore_case: bool, within: Option<&[usize]>) -> Vec<Line> {
    let pattern = RegexBuilder::new(pattern).multi_line(true).crlf(true).case_insensitive(ignore_case).build().unwrap();
    let mut lines = vec![];
    for (at, document) in documents.iter().enumerate() {
        if document.is_removed || within.is_some_and(|within| !within.contains(&at)) {
            continue;
        }
        for (passage, text) in document.passages.iter().enumerate() {
            let text = text.as_deref().unwrap_or_default();
            let title = document.title.as_deref().filter(|title| passage == 0 && text.lines().next() != Some(title));
            let numbered = title.map(|title| (0, title)).into_iter().chain((1..).zip(text.lines()));
            for (number, line) in numbered.filter(|(_, line)| pattern.is_match(line)) {
                lines.push((format!("i{at}"), passage as u64, number, line.to_owned()));
            }
        }
    }
    lines
}

/// Few letters, so that they meet; some that JSON escapes, and some whose other case has another length.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![4 => r#"[abBkK \\"é(\tſ😀\u{1}]{0,12}"#, 1 => Just("aab".to_owned()), 1 => "a{0,3}\r"]
}

fn document() -> impl Strategy<Value = Document> {
    let text = prop::collection::vec(line(), 0..5).prop_map(|lines| lines.join("\n"));
    let passages = prop::collection::vec(prop::option::weighted(0.8, text), 0..4);
    (prop::option::of(r#"[abk"é]{1,4}"#), passages, prop::bool::weighted(0.2))
        .prop_map(|(title, passages, is_removed)| Document { title, passages, is_removed })
}

fn pattern() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        4 => r#"[abk "éſ]{1,3}"#,
        1 => Just(r"\\".to_owned()), 1 => Just(r"\(".to_owned()), 1 => Just(r"\s".to_owned()),
        1 => Just(r"\b".to_owned()), 1 => Just("^".to_owned()), 1 => Just("$".to_owned()),
        1 => Just(r"\A".to_owned()), 1 => Just(".".to_owned()), 1 => Just("[^a]".to_owned()), 1 => Just("[ab]".to_owned()),
    ];
    let tree = atom.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            1 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("({})", parts.join("|"))),
            2 => (inner, prop_oneof!["\\*", "\\+", "\\?", Just("{2}".to_owned())])
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
        ]
    });
    prop_oneof![20 => tree, 1 => Just(String::new()), 1 => Just("(?-R)a$".to_owned()), 1 => Just("(?s)b.a".to_owned())]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn lines_are_those_of_a_naive_search(
        documents in prop::collection::vec(document(), 0..6),
        patterns in prop::collection::vec((pattern(), any::<bool>()), 1..8),
        within in prop::option::of(prop::collection::vec(0..6usize, 0..4)),
        lines_max in 1..12usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let shard = open(folder.path());
        fill(&shard, &documents);
        let ids = within.as_ref().map(|within| within.iter().map(|at| format!("i{at}")).collect::<Vec<_>>());
        let filter = ids.map(|ids| Filter::from_json(&json!({ "items": ids }).to_string()).unwrap());
        for (pattern, ignore_case) in patterns {
            let expected = naive(&documents, &pattern, ignore_case, within.as_deref());
            let wanted = WantedLines { filter: filter.clone(), ..all(1000) };
            let written = found(&shard, &pattern, ignore_case, &wanted);
            prop_assert_eq!(&read(&written), &expected, "{}", &pattern);
            prop_assert_eq!(written.next, None);
            let (mut pages, mut after) = (vec![], None);
            loop {
                let some = found(&shard, &pattern, ignore_case, &WantedLines { lines_max, after, ..wanted.clone() });
                pages.extend(read(&some));
                prop_assert_eq!(&pages[..], &expected[..pages.len()]);
                after = some.next;
                prop_assert_eq!(after.is_some(), expected.len() > pages.len());
                if after.is_none() {
                    break;
                }
                prop_assert_eq!(some.count as usize, lines_max);
                prop_assert_eq!(after.map(|cursor| Cursor::read(&cursor.to_string())), Some(after));
            }
        }
    }
}

#[test]
fn a_long_line_is_shown_around_its_first_match() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let text = format!("{}needle{}needle", "😀 ".repeat(200), " x".repeat(600));
    fill(&shard, &[Document { title: None, passages: vec![Some(text)], is_removed: false }]);
    let lines: Vec<Value> = serde_json::from_slice(&found(&shard, "needle", false, &all(9)).json).unwrap();
    let shown: Vec<u16> = lines[0]["text"].as_str().unwrap().encode_utf16().collect();
    assert_eq!(shown.len(), 502, "with an ellipsis on each side");
    let places: Vec<(usize, usize)> = serde_json::from_value(lines[0]["highlights"].clone()).unwrap();
    assert_eq!(places.len(), 1);
    assert_eq!(String::from_utf16(&shown[places[0].0..places[0].1]).unwrap(), "needle");
}

#[test]
fn a_scan_ends_when_it_is_stopped_or_its_time_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let text = |at: usize| Some(format!("line {at}"));
    fill(&shard, &[Document { title: None, passages: (0..200).map(text).collect(), is_removed: false }]);
    let (snapshot, pattern) = (shard.snapshot().unwrap(), Pattern::read("line", false).unwrap());
    let late = grep(&snapshot, &pattern, &all(1000), Instant::now()).unwrap();
    assert!(late.next.is_some() && late.count < 200);
    let wanted = all(1000);
    wanted.stop.stop();
    let stopped = grep(&snapshot, &pattern, &wanted, Instant::now() + Duration::from_secs(600));
    assert_eq!(stopped.unwrap_err().code, "interrupted");
}

#[test]
fn a_scan_whose_time_is_over_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let document = || Document { title: None, passages: vec![Some("ab".into()); 200], is_removed: false };
    fill(&shard, &[document(), document()]);
    let (snapshot, pattern) = (shard.snapshot().unwrap(), Pattern::read("a", false).unwrap());
    let (mut count, mut after, mut scans) = (0, None, 0);
    loop {
        let written = grep(&snapshot, &pattern, &WantedLines { after, ..all(1000) }, Instant::now()).unwrap();
        (count, after, scans) = (count + written.count, written.next, scans + 1);
        if after.is_none() {
            break;
        }
    }
    assert_eq!((count, scans > 1), (400, true));
}

#[test]
fn lines_around_are_those_of_the_passage() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let passages = vec![Some("one\ntwo\nthree".into()), Some("four".into())];
    fill(&shard, &[Document { title: Some("the one".into()), passages, is_removed: false }]);
    let around = |pattern: &str, context: usize| -> Vec<Value> {
        let wanted = WantedLines { context, ..all(9) };
        let lines: Vec<Value> = serde_json::from_slice(&found(&shard, pattern, false, &wanted).json).unwrap();
        lines.iter().map(|line| json!([line["line"], line["before"], line["after"]])).collect()
    };
    assert_eq!(around("one", 1), [json!([0, null, null]), json!([1, [], ["two"]])], "a title stands alone");
    assert_eq!(around("three", 5), [json!([3, ["one", "two"], []])]);
    assert_eq!(around("two|four", 1), [json!([2, ["one"], ["three"]]), json!([1, [], []])]);
    assert_eq!(around("two", 0), [json!([2, null, null])]);
}
