//! Compounds in which a word stands that no text has by itself: `Versorgung` in `Wasserversorgungsanlage`.

use std::collections::HashMap;

use super::block::WordsBlock;
use super::query_word::{QueryWord, Variant};
use super::rank::{ResolvedQuery, stems};
use crate::error::{Result, ShardError};
use crate::terms::analysis::bare_word;
use crate::terms::language::{DEFAULT, Language};

/// Letters that the word has, and each further part of the compound; and such a part that need not be known: prefixes are shorter.
const LETTERS_MIN: usize = 5;
const REST_LETTERS_MIN: usize = 3;
const LONG_LETTERS: usize = 6;
/// Compounds that one word may stand for: the most frequent ones, and of equal ones the first.
const COMPOUNDS_MAX: usize = 8;
/// Terms of the index that are looked through for each word, beside those that begin with it.
const TERMS_READ_MAX: usize = 100_000;
/// What may join the parts of a compound: `Versorgungsanlage`, `Sonnenschirm`.
const JOINTS: [&str; 6] = ["", "s", "n", "en", "es", "er"];

/// The compounds of the index that begin with a word, or have it behind a word that is long or known (`Mangel` is no compound of `Angel`).
pub(super) fn compounds(
    blocks: &[WordsBlock<'_>],
    query: &ResolvedQuery,
    word: &QueryWord,
    languages: &[Language],
) -> Result<Vec<Variant>> {
    let of_compounds = languages.iter().filter(|language| language.has_compounds()).fold(0, |all, of| all | of.bit());
    let mut found: HashMap<String, (u64, Variant)> = HashMap::new();
    for variant in word.variants.iter().filter(|variant| variant.matched & of_compounds != 0) {
        // Of a short stem (`wass`) the whole word is looked for.
        let is_long = variant.term.chars().count() >= LETTERS_MIN;
        let part = if is_long { variant.term.clone() } else { bare_word(&word.written) };
        if part.chars().count() < LETTERS_MIN {
            continue;
        }
        let matched = variant.matched & of_compounds;
        let mut read = 0;
        for block in blocks.iter().filter(|block| block.view.header.languages & matched != 0) {
            let first = Language::of_bits(block.view.header.languages).next().unwrap_or(DEFAULT);
            let mut add = |at: usize, term: &str| -> Result<()> {
                let frequency = u64::from(block.view.term_postings(at)?.frequency_in(matched, first));
                let new = || (0, Variant { term: term.to_owned(), languages: matched, matched });
                found.entry(term.to_owned()).or_insert_with(new).0 += frequency;
                Ok(())
            };
            for at in block.view.beginning(part.as_bytes(), COMPOUNDS_MAX)? {
                let term = String::from_utf8_lossy(block.view.term(at)?);
                if term[part.len()..].chars().count() >= REST_LETTERS_MIN {
                    add(at, &term)?;
                }
            }
            for at in 0..block.view.terms().min(TERMS_READ_MAX - read) {
                let Ok(term) = std::str::from_utf8(block.view.term(at)?) else { continue };
                if let Some(from) = term.find(&part)
                    && from > 0
                    && is_rest(&term[from + part.len()..])
                    && is_known(query, &term[..from], languages)?
                {
                    add(at, term)?;
                }
            }
            read += block.view.terms().min(TERMS_READ_MAX - read);
        }
    }
    let mut all: Vec<(u64, Variant)> = found.into_values().filter(|(frequency, _)| *frequency > 0).collect();
    all.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.term.cmp(&right.1.term)));
    all.truncate(COMPOUNDS_MAX);
    Ok(all.into_iter().map(|(_, variant)| variant).collect())
}

fn is_rest(letters: &str) -> bool {
    letters.is_empty() || letters.chars().count() >= REST_LETTERS_MIN
}

/// Whether what stands before is a word of its own: prefixes (`auf`, `unter`) are stop words.
fn is_known(query: &ResolvedQuery, before: &str, languages: &[Language]) -> Result<bool> {
    for joint in JOINTS {
        let Some(part) = before.strip_suffix(joint) else { continue };
        if part.chars().count() < REST_LETTERS_MIN || languages.iter().any(|language| language.is_stop_word(part)) {
            continue;
        }
        if part.chars().count() >= LONG_LETTERS {
            return Ok(true);
        }
        if query.spelt_right.has(part, &stems(query, part, languages)).map_err(ShardError::internal)? {
            return Ok(true);
        }
    }
    Ok(false)
}
