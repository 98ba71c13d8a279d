//! Features that tell how likely the first passage is to answer.

use super::curve::Features;
use super::evidence::Evidence;
use super::order::Ordered;
use super::plan::{Plan, Scans};

/// A lead of more says no more.
const LEAD_MAX: f64 = 0.6;
const NEXT: usize = 10;
const COSINE_LEAD_MAX: f64 = 0.3;
/// Segments of an index that is half as small as an empty one.
const SMALL: f64 = 100.0;

/// The features of the first place. `ordered`: one passage of each place, at least one. `segments`: of the index.
pub fn features_of(plan: &Plan, evidence: &Evidence, ordered: &[Ordered], segments: u64) -> Features {
    let top = &ordered[0];
    let information = information(plan, evidence);
    let held = top.held.min(1.0 - top.lacks);
    // What is named and lacking is not made good by what is alike.
    let meaning = top.meaning * (1.0 - top.lacks);
    let small = 1.0 / (1.0 + segments as f64 / SMALL);
    Features {
        lead: ordered.get(1).map_or(LEAD_MAX, |second| LEAD_MAX.min(top.order - second.order)),
        held: (held * information).ln_1p(),
        missing: if information > 0.0 { 1.0 - held } else { 0.0 },
        written: f64::from(u8::from(top.written)),
        meaning,
        small,
        small_meaning: small * meaning,
        cosine: top.cosine,
        cosine_lead: cosine_lead(ordered),
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
