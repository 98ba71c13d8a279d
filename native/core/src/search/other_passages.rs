//! The other passages of a place that its hit shows. A hit is a page or a section, and its best passage is one of several: one has
//! the words, a neighbour the meaning, and the answer is often in the second. They are chosen by words and meaning together.

use super::evidence::{Evidence, Rates, ScannedList};
use super::fusion::FusedPlace;
use super::order::{coincidence_share, deviation_of};
use super::plan::{Kind, Plan, PlannedList, Scans};
use super::segment_map::SegmentMap;
use crate::error::Result;

/// Hits that show others: behind them they brought nothing to questions about manuals.
const HITS_MAX: usize = 3;
/// Passages beside the best one that a hit shows.
const OTHERS_MAX: usize = 2;
/// Segments of a place that each list proposes.
const PROPOSED_MAX: usize = 8;

/// A Segment of a place, and how much speaks for it.
struct Proposed {
    segment: u32,
    /// Index of the place.
    of: usize,
    order: f64,
}

/// For each place its other passages, best first; none behind the first three, for a picture, a film, a recording, or a note about a file. `lists`: one for
/// each list of the plan.
///
/// # Errors
/// Those of rating.
pub fn other_passages(
    plan: &Plan,
    evidence: &Evidence,
    lists: &[ScannedList],
    places: &[FusedPlace],
    rates: &impl Rates,
) -> Result<Vec<Vec<u32>>> {
    let of_passages: Vec<usize> = (0..lists.len()).filter(|at| plan.lists[*at].kind == Kind::Passages).collect();
    let mut proposed = proposed(of_passages.iter().map(|at| &lists[*at]), evidence, places);
    let segments: Vec<u32> = proposed.iter().map(|one| one.segment).collect();
    if !segments.is_empty() {
        let coincidence_share = coincidence_share(plan, evidence);
        for list in of_passages {
            let (rating, slope) = (rates.rate(list, &segments)?, slope(&plan.lists[list], plan, evidence, list));
            for (at, (one, score)) in proposed.iter_mut().zip(&rating.scores).enumerate() {
                let coincidental = rating.coincidental.get(at).map_or(0.0, |share| f64::from(*share));
                let counted = 1.0 - coincidental * (1.0 - coincidence_share);
                // A name has no vector.
                one.order += if score.is_nan() { 0.0 } else { slope * f64::from(*score) * counted };
            }
        }
    }
    proposed.sort_by(|a, b| b.order.total_cmp(&a.order).then_with(|| a.segment.cmp(&b.segment)));
    let mut others = vec![vec![]; places.len()];
    for Proposed { segment, of, .. } in proposed {
        if others[of].len() < OTHERS_MAX {
            others[of].push(segment);
        }
    }
    Ok(others)
}

/// The best Segments of the places in each list, but for those that they show, ascending.
fn proposed<'a>(
    lists: impl Iterator<Item = &'a ScannedList>,
    evidence: &Evidence,
    places: &[FusedPlace],
) -> Vec<Proposed> {
    let has_others = |place: &FusedPlace| {
        let best = &place.best.likelihood;
        let is_note = evidence.of(best.candidate, best.list).is_some_and(|said| said.note);
        place.best.kind == Kind::Passages && evidence.candidates[best.candidate].size == 0 && !is_note
    };
    let moment = |place: &FusedPlace| evidence.candidates[place.best.likelihood.candidate].moment;
    let first = places.iter().take(HITS_MAX).enumerate();
    let of_moment: SegmentMap<usize> =
        first.filter(|(_, place)| has_others(place)).map(|(at, place)| (moment(place), at)).collect();
    let mut proposed: Vec<Proposed> = vec![];
    for ScannedList { ranking, .. } in lists {
        let mut counts: SegmentMap<usize> = SegmentMap::default();
        for (hit, at) in ranking.hits.iter().zip(&ranking.places).filter(|(_, at)| !at.note) {
            let Some(of) = of_moment.get(&at.moment) else { continue };
            let count = counts.entry(at.moment).or_default();
            *count += 1;
            if *count <= PROPOSED_MAX && hit.segment != places[*of].best.likelihood.segment {
                proposed.push(Proposed { segment: hit.segment, of: *of, order: 0.0 });
            }
        }
    }
    proposed.sort_unstable_by_key(|one| one.segment);
    proposed.dedup_by_key(|one| one.segment);
    proposed
}

/// How much the order of places grows with a list's score.
fn slope(list: &PlannedList, plan: &Plan, evidence: &Evidence, at: usize) -> f64 {
    if list.scans == Scans::Words {
        let said = (0..evidence.candidates.len()).filter_map(|candidate| evidence.of(candidate, at));
        let best = said.fold(0.0f64, |best, said| best.max(said.score));
        return if best > 0.0 { list.weight / best } else { 0.0 };
    }
    let scale = &evidence.scales[at];
    let share = if scale.foreign { plan.unknown_language_share } else { 1.0 };
    list.weight * share / list.scale.map_or_else(|| deviation_of(&scale.sample), |scale| scale.deviation)
}
