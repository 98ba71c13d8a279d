//! The fused evidence of a hit, as members of its JSON object.

use super::evidence::Evidence;
use super::fusion::FusedPlace;
use super::json_number::{push_exact, push_number};
use super::moments::ShownMoment;
use super::plan::{BestHit, Kind, Plan, PlannedList, Scans};
use crate::shard::hits::HitMembers;

/// A hit with what its members are written from.
pub struct ShownHit<'a> {
    pub plan: &'a Plan,
    pub evidence: &'a Evidence,
    pub fused: &'a FusedPlace,
    pub moments: Vec<ShownMoment>,
    pub best: BestHit,
    /// Its weight is shown.
    pub decays: bool,
    /// Other passages of the place.
    pub others: &'a [u32],
    pub explain: bool,
}

impl HitMembers for ShownHit<'_> {
    fn segment(&self) -> u32 {
        self.fused.best.likelihood.segment
    }

    fn others(&self) -> &[u32] {
        self.others
    }

    fn push_before(&self, out: &mut Vec<u8>) {
        let best = &self.fused.best;
        out.extend_from_slice(b",\"confidence\":");
        push_number(out, best.confidence);
        if self.decays {
            out.extend_from_slice(b",\"weight\":");
            push_number(out, self.fused.weight);
        }
        let likely = self.plan.likely.holds(self.fused.weighed(), &self.best, self.likeness());
        out.extend_from_slice(if likely { b",\"likely\":true" } else { b",\"likely\":false" });
        push_name(out, b",\"family\":", &self.plan.lists[best.likelihood.list].family);
        out.extend_from_slice(b",\"score\":");
        push_exact(out, best.likelihood.log_odds);
    }

    fn push_after(&self, out: &mut Vec<u8>) {
        if !self.moments.is_empty() {
            push_moments(out, &self.moments);
        }
        if let Some(likeness) = self.likeness() {
            out.extend_from_slice(b",\"likeness\":");
            push_number(out, likeness);
        }
        out.extend_from_slice(b",\"segments\":");
        let segments = self.evidence.candidates[self.fused.best.likelihood.candidate].segments;
        out.extend_from_slice(segments.to_string().as_bytes());
        if self.explain {
            self.push_explanation(out);
        }
    }
}

impl ShownHit<'_> {
    fn likeness(&self) -> Option<f64> {
        likeness_of(self.plan, self.evidence, self.fused)
    }

    fn push_explanation(&self, out: &mut Vec<u8>) {
        let FusedPlace { best, .. } = self.fused;
        out.extend_from_slice(b",\"explanation\":{\"lists\":[");
        let mut comma: &[u8] = b"";
        for (at, list) in self.plan.lists.iter().enumerate() {
            let Some(said) = self.evidence.of(best.likelihood.candidate, at) else { continue };
            out.extend_from_slice(comma);
            comma = b",";
            push_name(out, b"{\"list\":", &list.name);
            push_name(out, b",\"kind\":", list.kind.name());
            push_name(out, b",\"family\":", &list.family);
            if let Some(rank) = said.rank {
                out.extend_from_slice(b",\"rank\":");
                out.extend_from_slice(rank.to_string().as_bytes());
            }
            out.extend_from_slice(b",\"raw_score\":");
            push_number(out, said.score);
            out.extend_from_slice(b",\"part\":");
            let part = best.likelihood.parts.iter().find(|part| part.list == at);
            push_number(out, part.map_or(0.0, |part| part.log_odds));
            out.push(b'}');
        }
        push_name(out, b"],\"kind\":", best.kind.name());
        out.extend_from_slice(b",\"base\":");
        push_number(out, best.likelihood.base);
        out.push(b'}');
    }
}

/// How alike a place and the picture of the query look: the cosine of their vectors, at least 0.
pub fn likeness_of(plan: &Plan, evidence: &Evidence, fused: &FusedPlace) -> Option<f64> {
    let compares = |list: &PlannedList| list.kind == Kind::Pictures && list.scans == Scans::Vectors && !list.described;
    let at = plan.lists.iter().position(compares)?;
    let said = evidence.of(fused.best.likelihood.candidate, at)?;
    Some(said.score.clamp(0.0, 1.0))
}

fn push_moments(out: &mut Vec<u8>, moments: &[ShownMoment]) {
    out.extend_from_slice(b",\"moments\":[");
    for (at, ShownMoment { time_s, time_end_s, confidence }) in moments.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"{\"time_s\":" } else { b",{\"time_s\":" });
        push_number(out, *time_s);
        if let Some(end) = time_end_s {
            out.extend_from_slice(b",\"time_end_s\":");
            push_number(out, *end);
        }
        out.extend_from_slice(b",\"confidence\":");
        push_number(out, *confidence);
        out.push(b'}');
    }
    out.push(b']');
}

/// Names are identifiers: nothing in them is escaped.
fn push_name(out: &mut Vec<u8>, key: &[u8], name: &str) {
    out.extend_from_slice(key);
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.push(b'"');
}
