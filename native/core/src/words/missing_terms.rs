//! Which of the things that a query names a segment lacks: `XK-200-B` does not answer what is asked of `XK-300`.
//!
//! A segment has something named if it has it whole, or its parts in order, or those parts that tell it from others: the
//! rarest, and all with digits, none of them so short that it may be there by chance. Of a date these are day and year; of
//! numbers beside each other the long ones behind the first, which may be the code of a country, an area or a bank.
//!
//! If a query is hardly more than one name or code, and that is nowhere, a segment lacks the whole query: `invoice 4472` is not
//! answered by another invoice, nor "how tall is the Eiffel tower" by another tower.

use std::collections::HashSet;

use super::block::WordsBlock;
use super::phrases::documents_with_all;
use super::query::{NamedWords, Phrase};
use super::rank::QueryTerms;
use crate::error::Result;
use crate::ranking::options::Stop;
use crate::terms::named::{Kind, has_digit, is_telling};

/// Things that are looked for: to find the parts of one in order costs a walk through their positions.
const THINGS_MAX: usize = 8;

/// Digits of a number that tells something beside another.
const LONG_NUMBER: usize = 4;

/// Words beside something named from which on a query asks for more than that.
const QUESTION_WORDS: usize = 3;

/// Words that begin with a name and may mean the same.
const BEGINNINGS_MAX: usize = 8;

/// The names in a query, resolved in an index.
pub struct NamedThings<'a> {
    things: Vec<Thing<'a>>,
    /// For each query term its bit, if it is of something named; otherwise 0.
    bits: Vec<u64>,
}

/// Something named, its words as bits.
struct Thing<'a> {
    wholes: u64,
    parts: u64,
    /// 0: no part tells it from others.
    telling: u64,
    in_order: Option<&'a Phrase>,
    /// A name that is nowhere.
    absent_name: Option<&'a str>,
    /// Its words, wholes within it too, each with its bit and its weight.
    words: Vec<(u64, f32)>,
    /// It is nowhere, and hardly more is asked.
    is_all: bool,
}

/// Weights of the named things that a segment lacks.
#[derive(Debug, Clone, Copy, Default)]
pub struct MissingTerms {
    /// All of the things that it lacks; infinite where nothing else is asked.
    pub weight: f32,
    /// Words of these that it has all the same: they are no evidence.
    pub matched: f32,
}

impl<'a> NamedThings<'a> {
    pub fn of(terms: &'a QueryTerms<'_>) -> Self {
        let mut of = Self { things: vec![], bits: vec![0; terms.found.len()] };
        let mut bits = (0..u64::BITS).map(|bit| 1 << bit);
        // A noun that some language has is no name.
        let is_named = |named: &&NamedWords| named.kind != Kind::Noun || terms.unknown[named.parts[0]];
        let of_things: HashSet<usize> =
            terms.named.iter().filter(is_named).flat_map(|named| named.words.iter().copied()).collect();
        let is_short = terms.words.len() - of_things.len() < QUESTION_WORDS;
        for named in terms.named.iter().filter(is_named).take(THINGS_MAX) {
            let mut bit_of = |word: &usize| -> Option<u64> {
                let found = terms.found_of[*word].clone();
                if of.bits[found.start] == 0 {
                    of.bits[found.clone()].fill(bits.next()?);
                }
                Some(of.bits[found.start])
            };
            let wholes: Option<Vec<u64>> = named.wholes.iter().map(&mut bit_of).collect();
            let parts: Option<Vec<u64>> = named.parts.iter().map(&mut bit_of).collect();
            let words: Option<Vec<(u64, f32)>> = named
                .words
                .iter()
                .map(|word| {
                    let weight = terms.found_of[*word].clone().map(|at| terms.weights[at]).sum();
                    Some((bit_of(word)?, weight))
                })
                .collect();
            let (Some(wholes), Some(parts), Some(words)) = (wholes, parts, words) else { break };
            let absent_name = absent_name(terms, named);
            of.things.push(Thing {
                wholes: set_of(&wholes),
                parts: set_of(&parts),
                telling: telling(terms, named).map_or(0, |telling| set_of(telling.iter().map(|at| &parts[*at]))),
                in_order: named.in_order.as_ref(),
                absent_name,
                words,
                is_all: absent_name.is_some() || (is_short && is_absent_code(terms, named)),
            });
        }
        of
    }

    /// The bit of a query term that is of something named; otherwise 0.
    pub fn bit(&self, word: usize) -> u64 {
        self.bits[word]
    }

    /// The missing terms of each of some rows of a block. `rows`: each with the bits of its words.
    pub fn lacks(&self, block: &WordsBlock<'_>, rows: &[(u32, u64)]) -> Result<Vec<MissingTerms>> {
        let mut lacks = vec![MissingTerms::default(); rows.len()];
        for Thing { wholes, parts, telling, in_order, absent_name, words, is_all } in &self.things {
            let may_be_in_order = |bits: u64| bits & wholes == 0 && bits & parts == *parts;
            let in_order = match in_order {
                Some(phrase) if rows.iter().any(|(_, bits)| may_be_in_order(*bits)) => {
                    documents_with_all(block, std::slice::from_ref(*phrase), &Stop::default())?
                }
                _ => None,
            };
            let begun = absent_name.map(|name| with_beginning(block, name, rows)).transpose()?;
            for (at, ((row, bits), lacks)) in rows.iter().zip(&mut lacks).enumerate() {
                let has_whole = bits & wholes != 0;
                let has_telling = *telling != 0 && bits & telling == *telling;
                let has_in_order = || in_order.as_ref().is_some_and(|has| has[*row as usize]);
                let has_begun = begun.as_ref().is_some_and(|has| has[at]);
                if !has_whole && !has_telling && !has_begun && !has_in_order() {
                    for (bit, weight) in words {
                        lacks.weight += if *is_all { f32::INFINITY } else { *weight };
                        lacks.matched += if bits & bit != 0 { *weight } else { 0.0 };
                    }
                }
            }
        }
        Ok(lacks)
    }
}

fn set_of<'b>(bits: impl IntoIterator<Item = &'b u64>) -> u64 {
    bits.into_iter().fold(0, |set, bit| set | bit)
}

/// The parts, by their places, that tell something named from others. None: it is told by all of it alone.
fn telling(terms: &QueryTerms<'_>, named: &NamedWords) -> Option<Vec<usize>> {
    let texts: Vec<&str> = named.parts.iter().map(|word| terms.words[*word].as_str()).collect();
    if is_date(&texts) {
        return Some(vec![0, 2]);
    }
    if named.kind == Kind::Numbers {
        let long: Vec<usize> = (1..texts.len()).filter(|at| texts[*at].chars().count() >= LONG_NUMBER).collect();
        return (!long.is_empty()).then_some(long);
    }
    let frequencies: Vec<u64> = named.parts.iter().map(|word| frequency(terms, *word)).collect();
    let least = frequencies.iter().min().copied();
    let tells = |at: &usize| has_digit(texts[*at]) || Some(frequencies[*at]) == least;
    let telling: Vec<usize> = (0..texts.len()).filter(tells).collect();
    telling.iter().all(|at| is_telling(texts[*at])).then_some(telling)
}

fn absent_name<'a>(terms: &'a QueryTerms<'_>, named: &NamedWords) -> Option<&'a str> {
    let is_name = matches!(named.kind, Kind::Name | Kind::Noun);
    let is_absent = is_name && frequency(terms, named.parts[0]) == 0;
    is_absent.then(|| terms.words[named.parts[0]].as_str())
}

fn is_absent_code(terms: &QueryTerms<'_>, NamedWords { wholes, parts, kind, .. }: &NamedWords) -> bool {
    let is_absent = |word: &usize| frequency(terms, *word) == 0;
    !matches!(kind, Kind::Name | Kind::Noun)
        && parts.iter().any(|part| has_digit(&terms.words[*part]))
        && wholes.iter().all(is_absent)
        && (parts.len() > 1 || parts.iter().all(is_absent))
}

/// Segments that have a word, or what it stands for.
fn frequency(terms: &QueryTerms<'_>, word: usize) -> u64 {
    terms.found[terms.found_of[word].clone()].iter().map(|found| found.frequency).max().unwrap_or(0)
}

/// The rows that have a word which begins with a name, and may mean the same: `Eiffelturm`.
fn with_beginning(block: &WordsBlock<'_>, name: &str, rows: &[(u32, u64)]) -> Result<Vec<bool>> {
    let mut has = vec![false; rows.len()];
    for at in block.view.beginning(name.as_bytes(), BEGINNINGS_MAX)? {
        block.view.term_postings(at)?.for_each_of(rows.len(), |at| rows[at].0, |at, _| has[at] = true)?;
    }
    Ok(has)
}

/// Whether parts are year, month and day, or day, month and year.
fn is_date(parts: &[&str]) -> bool {
    let are_digits = parts.iter().all(|part| part.bytes().all(|letter| letter.is_ascii_digit()));
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    are_digits && matches!(lengths[..], [4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 4])
}
