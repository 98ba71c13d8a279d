//! Lists that reach a number of places: pages or sections of Items, whole films and recordings.

use std::borrow::Cow;

use serde::Deserialize;

use crate::error::{Result, ShardError};
use crate::ranking::hit_group::HitGroup;
use crate::ranking::top_k::{Ranking, Scored};

/// How often a list may be doubled because many of its Segments share a place.
pub const DEEPENINGS_MAX: u32 = 4;

/// The shortest of the best k, 2k, 4k … 16k Segments that reaches `k` places, with the places of its Segments.
/// It is the longest if none does, and all Segments if there are fewer.
///
/// `best(n)` returns the best n Segments, or the best n/2 if these reach `k` places. A longer list begins with the
/// shorter one.
pub fn reach_places(
    k: usize,
    mut best: impl FnMut(usize) -> Result<Ranking>,
    places_of: impl Fn(&[Scored]) -> Result<Vec<HitGroup>>,
) -> Result<Ranking> {
    let longest = k << DEEPENINGS_MAX;
    let mut depth = longest.min(2 * k);
    loop {
        let mut ranking = best(depth)?;
        ranking.places = places_of(&ranking.hits)?;
        let mut enough = k;
        while enough <= depth {
            if ranking.hits.len() < enough || enough == longest || distinct(&ranking.places[..enough]) >= k {
                ranking.hits.truncate(enough);
                ranking.places.truncate(enough);
                return Ok(ranking);
            }
            enough *= 2;
        }
        depth = longest.min(4 * depth);
    }
}

/// The place and the moment of a Segment, from the place that is stored of it and its record. Where it has a time, that is its
/// moment, and its place is the whole Item. `range_of`: the first Segment of an Item, and their number.
pub fn place_of(stored: u32, record: &str, range_of: impl Fn(&str) -> Result<(u32, u32)>) -> Result<HitGroup> {
    let note = record.contains(NOTE) || is_uncertain(record);
    if !record.contains(TIMED) {
        return Ok(HitGroup { place: stored, moment: stored, size: 0, note });
    }
    let Part { item } =
        serde_json::from_str(record).map_err(|_| ShardError::corrupt("A segment's record is damaged."))?;
    let (place, size) = range_of(&item)?;
    Ok(HitGroup { place, moment: stored, size, note })
}

/// In JSON only keys look like these: a quote inside a string is escaped.
const TIMED: &str = "\"time_s\":";
const NOTE: &str = "\"text_source\":\"metadata\"";

const HEARD: &str = "\"speech_confidence\":";
/// What a model heard and believes less is as uncertain to search as the item says it is (`CERTAIN_FROM` of the listener).
const CERTAIN_FROM: f32 = 0.4;

fn is_uncertain(record: &str) -> bool {
    let confidence = record.split_once(HEARD).and_then(|(_, rest)| rest.split([',', '}']).next()?.parse::<f32>().ok());
    confidence.is_some_and(|confidence| confidence < CERTAIN_FROM)
}

/// The fields that are read of the record of a Segment that has a time.
#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    item: Cow<'a, str>,
}

/// How many different places there are.
pub fn distinct(places: &[HitGroup]) -> usize {
    let mut sorted: Vec<u32> = places.iter().map(|place| place.place).collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn best(places: &[u32], n: usize) -> Ranking {
        let segments = 0..places.len().min(n) as u32;
        let hits = segments.map(|segment| Scored { score: -(segment as f32), segment }).collect();
        Ranking { hits, exact: true, ..Ranking::default() }
    }

    /// One search after the other, each twice as deep.
    fn step_by_step(places: &[u32], k: usize) -> usize {
        let mut n = k;
        for deepening in 0.. {
            let found = places.len().min(n);
            let reached = places[..found].iter().collect::<HashSet<_>>().len();
            if found < n || deepening == DEEPENINGS_MAX || reached >= k {
                return found;
            }
            n *= 2;
        }
        unreachable!()
    }

    #[test]
    fn what_has_a_time_belongs_to_its_whole_item_and_notes_are_told() {
        let range_of = |item: &str| if item == "film" { Ok((7, 3)) } else { Err(ShardError::corrupt(item)) };
        let place = |record: &str| place_of(9, record, range_of).map(|it| (it.place, it.moment, it.size, it.note));
        assert_eq!(place(r#"{"item":"film","locator":{"time_s":4,"time_end_s":5}}"#).unwrap(), (7, 9, 3, false));
        assert_eq!(place(r#"{"item":"film","locator":{},"text":"say \"time_s\": 4"}"#).unwrap(), (9, 9, 0, false));
        assert_eq!(place(r#"{"item":"photo","text":"Taken","text_source":"metadata"}"#).unwrap(), (9, 9, 0, true));
        let heard = |confidence: f32| {
            let speech = format!(r#""text":"a","text_source":"speech","speech_confidence":{confidence}"#);
            place(&format!(r#"{{"item":"film","locator":{{"time_s":4}},{speech}}}"#)).unwrap().3
        };
        assert!(heard(0.39) && !heard(0.4) && !heard(1.0), "what may be misheard counts as a note");
        assert_eq!(place(r#"{"item":"book","locator":{"page":4}}"#).unwrap(), (9, 9, 0, false));
    }

    proptest! {
        #[test]
        fn a_list_is_as_deep_as_asked_step_by_step(places in proptest::collection::vec(0..20u32, 0..300), k in 0..30usize) {
            let place = |segment: u32| HitGroup { place: places[segment as usize], moment: segment, size: 0, note: false };
            let of = |hits: &[Scored]| Ok(hits.iter().map(|hit| place(hit.segment)).collect());
            let ranking = reach_places(k, |n| Ok(best(&places, n)), of).unwrap();
            prop_assert_eq!(ranking.hits.len(), step_by_step(&places, k));
            prop_assert_eq!(ranking.places, (0..ranking.hits.len() as u32).map(place).collect::<Vec<_>>());
        }
    }
}
