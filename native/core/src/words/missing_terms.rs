//! Which of the things that a query names a segment lacks: `XK-200-B` does not answer what is asked of `XK-300`.
//!
//! A segment has something named if it has it whole, or its parts in order, or those parts that tell it from others: the
//! rarest, and all with digits, none of them so short that it may be there by chance.
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
use crate::terms::named::{has_digit, is_telling};

/// Things that are looked for: to find the parts of one in order costs a walk through their positions.
const THINGS_MAX: usize = 8;

/// Words beside something named from which on a query asks for more than that.
const QUESTION_WORDS: usize = 3;

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
        let of_things: HashSet<usize> = terms.named.iter().flat_map(|named| named.words.iter().copied()).collect();
        let is_short = terms.words.len() - of_things.len() < QUESTION_WORDS;
        for named in terms.named.iter().take(THINGS_MAX) {
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
            of.things.push(Thing {
                wholes: set_of(&wholes),
                parts: set_of(&parts),
                telling: telling(terms, named).map_or(0, |telling| set_of(telling.iter().map(|at| &parts[*at]))),
                in_order: named.in_order.as_ref(),
                words,
                is_all: is_short && is_nowhere(terms, named),
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
        for Thing { wholes, parts, telling, in_order, words, is_all } in &self.things {
            let may_be_in_order = |bits: u64| bits & wholes == 0 && bits & parts == *parts;
            let in_order = match in_order {
                Some(phrase) if rows.iter().any(|(_, bits)| may_be_in_order(*bits)) => {
                    documents_with_all(block, std::slice::from_ref(*phrase), &Stop::default())?
                }
                _ => None,
            };
            for ((row, bits), lacks) in rows.iter().zip(&mut lacks) {
                let has_whole = bits & wholes != 0;
                let has_telling = *telling != 0 && bits & telling == *telling;
                let has_in_order = || in_order.as_ref().is_some_and(|has| has[*row as usize]);
                if !has_whole && !has_telling && !has_in_order() {
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
    let frequencies: Vec<u64> = named.parts.iter().map(|word| frequency(terms, *word)).collect();
    let least = frequencies.iter().min().copied();
    let tells = |at: &usize| has_digit(texts[*at]) || Some(frequencies[*at]) == least;
    let telling: Vec<usize> = (0..texts.len()).filter(tells).collect();
    telling.iter().all(|at| is_telling(texts[*at])).then_some(telling)
}

fn is_nowhere(terms: &QueryTerms<'_>, NamedWords { wholes, parts, .. }: &NamedWords) -> bool {
    let is_absent = |word: &usize| frequency(terms, *word) == 0;
    wholes.iter().all(is_absent) && (parts.len() > 1 || parts.iter().all(is_absent))
}

/// Segments that have a word, or what it stands for.
fn frequency(terms: &QueryTerms<'_>, word: usize) -> u64 {
    terms.found[terms.found_of[word].clone()].iter().map(|found| found.frequency).max().unwrap_or(0)
}
