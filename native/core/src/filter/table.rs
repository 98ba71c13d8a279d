//! The facts of an index's Items that filters test, in columns.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use super::dates::days_of;
use super::expression::{Condition, Filter};
use super::facts::{ItemFacts, Value};
use super::glob::Glob;
use super::item_set::ItemSet;
use super::order::{ItemOrder, Order};
use crate::error::Result;
use crate::ranking::segment_filter::SegmentFilter;

/// Filters whose Segments are remembered: a client repeats its own, and walking 100,000 values takes milliseconds.
const RECENT_MAX: usize = 8;

/// Finds the first Segment of an Item and their number, in one state of the index. None if there is no such Item.
pub type SegmentsOf<'a> = &'a dyn Fn(&str) -> Result<Option<(u32, u32)>>;

/// A table of Items. One that was removed stays, since its Segments are never found again; one that is not there yet
/// has Segments that an earlier reader does not have. So it holds for every reader.
#[derive(Default)]
pub struct Table {
    /// First Segment, and how many.
    segments: Vec<(u32, u32)>,
    by_first: HashMap<u32, u32>,
    /// Names, and paths where there are some, in lower case.
    names: Vec<Box<str>>,
    aliases: HashMap<u32, Vec<Box<str>>>,
    paths: HashMap<u32, Box<str>>,
    keys: HashMap<u32, Box<str>>,
    created_at: Vec<Box<str>>,
    media_types: HashMap<Box<str>, Vec<u32>>,
    metadata: HashMap<Box<str>, BTreeMap<Value, Vec<u32>>>,
    /// By the id of the Item that they came in.
    inside: HashMap<Box<str>, Inside>,
    /// Results of the last filters, newest last. Any new Item makes them invalid.
    recent: Mutex<VecDeque<(Filter, Arc<SegmentFilter>)>>,
}

/// The Items inside another.
#[derive(Default)]
struct Inside {
    items: Vec<u32>,
    /// Ids of those that have files inside, too.
    archives: Vec<Box<str>>,
}

impl Table {
    pub fn items(&self) -> usize {
        self.segments.len()
    }

    /// Whether it has the Item with this first Segment.
    pub fn has(&self, first: u32) -> bool {
        self.by_first.contains_key(&first)
    }

    /// Adds an Item. An Item without Segments is remembered only as the way to those inside it.
    pub fn add(&mut self, (first, count): (u32, u32), facts: ItemFacts) {
        let ItemFacts { id, name, aliases, path, media_type, created_at, key, parent_item_id, members, metadata } =
            facts;
        let item = self.segments.len() as u32;
        let is_new = count > 0 && !self.has(first);
        if let Some(parent) = parent_item_id {
            let inside = self.inside.entry(parent).or_default();
            if is_new {
                inside.items.push(item);
            }
            if members.is_some() && !inside.archives.contains(&id) {
                inside.archives.push(id);
            }
        }
        if !aliases.is_empty() && count > 0 {
            let item = self.by_first.get(&first).copied().unwrap_or(item);
            self.aliases.insert(item, aliases.iter().map(|name| name.to_lowercase().into()).collect());
            self.forget_recent();
        }
        if !is_new {
            return;
        }
        self.forget_recent();
        self.segments.push((first, count));
        self.by_first.insert(first, item);
        self.names.push(name.to_lowercase().into());
        if let Some(path) = path {
            self.paths.insert(item, path.to_lowercase().into());
        }
        if let Some(key) = key {
            self.keys.insert(item, key.to_lowercase().into());
        }
        self.created_at.push(created_at);
        self.media_types.entry(media_type).or_default().push(item);
        for (field, value) in metadata {
            self.metadata.entry(field).or_default().entry(value).or_default().push(item);
        }
    }

    fn forget_recent(&mut self) {
        self.recent.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The Segments of the Items that meet a filter.
    pub fn within(&self, filter: &Filter, segments_of: SegmentsOf<'_>) -> Result<Arc<SegmentFilter>> {
        if filter.names_ids() {
            return self.found(filter, segments_of);
        }
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, within)) = recent().iter().find(|known| known.0 == *filter) {
            return Ok(within.clone());
        }
        let within = self.found(filter, segments_of)?;
        let mut recent = recent();
        recent.push_back((filter.clone(), within.clone()));
        if recent.len() > RECENT_MAX {
            recent.pop_front();
        }
        Ok(within)
    }

    fn found(&self, filter: &Filter, segments_of: SegmentsOf<'_>) -> Result<Arc<SegmentFilter>> {
        let met = self.met(filter, segments_of)?;
        let range = |item: usize| (self.segments[item].0, self.segments[item].0 + (self.segments[item].1 - 1));
        Ok(Arc::new(SegmentFilter::of_ranges(met.iter().map(range).collect())))
    }

    /// Its Items in an order. `within`: the Segments that may be found; None: all.
    pub fn ordered(&self, order: &Order, within: Option<&SegmentFilter>) -> ItemOrder {
        let mut keys = vec![f64::INFINITY; self.items()];
        let sign = if order.ascending { 1.0 } else { -1.0 };
        match &order.field {
            Some(field) => {
                let empty = BTreeMap::new();
                let values = self.metadata.get(&**field).unwrap_or(&empty);
                let distance = order.decay.as_ref().map(|decay| Order::distances(decay, values.keys()));
                for (rank, (value, items)) in values.iter().enumerate() {
                    let key = distance.as_ref().map_or(sign * rank as f64, |distance| distance(value));
                    items.iter().for_each(|item| keys[*item as usize] = key);
                }
            }
            None => {
                let distance = order.decay.as_ref().map(|decay| Order::distances(decay, std::iter::empty()));
                for (key, at) in keys.iter_mut().zip(&self.created_at) {
                    *key = match &distance {
                        Some(distance) => distance(&Value::Text(at.clone())),
                        None => days_of(at).map_or(f64::INFINITY, |days| sign * days),
                    };
                }
            }
        }
        ItemOrder::new(&self.segments, &keys, within, order.decay.is_some())
    }

    fn met(&self, filter: &Filter, segments_of: SegmentsOf<'_>) -> Result<ItemSet> {
        let mut met = ItemSet::all(self.items());
        if let Some(ids) = &filter.items {
            met.and(&self.named(ids, segments_of)?);
        }
        if let Some(types) = &filter.media_type {
            met.and(&self.of_types(types));
        }
        if let Some(patterns) = &filter.name {
            met.and(&self.called(patterns));
        }
        if let Some(patterns) = &filter.key {
            met.and(&self.keyed(patterns));
        }
        if filter.created_after.is_some() || filter.created_before.is_some() {
            met.and(&self.created(filter.created_after.as_deref(), filter.created_before.as_deref()));
        }
        for (field, condition) in &filter.metadata {
            met.and(&self.with(field, condition));
        }
        for each in &filter.and {
            met.and(&self.met(each, segments_of)?);
        }
        if let Some(any) = &filter.or {
            let mut of_any = ItemSet::none(self.items());
            for each in any {
                of_any.or(&self.met(each, segments_of)?);
            }
            met.and(&of_any);
        }
        if let Some(not) = &filter.not {
            let mut others = self.met(not, segments_of)?;
            others.invert();
            met.and(&others);
        }
        Ok(met)
    }

    fn named(&self, ids: &[String], segments_of: SegmentsOf<'_>) -> Result<ItemSet> {
        let mut named = ItemSet::none(self.items());
        for id in ids {
            // One without Segments has no first: its entry says 0, which is another's.
            let segments = segments_of(id)?.filter(|(_, count)| *count > 0);
            if let Some(item) = segments.and_then(|(first, _)| self.by_first.get(&first)) {
                named.add(*item);
            }
            let mut around = vec![id.as_str()];
            while let Some(id) = around.pop() {
                let Some(inside) = self.inside.get(id) else { continue };
                named.add_all(&inside.items);
                around.extend(inside.archives.iter().map(|id| &**id));
            }
        }
        Ok(named)
    }

    fn of_types(&self, types: &[String]) -> ItemSet {
        let mut of = ItemSet::none(self.items());
        let globs: Vec<Glob> = types.iter().map(|wanted| Glob::new(wanted)).collect();
        for (media_type, items) in &self.media_types {
            if globs.iter().any(|glob| glob.matches(&media_type.to_lowercase())) {
                of.add_all(items);
            }
        }
        of
    }

    fn called(&self, patterns: &[String]) -> ItemSet {
        let mut called = ItemSet::none(self.items());
        let globs: Vec<Glob> = patterns.iter().map(|pattern| Glob::new(pattern)).collect();
        for (item, name) in self.names.iter().enumerate() {
            if globs.iter().any(|glob| glob.matches(name)) {
                called.add(item as u32);
            }
        }
        for (item, names) in &self.aliases {
            if globs.iter().any(|glob| names.iter().any(|name| glob.matches(name))) {
                called.add(*item);
            }
        }
        for (item, path) in &self.paths {
            if globs.iter().any(|glob| glob.matches(path)) {
                called.add(*item);
            }
        }
        called
    }

    fn keyed(&self, patterns: &[String]) -> ItemSet {
        let mut keyed = ItemSet::none(self.items());
        let globs: Vec<Glob> = patterns.iter().map(|pattern| Glob::new(pattern)).collect();
        for (item, key) in &self.keys {
            if globs.iter().any(|glob| glob.matches(key)) {
                keyed.add(*item);
            }
        }
        keyed
    }

    fn created(&self, after: Option<&str>, before: Option<&str>) -> ItemSet {
        let mut created = ItemSet::none(self.items());
        for (item, at) in self.created_at.iter().enumerate() {
            if after.is_none_or(|after| &**at >= after) && before.is_none_or(|before| &**at < before) {
                created.add(item as u32);
            }
        }
        created
    }

    fn with(&self, field: &str, condition: &Condition) -> ItemSet {
        let Condition { is_in, gt, gte, lt, lte, exists } = condition;
        let empty = BTreeMap::new();
        let values = self.metadata.get(field).unwrap_or(&empty);
        let mut with = ItemSet::all(self.items());
        if let Some(wanted) = is_in {
            let mut one_of = ItemSet::none(self.items());
            wanted.iter().filter_map(|value| values.get(value)).for_each(|items| one_of.add_all(items));
            with.and(&one_of);
        }
        if [gt, gte, lt, lte].iter().any(|end| end.is_some()) {
            with.and(&self.between(values, [gt.as_ref(), gte.as_ref()], [lt.as_ref(), lte.as_ref()]));
        }
        if let Some(exists) = exists {
            let mut known = ItemSet::none(self.items());
            values.values().for_each(|items| known.add_all(items));
            if !exists {
                known.invert();
            }
            with.and(&known);
        }
        with
    }

    /// `from`: the end that is left out, and the one that is not; `to` the same.
    fn between(
        &self,
        values: &BTreeMap<Value, Vec<u32>>,
        from: [Option<&Value>; 2],
        to: [Option<&Value>; 2],
    ) -> ItemSet {
        let mut between = ItemSet::none(self.items());
        let ends: Vec<&Value> = [from, to].into_iter().flatten().flatten().collect();
        let lower = bound(from[0].max(from[1]), from[0] >= from[1]);
        let least = [to[0], to[1]].into_iter().flatten().min();
        let upper = bound(least, to[0].is_some() && to[0] == least);
        if !ends.windows(2).all(|pair| pair[0].is_like(pair[1])) || is_nothing(lower, upper) {
            return between;
        }
        for (value, items) in values.range::<Value, _>((lower, upper)) {
            if value.is_like(ends[0]) {
                between.add_all(items);
            }
        }
        between
    }
}

fn bound(end: Option<&Value>, left_out: bool) -> Bound<&Value> {
    match end {
        None => Bound::Unbounded,
        Some(end) if left_out => Bound::Excluded(end),
        Some(end) => Bound::Included(end),
    }
}

/// Ends between which nothing can be: a map refuses them.
fn is_nothing(lower: Bound<&Value>, upper: Bound<&Value>) -> bool {
    match (lower, upper) {
        (Bound::Included(one), Bound::Included(two)) => one > two,
        (Bound::Included(one) | Bound::Excluded(one), Bound::Included(two) | Bound::Excluded(two)) => one >= two,
        _ => false,
    }
}
