//! BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"), k1 1.2 and b .75, over all blocks at once:
//! frequencies and lengths are those of the living segments, exactly.

use super::language::{DEFAULT, Language};
use super::lists::TermPostings;
use super::phrases::holders;
use super::postings::PostingsView;
use super::query::{QueryWord, Variant, parse};
use super::scores::{BlockScores, RankedList};
use crate::blocks::block::Dead;
use crate::error::Result;
use crate::ranking::query::Want;
use crate::ranking::top_k::{Ranking, Top};

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

/// How the length of a segment weighs, in one collection.
#[derive(Debug, Clone, Copy)]
pub struct Formula {
    constant: f32,
    per_length: f32,
}

impl Formula {
    fn of(length_mean: f32) -> Self {
        Self { constant: K1 * (1.0 - B), per_length: K1 * B / length_mean }
    }

    /// What a word adds to the score of a segment of this length that has it `count` times. Grows with the count, falls
    /// with the length.
    #[inline(always)]
    pub fn impact(self, weight: f32, count: u32, length: u32) -> f32 {
        let count = count as f32;
        weight * count * (K1 + 1.0) / (count + self.constant + self.per_length * length as f32)
    }

    /// No count and no length has more than this.
    pub fn impact_max(weight: f32) -> f32 {
        weight * (K1 + 1.0)
    }
}

/// The best k segments for a query's words; a segment must hold every quoted phrase, and at least one word.
/// `language`: that of the query, where it is certain.
pub fn search(blocks: &[WordsBlock<'_>], query: &str, language: Option<Language>, want: &Want) -> Result<Ranking> {
    let dead: Vec<Vec<u32>> = blocks.iter().map(|block| block.dead.rows_below(block.view.rows())).collect();
    let collection = collection(blocks, &dead);
    let query = parse(query, language, &collection.languages);
    let mut ranking = Ranking { exact: true, ..Ranking::default() };
    if query.words.is_empty() || collection.documents == 0 {
        return Ok(ranking);
    }
    let mut found = vec![];
    for word in &query.words {
        want.stop.check()?;
        found.push(find(blocks, &dead, word)?);
    }
    let weights: Vec<f32> = found
        .iter()
        .zip(&query.words)
        .map(|(found, word)| word.count as f32 * idf(&collection, found.frequency))
        .collect();
    ranking.ceiling = weights.iter().copied().map(Formula::impact_max).sum();
    // Rare words first, in every block: a score is always the same sum, and what cannot come up is known early.
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|left, right| weights[*right].total_cmp(&weights[*left]));
    // The largest block first: with the best of many segments known, the others are passed over sooner.
    let mut by_size: Vec<usize> = (0..blocks.len()).collect();
    by_size.sort_by_key(|at| std::cmp::Reverse(blocks[*at].view.rows()));
    let formula = Formula::of(collection.length_mean);
    let mut top = Top::new(want.k);
    let mut scores = BlockScores::default();
    for at in by_size {
        want.stop.check()?;
        let holders = holders(&blocks[at], &query.phrases, &want.stop)?;
        if holders.as_ref().is_some_and(|holders| !holders.contains(&true)) {
            continue;
        }
        let lists: Vec<RankedList<'_>> = order
            .iter()
            .flat_map(|word| found[*word].lists[at].iter().map(|list| (weights[*word], *list)))
            .map(|(weight, (postings, languages))| RankedList { postings, languages, weight })
            .collect();
        ranking.scanned += scores.rank(&blocks[at], &lists, formula, holders.as_deref(), (&mut top, want.k))?;
    }
    ranking.hits = top.into_ranking();
    Ok(ranking)
}

/// `dead`: the dead rows of each block.
fn collection(blocks: &[WordsBlock<'_>], dead: &[Vec<u32>]) -> Collection {
    let (mut documents, mut length, mut languages) = (0u64, 0u64, 0u64);
    for (WordsBlock { view, .. }, dead) in blocks.iter().zip(dead) {
        documents += u64::from(view.rows());
        length += view.header.sum;
        languages |= view.header.languages;
        for row in dead {
            documents -= 1;
            length -= u64::from(view.lengths.get(*row as usize));
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

fn find<'a>(blocks: &[WordsBlock<'a>], dead: &[Vec<u32>], word: &QueryWord) -> Result<Found<'a>> {
    let mut found = Found { frequency: 0, lists: Vec::with_capacity(blocks.len()) };
    for (block, dead) in blocks.iter().zip(dead) {
        let mut lists = vec![];
        for variant in &word.variants {
            if let Some(postings) = lookup(block, variant)? {
                found.frequency += living(block, dead, &postings, variant.languages)?;
                lists.push((postings, variant.languages));
            }
        }
        found.lists.push(lists);
    }
    Ok(found)
}

pub fn lookup<'a>(block: &WordsBlock<'a>, variant: &Variant) -> Result<Option<TermPostings<'a>>> {
    if block.view.header.languages & variant.languages == 0 {
        return Ok(None);
    }
    block.view.lookup(variant.term.as_bytes())
}

/// Living segments that have the word in one of the languages.
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
