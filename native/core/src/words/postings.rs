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

/// Bytes of a prefix that terms are compared with: those of more letters than a walk compares ([`super::slips`]).
const PREFIX_BYTES_MAX: usize = 256;

/// Facts that a block keeps of a segment, apart from its postings.
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

    /// The number of a term. None if the block does not have it.
    pub(super) fn find(&self, term: &[u8]) -> Result<Option<usize>> {
        let at = self.seek(term)?;
        Ok((at < self.terms() && self.term(at)? == term).then_some(at))
    }

    /// The numbers of the terms that begin with some letters, `most` at most.
    pub(super) fn beginning(&self, letters: &[u8], most: usize) -> Result<Vec<usize>> {
        let mut found = vec![];
        for at in (self.seek(letters)?..self.terms()).take(most) {
            if !self.term(at)?.starts_with(letters) {
                break;
            }
            found.push(at);
        }
        Ok(found)
    }

    /// The first term that is not before another.
    fn seek(&self, term: &[u8]) -> Result<usize> {
        self.first_from(Bound::of(term), 0, self.terms())
    }

    /// The first term after the one at `from`, which begins with a prefix, that begins otherwise, or continues with
    /// `letter` or a higher one.
    pub(super) fn seek_prefix(&self, from: usize, prefix: &[u8], letter: Option<char>) -> Result<usize> {
        let mut next = [0; PREFIX_BYTES_MAX + 4];
        let kept = &prefix[..prefix.len().min(PREFIX_BYTES_MAX)];
        next[..kept.len()].copy_from_slice(kept);
        let length = match letter {
            Some(letter) => kept.len() + letter.encode_utf8(&mut next[kept.len()..]).len(),
            // No byte of UTF-8 is the highest.
            None if kept.is_empty() => return Ok(self.terms()),
            None => {
                next[kept.len() - 1] += 1;
                kept.len()
            }
        };
        let bound = Bound::of(&next[..length]);
        let (mut low, mut step) = (from + 1, 1);
        while low + step < self.terms() && self.is_before(low + step, bound)? {
            low += step;
            step *= 2;
        }
        self.first_from(bound, low, (low + step).min(self.terms()))
    }

    /// The first of some terms that is not before a bound.
    fn first_from(&self, bound: Bound<'_>, mut low: usize, mut high: usize) -> Result<usize> {
        while low < high {
            let middle = low + (high - low) / 2;
            if self.is_before(middle, bound)? { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    #[inline(always)]
    fn is_before(&self, at: usize, bound: Bound<'_>) -> Result<bool> {
        let term = self.term(at)?;
        let start = start_of(term);
        Ok(if start == bound.start { term < bound.bytes } else { start < bound.start })
    }

    /// Number of terms.
    pub(super) fn terms(&self) -> usize {
        self.frequencies.len()
    }

    #[inline(always)]
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

/// A bound that terms are compared with. Most differ from it in their first bytes.
#[derive(Clone, Copy)]
struct Bound<'b> {
    bytes: &'b [u8],
    start: u64,
}

impl<'b> Bound<'b> {
    fn of(bytes: &'b [u8]) -> Self {
        Self { bytes, start: start_of(bytes) }
    }
}

/// The first eight bytes as a number that orders as they do; zeros behind a shorter text.
#[inline(always)]
fn start_of(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    // Four, two and one at a time: a copy of a length that is not known is a call.
    let (mut start, mut rest, mut left) = (0, bytes, u64::BITS);
    if let Some((four, more)) = rest.split_first_chunk() {
        (start, rest, left) = (u64::from(u32::from_be_bytes(*four)), more, left - 32);
    }
    if let Some((two, more)) = rest.split_first_chunk() {
        (start, rest, left) = (start << 16 | u64::from(u16::from_be_bytes(*two)), more, left - 16);
    }
    if let [one] = rest {
        (start, left) = (start << 8 | u64::from(*one), left - 8);
    }
    if left == u64::BITS { 0 } else { start << left }
}

#[inline(always)]
fn slice<'a>(bytes: &'a [u8], ends: U32Column<'_>, at: usize) -> Result<&'a [u8]> {
    let start = if at == 0 { 0 } else { ends.get(at - 1) as usize };
    bytes.get(start..ends.get(at) as usize).ok_or_else(damaged)
}
