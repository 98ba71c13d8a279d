//! Where the words of a query are in the blocks of an index.

use super::block::WordsBlock;
use super::compounds::compounds;
use super::lists::TermPostings;
use super::query::{ParsedQuery, elided};
use super::query_word::{QueryWord, Variant};
use super::rank::ResolvedQuery;
use crate::error::Result;
use crate::terms::language::{DEFAULT, Language};

/// Segments in which the spelling of a corrected word is looked for.
const SPELLINGS_MAX: usize = 8;

/// Where a word is.
#[derive(Debug, Clone, Default)]
pub(super) struct Occurrences {
    /// Number of living segments that have it.
    pub(super) frequency: u64,
    /// Whether a block has its term, for living segments or not.
    is_there: bool,
    /// The numbers of its terms in each block, each with the languages whose segments it counts for.
    terms: OfBlocks<(usize, u64)>,
}

/// Weight of a word that stands in compounds alone.
const IN_COMPOUNDS_WEIGHT: f32 = 0.5;

/// Looks up a query's words. One that is absent also means what it is together with its neighbour, behind an article that is
/// joined to it, or in a compound, where the index has that. `languages`: those of the index.
pub(super) fn look_up(
    blocks: &[WordsBlock<'_>],
    dead: &[Vec<u32>],
    query: &ResolvedQuery,
    parsed: &mut ParsedQuery,
    languages: &[Language],
) -> Result<Vec<Occurrences>> {
    let words = parsed.words.iter();
    let mut found = words.map(|word| occurrences(blocks, dead, word)).collect::<Result<Vec<_>>>()?;
    for joined in std::mem::take(&mut parsed.joined) {
        if joined.words.iter().all(|word| found[*word].is_there) {
            continue;
        }
        for variant in joined.variants(languages) {
            if is_there(blocks, &variant)? {
                for word in joined.words {
                    parsed.words[word].variants.push(variant.clone());
                    found[word] = occurrences(blocks, dead, &parsed.words[word])?;
                }
            }
        }
    }
    for (word, found) in
        parsed.words.iter_mut().zip(&mut found).filter(|(word, found)| !found.is_there && !word.is_part)
    {
        word.variants.extend(elided(&word.written, languages));
        *found = occurrences(blocks, dead, word)?;
        if word.may_slip && !found.is_there {
            let in_compounds = compounds(blocks, query, word, languages)?;
            if !in_compounds.is_empty() {
                word.variants.extend(in_compounds);
                word.count *= IN_COMPOUNDS_WEIGHT;
                *found = occurrences(blocks, dead, word)?;
            }
        }
    }
    Ok(found)
}

/// Whether a block has the term of a variant.
fn is_there(blocks: &[WordsBlock<'_>], variant: &Variant) -> Result<bool> {
    for block in blocks {
        if block.term(variant)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Living segments that have a term, a few of the first ones.
pub fn some_segments(blocks: &[WordsBlock<'_>], variant: &Variant) -> Result<Vec<u32>> {
    let mut segments = vec![];
    for block in blocks {
        if segments.len() < SPELLINGS_MAX
            && let Some(postings) = block.lookup(variant)?
        {
            postings.for_each(|document, _| {
                if segments.len() < SPELLINGS_MAX && !block.dead.has(document as usize) {
                    segments.push(block.view.segments.get(document as usize));
                }
            })?;
        }
    }
    Ok(segments)
}

/// Some of each block, in one piece: a query asks for many words in many blocks.
#[derive(Debug, Clone)]
pub(super) struct OfBlocks<T> {
    all: Vec<T>,
    /// Where those of each block end.
    ends: Vec<usize>,
}

impl<T> Default for OfBlocks<T> {
    fn default() -> Self {
        Self { all: vec![], ends: vec![] }
    }
}

impl<T> OfBlocks<T> {
    fn with_capacity(blocks: usize, all: usize) -> Self {
        Self { all: Vec::with_capacity(all), ends: Vec::with_capacity(blocks) }
    }

    fn push(&mut self, one: T) {
        self.all.push(one);
    }

    /// Ends a block: all that was pushed since the last one is its own.
    fn end_block(&mut self) {
        self.ends.push(self.all.len());
    }

    pub(super) fn of(&self, block: usize) -> &[T] {
        &self.all[if block == 0 { 0 } else { self.ends[block - 1] }..self.ends[block]]
    }
}

/// Where a word of the query occurs.
pub struct Found<'a> {
    /// Number of living segments that have it, also those in whose language it is a stop word: it tells little then.
    pub(super) frequency: u64,
    /// Lists of postings in each block, each with the languages whose segments it counts for.
    pub(super) lists: OfBlocks<(TermPostings<'a>, u64)>,
    /// Whether it is information of the query. Spelling alternatives are not.
    pub(super) informs: bool,
    /// The word as it is written. Absent for parts of a whole, and for what is meant instead of a word.
    pub(super) written: Option<String>,
}

/// Looks words up one after the other; a second time, in the same order, without searching their terms.
pub(super) struct Finder<'b, 'a> {
    pub(super) blocks: &'b [WordsBlock<'a>],
    pub(super) dead: &'b [Vec<u32>],
    pub(super) known: Option<&'b [Occurrences]>,
    pub(super) made: Vec<Occurrences>,
}

impl<'a> Finder<'_, 'a> {
    pub(super) fn find(&mut self, word: &QueryWord) -> Result<Found<'a>> {
        if let Some((next, later)) = self.known.and_then(<[Occurrences]>::split_first) {
            self.known = Some(later);
            return Found::at(self.blocks, next);
        }
        self.take(occurrences(self.blocks, self.dead, word)?)
    }

    pub(super) fn take(&mut self, occurrences: Occurrences) -> Result<Found<'a>> {
        let found = Found::at(self.blocks, &occurrences)?;
        self.made.push(occurrences);
        Ok(found)
    }
}

impl<'a> Found<'a> {
    fn at(blocks: &[WordsBlock<'a>], Occurrences { frequency, terms, .. }: &Occurrences) -> Result<Self> {
        let mut lists = OfBlocks::with_capacity(blocks.len(), terms.all.len());
        for (number, block) in blocks.iter().enumerate() {
            for (at, matched) in terms.of(number) {
                lists.push((block.view.term_postings(*at)?, *matched));
            }
            lists.end_block();
        }
        Ok(Self { frequency: *frequency, lists, informs: true, written: None })
    }
}

pub(super) fn occurrences(blocks: &[WordsBlock<'_>], dead: &[Vec<u32>], word: &QueryWord) -> Result<Occurrences> {
    let terms = OfBlocks::with_capacity(blocks.len(), blocks.len());
    let mut of_word = Occurrences { terms, ..Occurrences::default() };
    for (block, dead) in blocks.iter().zip(dead) {
        for variant in &word.variants {
            if let Some(at) = block.term(variant)? {
                of_word.is_there = true;
                let postings = block.view.term_postings(at)?;
                of_word.frequency += living(block, dead, &postings, variant.languages)?;
                if variant.matched != 0 {
                    of_word.terms.push((at, variant.matched));
                }
            }
        }
        of_word.terms.end_block();
    }
    Ok(of_word)
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
