//! Items in the order of a value of theirs: when they were added, or a field of their metadata.
//!
//! A search in such an order scans bands of Items, the first ones by themselves, so that each band has its own best places: one that is
//! new is found however many older ones match better.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use super::dates::days_of;
use super::facts::Value;
use crate::error::{Result, ShardError};
use crate::ranking::segment_filter::SegmentFilter;

/// Items of the first band; each further one has twice as many. Fewer than a list names places (100), so that of the first band none
/// that is a single place is passed over.
const FIRST_BAND_ITEMS: usize = 64;
/// Half-lives that begin a band of their own: within one the weights of two places differ by two at most.
const HALVINGS: f64 = 8.0;

/// The order of a search, as the server passes it on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// A field of the metadata. None: the time at which an Item was added.
    pub field: Option<String>,
    /// The least first. Without decay.
    #[serde(default)]
    pub ascending: bool,
    pub decay: Option<Decay>,
}

/// What a value that is farther from another counts.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decay {
    /// The distance over which a hit's weight halves: in days for times. Above 0.
    pub half_life: f64,
    /// Where the weight is 1. None: now; among numbers the greatest.
    pub from: Option<Point>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    Number(f64),
    /// Since 1970.
    Days(f64),
}

impl Order {
    pub fn from_json(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|error| ShardError::internal(format!("The order of a search: {error}.")))
    }

    /// Half-lives from where the weight is 1, for each of some values; infinite for one that has none.
    pub(super) fn distances<'a>(
        decay: &Decay,
        values: impl Iterator<Item = &'a Value> + Clone,
    ) -> impl Fn(&Value) -> f64 {
        let numbers = values.filter_map(|value| if let Value::Number(number) = value { Some(*number) } else { None });
        let greatest = numbers.fold(f64::NEG_INFINITY, f64::max);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() / 86_400.0);
        let Decay { half_life, from } = *decay;
        move |value| {
            let distance = match (value, from) {
                (Value::Number(number), None) => Some(number - greatest),
                (Value::Number(number), Some(Point::Number(from))) => Some(number - from),
                (Value::Text(text), None) => days_of(text).map(|days| days - now),
                (Value::Text(text), Some(Point::Days(from))) => days_of(text).map(|days| days - from),
                _ => None,
            };
            distance.map_or(f64::INFINITY, |distance| distance.abs() / half_life)
        }
    }
}

/// An Item's Segments, and its place in an order: less is earlier; infinite where it has no value.
#[derive(Debug, Clone, Copy)]
struct Placed {
    first: u32,
    last: u32,
    key: f64,
}

/// The order of the Items of an index.
#[derive(Debug, Default)]
pub struct ItemOrder {
    /// By their first Segments.
    placed: Vec<Placed>,
    /// The Segments of each band, first things first. They name no Segment twice.
    pub bands: Vec<Arc<SegmentFilter>>,
}

impl ItemOrder {
    /// `segments`: first Segment of each Item, and how many. `within`: the Segments that may be found; None: all.
    pub(super) fn new(segments: &[(u32, u32)], keys: &[f64], within: Option<&SegmentFilter>, decays: bool) -> Self {
        let mut placed: Vec<Placed> = segments
            .iter()
            .zip(keys)
            .map(|(&(first, count), &key)| Placed { first, last: first + (count - 1), key })
            .filter(|item| within.is_none_or(|within| within.has(item.first)))
            .collect();
        placed.sort_unstable_by(|one, other| one.key.total_cmp(&other.key).then(one.first.cmp(&other.first)));
        let bands = bands_of(&placed, decays);
        placed.sort_unstable_by_key(|item| item.first);
        Self { placed, bands }
    }

    /// The place of a Segment's Item in the order: less is earlier.
    pub fn key_of(&self, segment: u32) -> f64 {
        let at = self.placed.partition_point(|item| item.first <= segment);
        let item = at.checked_sub(1).map(|at| self.placed[at]).filter(|item| segment <= item.last);
        item.map_or(f64::INFINITY, |item| item.key)
    }
}

fn bands_of(ordered: &[Placed], decays: bool) -> Vec<Arc<SegmentFilter>> {
    let halvings = |item: &Placed| if decays { item.key.min(HALVINGS).floor() } else { 0.0 };
    let mut bands = vec![];
    let (mut from, mut items) = (0, FIRST_BAND_ITEMS);
    while from < ordered.len() {
        let rest = &ordered[from..ordered.len().min(from + items)];
        let of = halvings(&rest[0]);
        let count = rest.partition_point(|item| halvings(item) <= of);
        let ranges = rest[..count].iter().map(|item| (item.first, item.last)).collect();
        bands.push(Arc::new(SegmentFilter::of_ranges(ranges)));
        from += count;
        items *= 2;
    }
    bands
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bands_name_every_segment_once_and_the_earlier_first(
            keys in proptest::collection::vec(prop_oneof![0.0..20.0f64, Just(f64::INFINITY)], 0..700), decays: bool,
        ) {
            let segments: Vec<(u32, u32)> = (0..keys.len() as u32).map(|at| (at * 3, 3)).collect();
            let order = ItemOrder::new(&segments, &keys, None, decays);
            prop_assert_eq!(order.bands.iter().map(|band| band.segments()).sum::<u64>(), 3 * keys.len() as u64);
            let ends: Vec<(f64, f64)> = order.bands.iter().map(|band| {
                let keys = band.ranges().iter().flat_map(|range| range.0..=range.1).map(|segment| order.key_of(segment));
                keys.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, key| (ends.0.min(key), ends.1.max(key)))
            }).collect();
            prop_assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            prop_assert!(!decays || ends.iter().all(|(least, most)| *least >= HALVINGS || most - least <= 1.0));
            for (at, key) in keys.iter().enumerate() {
                prop_assert_eq!(order.key_of(at as u32 * 3 + 2), *key);
            }
            prop_assert_eq!(order.key_of(keys.len() as u32 * 3), f64::INFINITY);
        }
    }
}
