//! What says how likely the first passage is to answer.

use super::curve::Features;
use super::evidence::Evidence;
use super::order::Ordered;
use super::plan::{Plan, Scans};

const GAP_MAX: f64 = 0.6;
const GAP_SIXTH_MAX: f64 = 1.0;
const NEXT: usize = 10;
const COSINE_LEAD_MAX: f64 = 0.3;

/// The features of the first place. `ordered`: one passage of each place, at least one.
pub fn features_of(plan: &Plan, evidence: &Evidence, ordered: &[Ordered]) -> Features {
    let top = &ordered[0];
    let behind = |rank: usize, most: f64| ordered.get(rank).map_or(most, |other| most.min(top.order - other.order));
    Features {
        gap: behind(1, GAP_MAX),
        gap_sixth: behind(5, GAP_SIXTH_MAX),
        held: (top.held * information(plan, evidence)).ln_1p(),
        lacks: top.lacks.sqrt(),
        written: f64::from(u8::from(top.written)),
        agreement: agreement(plan, evidence, ordered),
        cosine: top.cosine,
        lead: cosine_lead(ordered),
    }
}

/// The information of the query's words, in nats.
pub fn information(plan: &Plan, evidence: &Evidence) -> f64 {
    plan.passages_by(Scans::Words).map_or(0.0, |at| evidence.scales[at].information)
}

/// How far the first place's cosine is above the mean of the next ten below it.
fn cosine_lead(ordered: &[Ordered]) -> f64 {
    let cosine = ordered[0].cosine;
    let mut below: Vec<f64> =
        ordered.iter().filter(|one| one.is_meant && one.cosine < cosine).map(|one| one.cosine).collect();
    below.sort_by(|a, b| b.total_cmp(a));
    below.truncate(NEXT);
    let mean = below.iter().sum::<f64>() / below.len().max(1) as f64;
    COSINE_LEAD_MAX.min(cosine - mean)
}

/// How much of the best of each list that knows the query's language the first place has: 1 where it is the first of both. A file's
/// name has no vector: meaning says nothing of it.
fn agreement(plan: &Plan, evidence: &Evidence, ordered: &[Ordered]) -> f64 {
    let share = |of: fn(&Ordered) -> f64| {
        let best = ordered.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        if best > 0.0 { of(&ordered[0]).max(0.0) / best } else { 0.0 }
    };
    let is_foreign = plan.passages_by(Scans::Vectors).is_some_and(|at| evidence.scales[at].foreign);
    let is_silent = is_foreign || !ordered[0].is_meant;
    share(|one| one.score) * if is_silent { 1.0 } else { share(|one| one.deviations) }
}
