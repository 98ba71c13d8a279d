//! The texts of hits: what is shown of each, and that no budget is passed.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::shard::extents::{Extent, HitText, Shown, extents};
use crate::text::snippet::QueryWords;

/// Items of some lengths. The text of a passage says its Segment, once for each word; the last passages of an Item may be a note
/// and a picture.
fn filled(shard: &Shard, items: &[(usize, bool, bool)]) {
    let mut next = 0;
    for (id, (passages, note, picture)) in items.iter().enumerate() {
        let mut segments = vec![];
        for place in 0..passages + usize::from(*note) + usize::from(*picture) {
            let text = match place {
                at if at < *passages => format!(r#","text":"Passage {next} is here. And {next} there.""#),
                at if *note && at == *passages => format!(r#","text":"Note {next}.","text_source":"metadata""#),
                _ => String::new(),
            };
            segments.push(SegmentInput {
                record: format!(r#"{{"item":"i{id}","place":{place}{text}}}"#),
                place: place as u32,
                words: Some("x".into()),
                ..SegmentInput::default()
            });
            next += 1;
        }
        shard
            .write(WriteOp::Append { item: item(&format!("i{id}"), "searchable"), segments, replaces: vec![] })
            .unwrap();
    }
}

fn texts(shown: &[Shown]) -> Vec<Option<String>> {
    let text = |shown: &Shown| match shown {
        Shown::Text(HitText { text, .. }) => Some(text.clone()),
        _ => None,
    };
    shown.iter().map(text).collect()
}

#[test]
fn passages_that_follow_each_other_become_one_text_of_the_better_hit() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    filled(&shard, &[(5, true, true), (3, false, false)]);
    let snapshot = shard.snapshot().unwrap();
    let passage = |at: u32| format!("Passage {at} is here. And {at} there.");
    let show = |hits: &[u32], around, units_max| {
        extents(&snapshot, hits, Extent { around, units_max }, &QueryWords::default()).unwrap()
    };

    let plain = show(&[1, 6, 5, 7], 0, None);
    assert_eq!(texts(&plain.shown), [Some(passage(1)), None, Some("Note 5.".into()), Some(passage(7))]);
    assert_eq!(plain.shown[1], Shown::Bare);
    assert!(!plain.truncated);

    let joined = show(&[3, 1, 2, 8, 0], 0, None);
    let all = [0, 1, 2, 3].map(passage).join("\n");
    assert_eq!(texts(&joined.shown), [Some(all), None, None, Some(passage(8)), None]);
    assert!(matches!(&joined.shown[0], Shown::Text(HitText { from: 0, next: 4, .. })));

    let around = show(&[4, 7], 1, None);
    let ends = [[3, 4].map(passage).join("\n"), [7, 8].map(passage).join("\n")];
    assert_eq!(texts(&around.shown), ends.map(Some), "neither a note nor another item is beside a passage");

    let cut = show(&[4, 7, 1], 2, Some(60));
    assert_eq!(texts(&cut.shown), [Some(passage(4)), None, None]);
    assert!(cut.truncated);
    let sentence = show(&[4, 7], 0, Some(55));
    assert_eq!(texts(&sentence.shown), [Some(passage(4)), Some("Passage 7 is here.".into())]);
    assert!(sentence.truncated);
    assert_eq!(texts(&show(&[4], 3, Some(12)).shown), [Some("Passage 4 is".into())]);
    let words = QueryWords::new("there", |_| false);
    let asked = extents(&snapshot, &[4], Extent { around: 0, units_max: Some(20) }, &words).unwrap();
    assert_eq!(texts(&asked.shown), [Some("And 4 there.".into())], "the sentence that was asked for");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_passage_is_shown_twice_no_budget_is_passed_and_the_best_hit_is_there(
        items in proptest::collection::vec((1..8usize, any::<bool>(), any::<bool>()), 1..5),
        hits in proptest::collection::vec(0..40u32, 1..12),
        around in 0..4u32,
        units_max in proptest::option::of(8..400usize),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let shard = open(folder.path());
        filled(&shard, &items);
        let snapshot = shard.snapshot().unwrap();
        let mut seen = HashSet::new();
        let count = snapshot.totals().unwrap().segments as u32;
        let hits: Vec<u32> = hits.into_iter().map(|hit| hit % count).filter(|hit| seen.insert(*hit)).collect();
        let found = extents(&snapshot, &hits, Extent { around, units_max }, &QueryWords::default()).unwrap();
        prop_assert_eq!(found.shown.len(), hits.len());
        let all: Vec<String> = texts(&found.shown).into_iter().flatten().collect();
        let units: usize = all.iter().map(|text| text.encode_utf16().count()).sum();
        prop_assert!(units_max.is_none_or(|most| units <= most), "{} of {:?}", units, units_max);
        let passages: Vec<&str> = all.iter().flat_map(|text| text.split('\n')).collect();
        prop_assert_eq!(passages.iter().collect::<HashSet<_>>().len(), passages.len(), "{:?}", passages);
        if let Some(first) = found.shown.iter().find(|shown| **shown != Shown::Bare) {
            prop_assert!(matches!(first, Shown::Text(_)), "the best hit with a text is shown");
        }
        if !found.truncated {
            for hit in &hits {
                let record = snapshot.record(*hit).unwrap().unwrap();
                let own = record.split("\"text\":\"").nth(1).and_then(|rest| rest.split('"').next());
                prop_assert!(own.is_none_or(|own| passages.contains(&own)), "{:?} has {:?}", passages, own);
            }
        }
    }
}
