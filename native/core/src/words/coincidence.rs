//! Words that a query and texts in another language have in common by chance.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use super::block::WordsBlock;
use super::query::ParsedQuery;
use super::query_word::QueryWord;
use super::rank::{ResolvedQuery, stems};
use crate::error::{Result, ShardError};
use crate::terms::language::Language;
use crate::terms::named::Kind;

/// Share of texts in the query's language from which on its words are no coincidence.
const OWN_LANGUAGE_MIN: f64 = 0.34;
/// Texts whose language is looked at.
const SAMPLE: u64 = 1024;

/// Of each word of a query, whether it stands in texts by coincidence: most are in another language than the query, and it is a
/// word that is known, no name or code, nor written in capitals. `languages`: those of the index.
///
/// # Errors
/// `internal` if the known words cannot be read.
pub fn coincidental_words(
    blocks: &[WordsBlock<'_>],
    query: &ResolvedQuery,
    parsed: &ParsedQuery,
    languages: &[Language],
) -> Result<Vec<bool>> {
    if !parsed.spoken.is_some_and(|spoken| share_in(blocks, spoken, languages) < OWN_LANGUAGE_MIN) {
        return Ok(vec![false; parsed.words.len()]);
    }
    let names = parsed.named.iter().filter(|named| named.kind != Kind::Noun);
    let named: HashSet<usize> = names.flat_map(|named| named.words.iter().copied()).collect();
    let in_capitals = in_capitals(&query.text);
    let is_coincidental = |(at, word): (usize, &QueryWord)| {
        let is_known = || query.spelt_right.has(&word.written, &stems(query, &word.written, languages));
        let may_be = !named.contains(&at) && !in_capitals.contains(&word.written);
        Ok(may_be && is_known().map_err(ShardError::internal)?)
    };
    parsed.words.iter().enumerate().map(is_coincidental).collect()
}

/// The words, in lower case, that stand in capitals beside others that do not: constants, abbreviations.
fn in_capitals(text: &str) -> HashSet<String> {
    if !text.chars().any(char::is_lowercase) {
        return HashSet::new();
    }
    let is_in_capitals = |word: &&str| word.chars().nth(1).is_some() && word.chars().all(char::is_uppercase);
    text.unicode_words().filter(is_in_capitals).map(str::to_lowercase).collect()
}

/// The share of texts that are in a language: of evenly chosen ones where they are many. Dead rows count.
fn share_in(blocks: &[WordsBlock<'_>], language: Language, languages: &[Language]) -> f64 {
    if !languages.contains(&language) || languages.len() == 1 {
        return if languages.contains(&language) { 1.0 } else { 0.0 };
    }
    let rows: u64 = blocks.iter().map(|block| u64::from(block.view.rows())).sum();
    let step = rows.div_ceil(SAMPLE).max(1) as usize;
    let (mut own, mut all) = (0u32, 0u32);
    for block in blocks {
        for row in (0..block.view.rows()).step_by(step) {
            own += u32::from(block.view.language(row) == language);
            all += 1;
        }
    }
    f64::from(own) / f64::from(all.max(1))
}
