//! Quoted phrases: words in order.

use super::block::WordsBlock;
use super::lists::{TermPostings, positions_of};
use super::query::{ParsedQuery, Phrase, parse};
use super::query_word::Variant;
use crate::error::Result;
use crate::ranking::options::Stop;
use crate::terms::language::Language;

/// The segments that quoted phrases leave.
pub struct WithPhrases {
    /// Living ones, ascending, that have every phrase. None if no phrase has to be there.
    pub segments: Option<Vec<u32>>,
    /// Phrases that stand nowhere.
    pub relaxed: Vec<String>,
}

/// The segments that have every quoted phrase of a query that stands anywhere.
pub fn segments_with_all(blocks: &[WordsBlock<'_>], query: &str, stop: &Stop) -> Result<WithPhrases> {
    let languages = blocks.iter().fold(0, |languages, block| languages | block.view.header.languages);
    let mut parsed = parse(query, None, &Language::of_bits(languages).collect::<Vec<_>>());
    let relaxed = relax(blocks, &mut parsed, stop)?;
    let phrases = parsed.phrases;
    if phrases.is_empty() {
        return Ok(WithPhrases { segments: None, relaxed });
    }
    let mut segments = vec![];
    for block in blocks {
        let has = documents_with_all(block, &phrases, stop)?.unwrap_or_default();
        let rows = (0..has.len()).filter(|row| has[*row] && !block.dead.has(*row));
        segments.extend(rows.map(|row| block.view.segments.get(row)));
    }
    segments.sort_unstable();
    Ok(WithPhrases { segments: Some(segments), relaxed })
}

/// Takes the phrases that stand nowhere out of a query; its words remain. Returns them as they were quoted.
pub fn relax(blocks: &[WordsBlock<'_>], parsed: &mut ParsedQuery, stop: &Stop) -> Result<Vec<String>> {
    let (mut phrases, mut quoted, mut relaxed) = (vec![], vec![], vec![]);
    for (phrase, text) in parsed.phrases.drain(..).zip(parsed.quoted.drain(..)) {
        if stands(blocks, &phrase, stop)? {
            phrases.push(phrase);
            quoted.push(text);
        } else {
            relaxed.push(text);
        }
    }
    (parsed.phrases, parsed.quoted) = (phrases, quoted);
    Ok(relaxed)
}

/// Whether a living segment has a phrase.
fn stands(blocks: &[WordsBlock<'_>], phrase: &Phrase, stop: &Stop) -> Result<bool> {
    for block in blocks {
        let has = documents_with_all(block, std::slice::from_ref(phrase), stop)?.unwrap_or_default();
        if (0..has.len()).any(|row| has[row] && !block.dead.has(row)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Which documents of a block have every phrase. `None` if the query has no phrase.
pub fn documents_with_all(block: &WordsBlock<'_>, phrases: &[Phrase], stop: &Stop) -> Result<Option<Vec<bool>>> {
    let mut all: Option<Vec<bool>> = None;
    for phrase in phrases {
        let mut has = vec![false; block.view.rows() as usize];
        for languages in language_groups(block, phrase) {
            for document in documents_with(block, phrase, languages, stop)? {
                has[document as usize] |= block.view.language(document).bit() & languages != 0;
            }
        }
        if let Some(before) = &all {
            has.iter_mut().zip(before).for_each(|(has, before)| *has &= before);
        }
        let none = !has.contains(&true);
        all = Some(has);
        if none {
            break;
        }
    }
    Ok(all)
}

/// The block's languages in which the phrase can occur, grouped by those in which each word has the same terms.
fn language_groups(block: &WordsBlock<'_>, words: &Phrase) -> Vec<u64> {
    let mut groups = vec![block.view.header.languages];
    for (_, variants) in words {
        let mut any = 0;
        for Variant { languages, .. } in variants {
            any |= languages;
            groups = groups.into_iter().flat_map(|group| [group & languages, group & !languages]).collect();
            groups.retain(|group| *group != 0);
        }
        groups.retain(|group| group & any != 0);
    }
    groups
}

/// Documents, ascending, each with the positions at which a phrase would begin in it, ascending.
type Starts = Vec<(u32, Vec<u32>)>;

/// Documents in which a phrase's words occur in order, each as any of its terms. `languages`: one group of [`language_groups`].
fn documents_with(block: &WordsBlock<'_>, words: &Phrase, languages: u64, stop: &Stop) -> Result<Vec<u32>> {
    let mut of_words = vec![];
    for (distance, variants) in words {
        let terms = variants.iter().filter(|variant| variant.languages & languages != 0);
        let lists = terms.map(|variant| block.lookup(variant)).filter_map(Result::transpose);
        of_words.push((*distance, lists.collect::<Result<Vec<_>>>()?));
    }
    of_words.sort_by_key(|(_, lists)| lists.iter().map(|list| u64::from(list.frequency)).sum::<u64>());
    let mut starts: Option<Starts> = None;
    for (distance, lists) in of_words {
        let mut next = vec![];
        for list in &lists {
            stop.check()?;
            next.extend(starts_of(list, distance, starts.as_ref())?);
        }
        if next.is_empty() {
            return Ok(vec![]);
        }
        starts = Some(if lists.len() > 1 { merged(next) } else { next });
    }
    Ok(starts.unwrap_or_default().into_iter().map(|(document, _)| document).collect())
}

/// Where a phrase would begin by one term of one of its words; where `known` are given, only at these.
fn starts_of(list: &TermPostings<'_>, distance: u32, known: Option<&Starts>) -> Result<Starts> {
    let mut starts = vec![];
    let mut at = 0;
    list.for_each_with_positions(|document, _, encoded| {
        let mut begins: Vec<u32> =
            positions_of(encoded).into_iter().filter_map(|position| position.checked_sub(distance)).collect();
        if let Some(known) = known {
            while at < known.len() && known[at].0 < document {
                at += 1;
            }
            let here = known.get(at).filter(|known| known.0 == document);
            begins.retain(|begin| here.is_some_and(|(_, known)| known.binary_search(begin).is_ok()));
        }
        if !begins.is_empty() {
            starts.push((document, begins));
        }
    })?;
    Ok(starts)
}

/// The starts by several terms, as those of one.
fn merged(mut starts: Starts) -> Starts {
    starts.sort_by_key(|(document, _)| *document);
    starts.dedup_by(|later, kept| {
        let is_same = later.0 == kept.0;
        if is_same {
            kept.1.append(&mut later.1);
            kept.1.sort_unstable();
        }
        is_same
    });
    starts
}
