//! Log-odds that a passage answers, from what the lists of passages say of it. Confidence is their logistic function (Platt 1999,
//! "Probabilistic outputs for support vector machines"). The parameters come from the manifest; `bench/calibration` fits them.

use serde::Serialize;

use super::curve::{Curve, Features};
use super::evidence::Evidence;
use super::features::{features_of, information};
use super::likelihood::{Likelihood, Part};
use super::order::{Ordered, order_passages};
use super::plan::{Plan, Scans};
use super::query::QueryFacts;
use super::segment_map::SegmentSet;

/// Words that a query which is no name has at least, stop words not counted; and words that a question has.
const SENTENCE_WORDS: f64 = 2.9;
const QUESTION_WORDS: f64 = 1.9;

/// Passages, each with the evidence of the first place and its own lead. `found`: the candidates that a list of passages has.
pub fn passage_likelihoods(plan: &Plan, evidence: &Evidence, found: &[usize], query: &QueryFacts) -> Vec<Likelihood> {
    let ordered = order_passages(plan, evidence, found);
    let Some(top) = ordered.first() else { return vec![] };
    let by_words = plan.passages_by(Scans::Words);
    let by_meaning = plan.passages_by(Scans::Vectors);
    let curve = curve_of(plan, judged_as(plan, evidence, &ordered, query));
    let features = features_of(plan, evidence, &best_of_each_place(evidence, &ordered), query.segments);
    let place_of = |one: &Ordered| evidence.candidates[one.candidate].place;
    let of = |one: &Ordered| {
        let lead = if place_of(one) == place_of(top) { features.lead } else { 0.0 };
        // Moments of one film stand as far apart as they are in the order.
        let base = curve.log_odds(&Features { lead: lead - top.order, ..features });
        likelihood(evidence, one, (by_words, by_meaning), curve.weights.lead, base)
    };
    ordered.iter().map(of).collect()
}

/// What a query's passages are judged as: by the curve of both families or of the only one, of a sentence, or of meaning alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedAs {
    Any,
    Sentence,
    MeaningAlone,
}

pub fn judged_as(plan: &Plan, evidence: &Evidence, ordered: &[Ordered], query: &QueryFacts) -> JudgedAs {
    if is_by_meaning_alone(plan, evidence, ordered, query) {
        JudgedAs::MeaningAlone
    } else if is_sentence(plan, evidence, query) {
        JudgedAs::Sentence
    } else {
        JudgedAs::Any
    }
}

/// The moments of a film do not stand behind each other.
pub fn best_of_each_place(evidence: &Evidence, ordered: &[Ordered]) -> Vec<Ordered> {
    let mut met = SegmentSet::default();
    ordered.iter().filter(|one| met.insert(evidence.candidates[one.candidate].place)).copied().collect()
}

/// Whether no passage has any word of a sentence in a language that the text model knows, and nothing is named: its words say
/// nothing then. One or two words that are nowhere are more likely names, unless they ask something.
fn is_by_meaning_alone(plan: &Plan, evidence: &Evidence, ordered: &[Ordered], query: &QueryFacts) -> bool {
    let of_absent_word = ((query.segments as f64 + 0.5) / 0.5).ln_1p();
    let words = if query.asks { QUESTION_WORDS } else { SENTENCE_WORDS };
    information(plan, evidence) >= words * of_absent_word
        && ordered.iter().all(|one| one.score == 0.0 && one.lacks == 0.0)
        && plan.passages_by(Scans::Vectors).is_some_and(|at| !evidence.scales[at].foreign)
}

/// Whether the query asks something, or has as many words as a sentence, in a language that the text model knows: its meaning says
/// more then than that of a name, a code or two words.
fn is_sentence(plan: &Plan, evidence: &Evidence, query: &QueryFacts) -> bool {
    let scale = |scans: Scans| plan.passages_by(scans).map(|at| &evidence.scales[at]);
    (query.asks || scale(Scans::Words).is_some_and(|words| words.words >= SENTENCE_WORDS))
        && scale(Scans::Vectors).is_some_and(|meaning| !meaning.foreign)
}

fn curve_of(plan: &Plan, judged_as: JudgedAs) -> Curve {
    let list = |scans: Scans| plan.passages_by(scans).map(|at| &plan.lists[at]);
    let words = list(Scans::Words).filter(|_| judged_as != JudgedAs::MeaningAlone);
    let measured = match (words, list(Scans::Vectors)) {
        (Some(_), Some(meaning)) if judged_as == JudgedAs::Sentence && meaning.sentences.is_some() => meaning.sentences,
        (Some(words), Some(meaning)) => meaning.with_words.or(words.curve),
        (words, meaning) => words.or(meaning).and_then(|list| list.curve),
    };
    measured.unwrap_or_else(conservative)
}

/// Without a fitted curve: ranking is unchanged and confidence is low.
fn conservative() -> Curve {
    Curve { bias: -1.5, weights: Features { lead: 1.0, ..Features::default() } }
}

fn likelihood(
    evidence: &Evidence,
    one: &Ordered,
    (words, meaning): (Option<usize>, Option<usize>),
    weight: f64,
    base: f64,
) -> Likelihood {
    let part = |list: Option<usize>, order: f64| {
        let list = list?;
        let said = evidence.of(one.candidate, list)?;
        Some((Part { list, log_odds: weight * order }, said.segment))
    };
    let [by_words, by_meaning] = [part(words, one.words), part(meaning, one.meaning)];
    // One without any of the words is found by meaning, however little it means them.
    let is_words = by_words.is_some() && (by_meaning.is_none() || (one.score > 0.0 && one.words >= one.meaning));
    let parts: Vec<Part> = [by_words, by_meaning].into_iter().flatten().map(|(part, _)| part).collect();
    let log_odds = parts.iter().fold(base, |sum, part| sum + part.log_odds);
    let (best, segment) = if is_words { by_words } else { by_meaning }.unwrap_or_default();
    Likelihood { candidate: one.candidate, log_odds, base, parts, list: best.list, segment }
}
