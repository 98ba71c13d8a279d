//! Words of a query that may be misspelt: the index's terms that are one slip away, or two for a long word. A slip is a
//! letter left out, added or replaced, or two letters swapped (optimal string alignment, Damerau 1964).
//!
//! The terms of a block are sorted, so they are walked like a trie: what is known of a beginning is shared by all terms that
//! begin alike, and where none of them can come within reach any more, all of them are passed over.

use std::collections::HashMap;

use super::block::WordsBlock;
use super::query_word::{QueryWord, Variant};
use crate::error::Result;
use crate::ranking::options::Stop;
use crate::terms::analysis::bare_word;
use crate::terms::language::{DEFAULT, Language};

/// Letters from which on a word may have one slip; below, two.
const ONE_SLIP_LETTERS: usize = 5;
const TWO_SLIPS_LETTERS: usize = 9;
/// Letters that are left of such a word without its ending: of fewer, one slip makes too many other words (`met`, `men`).
const STEM_LETTERS_MIN: usize = 4;
/// Letters at its start in which a word with two slips has one at most: further ones are not looked through.
const EARLY_LETTERS: usize = 4;
/// Letters of a word that are compared.
const LETTERS_MAX: usize = 60;
/// Slips that a word may have.
const SLIPS_MAX: usize = 2;
/// Terms that one word may stand for: of the nearest the most frequent ones, and of equal ones the first.
const TERMS_MAX: usize = 3;
/// Weight of a term that was not written.
const MEANT_WEIGHT: f32 = 0.8;

/// Slips that a word in lower case may have. None in numbers and codes.
pub fn slips_of(word: &str) -> usize {
    if !word.chars().all(char::is_alphabetic) {
        return 0;
    }
    match word.chars().count() {
        ..ONE_SLIP_LETTERS => 0,
        ONE_SLIP_LETTERS..TWO_SLIPS_LETTERS => 1,
        _ => SLIPS_MAX,
    }
}

/// Finds how a term is written in a text of the index.
pub type Spelt<'s> = dyn Fn(&Variant) -> Result<Option<String>> + 's;

/// A term of the index in place of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Near {
    variant: Variant,
    distance: usize,
    frequency: u64,
}

/// Spelling alternatives of a word that no segment has, best first, each with how the index writes it. None if nothing is near.
/// `spelt`: how a term is written in a text; None where that is not known.
pub fn meant(
    blocks: &[WordsBlock<'_>],
    word: &QueryWord,
    stop: &Stop,
    spelt: &Spelt<'_>,
) -> Result<Option<(QueryWord, String)>> {
    if !word.may_slip {
        return Ok(None);
    }
    let slips = slips_of(&word.written);
    // Two slips count only if nothing is within one.
    let mut near = nearest(blocks, &word.variants, slips, stop)?;
    let Some(least) = near.iter().map(|near| near.distance).min() else { return Ok(None) };
    near.retain(|near| near.distance == least);
    near.sort_by(|left, right| {
        right.frequency.cmp(&left.frequency).then_with(|| left.variant.term.cmp(&right.variant.term))
    });
    near.truncate(TERMS_MAX);
    let (mut variants, mut first) = (vec![], None);
    for Near { variant, .. } in near {
        let written = spelt(&variant)?;
        // Words whose stems are alike may differ as they are written: `allegato`, `alle`.
        if written.as_ref().is_none_or(|other| is_slip(&word.written, other, slips)) {
            first.get_or_insert_with(|| written.unwrap_or_else(|| variant.term.clone()));
            variants.push(variant);
        }
    }
    let Some(first) = first else { return Ok(None) };
    Ok(Some((QueryWord { variants, count: word.count * MEANT_WEIGHT, may_slip: false, ..word.clone() }, first)))
}

/// Whether two words are so many slips apart at most, whatever their accents.
fn is_slip(word: &str, other: &str, slips: usize) -> bool {
    let (word, other) = (bare_word(word), bare_word(other));
    matches!(Walk::new(&word, slips, 0).step(other.as_bytes()), Step::Near(_))
}

/// Hardly any slip changes the first letter of a word (Pollock and Zamora 1984), unless it is swapped with the second.
fn begins_alike(word: &str, term: &str) -> bool {
    let mut letters = term.chars();
    match (word.chars().next(), letters.next()) {
        (Some(own), Some(first)) => own == first || letters.next() == Some(own),
        _ => false,
    }
}

/// The terms within reach of any variant, each with the languages of that variant.
fn nearest(blocks: &[WordsBlock<'_>], variants: &[Variant], reach: usize, stop: &Stop) -> Result<Vec<Near>> {
    let mut near: HashMap<String, Near> = HashMap::new();
    let may_slip = variants.iter().filter(|variant| variant.term.chars().count() >= STEM_LETTERS_MIN);
    let mut walks: Vec<(&Variant, Walk)> =
        may_slip.map(|variant| (variant, Walk::new(&variant.term, reach, EARLY_LETTERS))).collect();
    for block in blocks {
        stop.check()?;
        let first = Language::of_bits(block.view.header.languages).next().unwrap_or(DEFAULT);
        let in_block = |walk: &&mut (&Variant, Walk)| block.view.header.languages & walk.0.matched != 0;
        for (variant, walk) in walks.iter_mut().filter(in_block) {
            let variant = *variant;
            let mut at = 0;
            while at < block.view.terms() {
                let term = block.view.term(at)?;
                match walk.step(term) {
                    Step::Passed(prefix, next) => {
                        at = block.view.seek_prefix(at, prefix, next)?;
                        continue;
                    }
                    Step::Near(distance)
                        if distance > 0 && begins_alike(&variant.term, &String::from_utf8_lossy(term)) =>
                    {
                        let frequency = block.view.term_postings(at)?.frequency_in(variant.matched, first);
                        if frequency > 0 {
                            let term = String::from_utf8_lossy(term).into_owned();
                            let new =
                                |term| Near { variant: Variant { term, ..variant.clone() }, distance, frequency: 0 };
                            let known = near.entry(term.clone()).or_insert_with(|| new(term.clone()));
                            // The nearest of a word's variants counts.
                            if distance < known.distance {
                                *known = new(term);
                            }
                            known.frequency += if distance == known.distance { u64::from(frequency) } else { 0 };
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
        }
    }
    Ok(near.into_values().collect())
}

enum Step<'t> {
    Near(usize),
    Far,
    /// No term is near that begins with these bytes, and then with a letter below the one given, if any.
    Passed(&'t [u8], Option<char>),
}

/// The starts of a word, by their lengths as bits, that are within no, one or two slips of the start of a term (Wu and
/// Manber 1992, "Fast text searching allowing errors", with swapped letters).
#[derive(Debug, Clone, Copy, Default)]
struct Starts([u64; SLIPS_MAX + 1]);

/// How near one term after the other is to a word, in ascending order of terms.
struct Walk {
    word: Vec<char>,
    /// The letters of the word, ascending, each with its places in it as bits.
    alphabet: Vec<(char, u64)>,
    /// The places of those in ASCII.
    ascii: [u64; 128],
    reach: usize,
    /// Letters in which a term has one slip at most. The first of them is the word's first or second letter: otherwise
    /// every beginning would have to be looked at. 0: without these limits.
    early: usize,
    /// The letters of the term so far, …
    letters: Vec<char>,
    /// … and the starts of the word that are near them, for no letter, one letter, …
    rows: Vec<Starts>,
}

impl Walk {
    fn new(word: &str, reach: usize, early: usize) -> Self {
        let word: Vec<char> = word.chars().take(LETTERS_MAX).collect();
        let mut alphabet: Vec<(char, u64)> = vec![];
        for (at, letter) in word.iter().enumerate() {
            match alphabet.iter_mut().find(|known| known.0 == *letter) {
                Some(known) => known.1 |= 1 << at,
                None => alphabet.push((*letter, 1 << at)),
            }
        }
        alphabet.sort_unstable();
        let mut ascii = [0; 128];
        for (letter, places) in alphabet.iter().filter(|known| known.0.is_ascii()) {
            ascii[*letter as usize] = *places;
        }
        let (letters, rows) = (Vec::with_capacity(LETTERS_MAX), Vec::with_capacity(LETTERS_MAX));
        let mut walk = Self { word, alphabet, ascii, reach: reach.min(SLIPS_MAX), early, letters, rows };
        // So many letters of the word were left out.
        walk.rows.push(Starts(std::array::from_fn(|slips| ((2 << slips) - 1) & walk.whole())));
        walk
    }

    fn step<'t>(&mut self, term: &'t [u8]) -> Step<'t> {
        if term.is_ascii() {
            return self.step_by(term, term.iter().map(|byte| char::from(*byte)));
        }
        let Ok(text) = std::str::from_utf8(term) else { return Step::Far };
        self.step_by(term, text.chars())
    }

    /// `letters`: those of the term.
    #[inline(always)]
    fn step_by<'t>(&mut self, term: &'t [u8], letters: impl Iterator<Item = char> + Clone) -> Step<'t> {
        let mut rest = letters.clone();
        let mut shared = 0;
        let mut begins = 0;
        for (known, letter) in self.letters.iter().zip(letters) {
            if *known != letter {
                break;
            }
            (shared, begins) = (shared + 1, begins + letter.len_utf8());
            rest.next();
        }
        self.letters.truncate(shared);
        self.rows.truncate(shared + 1);
        for letter in rest {
            let Some(row) = self.row_after(letter) else {
                return Step::Passed(&term[..begins], self.next_after(letter));
            };
            self.letters.push(letter);
            self.rows.push(row);
            begins += letter.len_utf8();
        }
        let Starts(row) = self.row(self.letters.len());
        let is_near = |slips: &usize| row[*slips] >> self.word.len() & 1 == 1;
        (0..=self.reach).find(is_near).map_or(Step::Far, Step::Near)
    }

    /// A bit for each start of the word, the empty one and the whole one too.
    fn whole(&self) -> u64 {
        (2 << self.word.len()) - 1
    }

    fn row(&self, letters: usize) -> Starts {
        self.rows[letters]
    }

    /// The places of a letter in the word.
    #[inline(always)]
    fn places(&self, letter: char) -> u64 {
        if let Some(places) = self.ascii.get(letter as usize) {
            return *places;
        }
        self.alphabet.iter().find(|known| known.0 == letter).map_or(0, |known| known.1)
    }

    /// The starts that are near after one more letter. None if no near term continues with it.
    fn row_after(&self, letter: char) -> Option<Starts> {
        let count = self.letters.len();
        if count == 0 && self.early > 0 && !self.word.iter().take(2).any(|own| *own == letter) {
            return None;
        }
        let places = self.places(letter);
        let Starts(last) = self.row(count);
        // Where the letter before and this one come in the word the other way round, by the first of them.
        let (before, swapped) = match self.letters.last() {
            Some(former) => (self.row(count - 1), places & self.places(*former) >> 1),
            None => (Starts::default(), 0),
        };
        let mut row = [0; SLIPS_MAX + 1];
        row[0] = (last[0] & places) << 1;
        for slips in 1..=self.reach {
            let added = last[slips - 1];
            let replaced = last[slips - 1] << 1;
            let left_out = row[slips - 1] << 1;
            let swapped = (before.0[slips - 1] & swapped) << 2;
            row[slips] = ((last[slips] & places) << 1 | added | replaced | left_out | swapped) & self.whole();
        }
        let reach = if count < self.early { self.reach.min(1) } else { self.reach };
        (row[reach] != 0).then_some(Starts(row))
    }

    /// The least letter after one that may follow in its place. All terms that go on with one between are far.
    fn next_after(&self, letter: char) -> Option<char> {
        self.alphabet.iter().map(|known| known.0).find(|own| *own > letter && self.row_after(*own).is_some())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, without sharing.
    fn distance(left: &str, right: &str) -> usize {
        let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
        let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
        for (i, row) in rows.iter_mut().enumerate() {
            row[0] = i;
        }
        rows[0] = (0..=right.len()).collect();
        for i in 1..=left.len() {
            for j in 1..=right.len() {
                let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
                rows[i][j] = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                    rows[i][j] = rows[i][j].min(rows[i - 2][j - 2] + 1);
                }
            }
        }
        rows[left.len()][right.len()]
    }

    proptest! {
        #[test]
        fn the_walk_finds_what_the_definition_finds(
            terms in proptest::collection::btree_set("[abcé]{1,7}", 1..60), word in "[abcé]{2,7}", reach in 1..3usize
        ) {
            let terms: Vec<String> = terms.into_iter().collect();
            let mut walk = Walk::new(&word, reach, 0);
            let (mut at, mut found) = (0, vec![]);
            while at < terms.len() {
                match walk.step(terms[at].as_bytes()) {
                    Step::Passed(prefix, next) => {
                        let prefix = std::str::from_utf8(prefix).unwrap();
                        let is_passed = |term: &&String| {
                            let rest = term.strip_prefix(prefix);
                            rest.is_some_and(|rest| next.is_none_or(|next| rest.chars().next() < Some(next)))
                        };
                        at += terms[at..].iter().take_while(is_passed).count();
                        continue;
                    }
                    Step::Near(distance) => found.push((terms[at].clone(), distance)),
                    Step::Far => {}
                }
                at += 1;
            }
            let near = terms.iter().map(|term| (term.clone(), distance(&word, term))).filter(|term| term.1 <= reach);
            prop_assert_eq!(found, near.collect::<Vec<_>>());
        }
    }

    #[test]
    fn short_words_numbers_and_codes_have_no_slips() {
        for (word, slips) in [("four", 0), ("fives", 1), ("eightlet", 1), ("nineletts", 2), ("abc123def", 0)] {
            assert_eq!(slips_of(word), slips, "{word}");
        }
    }
}
