//! The best segments for a query's words, by BM25 over all blocks together. Frequencies and lengths are exactly those
//! of the living segments.

use super::block::WordsBlock;
use super::bm25::{Collection, Formula};
use super::language::{DEFAULT, Language};
use super::lists::TermPostings;
use super::phrases::documents_with_all;
use super::query::{QueryWord, parse};
use super::scores::{BlockScores, RankedList};
use crate::error::Result;
use crate::ranking::options::SearchOptions;
use crate::ranking::top_k::{Ranking, TopK};

/// The best k segments for a query's words. A segment must have every quoted phrase and at least one word.
/// `language`: that of the query, if it is certain.
pub fn search(
    blocks: &[WordsBlock<'_>],
    query: &str,
    language: Option<Language>,
    options: &SearchOptions,
) -> Result<Ranking> {
    let dead: Vec<Vec<u32>> = blocks.iter().map(|block| block.dead.rows_below(block.view.rows())).collect();
    let collection = Collection::of(blocks, &dead);
    let query = parse(query, language, &collection.languages);
    let mut ranking = Ranking { exact: true, ..Ranking::default() };
    if query.words.is_empty() || collection.documents == 0 {
        return Ok(ranking);
    }
    let mut found = vec![];
    for word in &query.words {
        options.stop.check()?;
        found.push(find(blocks, &dead, word)?);
    }
    let weights = weights_of(&collection, &found, &query.words);
    ranking.ceiling = weights.iter().copied().map(Formula::impact_max).sum();
    // Rare words first, in every block: a score is always the same sum, and documents are ruled out early.
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|left, right| weights[*right].total_cmp(&weights[*left]));
    // The largest block first: once the best of many segments are known, others are ruled out sooner.
    let mut by_size: Vec<usize> = (0..blocks.len()).collect();
    by_size.sort_by_key(|at| std::cmp::Reverse(blocks[*at].view.rows()));
    let formula = collection.formula();
    let mut top_k = TopK::new(options.k);
    let mut scores = BlockScores::default();
    for at in by_size {
        options.stop.check()?;
        let with_phrases = documents_with_all(&blocks[at], &query.phrases, &options.stop)?;
        if with_phrases.as_ref().is_some_and(|documents| !documents.contains(&true)) {
            continue;
        }
        let lists: Vec<RankedList<'_>> = order
            .iter()
            .flat_map(|word| found[*word].lists[at].iter().map(|list| (weights[*word], *list)))
            .map(|(weight, (postings, languages))| RankedList { postings, languages, weight })
            .collect();
        ranking.scanned +=
            scores.rank(&blocks[at], &lists, formula, with_phrases.as_deref(), (&mut top_k, options.k))?;
    }
    ranking.hits = top_k.into_sorted();
    Ok(ranking)
}

/// The weight of each word: its inverse document frequency, as often as the query has it.
pub(super) fn weights_of(collection: &Collection, found: &[Found<'_>], words: &[QueryWord]) -> Vec<f32> {
    found.iter().zip(words).map(|(found, word)| word.count * collection.idf(found.frequency)).collect()
}

/// Where a word of the query occurs.
pub(super) struct Found<'a> {
    /// Number of living segments that have it, also those in whose language it is a stop word: it tells little then.
    frequency: u64,
    /// For each block: lists of postings, each with the languages whose segments it counts for.
    pub(super) lists: Vec<Vec<(TermPostings<'a>, u64)>>,
}

pub(super) fn find<'a>(blocks: &[WordsBlock<'a>], dead: &[Vec<u32>], word: &QueryWord) -> Result<Found<'a>> {
    let mut found = Found { frequency: 0, lists: Vec::with_capacity(blocks.len()) };
    for (block, dead) in blocks.iter().zip(dead) {
        let mut lists = vec![];
        for variant in &word.variants {
            if let Some(postings) = block.lookup(variant)? {
                found.frequency += living(block, dead, &postings, variant.languages)?;
                if variant.matched != 0 {
                    lists.push((postings, variant.matched));
                }
            }
        }
        found.lists.push(lists);
    }
    Ok(found)
}

/// Number of living segments that have the word in one of the languages.
fn living(block: &WordsBlock<'_>, dead: &[u32], postings: &TermPostings<'_>, languages: u64) -> Result<u64> {
    let view = &block.view;
    let first = Language::of_bits(view.header.languages).next().unwrap_or(DEFAULT);
    let mut gone = 0;
    if !dead.is_empty() {
        let counts = |at: usize| view.language(dead[at]).bit() & languages != 0;
        postings.for_each_of(dead.len(), |at| dead[at], |at, _| gone += u64::from(counts(at)))?;
    }
    Ok(u64::from(postings.frequency_in(languages, first)).saturating_sub(gone))
}
