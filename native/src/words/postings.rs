//! A block of postings: an immutable inverted index of some segments.
//!
//! ```text
//! segments u32 × n · lengths u32 × n · languages u8 × n · shortest length of each window of documents u32 × ⌈n / 256⌉
//! ends of terms, of postings, of positions u32 × t each · document frequencies u32 × t · largest counts u8 × t
//! terms, ascending by their bytes · postings ([`super::lists`]) · positions: for each posting, as many gaps as it counts
//! ```
//!
//! A document is an index into the block's segments. Positions are LEB128 varints: a gap counts from the position
//! before it in the same document, and from 0 for the first.

use super::lists::{TermPostings, damaged, windows};
use crate::blocks::block::{HEADER_BYTES, Header, Kind};
use crate::blocks::columns::{Columns, U32Column};
use crate::error::Result;
use crate::terms::language::Language;

/// What a block keeps of a segment, apart from its postings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document {
    pub segment: u32,
    /// Number of words, without stop words.
    pub length: u32,
    pub language: Language,
}

/// A block of postings.
pub struct PostingsView<'a> {
    pub header: Header,
    pub segments: U32Column<'a>,
    pub lengths: U32Column<'a>,
    /// The least length in each window of documents.
    pub shortest: U32Column<'a>,
    languages: &'a [u8],
    term_ends: U32Column<'a>,
    posting_ends: U32Column<'a>,
    position_ends: U32Column<'a>,
    frequencies: U32Column<'a>,
    most: &'a [u8],
    terms: &'a [u8],
    postings: &'a [u8],
    positions: &'a [u8],
}

impl<'a> PostingsView<'a> {
    pub fn read(value: &'a [u8]) -> Result<Self> {
        let header = Header::read(value, Kind::Words)?;
        let (rows, terms) = (header.rows as usize, header.width as usize);
        let mut columns = Columns(&value[HEADER_BYTES..]);
        let segments = U32Column(columns.take(Some(4 * rows))?);
        let lengths = U32Column(columns.take(Some(4 * rows))?);
        let languages = columns.take(Some(rows))?;
        let shortest = U32Column(columns.take(Some(4 * windows(rows)))?);
        let term_ends = U32Column(columns.take(Some(4 * terms))?);
        let posting_ends = U32Column(columns.take(Some(4 * terms))?);
        let position_ends = U32Column(columns.take(Some(4 * terms))?);
        let frequencies = U32Column(columns.take(Some(4 * terms))?);
        let most = columns.take(Some(terms))?;
        let last = |ends: U32Column<'_>| Some(if terms == 0 { 0 } else { ends.get(terms - 1) as usize });
        let view = Self {
            header,
            segments,
            lengths,
            shortest,
            languages,
            term_ends,
            posting_ends,
            position_ends,
            frequencies,
            most,
            terms: columns.take(last(term_ends))?,
            postings: columns.take(last(posting_ends))?,
            positions: columns.take(last(position_ends))?,
        };
        Ok(view)
    }

    pub fn rows(&self) -> u32 {
        self.header.rows
    }

    #[inline(always)]
    pub fn language(&self, document: u32) -> Language {
        Language(self.languages[document as usize])
    }

    /// The language of each document.
    pub fn languages(&self) -> impl Iterator<Item = Language> {
        self.languages.iter().map(|language| Language(*language))
    }

    /// The postings of a term. None if the block does not have it.
    pub fn lookup(&self, term: &[u8]) -> Result<Option<TermPostings<'a>>> {
        let at = self.seek(term)?;
        if at < self.terms() && self.term(at)? == term { self.term_postings(at).map(Some) } else { Ok(None) }
    }

    /// The postings of the terms that begin with some letters, `most` at most.
    pub fn beginning(&self, letters: &[u8], most: usize) -> Result<Vec<TermPostings<'a>>> {
        let mut found = vec![];
        for at in (self.seek(letters)?..self.terms()).take(most) {
            if !self.term(at)?.starts_with(letters) {
                break;
            }
            found.push(self.term_postings(at)?);
        }
        Ok(found)
    }

    /// The first term that is not before another.
    fn seek(&self, term: &[u8]) -> Result<usize> {
        let (mut low, mut high) = (0, self.terms());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.term(middle)? < term { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// The first term after the one at `from`, which begins with a prefix, that begins otherwise, or goes on with
    /// `letter` or a higher one.
    pub(super) fn seek_prefix(&self, from: usize, prefix: &[u8], letter: Option<char>) -> Result<usize> {
        let mut buffer = [0; 4];
        let letter = letter.map(|letter| letter.encode_utf8(&mut buffer).as_bytes());
        let is_before = |at: usize| -> Result<bool> {
            let rest = self.term(at)?.strip_prefix(prefix);
            Ok(rest.is_some_and(|rest| letter.is_none_or(|letter| rest < letter)))
        };
        let (mut low, mut step) = (from + 1, 1);
        while low + step < self.terms() && is_before(low + step)? {
            low += step;
            step *= 2;
        }
        let mut high = (low + step).min(self.terms());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle)? { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// Number of terms.
    pub(super) fn terms(&self) -> usize {
        self.frequencies.len()
    }

    pub(super) fn term(&self, at: usize) -> Result<&'a [u8]> {
        slice(self.terms, self.term_ends, at)
    }

    pub(super) fn term_postings(&self, at: usize) -> Result<TermPostings<'a>> {
        let postings = slice(self.postings, self.posting_ends, at)?;
        let positions = slice(self.positions, self.position_ends, at)?;
        TermPostings::read(self.rows(), self.frequencies.get(at), self.most[at], postings, positions)
    }

    pub(super) fn document(&self, row: usize) -> Document {
        Document {
            segment: self.segments.get(row),
            length: self.lengths.get(row),
            language: Language(self.languages[row]),
        }
    }
}

fn slice<'a>(bytes: &'a [u8], ends: U32Column<'_>, at: usize) -> Result<&'a [u8]> {
    let start = if at == 0 { 0 } else { ends.get(at - 1) as usize };
    bytes.get(start..ends.get(at) as usize).ok_or_else(damaged)
}
