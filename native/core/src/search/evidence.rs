//! Evidence of all lists about the places that any of them found.

use serde::{Deserialize, Serialize};

use super::heads::{Head, heads_of};
use super::plan::{Kind, Plan, PlannedList};
use super::segment_map::{SegmentMap, SegmentSet};
use crate::error::Result;
use crate::ranking::hit_group::HitGroup;
use crate::ranking::rating::{Rating, Sample};
use crate::ranking::top_k::Ranking;

/// A ranked list of the plan.
#[derive(Debug)]
pub struct ScannedList {
    pub ranking: Ranking,
    /// Its Segments say all, and no other is rated: near-identical pictures.
    pub unrated: bool,
    /// The query is reliably in a language that the list's model does not know.
    pub foreign: bool,
}

/// Rates any Segment for a query.
pub trait Rates {
    /// Rates Segments, ascending, by a list of the plan.
    fn rate(&self, list: usize, segments: &[u32]) -> Result<Rating>;
    fn places(&self, segments: &[u32]) -> Result<Vec<HitGroup>>;
}

/// Evidence of one list about a moment: its score for the best of its Segments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ListEvidence {
    pub score: f64,
    /// For words: share of the query's information in that Segment.
    pub held: f64,
    /// For words: share of the query's information that is in codes, numbers and names which that Segment lacks.
    pub lacks: f64,
    /// For words: share of the score that is of words which stand in texts of another language by coincidence.
    #[serde(default)]
    pub coincidental: f64,
    /// For words: that Segment is one of few with every word as it is written.
    pub written: bool,
    pub segment: u32,
    /// The Segment's text is about the file and not in it.
    pub note: bool,
    /// Rank of the place in the list, from 1. None where another list found it.
    pub rank: Option<u32>,
}

/// Evidence of a list that holds for all places: what its scores can be compared with.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Scale {
    pub foreign: bool,
    pub information: f64,
    /// The query's words, without stop words.
    #[serde(default)]
    pub words: f64,
    pub sample: ScoreSample,
}

/// Scores of a fixed sample of a space's rows.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct ScoreSample {
    pub count: f64,
    pub mean: f64,
    pub deviation: f64,
}

impl From<Sample> for ScoreSample {
    fn from(Sample { count, mean, deviation }: Sample) -> Self {
        Self { count: f64::from(count), mean: f64::from(mean), deviation: f64::from(deviation) }
    }
}

/// A moment that a list found: a shot of a film or a stretch of a recording, whose place is the whole; a page or a section, which
/// is its own place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub place: u32,
    pub moment: u32,
    /// Segments of the film or recording; 0 elsewhere.
    pub size: u32,
    /// The earliest of the place's Segments, and how many of them are in any list.
    pub first: u32,
    pub segments: u32,
}

/// Evidence of all lists of a plan.
#[derive(Debug, Serialize, Deserialize)]
pub struct Evidence {
    /// One for each list.
    pub scales: Vec<Scale>,
    pub candidates: Vec<Candidate>,
    /// For each candidate in turn, one for each list.
    pub said: Vec<Option<ListEvidence>>,
}

impl Evidence {
    /// The evidence of a list about a candidate.
    pub fn of(&self, candidate: usize, list: usize) -> Option<&ListEvidence> {
        self.said[candidate * self.scales.len() + list].as_ref()
    }

    /// Evidence about the first `depth` places of each list, and about the few that have the words as they are written. A moment
    /// that one list found is rated by all lists of its kind: what is said of it does not depend on how deep another list was
    /// read.
    pub fn gather(plan: &Plan, lists: &[ScannedList], depth: usize, rates: &impl Rates) -> Result<Self> {
        let mut found = Found::new(plan, lists, depth);
        let kinds: Vec<SegmentSet> = Kind::ALL.map(|kind| found.named_by(kind)).into();
        let mut scales = vec![Scale::default(); lists.len()];
        for (kind, named) in Kind::ALL.into_iter().zip(kinds) {
            found.rate_kind(kind, named, rates, &mut scales)?;
        }
        found.count_segments();
        for (scale, list) in scales.iter_mut().zip(lists) {
            scale.foreign = list.foreign;
        }
        Ok(Self { scales, candidates: found.candidates, said: found.said })
    }
}

/// Evidence while it is gathered.
struct Found<'a> {
    plan: &'a [PlannedList],
    lists: &'a [ScannedList],
    heads: Vec<Vec<Head>>,
    candidates: Vec<Candidate>,
    said: Vec<Option<ListEvidence>>,
    /// Candidates by their moments.
    of_moment: SegmentMap<usize>,
}

impl<'a> Found<'a> {
    fn new(plan: &'a Plan, lists: &'a [ScannedList], depth: usize) -> Self {
        let heads = lists.iter().map(|list| heads_of(&list.ranking, depth)).collect::<Vec<_>>();
        let mut found = Self {
            plan: &plan.lists,
            lists,
            heads: vec![],
            candidates: vec![],
            said: vec![],
            of_moment: SegmentMap::default(),
        };
        for Head { at, segment, .. } in heads.iter().flatten() {
            found.add(*at, *segment, 0);
        }
        found.heads = heads;
        found
    }

    /// The candidate of a place's moment.
    fn add(&mut self, HitGroup { place, moment, size, .. }: HitGroup, first: u32, segments: u32) -> usize {
        *self.of_moment.entry(moment).or_insert_with(|| {
            self.candidates.push(Candidate { place, moment, size, first, segments });
            self.said.resize(self.said.len() + self.lists.len(), None);
            self.candidates.len() - 1
        })
    }

    fn lists_of(&self, kind: Kind) -> Vec<usize> {
        (0..self.lists.len()).filter(|at| self.plan[*at].kind == kind).collect()
    }

    /// The Segments that lists of a kind name.
    fn named_by(&self, kind: Kind) -> SegmentSet {
        self.lists_of(kind).into_iter().flat_map(|at| self.heads[at].iter().map(|head| head.segment)).collect()
    }

    /// Has every list of a kind rate the Segments that one of them names.
    fn rate_kind(&mut self, kind: Kind, named: SegmentSet, rates: &impl Rates, scales: &mut [Scale]) -> Result<()> {
        let lists = self.lists_of(kind);
        let mut rated = RatedSegments::default();
        for head in lists.iter().flat_map(|at| &self.heads[*at]) {
            rated.push(head.segment, self.of_moment[&head.at.moment], head.at.note);
        }
        rated.sort();
        let mut written = SegmentSet::default();
        for list in &lists {
            if self.lists[*list].unrated {
                self.take(*list);
                continue;
            }
            let rating = rates.rate(*list, &rated.segments)?;
            scales[*list].information = f64::from(rating.information);
            scales[*list].words = rating.words as f64;
            scales[*list].sample = rating.sample.into();
            self.apply(*list, &rating, &rated);
            written.extend(rating.written.iter().filter(|segment| !named.contains(segment)));
        }
        if written.is_empty() {
            return Ok(());
        }
        let mut segments: Vec<u32> = written.into_iter().collect();
        segments.sort_unstable();
        let mut unnamed = RatedSegments::default();
        for (segment, place) in segments.iter().zip(rates.places(&segments)?) {
            let candidate = self.add(place, *segment, 1);
            unnamed.push(*segment, candidate, place.note);
        }
        for list in lists {
            if !self.lists[list].unrated {
                let rating = rates.rate(list, &unnamed.segments)?;
                self.apply(list, &rating, &unnamed);
            }
        }
        Ok(())
    }

    /// Notes what a list says of each moment: of its Segment that has the words as they are written, or else of its best one.
    fn apply(&mut self, list: usize, rating: &Rating, rated: &RatedSegments) {
        let value = |values: &[f32], at: usize| values.get(at).map_or(0.0, |value| f64::from(*value));
        let ranks: SegmentMap<u32> = self.heads[list].iter().map(|head| (head.at.moment, head.rank)).collect();
        for (at, (segment, (candidate, note))) in rated.segments.iter().zip(&rated.of).enumerate() {
            let score = value(&rating.scores, at);
            if score.is_nan() {
                continue;
            }
            let said = ListEvidence {
                score,
                held: value(&rating.held, at),
                lacks: value(&rating.lacks, at),
                coincidental: value(&rating.coincidental, at),
                written: rating.written.binary_search(segment).is_ok(),
                segment: *segment,
                note: *note,
                rank: ranks.get(&self.candidates[*candidate].moment).copied(),
            };
            let before = &mut self.said[*candidate * self.lists.len() + list];
            if before.as_ref().is_none_or(|before| is_better(&said, before)) {
                *before = Some(said);
            }
        }
    }

    /// Takes a list as it is.
    fn take(&mut self, list: usize) {
        for Head { at, segment, score, rank } in &self.heads[list] {
            let said = ListEvidence { score: *score, segment: *segment, rank: Some(*rank), ..ListEvidence::default() };
            self.said[self.of_moment[&at.moment] * self.lists.len() + list] = Some(said);
        }
    }

    /// Counts the Segments of each place that are in any list.
    fn count_segments(&mut self) {
        let mut places: SegmentMap<(u32, u32)> =
            self.candidates.iter().map(|candidate| (candidate.place, (u32::MAX, 0))).collect();
        let mut counted = SegmentSet::default();
        for ScannedList { ranking, .. } in self.lists {
            for (hit, at) in ranking.hits.iter().zip(&ranking.places) {
                let Some((first, segments)) = places.get_mut(&at.place) else { continue };
                if self.lists.len() > 1 && !counted.insert(hit.segment) {
                    continue;
                }
                *first = hit.segment.min(*first);
                *segments += 1;
            }
        }
        for candidate in &mut self.candidates {
            let (first, segments) = places[&candidate.place];
            if segments > 0 {
                (candidate.first, candidate.segments) = (first, segments);
            }
        }
    }
}

/// Segments to be rated, ascending, each with its candidate and whether it is a note.
#[derive(Default)]
struct RatedSegments {
    segments: Vec<u32>,
    of: Vec<(usize, bool)>,
}

impl RatedSegments {
    fn push(&mut self, segment: u32, candidate: usize, note: bool) {
        self.segments.push(segment);
        self.of.push((candidate, note));
    }

    fn sort(&mut self) {
        let mut all: Vec<_> = self.segments.drain(..).zip(self.of.drain(..)).collect();
        all.sort_unstable();
        all.dedup_by_key(|(segment, _)| *segment);
        (self.segments, self.of) = all.into_iter().unzip();
    }
}

/// Ties go to the earlier segment.
fn is_better(one: &ListEvidence, other: &ListEvidence) -> bool {
    if one.written != other.written {
        return one.written;
    }
    one.score > other.score || (one.score == other.score && one.segment < other.segment)
}
