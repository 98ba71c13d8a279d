//! The order of passages: the share that their BM25 score has of the query's best one, plus their cosine in deviations; first those
//! few that have every word as it is written.

use super::evidence::{Evidence, ListEvidence, ScoreSample};
use super::plan::{Plan, Scans};

/// Prior of cosines that a sample is blended with, as if it had this many Segments more: it decides in tiny indexes.
const PRIOR: ScoreSample = ScoreSample { count: 30.0, mean: 0.08, deviation: 0.1 };
/// Weight of the words of a note about a file (a date, a camera, a name), and of what may be misheard: a text with the same words
/// comes first, however long it is. A note that alone has every word of the query counts whole.
const NOTE_SHARE: f64 = 0.5;
const WHOLE: f64 = 0.999;
/// How far those that have the words as written stand at least before the others.
const WRITTEN_LEAD: f64 = 0.05;

/// A passage in the order, with each list's part of it.
#[derive(Debug, Clone, Copy)]
pub struct Ordered {
    pub candidate: usize,
    pub words: f64,
    pub meaning: f64,
    pub order: f64,
    /// BM25.
    pub score: f64,
    pub held: f64,
    /// Share of the query's information that is in codes, numbers and names which it lacks.
    pub lacks: f64,
    /// It is one of few that have every word as it is written.
    pub written: bool,
    pub cosine: f64,
    pub deviations: f64,
    /// A list of vectors has it.
    pub is_meant: bool,
}

/// Deviations of a score from the index's own scores for the query.
pub fn deviations_of(score: f64, sample: &ScoreSample) -> f64 {
    let blended = (sample.count * sample.mean + PRIOR.count * PRIOR.mean) / (sample.count + PRIOR.count);
    (score - blended) / deviation_of(sample)
}

/// The standard deviation of the index's own scores for the query.
pub fn deviation_of(sample: &ScoreSample) -> f64 {
    let squares =
        sample.count * (sample.deviation * sample.deviation) + PRIOR.count * (PRIOR.deviation * PRIOR.deviation);
    (squares / (sample.count + PRIOR.count)).sqrt()
}

/// The share that coincidental words count of their score: less where vectors understand the query.
pub fn coincidence_share(plan: &Plan, evidence: &Evidence) -> f64 {
    let meaning = plan.passages_by(Scans::Vectors).filter(|at| !evidence.scales[*at].foreign);
    meaning.and_then(|at| plan.lists[at].other_language_words).unwrap_or(1.0)
}

/// Passages, best first; of equal ones the earlier ingested is first. `found`: the candidates that a list of passages has.
pub fn order_passages(plan: &Plan, evidence: &Evidence, found: &[usize]) -> Vec<Ordered> {
    let [words, meaning] = [Scans::Words, Scans::Vectors].map(|scans| plan.passages_by(scans));
    let said = |candidate: usize, list: Option<usize>| list.and_then(|list| evidence.of(candidate, list));
    let by_words = |candidate| said(candidate, words).copied().unwrap_or_default();
    let by_meaning = |candidate| said(candidate, meaning).map(|said: &ListEvidence| said.score);
    let words_weight = words.map_or(0.0, |at| plan.lists[at].weight);
    let meaning_weight = meaning.map_or(0.0, |at| {
        plan.lists[at].weight * if evidence.scales[at].foreign { plan.unknown_language_share } else { 1.0 }
    });
    let coincidence_share = coincidence_share(plan, evidence);
    let deviations = |cosine: f64| {
        // On the model's own scale, which no other Segments of an index change; from the index's scores where it has none.
        meaning.map_or(0.0, |at| match plan.lists[at].scale {
            Some(scale) => (cosine - scale.mean) / scale.deviation,
            None => deviations_of(cosine, &evidence.scales[at].sample),
        })
    };
    let mut best = 0.0f64;
    let mut best_cosine = 0.0f64;
    // The best score with every word among passages that are no notes.
    let mut whole_content = 0.0f64;
    for candidate in found {
        let found = by_words(*candidate);
        best = best.max(found.score);
        best_cosine = best_cosine.max(by_meaning(*candidate).unwrap_or(0.0));
        if !found.note && found.held > WHOLE {
            whole_content = whole_content.max(found.score);
        }
    }
    let ordered = |candidate: &usize| {
        let ListEvidence { score, held, lacks, coincidental, written, note, .. } = by_words(*candidate);
        let whole = held > WHOLE;
        // A name has no vector. One that holds the whole query means it as much as any passage.
        let meant = by_meaning(*candidate).or(whole.then_some(best_cosine));
        let share = match note {
            true if !whole => NOTE_SHARE,
            true if whole_content > 0.0 => NOTE_SHARE * whole_content / best,
            _ => 1.0,
        };
        let words = if best > 0.0 {
            share * words_weight * (score / best) * (1.0 - coincidental * (1.0 - coincidence_share))
        } else {
            0.0
        };
        let deviations = meant.map_or(0.0, deviations);
        let meaning = meaning_weight * deviations;
        Ordered {
            candidate: *candidate,
            words,
            meaning,
            order: words + meaning,
            score,
            held,
            lacks,
            written,
            cosine: meant.unwrap_or(0.0),
            deviations,
            is_meant: by_meaning(*candidate).is_some(),
        }
    };
    let mut all = lifted(found.iter().map(ordered).collect());
    let first = |one: &Ordered| evidence.candidates[one.candidate].first;
    all.sort_by(|a, b| b.order.total_cmp(&a.order).then_with(|| first(a).cmp(&first(b))));
    all
}

/// Passages that have rare words as they are written come before likenesses and other forms of the words.
fn lifted(places: Vec<Ordered>) -> Vec<Ordered> {
    let (mut written, others): (Vec<Ordered>, Vec<Ordered>) = places.into_iter().partition(|place| place.written);
    if !written.is_empty() && !others.is_empty() {
        let best = others.iter().map(|place| place.order).fold(f64::NEG_INFINITY, f64::max);
        let least = written.iter().map(|place| place.order).fold(f64::INFINITY, f64::min);
        let lift = (best + WRITTEN_LEAD - least).max(0.0);
        for place in &mut written {
            place.words += lift;
            place.order += lift;
        }
    }
    written.extend(others);
    written
}
