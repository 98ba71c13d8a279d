//! A block of postings: an immutable inverted index of some segments.
//!
//! ```text
//! segments u32 × n · lengths u32 × n · languages u8 × n
//! ends of terms, of postings, of positions u32 × t each · document frequencies u32 × t
//! terms, ascending by their bytes · postings: (document gap, frequency)… · positions: gaps, frequency of each posting
//! ```
//!
//! Documents are indices into the block's segments. Numbers of postings and positions are LEB128 varints; a gap counts
//! from the number before it in the same list, from 0 for the first.

use crate::shard::block::{self, Columns, Dead, HEADER_BYTES, Header, Kind, U32Column, push_u32s};
use crate::shard::error::{Result, ShardError};
use crate::words::language::Language;

/// What a block keeps of a segment besides its postings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document {
    pub segment: u32,
    /// Words that count for the length: without stop words.
    pub length: u32,
    pub language: Language,
}

/// Writes the terms of a block in ascending order.
#[derive(Default)]
pub struct TermWriter {
    terms: Vec<u8>,
    term_ends: Vec<u32>,
    postings: Vec<u8>,
    posting_ends: Vec<u32>,
    positions: Vec<u8>,
    position_ends: Vec<u32>,
    frequencies: Vec<u32>,
}

impl TermWriter {
    /// Adds a term with its postings in ascending order of documents: (document, frequency, encoded positions).
    pub fn term<'a>(&mut self, term: &[u8], postings: impl Iterator<Item = (u32, u32, &'a [u8])>) {
        let (mut previous, mut frequency) = (0, 0);
        for (document, count, positions) in postings {
            push_varint(&mut self.postings, document - previous);
            push_varint(&mut self.postings, count);
            self.positions.extend_from_slice(positions);
            previous = document;
            frequency += 1;
        }
        if frequency > 0 {
            self.terms.extend_from_slice(term);
            self.term_ends.push(self.terms.len() as u32);
            self.posting_ends.push(self.postings.len() as u32);
            self.position_ends.push(self.positions.len() as u32);
            self.frequencies.push(frequency);
        }
    }

    /// The finished block.
    pub fn seal(self, documents: &[Document]) -> Vec<u8> {
        let segments: Vec<u32> = documents.iter().map(|document| document.segment).collect();
        let mut value = Header::room(
            9 * documents.len()
                + 16 * self.frequencies.len()
                + self.terms.len()
                + self.postings.len()
                + self.positions.len(),
        );
        push_u32s(&mut value, segments.iter().copied());
        push_u32s(&mut value, documents.iter().map(|document| document.length));
        value.extend(documents.iter().map(|document| document.language.0));
        let count = self.frequencies.len();
        for column in [self.term_ends, self.posting_ends, self.position_ends, self.frequencies] {
            push_u32s(&mut value, column);
        }
        for column in [self.terms, self.postings, self.positions] {
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

pub fn push_varint(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads varints from a slice; `None` at its end and where it is damaged.
pub struct Varints<'a>(pub &'a [u8]);

impl Varints<'_> {
    #[inline(always)]
    pub fn next_number(&mut self) -> Option<u32> {
        let (&first, rest) = self.0.split_first()?;
        if first < 0x80 {
            self.0 = rest;
            return Some(u32::from(first));
        }
        self.long()
    }

    fn long(&mut self) -> Option<u32> {
        let mut number = 0u64;
        for (at, byte) in self.0.iter().enumerate().take(5) {
            number |= u64::from(byte & 0x7f) << (7 * at);
            if *byte < 0x80 {
                self.0 = &self.0[at + 1..];
                return u32::try_from(number).ok();
            }
        }
        None
    }
}

/// The postings of one term in one block.
#[derive(Debug, Clone, Copy)]
pub struct TermPostings<'a> {
    pub frequency: u32,
    postings: &'a [u8],
    positions: &'a [u8],
}

impl<'a> TermPostings<'a> {
    /// Calls `visit(document, frequency)` for each posting of a block of `rows` documents.
    #[inline(always)]
    pub fn for_each(&self, rows: u32, mut visit: impl FnMut(u32, u32)) -> Result<()> {
        let mut numbers = Varints(self.postings);
        let mut document = 0u32;
        for _ in 0..self.frequency {
            let (Some(gap), Some(count)) = (numbers.next_number(), numbers.next_number()) else {
                return Err(damaged());
            };
            document = document.wrapping_add(gap);
            if document >= rows {
                return Err(damaged());
            }
            visit(document, count);
        }
        Ok(())
    }

    /// As [`Self::for_each`], with the encoded positions of each posting.
    pub fn for_each_with_positions(&self, rows: u32, mut visit: impl FnMut(u32, u32, &'a [u8])) -> Result<()> {
        let mut left = Varints(self.positions);
        let mut whole = Ok(());
        self.for_each(rows, |document, count| {
            let before = left.0;
            let complete = (0..count).all(|_| left.next_number().is_some());
            if !complete {
                whole = Err(damaged());
                return;
            }
            visit(document, count, &before[..before.len() - left.0.len()]);
        })?;
        whole
    }
}

/// The positions of a posting, from their encoded gaps.
pub fn positions_of(encoded: &[u8]) -> Vec<u32> {
    let mut numbers = Varints(encoded);
    let mut position = 0u32;
    std::iter::from_fn(|| {
        position = position.wrapping_add(numbers.next_number()?);
        Some(position)
    })
    .collect()
}

fn damaged() -> ShardError {
    ShardError::corrupt("A list of postings is damaged.")
}

/// A block as it lies in the map.
pub struct PostingsView<'a> {
    pub header: Header,
    pub segments: U32Column<'a>,
    pub lengths: U32Column<'a>,
    languages: &'a [u8],
    term_ends: U32Column<'a>,
    posting_ends: U32Column<'a>,
    position_ends: U32Column<'a>,
    frequencies: U32Column<'a>,
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
        let term_ends = U32Column(columns.take(Some(4 * terms))?);
        let posting_ends = U32Column(columns.take(Some(4 * terms))?);
        let position_ends = U32Column(columns.take(Some(4 * terms))?);
        let frequencies = U32Column(columns.take(Some(4 * terms))?);
        let last = |ends: U32Column<'_>| Some(if terms == 0 { 0 } else { ends.get(terms - 1) as usize });
        let view = Self {
            header,
            segments,
            lengths,
            languages,
            term_ends,
            posting_ends,
            position_ends,
            frequencies,
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

    /// The postings of a term, when the block has it.
    pub fn lookup(&self, term: &[u8]) -> Result<Option<TermPostings<'a>>> {
        let (mut low, mut high) = (0, self.frequencies.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.term(middle)? < term { low = middle + 1 } else { high = middle }
        }
        if low < self.frequencies.len() && self.term(low)? == term {
            self.term_postings(low).map(Some)
        } else {
            Ok(None)
        }
    }

    fn term(&self, at: usize) -> Result<&'a [u8]> {
        slice(self.terms, self.term_ends, at)
    }

    fn term_postings(&self, at: usize) -> Result<TermPostings<'a>> {
        let postings = slice(self.postings, self.posting_ends, at)?;
        let positions = slice(self.positions, self.position_ends, at)?;
        Ok(TermPostings { frequency: self.frequencies.get(at), postings, positions })
    }

    fn document(&self, row: usize) -> Document {
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

/// One block of the living segments of several; `None` when none lives.
pub fn merge(sources: &[(&[u8], Dead<'_>)]) -> Result<Option<Vec<u8>>> {
    let mut views = vec![];
    let mut living: Vec<(u32, usize, usize)> = vec![];
    for (source, (value, dead)) in sources.iter().enumerate() {
        let view = PostingsView::read(value)?;
        block::verify(value)?;
        let rows = (0..view.rows() as usize).filter(|row| !dead.has(*row));
        living.extend(rows.map(|row| (view.segments.get(row), source, row)));
        views.push(view);
    }
    if living.is_empty() {
        return Ok(None);
    }
    living.sort_unstable();
    let mut new_row: Vec<Vec<u32>> = views.iter().map(|view| vec![u32::MAX; view.rows() as usize]).collect();
    for (row, (_, source, old)) in living.iter().enumerate() {
        new_row[*source][*old] = row as u32;
    }
    let mut terms: Vec<(&[u8], usize, usize)> = vec![];
    for (source, view) in views.iter().enumerate() {
        for at in 0..view.frequencies.len() {
            terms.push((view.term(at)?, source, at));
        }
    }
    terms.sort_unstable();
    let mut writer = TermWriter::default();
    let mut postings: Vec<(u32, u32, &[u8])> = vec![];
    for group in terms.chunk_by(|left, right| left.0 == right.0) {
        postings.clear();
        for (_, source, at) in group {
            let view = &views[*source];
            view.term_postings(*at)?.for_each_with_positions(view.rows(), |document, count, positions| {
                let row = new_row[*source][document as usize];
                if row != u32::MAX {
                    postings.push((row, count, positions));
                }
            })?;
        }
        postings.sort_unstable_by_key(|posting| posting.0);
        writer.term(group[0].0, postings.iter().copied());
    }
    let documents: Vec<Document> = living.iter().map(|(_, source, row)| views[*source].document(*row)).collect();
    Ok(Some(writer.seal(&documents)))
}
