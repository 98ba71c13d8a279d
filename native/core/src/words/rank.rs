//! The best segments for a query's words, by BM25 over all blocks together. Frequencies and lengths are exactly those
//! of the living segments.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use unicode_segmentation::UnicodeSegmentation;

use super::block::WordsBlock;
use super::bm25::{Collection, Formula};
use super::coincidence::coincidental_words;
use super::occurrences::{Finder, Found, Occurrences, look_up, occurrences};
use super::phrases::{documents_with_all, relax};
use super::query::{JOINED_LETTERS, NamedWords, ParsedQuery, Phrase, language_of, parse};
use super::query_word::QueryWord;
use super::scores::{BlockScores, Only, RankedList};
use super::slips::{Spelt, meant};
use crate::error::{Result, ShardError};
use crate::ranking::options::{SearchOptions, Stop};
use crate::ranking::top_k::{Ranking, TopK};
use crate::terms::analysis::Terms;
use crate::terms::language::{DEFAULT, Language};
use crate::terms::spelt_right::SpeltRight;
use crate::terms::surface_forms;

/// The best k segments for a query's words. A segment must have every quoted phrase and at least one word.
/// `language`: that of the query, if it is certain.
pub fn search(
    blocks: &[WordsBlock<'_>],
    query: &str,
    language: Option<Language>,
    options: &SearchOptions,
) -> Result<Ranking> {
    search_telling(blocks, &ResolvedQuery::new(query, language, SpeltRight::default()), options, &|_| Ok(None))
}

/// As [`search`]. `spelt` finds how a term is written in a segment that has it.
pub fn search_telling(
    blocks: &[WordsBlock<'_>],
    query: &ResolvedQuery,
    options: &SearchOptions,
    spelt: &Spelt<'_>,
) -> Result<Ranking> {
    let mut ranking = Ranking { exact: true, ..Ranking::default() };
    let Some(terms) = QueryTerms::of(blocks, query, &options.stop, spelt)? else { return Ok(ranking) };
    ranking.corrected = corrected(&query.text, &terms.corrections);
    ranking.relaxed = terms.relaxed;
    let QueryTerms { collection, phrases, found, weights, .. } = terms;
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
        let Some(only) = only(&blocks[at], &phrases, options)? else { continue };
        let lists: Vec<RankedList<'_>> = order
            .iter()
            .flat_map(|word| found[*word].lists.of(at).iter().map(|list| (weights[*word], *list)))
            .map(|(weight, (postings, languages))| RankedList { postings, languages, weight })
            .collect();
        ranking.scanned += scores.rank(&blocks[at], &lists, formula, &only, (&mut top_k, options.k))?;
    }
    ranking.hits = top_k.into_sorted();
    Ok(ranking)
}

/// The documents of a block that may be found. None if there are none.
fn only(block: &WordsBlock<'_>, phrases: &[Phrase], options: &SearchOptions) -> Result<Option<Only>> {
    let within = options.within.as_ref().map(|within| block.rows_within(within));
    if within.as_ref().is_some_and(Vec::is_empty) {
        return Ok(None);
    }
    let only = match (documents_with_all(block, phrases, &options.stop)?, within) {
        (None, None) => return Ok(Some(Only::All)),
        (None, Some(within)) => Only::of(within, block.view.rows()),
        (Some(mut documents), within) => {
            if let Some(within) = within {
                let mut allowed = vec![false; documents.len()];
                within.into_iter().for_each(|rows| allowed[rows].fill(true));
                documents.iter_mut().zip(allowed).for_each(|(has, allowed)| *has &= allowed);
            }
            Only::Marked(documents)
        }
    };
    Ok(if only.is_none() { None } else { Some(only) })
}

/// A query of one state of an index. Its words are resolved there once.
#[derive(Debug)]
pub struct ResolvedQuery {
    pub text: String,
    /// The query's, if it is certain.
    pub language: Option<Language>,
    pub spelt_right: SpeltRight,
    understood: OnceLock<Understood>,
}

/// A query's words, and for each what it may mean where it is misspelt: the terms of the index are walked for that.
#[derive(Debug)]
struct Understood {
    parsed: ParsedQuery,
    /// Quoted phrases that stand nowhere.
    relaxed: Vec<String>,
    meanings: Vec<Meaning>,
    /// Of each word, whether it is a coincidence.
    coincidental: Vec<bool>,
    /// Those of the words and of their alternatives, in the order in which they are looked up.
    occurrences: Vec<Occurrences>,
}

/// Meaning of a word of a query.
#[derive(Debug, Clone)]
enum Meaning {
    Itself,
    /// Nothing: no text has it, and it is no word that is known.
    Unknown,
    /// Another word of the index, and how that is written: it is misspelt.
    Slip(QueryWord, String),
    /// Two words of the index that are written as one.
    Halves([QueryWord; 2]),
}

impl ResolvedQuery {
    pub fn new(text: &str, language: Option<Language>, spelt_right: SpeltRight) -> Self {
        Self { text: text.to_owned(), language, spelt_right, understood: OnceLock::new() }
    }
}

/// A query's words, looked up in the blocks, with alternatives for those that are misspelt.
pub struct QueryTerms<'a> {
    pub collection: Collection,
    pub phrases: Vec<Phrase>,
    pub found: Vec<Found<'a>>,
    /// The weight of each word: its inverse document frequency, as often as the query has it.
    pub weights: Vec<f32>,
    pub corrections: Vec<Correction>,
    pub relaxed: Vec<String>,
    /// Whether no segment has one of the words.
    pub has_absent: bool,
    /// Of each word, whether it is [`Meaning::Unknown`].
    pub unknown: Vec<bool>,
    /// Of each in `found`, whether it is a coincidence: see [`coincidental_words`].
    pub coincidental: Vec<bool>,
    /// The names in the query, …
    pub named: Vec<NamedWords>,
    /// … and where its words, by their numbers, are in `found`: a word may stand for another besides.
    pub found_of: Vec<Range<usize>>,
    /// The query's words as they are written.
    pub words: Vec<String>,
    /// Their number, parts of others not counted.
    pub count: usize,
}

/// A word in whose place the index has another.
pub struct Correction {
    /// In lower case.
    pub written: String,
    /// The likeliest correction, as the index writes it.
    pub meant: String,
}

impl<'a> QueryTerms<'a> {
    /// None if nothing can be found. `query` is always asked of the same blocks.
    pub fn of(
        blocks: &[WordsBlock<'a>],
        query: &ResolvedQuery,
        stop: &Stop,
        spelt: &Spelt<'_>,
    ) -> Result<Option<Self>> {
        let dead: Vec<Vec<u32>> = blocks.iter().map(|block| block.dead.rows_below(block.view.rows())).collect();
        let collection = Collection::of(blocks, &dead);
        let before = query.understood.get();
        let mut parsed = match before {
            Some(understood) => Cow::Borrowed(&understood.parsed),
            None => Cow::Owned(parse(&query.text, query.language, &collection.languages)),
        };
        if parsed.words.is_empty() || collection.documents == 0 {
            return Ok(None);
        }
        let (looked_up, relaxed) = match &mut parsed {
            Cow::Borrowed(_) => (vec![], before.map_or(vec![], |known| known.relaxed.clone())),
            Cow::Owned(parsed) => {
                let relaxed = relax(blocks, parsed, stop)?;
                (look_up(blocks, &dead, query, parsed, &collection.languages)?, relaxed)
            }
        };
        let mut terms = Self {
            collection,
            phrases: parsed.phrases.clone(),
            found: vec![],
            weights: vec![],
            corrections: vec![],
            relaxed,
            has_absent: false,
            unknown: vec![],
            coincidental: vec![],
            named: parsed.named.clone(),
            found_of: vec![],
            words: parsed.words.iter().map(|word| word.written.clone()).collect(),
            count: parsed.words.iter().filter(|word| !word.is_part).count(),
        };
        let mut meanings = vec![];
        let mut finder =
            Finder { blocks, dead: &dead, known: before.map(|known| &known.occurrences[..]), made: vec![] };
        let mut looked_up = looked_up.into_iter();
        let coincidental = match before {
            Some(understood) => Cow::Borrowed(&understood.coincidental),
            None => Cow::Owned(coincidental_words(blocks, query, &parsed, &terms.collection.languages)?),
        };
        for (at, word) in parsed.words.iter().enumerate() {
            stop.check()?;
            let begin = terms.found.len();
            let of_word = match looked_up.next() {
                Some(occurrences) => finder.take(occurrences)?,
                None => finder.find(word)?,
            };
            let meaning = match before {
                Some(understood) => Cow::Borrowed(&understood.meanings[at]),
                None if of_word.frequency > 0 => Cow::Owned(Meaning::Itself),
                None => Cow::Owned(terms.meaning(blocks, &dead, query, word, (stop, spelt))?),
            };
            terms.add(&mut finder, word, of_word, &meaning)?;
            terms.found_of.push(begin..terms.found.len());
            terms.coincidental.resize(terms.found.len(), coincidental[at]);
            terms.unknown.push(matches!(*meaning, Meaning::Unknown));
            if let Cow::Owned(meaning) = meaning {
                meanings.push(meaning);
            }
        }
        if let (Cow::Owned(parsed), Cow::Owned(coincidental)) = (parsed, coincidental) {
            let (relaxed, occurrences) = (terms.relaxed.clone(), finder.made);
            // Two threads may have found out the same.
            let _ = query.understood.set(Understood { parsed, relaxed, meanings, coincidental, occurrences });
        }
        Ok(Some(terms))
    }

    /// The meaning of a word that no segment has.
    fn meaning(
        &self,
        blocks: &[WordsBlock<'_>],
        dead: &[Vec<u32>],
        query: &ResolvedQuery,
        word: &QueryWord,
        (stop, spelt): (&Stop, &Spelt<'_>),
    ) -> Result<Meaning> {
        let languages = &self.collection.languages;
        if !word.may_slip
            || query
                .spelt_right
                .has(&word.written, &stems(query, &word.written, languages))
                .map_err(ShardError::internal)?
        {
            return Ok(Meaning::Itself);
        }
        if let Some((instead, written)) = meant(blocks, word, stop, spelt)? {
            return Ok(Meaning::Slip(instead, written));
        }
        let halves = halves(blocks, dead, query, languages, word, stop)?;
        Ok(halves.map_or(Meaning::Unknown, Meaning::Halves))
    }

    fn add(
        &mut self,
        finder: &mut Finder<'_, 'a>,
        word: &QueryWord,
        of_word: Found<'a>,
        meaning: &Meaning,
    ) -> Result<()> {
        let frequency = of_word.frequency;
        self.has_absent |= frequency == 0;
        let instead = match meaning {
            Meaning::Itself | Meaning::Unknown => &[][..],
            Meaning::Slip(instead, _) => std::slice::from_ref(instead),
            Meaning::Halves(halves) => halves,
        };
        let mut push = |word: &QueryWord, of_word: Found<'a>| {
            self.weights.push(word.count * self.collection.idf(of_word.frequency));
            self.found.push(of_word);
        };
        // A word that no passage has is left out where others stand for it.
        if frequency > 0 || instead.is_empty() {
            let written = (!word.is_part).then(|| word.written.clone());
            push(word, Found { written, ..of_word });
        }
        for instead in instead {
            push(instead, Found { informs: frequency == 0, ..finder.find(instead)? });
        }
        if let Meaning::Slip(_, meant) = meaning {
            self.corrections.push(Correction { written: word.written.clone(), meant: meant.clone() });
        }
        Ok(())
    }
}

/// The stems of a word in the languages that it may be of: the query's and the index's. English words are known by themselves.
pub(super) fn stems(query: &ResolvedQuery, written: &str, languages: &[Language]) -> Vec<String> {
    let own = language_of(&query.text, query.language, languages);
    let others = languages.iter().copied().filter(|language| *language != own);
    let of = std::iter::once(own).chain(others).filter(|language| *language != DEFAULT);
    let words = surface_forms::words(written);
    of.flat_map(|language| words.iter().map(move |word| Terms::of(language).term(word))).collect()
}

/// The two words that an absent one consists of, if a segment has them in order: `scatterplot`, `scatter plot`.
fn halves(
    blocks: &[WordsBlock<'_>],
    dead: &[Vec<u32>],
    query: &ResolvedQuery,
    languages: &[Language],
    word: &QueryWord,
    stop: &Stop,
) -> Result<Option<[QueryWord; 2]>> {
    let letters = word.written.chars().count();
    if !word.may_slip || letters < 2 * JOINED_LETTERS {
        return Ok(None);
    }
    for (at, _) in word.written.char_indices().skip(JOINED_LETTERS).take(letters + 1 - 2 * JOINED_LETTERS) {
        let (left, right) = word.written.split_at(at);
        let parsed = parse(&format!("\"{left} {right}\""), query.language, languages);
        let Ok([left, right]) = <[QueryWord; 2]>::try_from(parsed.words) else { continue };
        if occurrences(blocks, dead, &left)?.frequency == 0 || occurrences(blocks, dead, &right)?.frequency == 0 {
            continue;
        }
        for block in blocks {
            let with_both = documents_with_all(block, &parsed.phrases, stop)?.unwrap_or_default();
            if (0..with_both.len()).any(|row| with_both[row] && !block.dead.has(row)) {
                let half = |of: QueryWord| QueryWord { count: word.count / 2.0, may_slip: false, ..of };
                return Ok(Some([half(left), half(right)]));
            }
        }
    }
    Ok(None)
}

/// The query with its slips corrected. None if it has none.
fn corrected(query: &str, corrections: &[Correction]) -> Option<String> {
    if corrections.is_empty() {
        return None;
    }
    let instead: HashMap<&str, &str> = corrections.iter().map(|of| (of.written.as_str(), of.meant.as_str())).collect();
    let words = query.split_word_bounds();
    Some(words.map(|word| instead.get(word.to_lowercase().as_str()).copied().unwrap_or(word)).collect())
}
