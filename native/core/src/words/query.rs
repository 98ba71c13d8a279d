//! A query of words: the terms to look up in each language, and the phrases that must occur.

use std::collections::{HashMap, HashSet};

use super::query_word::{QueryWord, Variant};
use super::slips::slips_of;
use crate::terms::analysis::Terms;
use crate::terms::judgement::{Evidence, Prior};
use crate::terms::language::{DEFAULT, Language};
use crate::terms::named::{Kind, Named, named};
use crate::terms::surface_forms::{Form, Word, words};
use crate::text::characters::{is_sign, is_unspaced, start_of};

/// Distinct words of a query that are looked up. Further ones are ignored.
pub const WORDS_MAX: usize = 256;
/// Distinct phrases that must occur, and the words of all of them together: each costs a walk through the positions of
/// its list. The words of further phrases are looked up like any others.
pub const PHRASES_MAX: usize = 16;
pub const PHRASE_WORDS_MAX: usize = 256;
/// How much likelier a query is in a language of the index than in another: as much as one stop word makes it.
const INDEX_WEIGHT: u32 = 9;
/// Marks of quotations.
const QUOTES: [char; 6] = ['"', '“', '”', '„', '«', '»'];
/// Weights of a whole, for each of its parts and divided by the words of the query, and of the parts (measured with the
/// example `words_quality`).
const WHOLE_WEIGHT: f32 = 3.0;
const PART_WEIGHT: f32 = 0.5;
/// Letters of two words from which on they may be written as one.
pub const JOINED_LETTERS: usize = 3;
/// Bytes of a query that are read.
pub const BYTES_MAX: usize = 64 * 1024;

/// Words that must occur in order: the variants of each, with its distance from the first.
pub type Phrase = Vec<(u32, Vec<Variant>)>;

/// Something that the query names, by the numbers of its words.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedWords {
    /// Any of them is all of it.
    pub wholes: Vec<usize>,
    pub parts: Vec<usize>,
    /// Its parts in order. None: it has one.
    pub in_order: Option<Phrase>,
    /// All words of it, wholes within it too.
    pub words: Vec<usize>,
    pub kind: Kind,
}

/// Two words beside each other, and what they are where they are written as one: `scatter plot`, `scatterplot`.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    /// By their numbers.
    pub words: [usize; 2],
    whole: Word,
}

impl Joined {
    /// The terms of the whole. Few queries ask for them: where an index has both words, they are what was meant.
    pub fn variants(&self, languages: &[Language]) -> Vec<Variant> {
        variants(&self.whole, &analysers_of(languages), |_, _| true)
    }
}

/// Forms of a word in an index that does not have the word itself: `d'être` for `être`, `O'Brien` for `OBrien`.
pub fn elided(written: &str, languages: &[Language]) -> Vec<Variant> {
    let words = words(written);
    let mut variants = vec![];
    for (word, language) in
        words.iter().filter(|_| words.len() == 1).flat_map(|word| languages.iter().map(move |of| (word, of)))
    {
        for term in Terms::of(*language).elided(word) {
            add(&mut variants, term, language.bit(), language.bit());
        }
    }
    variants
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedQuery {
    pub words: Vec<QueryWord>,
    pub joined: Vec<Joined>,
    pub phrases: Vec<Phrase>,
    /// The phrases as they are quoted.
    pub quoted: Vec<String>,
    pub named: Vec<NamedWords>,
    /// The language that its stop words are of. None: it has none.
    pub spoken: Option<Language>,
}

/// Analyses a query in each of the languages, which are those of the index. A stop word of the query's own language is
/// one in every language. Stop words are looked up only if the query has nothing else. `certain`: the query's language,
/// where that is known. Otherwise its stop words tell.
pub fn parse(text: &str, certain: Option<Language>, languages: &[Language]) -> ParsedQuery {
    let evidence = Evidence::of(start_of(text, BYTES_MAX));
    let own_language = language_by(&evidence, certain, languages);
    let spoken = evidence.has_any().then_some(own_language);
    let own = Terms::of(own_language);
    let analysers = analysers_of(languages);
    let mut all: Vec<Word> = vec![];
    let (mut phrases, mut texts, mut as_quoted) = (vec![], vec![], HashSet::new());
    let (mut quoted, mut room) = (HashSet::new(), PHRASE_WORDS_MAX);
    let has_words = text.chars().any(char::is_alphanumeric);
    for (part, is_quoted) in parts(start_of(text, BYTES_MAX)) {
        let mut words = without_covered_singles(words(part));
        // Beside words, signs ask for nothing.
        words.retain(|word| !has_words || !word.text.starts_with(is_sign));
        let divided: Vec<&Word> = words.iter().filter(|word| word.form != Form::Whole).take(room).collect();
        if is_quoted && divided.len() > 1 && phrases.len() < PHRASES_MAX && quoted.insert(part) {
            phrases.push(in_order(&divided, &analysers));
            texts.push(part.trim().to_owned());
            room -= divided.len();
        }
        if is_quoted {
            as_quoted.extend(words.iter().map(|word| word.text.clone()));
        }
        all.extend(words);
    }
    let mut words = distinct(&all, &own, &analysers);
    for word in &mut words {
        word.may_slip &= !as_quoted.contains(&word.written);
    }
    let numbers: HashMap<&str, usize> =
        words.iter().enumerate().map(|(number, word)| (word.written.as_str(), number)).collect();
    let named = named_words(named(text, &all, own_language), &numbers, &analysers);
    let joined = joined(&all, &numbers);
    ParsedQuery { words, joined, phrases, quoted: texts, named, spoken }
}

fn analysers_of(languages: &[Language]) -> Vec<(Language, Terms)> {
    languages.iter().map(|language| (*language, Terms::of(*language))).collect()
}

/// Pairs of words that may be written as one.
fn joined(all: &[Word], numbers: &HashMap<&str, usize>) -> Vec<Joined> {
    let may_join = |word: &Word| {
        word.form == Form::Spaced
            && word.parts == 1
            && word.text.chars().count() >= JOINED_LETTERS
            && word.text.chars().all(char::is_alphabetic)
    };
    let spaced: Vec<&Word> = all.iter().filter(|word| word.form != Form::Whole).collect();
    let of = spaced.windows(2).filter_map(|pair| {
        let [left, right] = pair else { return None };
        let beside = left.position + 1 == right.position && may_join(left) && may_join(right);
        let words = [*numbers.get(left.text.as_str())?, *numbers.get(right.text.as_str())?];
        let whole = Word { text: format!("{}{}", left.text, right.text), ..**left };
        beside.then_some(Joined { words, whole })
    });
    of.take(WORDS_MAX).collect()
}

fn in_order(words: &[&Word], analysers: &[(Language, Terms)]) -> Phrase {
    let first = words[0].position;
    words.iter().map(|word| (word.position - first, variants(word, analysers, |_, _| true))).collect()
}

/// The names in the query. A part that is a stop word is not looked up.
fn named_words(named: Vec<Named>, numbers: &HashMap<&str, usize>, analysers: &[(Language, Terms)]) -> Vec<NamedWords> {
    let of = named.into_iter().filter_map(|Named { wholes, parts, inner, kind }| {
        let numbers_of = |texts: &[String]| -> Vec<usize> {
            texts.iter().filter_map(|text| numbers.get(text.as_str()).copied()).collect()
        };
        let order: Vec<&Word> = parts.iter().collect();
        let in_order = (order.len() > 1).then(|| in_order(&order, analysers));
        let parts: Vec<usize> = parts.iter().filter_map(|part| numbers.get(part.text.as_str()).copied()).collect();
        let wholes = numbers_of(&wholes);
        let words = [&wholes[..], &parts, &numbers_of(&inner)].concat();
        (!parts.is_empty()).then_some(NamedWords { wholes, parts, in_order, words, kind })
    });
    of.collect()
}

/// A query's language: one of the index, unless its stop words are plainly those of another. `certain`: its language,
/// if it is known and has no stop words to tell by.
pub fn language_of(text: &str, certain: Option<Language>, languages: &[Language]) -> Language {
    language_by(&Evidence::of(start_of(text, BYTES_MAX)), certain, languages)
}

fn language_by(evidence: &Evidence, certain: Option<Language>, languages: &[Language]) -> Language {
    let mut prior = Prior::default();
    languages.iter().for_each(|language| prior.add(*language, INDEX_WEIGHT));
    match certain {
        Some(language) if !evidence.has_any() => language,
        _ => evidence.language(&prior),
    }
}

/// Whether a query has a mark that may open a phrase.
pub fn may_have_phrases(text: &str) -> bool {
    text.contains(QUOTES)
}

/// Whether a query quotes a phrase.
pub fn has_phrases(text: &str) -> bool {
    may_have_phrases(text) && !parse(text, None, &[DEFAULT]).phrases.is_empty()
}

/// A query, split at its quotes, and whether each part is quoted. A straight quote opens if no letter or digit is
/// before it, and closes if none is after it: `5" disk` has none. Typographic quotes open and close alternately.
fn parts(text: &str) -> Vec<(&str, bool)> {
    let is_word = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() && !is_unspaced(letter));
    let (mut parts, mut from, mut open, mut before) = (vec![], 0, false, None);
    for (at, letter) in text.char_indices() {
        let after = at + letter.len_utf8();
        let cuts = match letter {
            '"' => !is_word(if open { text[after..].chars().next() } else { before }),
            _ => QUOTES.contains(&letter),
        };
        if cuts {
            parts.push((&text[from..at], open));
            (from, open) = (after, !open);
        }
        before = Some(letter);
    }
    parts.push((&text[from..], false));
    parts
}

/// A character of a script without spaces is looked up alone only if it stands alone.
fn without_covered_singles(words: Vec<Word>) -> Vec<Word> {
    let pairs: Vec<u32> = words.iter().filter(|word| word.form == Form::Pair).map(|word| word.position).collect();
    let covered = |at: u32| pairs.binary_search(&at).is_ok() || (at > 0 && pairs.binary_search(&(at - 1)).is_ok());
    words.into_iter().filter(|word| word.form != Form::Single || !covered(word.position)).collect()
}

fn distinct(all: &[Word], own: &Terms, analysers: &[(Language, Terms)]) -> Vec<QueryWord> {
    let is_stop_word = |terms: &Terms, word: &Word| own.is_stop_word(word) || terms.is_stop_word(word);
    let only_stop_words: Vec<bool> =
        analysers.iter().map(|(_, terms)| all.iter().all(|word| is_stop_word(terms, word))).collect();
    let length = all.iter().filter(|word| word.counts).count().max(1) as f32;
    let mut order: Vec<(&Word, f32)> = vec![];
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for word in all {
        match seen.get(word.text.as_str()) {
            Some(at) => order[*at].1 += weight_of(word, length),
            None if order.len() < WORDS_MAX => {
                seen.insert(&word.text, order.len());
                order.push((word, weight_of(word, length)));
            }
            None => {}
        }
    }
    let looked_up = |word: &Word| {
        let wanted = |at: usize, terms: &Terms| only_stop_words[at] || !is_stop_word(terms, word);
        let mut variants = variants(word, analysers, wanted);
        for (_, (language, terms)) in analysers.iter().enumerate().filter(|(at, of)| wanted(*at, &of.1)) {
            if let Some(term) = terms.possessive(word) {
                add(&mut variants, term, language.bit(), language.bit());
            }
        }
        variants
    };
    let may_slip = |word: &Word| word.form == Form::Spaced && word.parts == 1 && slips_of(&word.text) > 0;
    let words = order.into_iter().map(|(word, count)| QueryWord {
        variants: looked_up(word),
        count,
        written: word.text.clone(),
        may_slip: may_slip(word),
        is_part: word.parts == 0,
    });
    words.filter(|word| word.variants.iter().any(|variant| variant.matched != 0)).collect()
}

/// A query that is a whole finds its occurrences first, before its scattered parts; in a longer one it does not
/// outweigh the other words. `length`: words of the query.
fn weight_of(word: &Word, length: f32) -> f32 {
    match word.form {
        Form::Whole => WHOLE_WEIGHT * f32::from(word.parts) / length,
        _ if word.parts == 0 => PART_WEIGHT,
        _ => 1.0,
    }
}

fn variants(word: &Word, analysers: &[(Language, Terms)], wanted: impl Fn(usize, &Terms) -> bool) -> Vec<Variant> {
    let mut variants: Vec<Variant> = vec![];
    for (at, (language, terms)) in analysers.iter().enumerate() {
        let (languages, matched) = (language.bit(), if wanted(at, terms) { language.bit() } else { 0 });
        for term in std::iter::once(terms.term(word)).chain(terms.transcribed(word)) {
            add(&mut variants, term, languages, matched);
        }
    }
    variants
}

fn add(variants: &mut Vec<Variant>, term: String, languages: u64, matched: u64) {
    match variants.iter_mut().find(|variant| variant.term == term) {
        Some(variant) => {
            variant.languages |= languages;
            variant.matched |= matched;
        }
        None => variants.push(Variant { term, languages, matched }),
    }
}
