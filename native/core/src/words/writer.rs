//! Writing a block of postings, term by term.

use super::lists::{self, COUNT_MAX, WINDOW};
use super::postings::Document;
use crate::blocks::block::{HEADER_BYTES, Header, Kind};
use crate::blocks::columns::push_u32s;
use crate::terms::language::Language;

/// A block in the making. Terms are added in ascending order.
#[derive(Default)]
pub struct TermWriter {
    /// The language of each document.
    languages: Vec<Language>,
    /// The lowest of them. `None` if all documents are in one language.
    first: Option<Language>,
    terms: Vec<u8>,
    term_ends: Vec<u32>,
    postings: Vec<u8>,
    posting_ends: Vec<u32>,
    positions: Vec<u8>,
    position_ends: Vec<u32>,
    frequencies: Vec<u32>,
    most: Vec<u8>,
    list: Vec<(u32, u32)>,
}

impl TermWriter {
    /// For a block of documents in these languages.
    pub fn new(languages: Vec<Language>) -> Self {
        let first = languages.iter().min().copied().filter(|first| languages.iter().any(|other| other != first));
        Self { languages, first, ..Self::default() }
    }

    /// Adds a term with its postings in ascending order of documents: (document, count, encoded positions).
    pub fn term(&mut self, term: &[u8], postings: &[(u32, u32, &[u8])]) {
        if postings.is_empty() {
            return;
        }
        self.list.clear();
        self.list.extend(postings.iter().map(|(document, count, _)| (*document, *count)));
        let most = self.list.iter().map(|posting| posting.1).fold(0, u32::max).min(COUNT_MAX);
        let others = self.others();
        lists::encode(self.languages.len(), &self.list, most, &others, &mut self.postings);
        postings.iter().for_each(|(_, _, positions)| self.positions.extend_from_slice(positions));
        self.terms.extend_from_slice(term);
        self.term_ends.push(self.terms.len() as u32);
        self.posting_ends.push(self.postings.len() as u32);
        self.position_ends.push(self.positions.len() as u32);
        self.frequencies.push(postings.len() as u32);
        self.most.push(most as u8);
    }

    /// Number of documents of the current list in each language but the first.
    fn others(&self) -> Vec<(Language, u32)> {
        let mut others: Vec<(Language, u32)> = vec![];
        let Some(first) = self.first else { return others };
        for language in self.list.iter().map(|posting| self.languages[posting.0 as usize]) {
            if language == first {
                continue;
            }
            match others.iter_mut().find(|other| other.0 == language) {
                Some(other) => other.1 += 1,
                None => others.push((language, 1)),
            }
        }
        others
    }

    /// The finished block. `documents`: as many as languages were given to [`Self::new`].
    pub fn seal(self, documents: &[Document]) -> Vec<u8> {
        let segments: Vec<u32> = documents.iter().map(|document| document.segment).collect();
        let count = self.frequencies.len();
        let lists = self.terms.len() + self.postings.len() + self.positions.len();
        let mut value = Header::reserve(10 * documents.len() + 17 * count + lists);
        push_u32s(&mut value, segments.iter().copied());
        push_u32s(&mut value, documents.iter().map(|document| document.length));
        value.extend(documents.iter().map(|document| document.language.0));
        let shortest = |window: &[Document]| window.iter().map(|document| document.length).min().unwrap_or(0);
        push_u32s(&mut value, documents.chunks(WINDOW).map(shortest));
        for column in [self.term_ends, self.posting_ends, self.position_ends, self.frequencies] {
            push_u32s(&mut value, column);
        }
        for column in [self.most, self.terms, self.postings, self.positions] {
            value.extend_from_slice(&column);
        }
        let header = Header {
            sum: documents.iter().map(|document| u64::from(document.length)).sum(),
            languages: documents.iter().fold(0, |bits, document| bits | document.language.bit()),
            ..Header::new(Kind::Words, &segments, count)
        };
        let body = value.len() - HEADER_BYTES;
        header.seal(&mut value, body);
        value
    }
}
