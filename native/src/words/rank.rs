//! BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"), k1 1.2 and b .75, over all blocks at once:
//! frequencies and lengths are those of the living segments, exactly.

use super::language::Language;
use super::postings::{PostingsView, TermPostings, positions_of};
use super::query::{Phrase, Query, QueryWord, Variant, parse};
use crate::shard::block::Dead;
use crate::shard::error::Result;
use crate::shard::question::Want;
use crate::shard::top::{Ranking, Scored, Top};

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// A block with the rows that are no longer there.
pub struct WordsBlock<'a> {
    pub view: PostingsView<'a>,
    pub dead: Dead<'a>,
}

struct Collection {
    documents: u64,
    length_mean: f32,
    languages: Vec<Language>,
}

/// The best k segments for a query's words; a segment must hold every quoted phrase, and at least one word.
/// `language`: that of the query, where it is certain.
pub fn search(blocks: &[WordsBlock<'_>], query: &str, language: Option<Language>, want: &Want) -> Result<Ranking> {
    let collection = collection(blocks);
    let query = parse(query, language, &collection.languages);
    let mut ranking = Ranking { exact: true, ..Ranking::default() };
    if query.words.is_empty() || collection.documents == 0 {
        return Ok(ranking);
    }
    let found = query.words.iter().map(|word| find(blocks, word)).collect::<Result<Vec<_>>>()?;
    let weights: Vec<f32> = found
        .iter()
        .zip(&query.words)
        .map(|(found, word)| word.count as f32 * idf(&collection, found.frequency))
        .collect();
    ranking.ceiling = weights.iter().map(|weight| weight * (K1 + 1.0)).sum();
    let mut top = Top::new(want.k);
    let mut scores: Vec<f32> = vec![];
    for (at, block) in blocks.iter().enumerate() {
        want.stop.check()?;
        scores.clear();
        scores.resize(block.view.rows() as usize, 0.0);
        for (found, weight) in found.iter().zip(&weights) {
            for (postings, languages) in &found.lists[at] {
                ranking.scanned += u64::from(postings.frequency);
                add_scores(block, postings, *languages, *weight, collection.length_mean, &mut scores)?;
            }
        }
        keep_phrases(block, &query, &mut scores)?;
        for (row, score) in scores.iter().enumerate() {
            if *score > 0.0 && *score >= top.threshold() && !block.dead.has(row) {
                top.offer(Scored { score: *score, segment: block.view.segments.get(row) });
            }
        }
    }
    ranking.hits = top.into_ranking();
    Ok(ranking)
}

fn collection(blocks: &[WordsBlock<'_>]) -> Collection {
    let (mut documents, mut length, mut languages) = (0u64, 0u64, 0u64);
    for WordsBlock { view, dead } in blocks {
        documents += u64::from(view.rows());
        length += view.header.sum;
        languages |= view.header.languages;
        if !dead.is_empty() {
            for row in (0..view.rows() as usize).filter(|row| dead.has(*row)) {
                documents -= 1;
                length -= u64::from(view.lengths.get(row));
            }
        }
    }
    let length_mean = if length == 0 { 1.0 } else { (length as f64 / documents.max(1) as f64) as f32 };
    Collection { documents, length_mean, languages: Language::of_bits(languages).collect() }
}

/// Inverse document frequency, never negative.
fn idf(collection: &Collection, frequency: u64) -> f32 {
    let (all, with) = (collection.documents as f64, frequency as f64);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln() as f32
}

/// Where a word of the query occurs.
struct Found<'a> {
    /// Living segments that have it.
    frequency: u64,
    /// For each block: postings, and the languages whose segments they count for.
    lists: Vec<Vec<(TermPostings<'a>, u64)>>,
}

fn find<'a>(blocks: &[WordsBlock<'a>], word: &QueryWord) -> Result<Found<'a>> {
    let mut found = Found { frequency: 0, lists: Vec::with_capacity(blocks.len()) };
    for block in blocks {
        let mut lists = vec![];
        for variant in &word.variants {
            if let Some(postings) = lookup(block, variant)? {
                found.frequency += living(block, &postings, variant.languages)?;
                lists.push((postings, variant.languages));
            }
        }
        found.lists.push(lists);
    }
    Ok(found)
}

fn lookup<'a>(block: &WordsBlock<'a>, variant: &Variant) -> Result<Option<TermPostings<'a>>> {
    if block.view.header.languages & variant.languages == 0 {
        return Ok(None);
    }
    block.view.lookup(variant.term.as_bytes())
}

fn living(block: &WordsBlock<'_>, postings: &TermPostings<'_>, languages: u64) -> Result<u64> {
    if block.dead.is_empty() && block.view.header.languages & !languages == 0 {
        return Ok(u64::from(postings.frequency));
    }
    let mut count = 0;
    postings.for_each(block.view.rows(), |document, _| {
        let alive = !block.dead.has(document as usize);
        count += u64::from(alive && block.view.language(document).bit() & languages != 0);
    })?;
    Ok(count)
}

fn add_scores(
    block: &WordsBlock<'_>,
    postings: &TermPostings<'_>,
    languages: u64,
    weight: f32,
    length_mean: f32,
    scores: &mut [f32],
) -> Result<()> {
    let view = &block.view;
    let every_language = view.header.languages & !languages == 0;
    let (constant, per_length) = (K1 * (1.0 - B), K1 * B / length_mean);
    postings.for_each(view.rows(), |document, count| {
        if every_language || view.language(document).bit() & languages != 0 {
            let count = count as f32;
            let norm = constant + per_length * view.lengths.get(document as usize) as f32;
            scores[document as usize] += weight * count * (K1 + 1.0) / (count + norm);
        }
    })
}

/// Takes away the score of every segment that lacks one of the phrases.
fn keep_phrases(block: &WordsBlock<'_>, query: &Query, scores: &mut [f32]) -> Result<()> {
    for phrase in &query.phrases {
        let mut has = vec![false; scores.len()];
        for language in Language::of_bits(block.view.header.languages) {
            for document in documents_with(block, phrase, language)? {
                has[document as usize] |= block.view.language(document) == language;
            }
        }
        for (score, _) in scores.iter_mut().zip(has).filter(|(_, has)| !has) {
            *score = 0.0;
        }
    }
    Ok(())
}

/// Documents in which the phrase's terms of one language stand in order.
fn documents_with(block: &WordsBlock<'_>, phrase: &Phrase, language: Language) -> Result<Vec<u32>> {
    let mut lists = vec![];
    for (distance, variants) in &phrase.words {
        let Some(variant) = variants.iter().find(|variant| variant.languages & language.bit() != 0) else {
            return Ok(vec![]);
        };
        let Some(postings) = lookup(block, variant)? else { return Ok(vec![]) };
        lists.push((*distance, postings));
    }
    lists.sort_by_key(|(_, postings)| postings.frequency);
    let mut starts: Option<Vec<(u32, Vec<u32>)>> = None;
    for (distance, postings) in lists {
        let known = starts.take();
        let mut next = vec![];
        let mut at = 0;
        postings.for_each_with_positions(block.view.rows(), |document, _, encoded| {
            let begins = positions_of(encoded).into_iter().filter_map(|position| position.checked_sub(distance));
            let Some(known) = &known else {
                next.push((document, begins.collect::<Vec<_>>()));
                return;
            };
            while at < known.len() && known[at].0 < document {
                at += 1;
            }
            if at < known.len() && known[at].0 == document {
                let kept: Vec<u32> = begins.filter(|begin| known[at].1.binary_search(begin).is_ok()).collect();
                if !kept.is_empty() {
                    next.push((document, kept));
                }
            }
        })?;
        starts = Some(next);
    }
    Ok(starts
        .unwrap_or_default()
        .into_iter()
        .filter(|(_, starts)| !starts.is_empty())
        .map(|(document, _)| document)
        .collect())
}
