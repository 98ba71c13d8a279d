//! Quoted phrases: words that stand in order.

use super::language::Language;
use super::lists::positions_of;
use super::query::Phrase;
use super::rank::{WordsBlock, lookup};
use crate::shard::error::Result;

/// Which documents of a block hold every phrase; `None` where there is none to hold.
pub fn holders(block: &WordsBlock<'_>, phrases: &[Phrase]) -> Result<Option<Vec<bool>>> {
    let mut all: Option<Vec<bool>> = None;
    for phrase in phrases {
        let mut has = vec![false; block.view.rows() as usize];
        for language in Language::of_bits(block.view.header.languages) {
            for document in documents_with(block, phrase, language)? {
                has[document as usize] |= block.view.language(document) == language;
            }
        }
        if let Some(before) = &all {
            has.iter_mut().zip(before).for_each(|(has, before)| *has &= before);
        }
        all = Some(has);
    }
    Ok(all)
}

/// Documents in which the phrase's terms of one language stand in order.
fn documents_with(block: &WordsBlock<'_>, phrase: &Phrase, language: Language) -> Result<Vec<u32>> {
    let mut lists = vec![];
    for (distance, variants) in &phrase.words {
        let Some(variant) = variants.iter().find(|variant| variant.languages & language.bit() != 0) else {
            return Ok(vec![]);
        };
        let Some(postings) = lookup(block, variant)? else { return Ok(vec![]) };
        lists.push((*distance, postings));
    }
    lists.sort_by_key(|(_, postings)| postings.frequency);
    let mut starts: Option<Vec<(u32, Vec<u32>)>> = None;
    for (distance, postings) in lists {
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
        starts = Some(next);
    }
    Ok(starts
        .unwrap_or_default()
        .into_iter()
        .filter(|(_, starts)| !starts.is_empty())
        .map(|(document, _)| document)
        .collect())
}
