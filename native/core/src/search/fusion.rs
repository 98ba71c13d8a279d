//! One answer of all lists: the likeliest places, best first.

use super::evidence::{Candidate, Evidence};
use super::json_number::rounded;
use super::likelihood::Likelihood;
use super::passages::passage_likelihoods;
use super::pictures::picture_likelihoods;
use super::plan::{Kind, Plan};
use super::query::QueryFacts;
use super::segment_map::SegmentMap;

/// A moment with the kind by which it is likeliest.
#[derive(Debug, Clone)]
pub struct FoundMoment {
    pub kind: Kind,
    pub likelihood: Likelihood,
    /// The probability of the log-odds, as it is shown: what an answer says can be asked for as the least.
    pub confidence: f64,
}

/// A page, section or film, with what all lists say of it.
#[derive(Debug, Clone)]
pub struct FusedPlace {
    pub best: FoundMoment,
    /// The other moments of a film, best first.
    pub moments: Vec<FoundMoment>,
    /// The share that its confidence counts by the search's order; 1 in others.
    pub weight: f64,
}

impl FusedPlace {
    /// Its weighted confidence.
    pub fn weighed(&self) -> f64 {
        self.weight * self.best.confidence
    }
}

/// The likeliest `k` places that are at least as likely as `min_confidence`, best first; of equal ones the earlier ingested is
/// first. A page may be found by its text and by its look: the likelier kind counts, never the sum. Of a film the likeliest
/// moment counts.
pub fn fuse(plan: &Plan, evidence: &Evidence, query: &QueryFacts, k: usize, min_confidence: f64) -> Vec<FusedPlace> {
    let mut best: Vec<Option<(Kind, Likelihood)>> = vec![None; evidence.candidates.len()];
    for kind in Kind::ALL {
        let own: Vec<usize> = (0..plan.lists.len()).filter(|at| plan.lists[*at].kind == kind).collect();
        let has = |candidate: &usize| own.iter().any(|list| evidence.of(*candidate, *list).is_some());
        let found: Vec<usize> = (0..evidence.candidates.len()).filter(has).collect();
        let likelihoods = match kind {
            Kind::Passages => passage_likelihoods(plan, evidence, &found, query),
            Kind::Pictures => picture_likelihoods(plan, evidence, &found, query),
        };
        for likelihood in likelihoods {
            let before = &mut best[likelihood.candidate];
            if before.as_ref().is_none_or(|(_, before)| likelihood.log_odds > before.log_odds) {
                *before = Some((kind, likelihood));
            }
        }
    }
    let mut likely: Vec<FoundMoment> = best
        .into_iter()
        .flatten()
        .map(|(kind, likelihood)| FoundMoment { kind, confidence: probability_of(likelihood.log_odds), likelihood })
        .filter(|moment| moment.confidence >= min_confidence)
        .collect();
    let of = |moment: &FoundMoment| &evidence.candidates[moment.likelihood.candidate];
    let key = |Candidate { first, moment, .. }: &Candidate| (*first, *moment);
    likely.sort_by(|a, b| {
        b.likelihood.log_odds.total_cmp(&a.likelihood.log_odds).then_with(|| key(of(a)).cmp(&key(of(b))))
    });
    let mut places: Vec<FusedPlace> = vec![];
    let mut numbers: SegmentMap<usize> = SegmentMap::default();
    for moment in likely {
        let number = *numbers.entry(of(&moment).place).or_insert(places.len());
        match places.get_mut(number) {
            Some(place) => place.moments.push(moment),
            None if number < k => places.push(FusedPlace { best: moment, moments: vec![], weight: 1.0 }),
            None => {}
        }
    }
    places
}

/// Puts places, best first, into the order of a value of theirs. With decay each place's confidence counts by its weight; otherwise those
/// that `comes_first` go by the value, and the others follow as they are. `key_of`: half-lives, or the place in the order.
pub fn arrange(
    places: &mut [FusedPlace],
    decays: bool,
    key_of: impl Fn(&FusedPlace) -> f64,
    comes_first: impl Fn(&FusedPlace) -> bool,
) {
    let by_key = |one: &f64, other: &f64| one.total_cmp(other);
    if !decays {
        places.sort_by_cached_key(|place| !comes_first(place));
        let first = places.partition_point(&comes_first);
        places[..first].sort_by(|one, other| by_key(&key_of(one), &key_of(other)));
        return;
    }
    // The log of the weighted probability, so that no weight becomes 0.
    let log_of = |place: &FusedPlace| {
        let log_odds = place.best.likelihood.log_odds;
        -(-log_odds).exp().ln_1p() - std::f64::consts::LN_2 * key_of(place)
    };
    places.sort_by(|one, other| by_key(&log_of(other), &log_of(one)));
    for place in places {
        place.weight = (-key_of(place)).exp2();
    }
}

fn probability_of(log_odds: f64) -> f64 {
    rounded(1.0 / (1.0 + (-log_odds).exp()))
}
