//! From the texts of segments to a block of postings.

use std::collections::HashMap;

use super::postings::Document;
use super::writer::TermWriter;
use crate::blocks::varint::push_varint;
use crate::terms::analysis::Terms;
use crate::terms::judgement::Evidence;
use crate::terms::language::Language;
use crate::terms::surface_forms::words;

/// Words of one segment that are indexed. A longer text is searchable by its first ones.
pub const WORDS_MAX: usize = 1_000_000;

/// A segment's text, analysed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalysedText {
    pub language: Language,
    pub length: u32,
    /// Each term with its positions, ascending.
    pub terms: Vec<(String, Vec<u32>)>,
}

/// Analyses a text in the language of its Item, or in another if the text plainly is. Stop words are indexed, so that phrases
/// find them, but do not count for the length.
pub fn analyse(text: &str, item: Language, terms_of: &mut HashMap<Language, Terms>) -> AnalysedText {
    let language = Evidence::of(text).language_within(item);
    let analyser = terms_of.entry(language).or_insert_with(|| Terms::of(language));
    let mut positions: HashMap<String, Vec<u32>> = HashMap::new();
    let mut length = 0;
    for word in words(text).into_iter().take(WORDS_MAX) {
        if word.counts && !analyser.is_stop_word(&word) {
            length += 1;
        }
        let positions = positions.entry(analyser.term(&word)).or_default();
        // A whole may have the term of its first part.
        if positions.last() != Some(&word.position) {
            positions.push(word.position);
        }
    }
    AnalysedText { language, length, terms: positions.into_iter().collect() }
}

/// A block of analysed segments, in ascending order of their numbers.
pub fn encode(texts: &[(u32, AnalysedText)]) -> Vec<u8> {
    let mut by_term: Vec<(&str, u32, &[u32])> = vec![];
    for (row, (_, text)) in texts.iter().enumerate() {
        by_term.extend(text.terms.iter().map(|(term, positions)| (term.as_str(), row as u32, positions.as_slice())));
    }
    by_term.sort_unstable_by_key(|posting| (posting.0, posting.1));
    let mut writer = TermWriter::new(texts.iter().map(|(_, text)| text.language).collect());
    let mut encoded = vec![];
    let mut spans: Vec<(u32, u32, std::ops::Range<usize>)> = vec![];
    for group in by_term.chunk_by(|left, right| left.0 == right.0) {
        encoded.clear();
        spans.clear();
        for (_, row, positions) in group {
            let start = encoded.len();
            let mut previous = 0;
            for position in *positions {
                push_varint(&mut encoded, position - previous);
                previous = *position;
            }
            spans.push((*row, positions.len() as u32, start..encoded.len()));
        }
        let postings: Vec<(u32, u32, &[u8])> =
            spans.iter().map(|(row, count, span)| (*row, *count, &encoded[span.clone()])).collect();
        writer.term(group[0].0.as_bytes(), &postings);
    }
    let documents: Vec<Document> = texts
        .iter()
        .map(|(segment, text)| Document { segment: *segment, length: text.length, language: text.language })
        .collect();
    writer.seal(&documents)
}
