//! The BM25 scores of given segments, how much of the query's information each has, and what of it each lacks.

use super::block::WordsBlock;
use super::exact_match::{Runs, exact_matches};
use super::missing_terms::NamedThings;
use super::occurrences::Found;
use super::rank::{QueryTerms, ResolvedQuery};
use super::slips::Spelt;
use crate::error::Result;
use crate::ranking::options::Stop;
use crate::ranking::rating::Rating;
use crate::ranking::segment_filter::SegmentFilter;

/// Rates segments, ascending. `within`: those among which others with all words as written are looked for; None: all. Scores are those of [`super::rank::search`]; quoted phrases are no condition here.
/// `text_of`: the words of a segment, or None where it has not all of some runs of letters. `spelt`: as in a search.
pub fn rate(
    blocks: &[WordsBlock<'_>],
    query: &ResolvedQuery,
    (segments, within): (&[u32], Option<&SegmentFilter>),
    text_of: impl FnMut(u32, &Runs) -> Result<Option<String>>,
    spelt: &Spelt<'_>,
) -> Result<Rating> {
    let zeros = || vec![0.0; segments.len()];
    let mut rating = Rating {
        scores: vec![f32::NAN; segments.len()],
        held: zeros(),
        lacks: zeros(),
        coincidental: zeros(),
        ..Rating::default()
    };
    let Some(terms) = QueryTerms::of(blocks, query, &Stop::default(), spelt)? else { return Ok(rating) };
    let named = NamedThings::of(&terms);
    let QueryTerms { collection, phrases, found, weights, has_absent, coincidental, .. } = &terms;
    rating.words = terms.count;
    rating.information = found.iter().zip(weights).filter(|word| word.0.informs).map(|word| word.1).sum();
    // The same order of summands as in a search: the sums are the same bits.
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|left, right| weights[*right].total_cmp(&weights[*left]));
    let formula = collection.formula();
    for (at, block) in blocks.iter().enumerate() {
        let view = &block.view;
        let present: Vec<(usize, u32)> = view
            .segments
            .within(segments)
            .filter_map(|index| Some((index, view.segments.position(segments[index])? as u32)))
            .collect();
        if present.is_empty() {
            continue;
        }
        present.iter().for_each(|(index, _)| rating.scores[*index] = 0.0);
        let mut has = vec![0u64; present.len()];
        for word in &order {
            let bit = named.bit(*word);
            let weight = weights[*word];
            let Found { lists, informs, .. } = &found[*word];
            for (postings, languages) in lists.of(at) {
                postings.for_each_of(
                    present.len(),
                    |at| present[at].1,
                    |at, count| {
                        let (index, row) = present[at];
                        if view.language(row).bit() & languages != 0 {
                            has[at] |= bit;
                            let impact = formula.impact(weight, count, view.lengths.get(row as usize));
                            rating.scores[index] += impact;
                            rating.coincidental[index] += if coincidental[*word] { impact } else { 0.0 };
                            rating.held[index] += if *informs { weight } else { 0.0 };
                        }
                    },
                )?;
            }
        }
        let rows: Vec<(u32, u64)> = present.iter().zip(&has).map(|(present, has)| (present.1, *has)).collect();
        for ((index, _), lacks) in present.iter().zip(named.lacks(block, &rows)?) {
            rating.lacks[*index] = lacks.weight;
            rating.held[*index] = (rating.held[*index] - lacks.matched).max(0.0);
        }
    }
    for (coincidental, score) in rating.coincidental.iter_mut().zip(&rating.scores).filter(|of| *of.0 > 0.0) {
        *coincidental = (*coincidental / score).min(1.0);
    }
    if rating.information > 0.0 {
        let share = |weight: &mut f32| *weight = (*weight / rating.information).min(1.0);
        rating.held.iter_mut().chain(&mut rating.lacks).for_each(share);
    }
    // A query with a quoted phrase has its own condition.
    if !*has_absent && phrases.is_empty() {
        rating.written = exact_matches(blocks, &query.text, found, within, text_of)?;
    }
    Ok(rating)
}
