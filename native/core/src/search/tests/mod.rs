//! Ranked lists that are made up, and what becomes of them.

mod films;
mod places;
mod properties;

use std::collections::BTreeMap;

use super::curve::{Curve, Features};
use super::evidence::{Evidence, Rates, ScannedList};
use super::fusion::{FusedPlace, fuse as fuse_evidence};
use super::other_passages::other_passages;
use super::plan::{Calibration, CosineScale, Kind, LikelyRule, Plan, PlannedList, Scans};
use super::query::{QueryFacts, asks_of_facts};
use crate::error::Result;
use crate::ranking::hit_group::HitGroup;
use crate::ranking::rating::{Rating, Sample};
use crate::ranking::top_k::{Ranking, Scored};

type Scores = BTreeMap<u32, f32>;

/// A list with the scores of every Segment that it knows; only the first `read` of them are ranked.
#[derive(Clone, Default)]
struct Known {
    name: &'static str,
    scores: Scores,
    held: Scores,
    lacks: Scores,
    coincidental: Scores,
    /// Segments that have every word as it is written.
    written: Vec<u32>,
    information: f32,
    words: usize,
    foreign: bool,
    read: Option<usize>,
    notes: Vec<u32>,
}

fn known(name: &'static str, scores: &[(u32, f32)]) -> Known {
    Known { name, scores: scores.iter().copied().collect(), information: 10.0, ..Known::default() }
}

impl Known {
    fn held(mut self, held: &[(u32, f32)]) -> Self {
        self.held = held.iter().copied().collect();
        self
    }

    fn lacks(mut self, lacks: &[(u32, f32)]) -> Self {
        self.lacks = lacks.iter().copied().collect();
        self
    }
}

/// How Segments lie in Items, and what is asked.
#[derive(Clone, Copy)]
struct Setting {
    place: fn(u32) -> u32,
    moment: Option<fn(u32) -> u32>,
    size: fn(u32) -> u32,
    k: usize,
    depth: usize,
    min_confidence: f64,
    describes_none: bool,
    asks_of_facts: bool,
    asks: bool,
    segments: u64,
}

const PLAIN: Setting = Setting {
    place: |segment| segment,
    moment: None,
    size: |_| 0,
    k: 10,
    depth: 100,
    min_confidence: 0.0,
    describes_none: false,
    asks_of_facts: false,
    asks: false,
    segments: 1000,
};

fn place_of(setting: &Setting, segment: u32, note: bool) -> HitGroup {
    let moment = setting.moment.unwrap_or(setting.place);
    HitGroup { place: (setting.place)(segment), moment: moment(segment), size: (setting.size)(segment), note }
}

fn planned(name: &str) -> PlannedList {
    let (family, kind, scans) = match name {
        "text_semantic" => ("text_semantic", Kind::Passages, Scans::Vectors),
        "raw_words" => ("raw", Kind::Passages, Scans::Words),
        "raw_picture" => ("raw", Kind::Pictures, Scans::Fingerprints),
        _ => ("visual", Kind::Pictures, Scans::Vectors),
    };
    let curve = match name {
        "text_semantic" => Some((-3.0, Features { cosine: 3.0, lead: 1.0, ..Features::default() })),
        "raw_words" => Some((-3.0, Features { lead: 4.0, held: 1.3, ..Features::default() })),
        _ => None,
    };
    let curve = curve.map(|(bias, weights)| Curve { bias, weights });
    let weights = Features { lead: 3.0, held: 1.2, missing: -2.0, written: 1.0, ..Features::default() };
    let with_words = Curve { bias: -2.0, weights };
    let calibration = match name {
        "visual_words" => Some(Calibration { a: 11.0, b: -7.0, lead: 0.0 }),
        "visual_picture" => Some(Calibration { a: 19.0, b: -13.0, lead: 0.0 }),
        _ => None,
    };
    PlannedList {
        name: name.to_owned(),
        family: family.to_owned(),
        kind,
        scans,
        near_identical: name == "raw_picture",
        described: name != "raw_picture" && name != "visual_picture",
        languages: None,
        weight: if name == "text_semantic" { 0.2 } else { 1.0 },
        scale: None,
        other_language_words: None,
        curve,
        with_words: (name == "text_semantic").then_some(with_words),
        sentences: None,
        calibration,
    }
}

fn plan_of(lists: &[Known]) -> Plan {
    Plan {
        lists: lists.iter().map(|list| planned(list.name)).collect(),
        unknown_language_share: 0.2,
        likely: LikelyRule::default(),
    }
}

struct Rater<'a> {
    lists: &'a [Known],
    setting: &'a Setting,
}

impl Rates for Rater<'_> {
    fn rate(&self, list: usize, segments: &[u32]) -> Result<Rating> {
        let list = &self.lists[list];
        let absent = if list.name == "raw_words" { 0.0 } else { f32::NAN };
        let of = |values: &Scores, absent: f32| {
            segments.iter().map(|segment| values.get(segment).copied().unwrap_or(absent)).collect()
        };
        Ok(Rating {
            scores: of(&list.scores, absent),
            held: of(&list.held, 0.0),
            lacks: of(&list.lacks, 0.0),
            coincidental: of(&list.coincidental, 0.0),
            written: list.written.clone(),
            information: list.information,
            words: list.words,
            sample: Sample { count: 1000, mean: 0.1, deviation: 0.1 },
        })
    }

    fn places(&self, segments: &[u32]) -> Result<Vec<HitGroup>> {
        Ok(segments.iter().map(|segment| place_of(self.setting, *segment, false)).collect())
    }
}

fn scanned(list: &Known, setting: &Setting) -> ScannedList {
    let mut hits: Vec<Scored> =
        list.scores.iter().map(|(segment, score)| Scored { score: *score, segment: *segment }).collect();
    hits.sort();
    hits.truncate(list.read.unwrap_or(usize::MAX));
    let places = hits.iter().map(|hit| place_of(setting, hit.segment, list.notes.contains(&hit.segment))).collect();
    ScannedList {
        ranking: Ranking { hits, places, exact: true, ..Ranking::default() },
        unrated: list.name == "raw_picture",
        foreign: list.foreign,
    }
}

fn gathered(plan: &Plan, lists: &[Known], setting: &Setting) -> Evidence {
    let scanned: Vec<ScannedList> = lists.iter().map(|list| scanned(list, setting)).collect();
    Evidence::gather(plan, &scanned, setting.depth, &Rater { lists, setting }).unwrap()
}

fn fuse_by(plan: &Plan, lists: &[Known], setting: Setting) -> Vec<FusedPlace> {
    let evidence = gathered(plan, lists, &setting);
    let Setting { asks, describes_none, asks_of_facts, segments, .. } = setting;
    let query = QueryFacts { segments, asks, describes_none, asks_of_facts };
    fuse_evidence(plan, &evidence, &query, setting.k, setting.min_confidence)
}

/// For each hit the Segments that it shows.
fn shown_in(lists: &[Known], setting: Setting) -> Vec<Vec<u32>> {
    let plan = plan_of(lists);
    let fused = fuse_in(lists, setting);
    let scanned: Vec<ScannedList> = lists.iter().map(|list| scanned(list, &setting)).collect();
    let evidence = gathered(&plan, lists, &setting);
    let others = other_passages(&plan, &evidence, &scanned, &fused, &Rater { lists, setting: &setting }).unwrap();
    segments(&fused).into_iter().zip(others).map(|(best, others)| [vec![best], others].concat()).collect()
}

fn fuse_in(lists: &[Known], setting: Setting) -> Vec<FusedPlace> {
    fuse_by(&plan_of(lists), lists, setting)
}

fn fuse(lists: &[Known]) -> Vec<FusedPlace> {
    fuse_in(lists, PLAIN)
}

fn segments(fused: &[FusedPlace]) -> Vec<u32> {
    fused.iter().map(|place| place.best.likelihood.segment).collect()
}

fn score(place: &FusedPlace) -> f64 {
    place.best.likelihood.log_odds
}

fn count(plan: &[Known], setting: Setting, place: &FusedPlace) -> u32 {
    gathered(&plan_of(plan), plan, &setting).candidates[place.best.likelihood.candidate].segments
}

fn range(from: u32, count: u32, of: impl Fn(f32) -> f32) -> Vec<(u32, f32)> {
    (0..count).map(|at| (from + at, of(at as f32))).collect()
}
