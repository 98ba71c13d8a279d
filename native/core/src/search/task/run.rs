//! One search of one snapshot.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use crate::error::Result;
use crate::filter::expression::Filter;
use crate::filter::order::{ItemOrder, Order};
use crate::ranking::hit_group::HitGroup;
use crate::ranking::options::{SearchOptions, Stop};
use crate::ranking::rating::Rating;
use crate::ranking::segment_filter::SegmentFilter;
use crate::ranking::top_k::{Method, Ranking};
use crate::search::evidence::{Evidence, Rates, ScannedList};
use crate::search::fusion::{FusedPlace, arrange, fuse};
use crate::search::members::{ShownHit, likeness_of};
use crate::search::moments::shown_moments;
use crate::search::other_passages::other_passages;
use crate::search::plan::{BestHit, Plan, Scans};
use crate::search::query::QueryFacts;
use crate::shard::extents::Extent;
use crate::shard::hits::{WrittenHits, hits};
use crate::shard::query::Conditional;
use crate::shard::snapshot::Snapshot;

/// Most hits that are written on the caller's thread: each takes 5 to 9 microseconds (`make bench NAME=hits`).
const HITS_AT_ONCE_MAX: u64 = 100;

/// Segments of an index whose Items are put in an order on the caller's thread.
const ORDERED_AT_ONCE_MAX: u64 = 4096;

/// A query for each list of a plan.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub k: usize,
    /// Places that each list should reach.
    pub depth: usize,
    /// Every list is proved.
    pub exact: bool,
    /// Places that are less likely are left out.
    pub min_confidence: f64,
    pub explain: bool,
    /// The words ask something; they describe no picture.
    pub asks: bool,
    pub describes_none: bool,
    /// They ask for what no picture shows.
    pub asks_of_facts: bool,
    /// RFC 3339 of the Items' end, if that is not what is stored.
    pub expires_at: Option<String>,
    /// How much text hits show. None: a snippet.
    pub extent: Option<Extent>,
    /// The Items that may be found. None: all.
    pub filter: Option<Arc<Filter>>,
    /// Segments that are not found, first and last: those that the search is like.
    pub without: Vec<(u32, u32)>,
    /// The order of the hits. None: the likelier first.
    pub order: Option<Arc<Order>>,
}

impl Wanted {
    pub fn options(&self) -> SearchOptions {
        SearchOptions { places: true, exact: self.exact, ..SearchOptions::best(self.depth) }
    }
}

/// A search with the queries of its lists.
pub struct Search {
    pub plan: Arc<Plan>,
    pub wanted: Wanted,
    pub words: Option<String>,
    /// One for each list of the plan.
    pub queries: Vec<Arc<Conditional>>,
    /// For each list: the query is reliably in a language that its model does not know.
    pub foreign: Vec<bool>,
}

/// How a list was made.
#[derive(Debug, Clone)]
pub struct ListScan {
    pub scanned: u64,
    pub rescored: u64,
    pub exact: bool,
    pub method: Method,
    /// As in [`Ranking`].
    pub recall: f64,
}

/// Answers of the lists of a search.
pub struct Scanned {
    pub evidence: Evidence,
    /// One for each list of the plan.
    pub lists: Vec<ScannedList>,
    /// One for each list of the plan.
    pub scans: Vec<ListScan>,
    /// The words with slips corrected.
    pub corrected: Option<String>,
    /// Quoted phrases that stand nowhere: their words were looked for.
    pub relaxed: Vec<String>,
    /// The Segments that were allowed. None: all.
    pub within: Option<Arc<SegmentFilter>>,
    /// The order of the Items, if the search has one.
    pub order: Option<ItemOrder>,
}

pub struct Answer {
    pub hits: WrittenHits,
    /// Places that any list found.
    pub candidates: usize,
    /// That of the first hit; 0 without one.
    pub confidence: f64,
    /// One for each list of the plan.
    pub scans: Vec<ListScan>,
    /// The words with slips corrected.
    pub corrected: Option<String>,
    /// Quoted phrases that stand nowhere: their words were looked for.
    pub relaxed: Vec<String>,
    pub segments: u64,
    /// Nothing was found, and the filter leaves nothing to find.
    pub filtered_out: bool,
    pub scan_ms: f64,
    pub fuse_ms: f64,
}

impl Search {
    /// Whether it would hold up the calling thread for too long.
    pub fn is_long(&self, snapshot: &Snapshot) -> Result<bool> {
        let segments = snapshot.totals()?.segments;
        let hits = segments.min(self.wanted.k as u64);
        let is_late = (self.wanted.filter.is_some() || self.wanted.order.is_some()) && snapshot.filters_late()?;
        // Every band is scanned separately, and all Items are sorted.
        if is_late || (self.wanted.order.is_some() && segments > ORDERED_AT_ONCE_MAX) {
            return Ok(true);
        }
        let around = self.wanted.extent.map_or(0, |extent| 2 * u64::from(extent.around));
        let hits = hits * (1 + around);
        Ok(hits > HITS_AT_ONCE_MAX || self.queries.iter().any(|query| query.is_long(segments)))
    }

    /// # Errors
    /// `interrupted` once it was cancelled.
    pub fn run(&self, snapshot: &Snapshot, stop: &Stop) -> Result<Answer> {
        let started = Instant::now();
        let Scanned { evidence, lists, scans, corrected, relaxed, within, order } = self.scan(snapshot, stop)?;
        stop.check()?;
        let rated = Instant::now();
        let Wanted { k, min_confidence, explain, asks, describes_none, asks_of_facts, expires_at, .. } = &self.wanted;
        let segments = snapshot.totals()?.segments;
        let (asks, describes_none, asks_of_facts) = (*asks, *describes_none, *asks_of_facts);
        let facts = QueryFacts { segments, asks, describes_none, asks_of_facts };
        let reach = if order.is_some() { usize::MAX } else { *k };
        let mut places = fuse(&self.plan, &evidence, &facts, reach, *min_confidence);
        let confidence = places.first().map_or(0.0, |place| place.best.confidence);
        let mut best = BestHit { confidence, weighed: confidence };
        let decays = self.wanted.order.as_ref().is_some_and(|order| order.decay.is_some());
        if let Some(order) = &order {
            let comes_first = |place: &FusedPlace| {
                let likeness = likeness_of(&self.plan, &evidence, place);
                *min_confidence > 0.0 || self.plan.likely.holds(place.best.confidence, &best, likeness)
            };
            arrange(&mut places, decays, |place| order.key_of(place.best.likelihood.segment), comes_first);
            best.weighed = places.iter().map(FusedPlace::weighed).fold(0.0, f64::max);
            places.truncate(*k);
        }
        let rater = self.rater(snapshot, within.as_deref());
        let others = other_passages(&self.plan, &evidence, &lists, &places, &rater)?;
        let shown: Result<Vec<ShownHit<'_>>> = places
            .iter()
            .zip(&others)
            .map(|(fused, others)| {
                let moments = shown_moments(&fused.best, &fused.moments, |segment| snapshot.record(segment))?;
                Ok(ShownHit {
                    plan: &self.plan,
                    evidence: &evidence,
                    fused,
                    moments,
                    best,
                    decays,
                    others,
                    explain: *explain,
                })
            })
            .collect();
        let words = match (&self.words, &corrected) {
            (Some(words), Some(corrected)) => Some(Cow::from(format!("{corrected} {words}"))),
            (words, _) => words.as_deref().map(Cow::from),
        };
        let hits = hits(snapshot, &shown?, words.as_deref(), expires_at.as_deref(), self.wanted.extent)?;
        let filtered_out = match within.filter(|_| evidence.candidates.is_empty()) {
            Some(within) => !snapshot.has_any(&within)?,
            None => false,
        };
        Ok(Answer {
            hits,
            candidates: evidence.candidates.len(),
            confidence,
            scans,
            corrected,
            relaxed,
            segments,
            filtered_out,
            scan_ms: (rated - started).as_secs_f64() * 1e3,
            fuse_ms: rated.elapsed().as_secs_f64() * 1e3,
        })
    }

    fn rater<'a>(&'a self, snapshot: &'a Snapshot, within: Option<&'a SegmentFilter>) -> Rater<'a> {
        Rater { search: self, snapshot, within }
    }

    /// Ranks the lists one after the other, and has them rate what any of them found.
    pub fn scan(&self, snapshot: &Snapshot, stop: &Stop) -> Result<Scanned> {
        let within = self.within(snapshot)?;
        let order = self.wanted.order.as_ref().map(|order| snapshot.ordered(order, within.as_deref())).transpose()?;
        let bands: Vec<Option<Arc<SegmentFilter>>> = match &order {
            Some(order) if order.bands.len() > 1 => order.bands.iter().cloned().map(Some).collect(),
            _ => vec![within.clone()],
        };
        let ranked = |query: &Arc<Conditional>| {
            let of_band = |within: &Option<Arc<SegmentFilter>>| {
                let options = SearchOptions { stop: stop.clone(), within: within.clone(), ..self.wanted.options() };
                snapshot.answer_if(query, &options)
            };
            bands.iter().map(of_band).collect::<Result<Vec<Ranking>>>().map(Ranking::of_parts)
        };
        let mut rankings = self.queries.iter().map(ranked).collect::<Result<Vec<Ranking>>>()?;
        let corrected = rankings.iter_mut().find_map(|ranking| ranking.corrected.take());
        let relaxed = rankings.iter_mut().map(|of| std::mem::take(&mut of.relaxed)).find(|of| !of.is_empty());
        let relaxed = relaxed.unwrap_or_default();
        let scans = rankings.iter().map(scan_of).collect();
        let lists = rankings.into_iter().zip(&self.plan.lists).zip(&self.foreign);
        let lists: Vec<ScannedList> = lists
            .map(|((ranking, list), foreign)| {
                let unrated = list.scans == Scans::Fingerprints;
                ScannedList { ranking, unrated, foreign: *foreign }
            })
            .collect();
        let mut evidence = Evidence::gather(
            &self.plan,
            &lists,
            self.wanted.depth * bands.len(),
            &self.rater(snapshot, within.as_deref()),
        )?;
        if bands.len() > 1 {
            // Behind the best of all, a list of bands may lack places.
            let is_known = |rank: &u32| *rank as usize <= self.wanted.depth;
            evidence.said.iter_mut().flatten().for_each(|said| said.rank = said.rank.filter(is_known));
        }
        Ok(Scanned { evidence, lists, scans, corrected, relaxed, within, order })
    }

    /// The Segments that may be found. None: all.
    fn within(&self, snapshot: &Snapshot) -> Result<Option<Arc<SegmentFilter>>> {
        let Wanted { filter, without, .. } = &self.wanted;
        let within = filter.as_ref().map(|filter| snapshot.within(filter)).transpose()?;
        if without.is_empty() {
            return Ok(within);
        }
        let others = SegmentFilter::without(without);
        Ok(Some(Arc::new(within.map_or(others.clone(), |within| within.and(&others)))))
    }
}

struct Rater<'a> {
    search: &'a Search,
    snapshot: &'a Snapshot,
    within: Option<&'a SegmentFilter>,
}

impl Rates for Rater<'_> {
    fn rate(&self, list: usize, segments: &[u32]) -> Result<Rating> {
        // A sample of the index's scores is used only for models without a scale of their own.
        let sampled = self.search.plan.lists[list].scale.is_none();
        self.snapshot.rate(&self.search.queries[list].query, segments, sampled, self.within)
    }

    fn places(&self, segments: &[u32]) -> Result<Vec<HitGroup>> {
        self.snapshot.places(segments)
    }
}

fn scan_of(ranking: &Ranking) -> ListScan {
    let Ranking { scanned, rescored, exact, method, recall, .. } = ranking;
    ListScan { scanned: *scanned, rescored: *rescored, exact: *exact, method: *method, recall: *recall }
}
