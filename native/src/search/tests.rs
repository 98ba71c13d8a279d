use std::collections::BTreeMap;

use proptest::prelude::*;

use super::evidence::{Evidence, Rates, ScannedList};
use super::fusion::{FusedPlace, fuse as fuse_evidence};
use super::plan::{Calibration, CosineScale, Curve, Kind, Plan, PlannedList, Scans};
use super::query::QueryFacts;
use crate::error::Result;
use crate::ranking::place::Place;
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
    /// Segments that have every word as it is written.
    written: Vec<u32>,
    information: f32,
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
    asks: bool,
}

const PLAIN: Setting = Setting {
    place: |segment| segment,
    moment: None,
    size: |_| 0,
    k: 10,
    depth: 100,
    min_confidence: 0.0,
    describes_none: false,
    asks: false,
};

fn place_of(setting: &Setting, segment: u32, note: bool) -> Place {
    let moment = setting.moment.unwrap_or(setting.place);
    Place { place: (setting.place)(segment), moment: moment(segment), size: (setting.size)(segment), note }
}

fn planned(name: &str) -> PlannedList {
    let (family, kind, scans) = match name {
        "text_semantic" => ("text_semantic", Kind::Passages, Scans::Vectors),
        "raw_words" => ("raw", Kind::Passages, Scans::Words),
        "raw_picture" => ("raw", Kind::Pictures, Scans::Fingerprints),
        _ => ("visual", Kind::Pictures, Scans::Vectors),
    };
    let curve = match name {
        "text_semantic" => Some(Curve { bias: -3.0, slope: 8.0, cosine: 3.0, gap: 1.0, ..Curve::default() }),
        "raw_words" => Some(Curve { bias: -4.0, slope: 6.0, gap: 4.0, held: 1.3, ..Curve::default() }),
        _ => None,
    };
    let with_words = Curve {
        bias: -3.0,
        slope: 5.0,
        gap: 3.0,
        held: 1.2,
        lacks: -2.0,
        written: 1.0,
        agreement: 0.9,
        ..Curve::default()
    };
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
        whole: f64::from(u8::from(name == "raw_words")),
        scale: None,
        curve,
        with_words: (name == "text_semantic").then_some(with_words),
        calibration,
    }
}

fn plan_of(lists: &[Known]) -> Plan {
    Plan { lists: lists.iter().map(|list| planned(list.name)).collect(), unknown_language_share: 0.2 }
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
            written: list.written.clone(),
            information: list.information,
            sample: Sample { count: 1000, mean: 0.1, deviation: 0.1 },
        })
    }

    fn places(&self, segments: &[u32]) -> Result<Vec<Place>> {
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
    let query = QueryFacts { segments: 1000, asks: setting.asks, describes_none: setting.describes_none };
    fuse_evidence(plan, &evidence, &query, setting.k, setting.min_confidence)
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

#[test]
fn a_place_that_two_lists_agree_on_comes_before_the_best_of_one_of_them() {
    let fused = fuse(&[
        known("text_semantic", &[(1, 0.72), (2, 0.7), (3, 0.1), (4, 0.1)]),
        known("raw_words", &[(4, 12.0), (2, 11.0), (3, 1.0)]),
    ]);
    assert_eq!(segments(&fused)[0], 2);
}

#[test]
fn every_exact_hit_stands_before_likenesses() {
    let likenesses = [range(100, 60, |at| 0.35 - at / 1000.0), vec![(1, 0.1), (2, 0.05)]].concat();
    let words = known("raw_words", &[(1, 9.0), (2, 6.0)]).held(&[(1, 1.0), (2, 1.0)]);
    let fused = fuse_in(&[known("text_semantic", &likenesses), words], Setting { k: 30, ..PLAIN });
    assert_eq!(segments(&fused)[..2], [1, 2]);
    assert!(fused[..2].iter().all(|place| place.best.likelihood.list == 1), "found by their words");
}

#[test]
fn rare_words_as_they_are_written_come_before_other_forms_though_no_list_names_them() {
    let forms = range(10, 20, |at| 12.0 - at / 10.0);
    let whole: Vec<(u32, f32)> = forms.iter().map(|form| form.0).chain([1, 2]).map(|segment| (segment, 1.0)).collect();
    let meaning = Known { read: Some(2), ..known("text_semantic", &[(10, 0.9), (50, 0.95), (1, 0.1), (2, 0.05)]) };
    let words = known("raw_words", &[forms, vec![(1, 5.0), (2, 4.0)]].concat()).held(&whole);
    let words = Known { written: vec![1, 2], read: Some(15), ..words };
    let fused = fuse_in(&[meaning, words], Setting { k: 30, ..PLAIN });
    assert_eq!(segments(&fused)[..2], [1, 2]);
    for place in &fused {
        let likelihood = &place.best.likelihood;
        let sum = likelihood.parts.iter().fold(likelihood.base, |sum, part| sum + part.log_odds);
        assert!((sum - likelihood.log_odds).abs() < 1e-9, "the parts still add up");
    }
}

#[test]
fn neither_k_nor_the_depth_of_lists_changes_what_is_said_of_a_hit() {
    let meaning = known("text_semantic", &range(0, 80, |at| 0.6 - at / 200.0));
    let words: Vec<(u32, f32)> = (0..80).map(|at| ((at * 37) % 80, 12.0 - at as f32 / 10.0)).collect();
    let lists = [meaning, known("raw_words", &words)];
    let at = |depth, k| fuse_in(&lists, Setting { depth, k, ..PLAIN });
    let (few, all) = (at(40, 3), at(80, 80));
    assert_eq!(segments(&few), segments(&all)[..3]);
    assert_eq!(few.iter().map(score).collect::<Vec<_>>(), all[..3].iter().map(score).collect::<Vec<_>>());
}

#[test]
fn the_parts_of_a_likelihood_add_up_over_all_lists() {
    let lists = [
        known("text_semantic", &[(1, 0.7), (2, 0.5), (3, 0.2)]),
        known("raw_words", &[(3, 8.0), (2, 4.0)]).held(&[(3, 1.0)]),
        known("visual_words", &[(11, 0.6), (20, 0.4)]),
        known("visual_picture", &[(20, 0.95), (21, 0.9), (11, 0.2)]),
        known("raw_picture", &[(21, 0.97)]),
    ];
    for place in fuse_in(&lists, Setting { place: |segment| segment % 10, ..PLAIN }) {
        let likelihood = &place.best.likelihood;
        let sum = likelihood.parts.iter().fold(likelihood.base, |sum, part| sum + part.log_odds);
        assert!((sum - likelihood.log_odds).abs() < 1e-9);
    }
}

#[test]
fn segments_of_one_place_are_one_hit_with_the_best_of_them_and_their_number() {
    let lists = [known("text_semantic", &[(7, 0.9), (8, 0.8), (20, 0.3)]), known("raw_words", &[(9, 5.0), (20, 1.0)])];
    let setting = Setting { place: |segment| u32::from(segment >= 10), ..PLAIN };
    let fused = fuse_in(&lists, setting);
    assert_eq!(count(&lists, setting, &fused[0]), 3);
    assert_eq!((segments(&fused)[1], count(&lists, setting, &fused[1])), (20, 1));
}

#[test]
fn equal_scores_are_ordered_by_insertion() {
    assert_eq!(segments(&fuse(&[known("raw_words", &[(5, 1.0), (3, 1.0), (9, 1.0)])])), [3, 5, 9]);
}

#[test]
fn the_best_of_many_poor_pictures_does_not_outrank_a_good_passage() {
    let fused = fuse(&[
        known("text_semantic", &[(1, 0.8), (2, 0.2)]),
        known("raw_words", &[(1, 12.0)]).held(&[(1, 0.8)]),
        known("visual_words", &range(100, 50, |at| 0.3 - at / 1000.0)),
    ]);
    assert_eq!(segments(&fused)[0], 1);
}

#[test]
fn a_near_identical_picture_outranks_every_likeness_and_no_match_changes_nothing() {
    let likeness = known("visual_picture", &[(1, 1.0), (2, 0.5), (3, -0.2)]);
    let fused = fuse(&[likeness.clone(), known("raw_picture", &[(3, 0.85)])]);
    let found: Vec<_> = fused.iter().map(|place| (place.best.likelihood.segment, place.best.likelihood.list)).collect();
    assert_eq!(found[..2], [(3, 1), (1, 0)]);
    let shown = |fused: Vec<FusedPlace>| fused.iter().map(|hit| (segments(&fused), score(hit))).collect::<Vec<_>>();
    assert_eq!(shown(fuse(&[likeness.clone(), known("raw_picture", &[])])), shown(fuse(&[likeness])));
}

#[test]
fn of_near_identical_pictures_the_nearer_is_first() {
    let fused = fuse(&[known("visual_picture", &[(1, 0.5), (2, 0.99)]), known("raw_picture", &[(1, 1.0), (2, 0.9)])]);
    assert_eq!(segments(&fused)[0], 1);
}

#[test]
fn a_page_found_by_its_text_is_not_helped_by_its_look() {
    let meaning = known("text_semantic", &[(1, 0.7), (2, 0.6)]);
    let setting = Setting { place: |segment| segment % 10, ..PLAIN };
    let alone = fuse_in(std::slice::from_ref(&meaning), setting);
    let both = fuse_in(&[meaning, known("visual_words", &[(11, 0.1)])], setting);
    assert_eq!(score(&both[0]), score(&alone[0]));
}

#[test]
fn a_list_counts_less_where_its_model_does_not_know_the_language() {
    let first = |foreign| {
        let meaning = Known { foreign, ..known("text_semantic", &[(1, 0.9), (2, 0.3)]) };
        segments(&fuse(&[meaning, known("raw_words", &[(2, 9.0), (1, 3.0)])]))[0]
    };
    assert_eq!((first(false), first(true)), (1, 2));
}

#[test]
fn a_first_place_that_lacks_what_the_query_names_is_believed_less_and_changes_no_order() {
    let with = |share| {
        let words = known("raw_words", &[(1, 3.0), (2, 1.0)]).held(&[(1, 0.2)]).lacks(&[(1, share), (2, share)]);
        fuse(&[known("text_semantic", &[(1, 0.6), (2, 0.3)]), words])
    };
    let all = [0.0, 0.5, 0.9].map(with);
    assert!(all.iter().all(|fused| segments(fused) == [1, 2]));
    assert!(all.windows(2).all(|pair| pair[0][0].best.confidence > pair[1][0].best.confidence));
}

#[test]
fn agreement_is_asked_of_meaning_only_where_its_model_knows_the_language() {
    let first = |foreign| {
        let meaning = Known { foreign, ..known("text_semantic", &[(1, 0.4), (2, 0.6)]) };
        let fused = fuse(&[meaning, known("raw_words", &[(1, 9.0), (2, 1.0)]).held(&[(1, 1.0)])]);
        assert_eq!(segments(&fused)[0], 1);
        fused[0].best.confidence
    };
    assert!(first(true) > first(false));
}

#[test]
fn a_list_without_a_measured_curve_orders_and_is_believed_little() {
    let lists = [known("text_semantic", &[(1, 0.95), (2, 0.5)])];
    let mut plan = plan_of(&lists);
    (plan.lists[0].curve, plan.lists[0].with_words) = (None, None);
    let fused = fuse_by(&plan, &lists, PLAIN);
    assert_eq!(segments(&fused), [1, 2]);
    assert!(fused[0].best.confidence < 0.6);
}

#[test]
fn a_models_own_scale_takes_the_place_of_the_indexs_scores() {
    let lists = [known("text_semantic", &[(1, 0.5), (2, 0.2)])];
    let gap = |deviation| {
        let mut plan = plan_of(&lists);
        plan.lists[0].scale = Some(CosineScale { mean: 0.1, deviation });
        let fused = fuse_by(&plan, &lists, PLAIN);
        score(&fused[0]) - score(&fused[1])
    };
    assert!((gap(0.1) - 2.0 * gap(0.2)).abs() < 1e-6);
}

#[test]
fn k_counts_folded_hits_and_less_likely_ones_are_left_out_on_request() {
    let lists = [known("raw_words", &range(0, 50, |at| 50.0 - at))];
    let setting = Setting { place: |segment| segment / 5, ..PLAIN };
    assert_eq!(fuse_in(&lists, Setting { k: 4, ..setting }).len(), 4);
    let all = fuse_in(&lists, setting);
    let likely = fuse_in(&lists, Setting { min_confidence: all[2].best.confidence, ..setting });
    assert_eq!(segments(&likely), segments(&all)[..3]);
}

/// Segments 100 to 199 are a film's frames, 50 to 59 its subtitles, one for every ten frames.
const FILM: Setting = Setting {
    place: |segment| if segment >= 50 { 50 } else { segment },
    moment: Some(|segment| if segment >= 100 { 50 + (segment - 100) / 10 } else { segment }),
    ..PLAIN
};

#[test]
fn a_film_is_one_hit_with_its_other_moments_best_first() {
    let frames = [range(100, 100, |at| 0.6 - at / 500.0), vec![(1, 0.5), (2, 0.3)]].concat();
    let words = known("raw_words", &[(57, 9.0), (3, 8.0)]).held(&[(57, 1.0), (3, 0.9)]);
    let lists = [known("visual_words", &frames), words];
    let fused = fuse_in(&lists, FILM);
    let film = fused.iter().find(|place| place.best.likelihood.segment >= 50).unwrap();
    let mut found: Vec<u32> = segments(&fused).into_iter().map(FILM.place).collect();
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3, 50]);
    assert_eq!(film.best.likelihood.segment, 57, "the subtitle is the likeliest");
    let moments: Vec<u32> = film.moments.iter().map(|moment| moment.likelihood.segment).collect();
    assert_eq!(moments[..3], [100, 110, 120], "the best frame of each shot, and the shot of the subtitle once");
    assert_eq!(count(&lists, FILM, film), 101);
    assert!(film.moments.is_sorted_by(|one, other| one.confidence >= other.confidence));
    let min_confidence = film.moments[1].confidence;
    let likely = fuse_in(&lists, Setting { min_confidence, ..FILM });
    assert!(likely[0].moments.iter().all(|moment| moment.confidence >= min_confidence));
}

#[test]
fn moments_of_one_film_take_nothing_from_each_other_and_k_counts_films() {
    let setting = Setting { place: |segment| if segment < 10 { 0 } else { segment }, moment: Some(|it| it), ..PLAIN };
    let alone = fuse_in(&[known("visual_words", &[(1, 0.7), (20, 0.2)])], setting);
    let often = [known("visual_words", &[(1, 0.7), (2, 0.69), (3, 0.68), (20, 0.2)])];
    let both = fuse_in(&often, Setting { k: 2, ..setting });
    assert_eq!(score(&both[0]), score(&alone[0]));
    assert_eq!(segments(&both), [1, 20]);
    let words = known("raw_words", &[(1, 9.0), (2, 8.9), (20, 3.0)]).held(&[(1, 1.0), (2, 1.0), (20, 0.3)]);
    let few = known("raw_words", &[(1, 9.0), (20, 3.0)]).held(&[(1, 1.0), (20, 0.3)]);
    assert_eq!(score(&fuse_in(&[words], setting)[0]), score(&fuse_in(&[few], setting)[0]), "nor do its subtitles");
}

#[test]
fn a_list_names_its_first_places_whatever_the_moments_of_a_film_before_them() {
    let setting = Setting { place: |segment| if segment < 500 { 0 } else { segment }, moment: Some(|it| it), ..PLAIN };
    let setting = Setting { depth: 50, k: 100, ..setting };
    let scores = [range(0, 500, |at| 0.9 - at / 5000.0), range(500, 60, |at| 0.5 - at / 1000.0)].concat();
    let lists = [known("visual_words", &scores)];
    let fused = fuse_in(&lists, setting);
    assert_eq!(fused.len(), 50);
    assert_eq!(count(&lists, setting, &fused[0]), 500);
    assert!(fused[0].moments.len() < 20);
}

#[test]
fn frames_of_a_film_are_so_many_chances_to_look_like_a_description_not_like_a_picture() {
    let setting = Setting {
        place: |segment| segment.min(100),
        moment: Some(|it| it),
        size: |segment| if segment >= 100 { 60 } else { 0 },
        ..PLAIN
    };
    let scores = [(100, 0.45), (101, 0.44), (1, 0.44), (2, 0.2)];
    let first = |name, scores: &[(u32, f32)]| segments(&fuse_in(&[known(name, scores)], setting))[0];
    assert_eq!(first("visual_words", &scores), 1);
    assert_eq!(first("visual_picture", &scores), 100);
    assert_eq!(first("visual_words", &[(100, 0.6), (1, 0.44)]), 100, "a film that plainly shows it comes first");
}

#[test]
fn a_query_that_describes_no_picture_makes_described_pictures_less_likely_and_nothing_else() {
    let lists = [
        known("raw_words", &[(1, 9.0)]).held(&[(1, 1.0)]),
        known("visual_words", &[(2, 0.4)]),
        known("visual_picture", &[(3, 0.4)]),
    ];
    let odds = |describes_none, segment| {
        let fused = fuse_in(&lists, Setting { describes_none, ..PLAIN });
        fused.iter().find(|place| place.best.likelihood.segment == segment).map(score).unwrap()
    };
    assert_eq!(odds(true, 1), odds(false, 1));
    assert_eq!(odds(true, 3), odds(false, 3));
    assert!(odds(true, 2) < odds(false, 2) - 1.0);
}

#[test]
fn a_question_of_two_words_that_are_nowhere_is_judged_by_its_meaning_a_name_of_two_words_is_not() {
    let information = 2.0 * (1000.5f32 / 0.5).ln_1p();
    let words = Known { information, ..known("raw_words", &[]) };
    let meaning = known("text_semantic", &[(1, 0.7), (2, 0.1)]);
    let confidence =
        |words: &Known, asks| fuse_in(&[words.clone(), meaning.clone()], Setting { asks, ..PLAIN })[0].best.confidence;
    assert!(confidence(&words, true) > 0.4);
    assert!(confidence(&words, false) < 0.4);
    let lacking = words.lacks(&[(1, 0.5), (2, 0.5)]);
    assert!(confidence(&lacking, true) < 0.4, "something named is lacking");
}

#[test]
fn a_note_about_a_file_does_not_outrank_a_text_with_the_same_words() {
    let words = known("raw_words", &[(1, 9.0), (2, 3.0), (3, 2.0)]).held(&[(1, 1.0), (2, 1.0), (3, 0.4)]);
    let order = |notes: Vec<u32>| segments(&fuse(&[Known { notes, ..words.clone() }]));
    assert_eq!(order(vec![]), [1, 2, 3]);
    assert_eq!(order(vec![1]), [2, 1, 3], "but what has fewer of the words");
}

fn some_scores(of: std::ops::Range<f32>) -> impl Strategy<Value = Scores> {
    proptest::collection::btree_map(0..60u32, of, 0..40)
}

proptest! {
    #[test]
    fn confidence_is_the_probability_of_the_score_and_neither_rises_down_the_list(
        meaning in some_scores(-0.2..1.0),
        words in some_scores(0.1..20.0),
        held in some_scores(0.0..1.0),
        look in some_scores(-0.2..1.0),
        same in some_scores(0.85..1.0),
        written in proptest::collection::btree_set(0..60u32, 0..3),
        k in 0..70usize,
    ) {
        let written = written.into_iter().collect();
        let words = Known { held, written, scores: words, ..known("raw_words", &[]) };
        let lists = [
            Known { scores: meaning, ..known("text_semantic", &[]) },
            Known { scores: look, ..known("visual_picture", &[]) },
            words,
            Known { scores: same, ..known("raw_picture", &[]) },
        ];
        let setting = Setting { place: |segment| segment / 3, ..PLAIN };
        let all = fuse_in(&lists, Setting { k: 100, ..setting });
        for (at, place) in all.iter().enumerate() {
            let best = &place.best;
            prop_assert_eq!(best.confidence, 1.0 / (1.0 + (-score(place)).exp()));
            prop_assert!((0.0..=1.0).contains(&best.confidence));
            prop_assert!(at == 0 || score(place) <= score(&all[at - 1]));
        }
        let fused = fuse_in(&lists, Setting { k, ..setting });
        prop_assert_eq!(segments(&fused), segments(&all)[..k.min(all.len())].to_vec(), "k cuts the list and no more");
        let mut again = lists;
        again.reverse();
        let scores: Vec<f64> = all.iter().map(score).collect();
        let turned: Vec<f64> = fuse_in(&again, Setting { k: 100, ..setting }).iter().map(score).collect();
        prop_assert!(
            scores.iter().zip(&turned).all(|(one, other)| (one - other).abs() < 1e-9),
            "the order of the lists changes nothing",
        );
    }
}
