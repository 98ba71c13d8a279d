//! Quoted phrases: words in order.

use super::block::WordsBlock;
use super::lists::positions_of;
use super::query::{InOrder, Phrase, parse};
use crate::error::Result;
use crate::ranking::options::Stop;
use crate::terms::language::Language;

/// The living segments, ascending, that have every quoted phrase of a query. None if it has none.
pub fn segments_with_all(blocks: &[WordsBlock<'_>], query: &str, stop: &Stop) -> Result<Option<Vec<u32>>> {
    let languages = blocks.iter().fold(0, |languages, block| languages | block.view.header.languages);
    let phrases = parse(query, None, &Language::of_bits(languages).collect::<Vec<_>>()).phrases;
    if phrases.is_empty() {
        return Ok(None);
    }
    let mut segments = vec![];
    for block in blocks {
        let has = documents_with_all(block, &phrases, stop)?.unwrap_or_default();
        let rows = (0..has.len()).filter(|row| has[*row] && !block.dead.has(*row));
        segments.extend(rows.map(|row| block.view.segments.get(row)));
    }
    segments.sort_unstable();
    Ok(Some(segments))
}

/// Which documents of a block have every phrase. `None` if the query has no phrase.
pub fn documents_with_all(block: &WordsBlock<'_>, phrases: &[Phrase], stop: &Stop) -> Result<Option<Vec<bool>>> {
    let mut all: Option<Vec<bool>> = None;
    for phrase in phrases {
        let mut has = vec![false; block.view.rows() as usize];
        for form in &phrase.forms {
            for languages in language_groups(block, form) {
                for document in documents_with(block, form, languages, stop)? {
                    has[document as usize] |= block.view.language(document).bit() & languages != 0;
                }
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

/// The block's languages in which the phrase can occur, grouped by those in which it has the same terms.
fn language_groups(block: &WordsBlock<'_>, words: &InOrder) -> Vec<u64> {
    let mut groups = vec![block.view.header.languages];
    for (_, variants) in words {
        let split = |languages: u64| variants.iter().map(move |variant| languages & variant.languages);
        groups = groups.into_iter().flat_map(split).filter(|languages| *languages != 0).collect();
    }
    groups
}

/// Documents in which a phrase's terms occur in order. `languages`: one group of [`language_groups`].
fn documents_with(block: &WordsBlock<'_>, words: &InOrder, languages: u64, stop: &Stop) -> Result<Vec<u32>> {
    let mut lists = vec![];
    for (distance, variants) in words {
        let Some(variant) = variants.iter().find(|variant| variant.languages & languages != 0) else {
            return Ok(vec![]);
        };
        let Some(postings) = block.lookup(variant)? else { return Ok(vec![]) };
        lists.push((*distance, postings));
    }
    lists.sort_by_key(|(_, postings)| postings.frequency);
    let mut starts: Option<Vec<(u32, Vec<u32>)>> = None;
    for (distance, postings) in lists {
        stop.check()?;
        let known = starts.take();
        let mut next = vec![];
        let mut at = 0;
        postings.for_each_with_positions(|document, _, encoded| {
            let begins = positions_of(encoded).into_iter().filter_map(|position| position.checked_sub(distance));
            let Some(known) = &known else {
                next.push((document, begins.collect::<Vec<_>>()));
                return;
            };
            while at < known.len() && known[at].0 < document {
                at += 1;
            }
            if at < known.len() && known[at].0 == document {
                let kept: Vec<u32> = begins.filter(|begin| known[at].1.binary_search(begin).is_ok()).collect();
                if !kept.is_empty() {
                    next.push((document, kept));
                }
            }
        })?;
        if next.is_empty() {
            return Ok(vec![]);
        }
        starts = Some(next);
    }
    let found = starts.unwrap_or_default().into_iter();
    Ok(found.filter(|(_, starts)| !starts.is_empty()).map(|(document, _)| document).collect())
}
