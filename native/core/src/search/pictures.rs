//! Log-odds that a picture answers. The evidence of the lists adds up, as if they were independent. A near-identical picture stands
//! above every likeness; likeness then orders only those that are equally near.

use super::evidence::{Evidence, Scale};
use super::likelihood::{Likelihood, Part};
use super::order::{deviation_of, deviations_of};
use super::plan::{Kind, Plan, PlannedList};
use super::query::QueryFacts;

/// Where a model has no measured calibration: log-odds, and what a deviation above the best of random ones counts.
const CONSERVATIVE_BIAS: f64 = -1.5;
const CONSERVATIVE_DEVIATION: f64 = 0.3;
/// Log-odds of a picture without evidence.
const PICTURE_PRIOR: f64 = -2.2;
/// A likeness never reaches the log-odds of a near-identical picture.
const LIKENESS_MAX: f64 = 7.0;
const LEAD_MAX: f64 = 0.2;
const IDENTITY: f64 = 10.0;
const IDENTITY_SPREAD: f64 = 10.0;
/// A film has as many chances to look like a description as it has frames. This share of what the best of so many random pictures
/// would have above the others is taken off; it is no more since frames are alike. By cosine alone, with it 18, 17 and 17 of 21
/// captioned photographs are among the first five beside films, PDFs and both, 18 alone, and without it 16, 17 and 16.
const CHANCES_SHARE: f64 = 0.3;
/// Log-odds that a picture loses where the query quotes a phrase or asks something: words are looked for, and they describe no
/// picture. Of 113 quoted phrases that were nowhere, 8 % found a picture above the clients' floor of .02 (98 % without), of 21
/// quoted captions 57 % (95 %).
const NO_DESCRIPTION: f64 = 1.5;
/// Log-odds that it loses where the question asks who, when, why or how. Of six such questions about each of 21 photographs, in indexes of
/// four, 20 % were answered by a picture with 1.5, none with this.
const OF_FACTS: f64 = 3.0;
/// Share by which likeness orders near-identical pictures among themselves.
const LIKENESS_TIEBREAK: f64 = 0.01;

/// A list of likenesses with what it says of the candidates that it has.
struct Likeness<'a> {
    at: usize,
    list: &'a PlannedList,
    scale: &'a Scale,
    /// Score and lead of each candidate. None: the list does not have it.
    said: Vec<Option<(f64, f64)>>,
}

/// `found`: the candidates that a list of pictures has.
pub fn picture_likelihoods(plan: &Plan, evidence: &Evidence, found: &[usize], query: &QueryFacts) -> Vec<Likelihood> {
    let of_kind = || plan.lists.iter().enumerate().filter(|(_, list)| list.kind == Kind::Pictures);
    let likenesses: Vec<Likeness<'_>> = of_kind()
        .filter(|(_, list)| !list.near_identical)
        .map(|(at, list)| Likeness { at, list, scale: &evidence.scales[at], said: said_by(plan, evidence, found, at) })
        .collect();
    let identity = of_kind().find(|(_, list)| list.near_identical).map(|(at, _)| at);
    let base = if likenesses.is_empty() { 0.0 } else { PICTURE_PRIOR };
    let likelihood = |(number, candidate): (usize, &usize)| {
        let near = identity.and_then(|at| Some((at, evidence.of(*candidate, at)?)));
        let mut parts = vec![];
        for Likeness { at, list, scale, said } in &likenesses {
            let Some((score, lead)) = said[number] else { continue };
            let odds = log_odds(score, lead, scale, list, query) - PICTURE_PRIOR;
            let lost = match list.described {
                true if query.asks_of_facts => OF_FACTS,
                true if query.describes_none => NO_DESCRIPTION,
                _ => 0.0,
            };
            let part = if scale.foreign { plan.unknown_language_share } else { 1.0 } * odds - lost;
            parts.push(Part { list: *at, log_odds: if near.is_some() { LIKENESS_TIEBREAK * part } else { part } });
        }
        if let Some((list, said)) = near {
            parts.push(Part { list, log_odds: IDENTITY + IDENTITY_SPREAD * said.score });
        }
        let best = parts.iter().copied().reduce(|one, other| if other.log_odds > one.log_odds { other } else { one });
        let best = best.unwrap_or_default();
        let segment = evidence.of(*candidate, best.list).map_or(0, |said| said.segment);
        let log_odds = parts.iter().fold(base, |sum, part| sum + part.log_odds);
        Likelihood { candidate: *candidate, log_odds, base, parts, list: best.list, segment }
    };
    found.iter().enumerate().map(likelihood).collect()
}

/// Score and lead that a list gives each candidate.
fn said_by(plan: &Plan, evidence: &Evidence, found: &[usize], list: usize) -> Vec<Option<(f64, f64)>> {
    let scores: Vec<Option<f64>> = found.iter().map(|candidate| score_of(plan, evidence, *candidate, list)).collect();
    let present =
        || scores.iter().zip(found).filter_map(|(score, at)| Some(((*score)?, evidence.candidates[*at].place)));
    let leads = leads_of(&present().collect::<Vec<_>>());
    let mut leads = leads.into_iter();
    scores.into_iter().map(|score| Some((score?, leads.next()?))).collect()
}

/// How far each score leads the best one of another place, or is behind it; within ±.2. `found`: scores with their places.
pub fn leads_of(found: &[(f64, u32)]) -> Vec<f64> {
    let best = found.iter().copied().reduce(|one, other| if other.0 > one.0 { other } else { one });
    let Some((best, place)) = best else { return vec![] };
    let others = found.iter().filter(|(_, other)| *other != place).map(|(score, _)| *score);
    let second = others.reduce(f64::max).unwrap_or(best);
    let lead = |(score, at): &(f64, u32)| score - if *at == place { second } else { best };
    found.iter().map(|one| lead(one).clamp(-LEAD_MAX, LEAD_MAX)).collect()
}

/// The cosine, less what a film's many frames give it where words are asked for.
fn score_of(plan: &Plan, evidence: &Evidence, candidate: usize, list: usize) -> Option<f64> {
    let score = evidence.of(candidate, list)?.score;
    if !plan.lists[list].described {
        return Some(score);
    }
    let size = f64::from(evidence.candidates[candidate].size);
    Some(score - CHANCES_SHARE * expected_best(size) * deviation_of(&evidence.scales[list].sample))
}

/// Expected best of `segments` independent normal scores, in deviations.
fn expected_best(segments: f64) -> f64 {
    (2.0 * segments.max(1.0).ln()).sqrt()
}

fn log_odds(score: f64, lead: f64, scale: &Scale, list: &PlannedList, query: &QueryFacts) -> f64 {
    let odds = match list.calibration {
        Some(calibration) => calibration.a * score + calibration.b + calibration.lead * lead,
        None => {
            let above = deviations_of(score, &scale.sample) - expected_best(query.segments as f64);
            CONSERVATIVE_BIAS + CONSERVATIVE_DEVIATION * above
        }
    };
    if odds < 0.0 { -bounded(-odds, LIKENESS_MAX) } else { bounded(odds, LIKENESS_MAX / 2.0) }
}

/// The odds themselves up to 1 below the limit; above that they still order, but never reach it.
fn bounded(odds: f64, limit: f64) -> f64 {
    let above = odds - (limit - 1.0);
    if above <= 0.0 { odds } else { limit - 1.0 / (1.0 + above) }
}
