//! Items with their Segments and pictures: kept, removed, copied, closed and opened again.

use super::*;

#[test]
fn states_digests_and_order_of_items_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    for id in ["a", "b", "c"] {
        shard.write(WriteOp::PutItem { item: item(id, "pending") }).unwrap();
    }
    shard.write(WriteOp::PutItem { item: item("b", "failed") }).unwrap();
    append(&shard, "a", vec![segment(&[0.2; DIMENSIONS], "word")]);
    let snapshot = shard.snapshot().unwrap();
    let digest = |id: &str| item(id, "pending").sha256;
    assert!(snapshot.items_by_digest(&digest("a")).unwrap().contains("searchable"));
    assert_eq!(snapshot.items_by_digest(&digest("b")).unwrap(), "[]");
    assert!(snapshot.items_by_digest(&digest("c")).unwrap().contains("pending"));
    let ids = |json: String| json.matches("\"id\":\"").count();
    assert_eq!(ids(snapshot.items(None, 10).unwrap()), 3);
    assert_eq!(ids(snapshot.items(Some("a"), 10).unwrap()), 2);
    assert_eq!(ids(snapshot.items(Some("a"), 1).unwrap()), 1);
    assert_eq!(snapshot.totals().unwrap().items, 1);
    assert_eq!(digest_of_hex("zz"), None);
}

#[test]
fn segments_are_removed_when_their_item_fails() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    append(&shard, "a", vec![segment(&[0.2; DIMENSIONS], "early")]);
    shard.write(WriteOp::PutItem { item: item("a", "failed") }).unwrap();
    assert_eq!(found_by_words(&shard, "early"), [] as [u32; 0]);
    assert_eq!(search(&shard, &[0.2; DIMENSIONS], 10).hits, []);
    assert!(shard.snapshot().unwrap().item("a").unwrap().unwrap().contains("failed"));
    assert_eq!(shard.snapshot().unwrap().totals().unwrap().segments, 0);
    append(&shard, "a", vec![segment(&[0.2; DIMENSIONS], "late")]);
    assert_eq!(found_by_words(&shard, "early late"), [1]);
}

#[test]
fn pictures_are_removed_with_their_item() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    for (id, byte) in [("a", 1u8), ("b", 2)] {
        let picture = PictureInput { digest: [byte; 32], fingerprint: vec![0xf0; 16] };
        append(
            &shard,
            id,
            vec![SegmentInput { record: "{}".into(), picture: Some(picture), ..SegmentInput::default() }],
        );
    }
    let found = |shard: &Shard| {
        let ranking = shard.snapshot().unwrap().search_picture(&[0xf0; 16], &[2; 32], 10).unwrap();
        ranking.hits.iter().map(|hit| hit.segment).collect::<Vec<_>>()
    };
    assert_eq!(found(&shard), [1, 0]);
    shard.write(WriteOp::RemoveItem { id: "b".into() }).unwrap();
    assert_eq!(found(&shard), [0]);
}

#[test]
fn a_closed_index_refuses_everything_and_can_be_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    append(&shard, "a", vec![segment(&[0.2; DIMENSIONS], "word")]);
    shard.close().unwrap();
    shard.close().unwrap();
    assert_eq!(shard.snapshot().err().unwrap().code, "not_found");
    assert_eq!(shard.write(WriteOp::RemoveItem { id: "a".into() }).unwrap_err().code, "not_found");
    assert_eq!(found_by_words(&open(folder.path()), "word"), [0]);
}

#[test]
fn a_copy_of_an_index_in_use_is_independent_of_it() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let shard = open(folder.path());
    append(&shard, "a", vec![segment(&[0.5; DIMENSIONS], "the keeper counts gulls")]);
    append(&shard, "b", vec![segment(&[0.1; DIMENSIONS], "the anchor holds")]);
    shard.write(WriteOp::RemoveItem { id: "b".into() }).unwrap();
    let reading = shard.snapshot().unwrap();
    shard.copy_to(copy.path()).unwrap();
    append(&shard, "c", vec![segment(&[0.2; DIMENSIONS], "written later")]);
    drop(reading);

    let copied = open(copy.path());
    assert_eq!(found_by_words(&copied, "gulls"), [0]);
    assert_eq!(found_by_words(&copied, "anchor later"), [] as [u32; 0]);
    append(&copied, "d", vec![segment(&[0.3; DIMENSIONS], "a gull alone")]);
    assert_eq!(found_by_words(&copied, "gulls").len(), 2);
    assert_eq!(found_by_words(&shard, "gulls"), [0], "the two have nothing in common");
    shard.close().unwrap();
    assert!(shard.copy_to(copy.path()).is_err());
}

#[test]
fn a_corrected_query_is_shown_as_it_is_written_in_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let text = "Rising pressures were measured.";
    let record = serde_json::json!({"place": 3, "text": text}).to_string();
    append(&shard, "a", vec![SegmentInput { record, ..segment(&[0.5; DIMENSIONS], text) }]);
    let ranking = shard.snapshot().unwrap().search_words("Rising presures?", 5).unwrap();
    assert_eq!((ranking.hits.len(), ranking.corrected.as_deref()), (1, Some("Rising pressures?")));
}

#[test]
fn an_item_takes_the_place_of_those_that_it_replaces_in_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let keyed = |id: &str, state: &str| {
        let sha256 = format!("{:064x}", crc32c::crc32c(id.as_bytes()));
        ItemRecord::parse(&format!(
            r#"{{"id":"{id}","sha256":"{sha256}","state":"{state}","bytes":10,"key":"docs/ä.md"}}"#
        ))
        .unwrap()
    };
    let put = |id: &str, words: &str, replaces: &[&str]| {
        let segments = vec![segment(&[0.2; DIMENSIONS], words)];
        let replaces = replaces.iter().map(ToString::to_string).collect();
        shard.write(WriteOp::Append { item: keyed(id, "searchable"), segments, replaces }).unwrap();
    };
    let ids = |json: &str| {
        let items: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
        items.iter().map(|item| format!("{} {}", item["id"], item["state"]).replace('"', "")).collect::<Vec<_>>()
    };
    let by_key = || ids(&shard.snapshot().unwrap().items_by_key("docs/ä.md").unwrap());
    put("a", "early", &[]);
    append(&shard, "inside", vec![segment(&[0.2; DIMENSIONS], "early")]);
    shard.write(WriteOp::PutItem { item: keyed("b", "pending") }).unwrap();
    assert_eq!(by_key(), ["a searchable", "b pending"]);
    let before = shard.snapshot().unwrap();
    put("b", "late", &["a", "inside", "nowhere"]);
    assert_eq!(found_by_words(&shard, "early late"), [2]);
    assert_eq!(before.search_words("early late", 9).unwrap().hits.len(), 2, "an earlier reader has the old ones");
    assert_eq!(by_key(), ["a failed", "b searchable"]);
    assert_eq!(shard.snapshot().unwrap().totals().unwrap().items, 1);
    assert_eq!(ids(&shard.snapshot().unwrap().items_by_digest(&keyed("a", "failed").sha256).unwrap()), [] as [&str; 0]);
    shard.write(WriteOp::RemoveItem { id: "a".into() }).unwrap();
    assert_eq!(by_key(), ["b searchable"]);
    assert_eq!(shard.snapshot().unwrap().items_by_key("docs/").unwrap(), "[]");
}

/// An Item with a name, as its record says it.
fn named(id: &str, state: &str) -> ItemRecord {
    let json = String::from_utf8(item(id, state).json).unwrap();
    ItemRecord::parse(&json.replacen('{', &format!("{{\"name\":\"{id}.txt\","), 1)).unwrap()
}

fn text_of(id: &str, text: &str) -> SegmentInput {
    let record = format!(r#"{{"item":"{id}","text":"{text}"}}"#);
    SegmentInput { record, ..segment(&[0.2; DIMENSIONS], &format!("{text}\n{id}.txt\n{id}")) }
}

fn add_alias(shard: &Shard, id: &str, name: &str) -> bool {
    shard.write(WriteOp::AddAlias { id: id.into(), name: name.into() }).unwrap()
}

#[test]
fn an_item_is_found_by_each_of_its_names_while_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let put = |id: &str, texts: Vec<SegmentInput>| {
        let item = named(id, "searchable");
        shard.write(WriteOp::Append { item, segments: texts, replaces: vec![] }).unwrap()
    };
    put("rain", vec![text_of("rain", "wet words"), text_of("rain", "more words")]);
    put("snow", vec![text_of("snow", "white words")]);
    assert!(add_alias(&shard, "rain", "drizzle.pdf") && add_alias(&shard, "rain", "shower.pdf"));
    assert!(add_alias(&shard, "rain", "rain.txt") && add_alias(&shard, "rain", "shower.pdf"));
    assert!(!add_alias(&shard, "hail", "shower.pdf"));
    let aliases = |shard: &Shard| shard.snapshot().unwrap().item("rain").unwrap().unwrap().matches(".pdf").count();
    assert_eq!(aliases(&shard), 2);
    let check = |shard: &Shard| {
        for (query, expected) in [("drizzle", vec![0]), ("shower.pdf", vec![0]), ("wet", vec![0]), ("snow", vec![2])] {
            assert_eq!(found_by_words(shard, query), expected, "{query}");
        }
        assert_eq!(found_by_words(shard, "words").len(), 3);
    };
    check(&shard);
    for id in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        put(id, vec![text_of(id, "filler")]);
    }
    shard.when_idle().unwrap();
    check(&shard);
    shard.close().unwrap();
    let shard = open(folder.path());
    check(&shard);
    for more in 2..16 {
        assert!(add_alias(&shard, "rain", &format!("name {more}.pdf")));
    }
    assert!(!add_alias(&shard, "rain", "one too many.pdf"));
    check(&shard);
    shard.write(WriteOp::RemoveItem { id: "rain".into() }).unwrap();
    assert_eq!(found_by_words(&shard, "drizzle shower wet words"), [2]);
}

#[test]
fn a_name_that_is_added_before_an_item_is_searchable_stays() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    shard.write(WriteOp::PutItem { item: named("rain", "pending") }).unwrap();
    assert!(add_alias(&shard, "rain", "drizzle.pdf"));
    let segments = vec![text_of("rain", "wet words")];
    shard.write(WriteOp::Append { item: named("rain", "searchable"), segments, replaces: vec![] }).unwrap();
    assert_eq!(found_by_words(&shard, "drizzle"), [0]);
    assert!(shard.snapshot().unwrap().item("rain").unwrap().unwrap().contains("drizzle.pdf"));
    shard.write(WriteOp::PutItem { item: named("rain", "failed") }).unwrap();
    assert!(!add_alias(&shard, "rain", "shower.pdf"));
}

#[test]
fn a_page_follows_the_one_before_it_though_all_of_that_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    for id in ["a", "b", "c", "d", "e"] {
        append(&shard, id, vec![]);
    }
    let has = |page: &str, id: &str| page.contains(&format!("\"id\":\"{id}\""));
    let (page, next) = shard.snapshot().unwrap().items_from(0, 2).unwrap();
    assert!(has(&page, "a") && has(&page, "b") && !has(&page, "c"));
    for id in ["a", "b", "c"] {
        shard.write(WriteOp::RemoveItem { id: id.into() }).unwrap();
    }
    let (page, next) = shard.snapshot().unwrap().items_from(next, 2).unwrap();
    assert!(has(&page, "d") && has(&page, "e"));
    assert_eq!(shard.snapshot().unwrap().items_from(next, 2).unwrap(), ("[]".into(), next));
}
