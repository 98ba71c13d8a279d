//! The postings of one term in one block: which documents have it, and how often.
//!
//! They begin with the number of documents in each language but the block's first one: a varint for the number of such
//! languages, then a byte and a varint for each. So a word's frequency in some languages is known without reading the
//! list.
//!
//! A sparse list is LEB128 varints (gap, count)…, where a gap counts from the document before, and from 0 for the
//! first.
//!
//! A list is dense if at least every eighth document has the term, so that a bit costs no more than a gap. It is one
//! bit for each document, the largest count of each [`WINDOW`] of documents, then the counts, a byte each. Any document
//! of a dense list can be read without those before it, as a pruned search does with frequent terms.

use crate::blocks::varint::{Varints, push_varint};
use crate::error::{Result, ShardError};
use crate::terms::language::Language;

/// Documents that share one upper bound.
pub const WINDOW: usize = 256;
/// Largest count that a dense list can hold. As a bound it means "this many or more".
pub const COUNT_MAX: u32 = 255;
/// A list is dense if its length times this reaches the number of documents.
const DENSE_SHARE: u64 = 8;

/// Postings that [`TermPostings::for_each_batch`] reads at a time.
const BATCH: usize = 128;

pub fn windows(rows: usize) -> usize {
    rows.div_ceil(WINDOW)
}

/// Whether a list is dense. Readers and writers both compute this, so it is not stored.
fn is_dense(rows: usize, frequency: u32, most: u32) -> bool {
    rows >= WINDOW && DENSE_SHARE * u64::from(frequency) >= rows as u64 && most < COUNT_MAX
}

/// Writes a list of (document, count) in ascending order of documents. `most`: the largest count. `others`: number of
/// documents in each language but the block's first.
pub fn encode(rows: usize, postings: &[(u32, u32)], most: u32, others: &[(Language, u32)], out: &mut Vec<u8>) {
    push_varint(out, others.len() as u32);
    for (language, documents) in others {
        out.push(language.0);
        push_varint(out, *documents);
    }
    if !is_dense(rows, postings.len() as u32, most) {
        let mut previous = 0;
        for (document, count) in postings {
            push_varint(out, document - previous);
            push_varint(out, *count);
            previous = *document;
        }
        return;
    }
    let start = out.len();
    let bits = bitmap_bytes(rows);
    out.resize(start + bits + windows(rows), 0);
    for (document, count) in postings {
        let at = *document as usize;
        out[start + at / 8] |= 1 << (at % 8);
        let window = &mut out[start + bits + at / WINDOW];
        *window = (*window).max(*count as u8);
    }
    out.extend(postings.iter().map(|(_, count)| *count as u8));
}

fn bitmap_bytes(rows: usize) -> usize {
    8 * rows.div_ceil(64)
}

#[derive(Debug, Clone, Copy)]
enum List<'a> {
    Sparse(&'a [u8]),
    Dense { bits: &'a [u8], most: &'a [u8], counts: &'a [u8] },
}

/// The postings of one term in one block of `rows` documents.
#[derive(Debug, Clone, Copy)]
pub struct TermPostings<'a> {
    pub frequency: u32,
    rows: u32,
    most: u8,
    /// Number of documents in each language but the block's first, as varints.
    others: &'a [u8],
    list: List<'a>,
    positions: &'a [u8],
}

impl<'a> TermPostings<'a> {
    pub fn read(rows: u32, frequency: u32, most: u8, bytes: &'a [u8], positions: &'a [u8]) -> Result<Self> {
        let (others, postings) = split_languages(bytes).ok_or_else(damaged)?;
        let list = if is_dense(rows as usize, frequency, u32::from(most)) {
            let cut = |bytes: &'a [u8], at: usize| bytes.split_at_checked(at).ok_or_else(damaged);
            let (bits, rest) = cut(postings, bitmap_bytes(rows as usize))?;
            let (most, counts) = cut(rest, windows(rows as usize))?;
            if counts.len() != frequency as usize {
                return Err(damaged());
            }
            List::Dense { bits, most, counts }
        } else {
            List::Sparse(postings)
        };
        Ok(Self { frequency, rows, most, others, list, positions })
    }

    /// Number of documents in a set of languages. `first`: the block's first language.
    pub fn frequency_in(&self, languages: u64, first: Language) -> u32 {
        let (mut inside, mut all) = (0u32, 0u32);
        let mut left = self.others;
        while let Some((language, rest)) = left.split_first() {
            let mut numbers = Varints(rest);
            let documents = numbers.next_number().unwrap_or(0);
            left = numbers.0;
            all = all.saturating_add(documents);
            if Language(*language).bit() & languages != 0 {
                inside = inside.saturating_add(documents);
            }
        }
        let of_first = self.frequency.saturating_sub(all);
        inside.saturating_add(if first.bit() & languages != 0 { of_first } else { 0 })
    }

    /// A bound of all counts. `None` if there is none.
    pub fn most(&self) -> Option<u32> {
        bound(self.most)
    }

    /// A bound of the counts in a window. 0 if no document of it has the term.
    pub fn most_in(&self, window: usize) -> Option<u32> {
        match self.list {
            List::Sparse(_) => self.most(),
            List::Dense { most, .. } => most.get(window).map_or(Some(0), |most| bound(*most)),
        }
    }

    /// Calls `visit(document, count)` for each posting.
    #[inline(always)]
    pub fn for_each(&self, mut visit: impl FnMut(u32, u32)) -> Result<()> {
        match self.list {
            List::Sparse(postings) => {
                let mut numbers = Varints(postings);
                let mut document = 0u32;
                for _ in 0..self.frequency {
                    document = self.next_of(&mut numbers, document, &mut visit)?;
                }
                Ok(())
            }
            List::Dense { bits, counts, .. } => {
                let mut counts = counts.iter();
                for (at, word) in words_of(bits).enumerate() {
                    let mut left = word;
                    while left != 0 {
                        let document = 64 * at as u32 + left.trailing_zeros();
                        left &= left - 1;
                        let Some(count) = counts.next().filter(|_| document < self.rows) else { return Err(damaged()) };
                        visit(document, u32::from(*count));
                    }
                }
                Ok(())
            }
        }
    }

    /// As [`Self::for_each`], in batches of (documents, counts), so that `visit` can be a tight loop.
    pub fn for_each_batch(&self, mut visit: impl FnMut(&[u32], &[u32])) -> Result<()> {
        let (mut documents, mut counts, mut filled) = ([0; BATCH], [0; BATCH], 0);
        self.for_each(|document, count| {
            (documents[filled], counts[filled]) = (document, count);
            filled += 1;
            if filled == BATCH {
                visit(&documents, &counts);
                filled = 0;
            }
        })?;
        visit(&documents[..filled], &counts[..filled]);
        Ok(())
    }

    #[inline(always)]
    fn next_of(&self, numbers: &mut Varints<'_>, before: u32, visit: &mut impl FnMut(u32, u32)) -> Result<u32> {
        let (Some(gap), Some(count)) = (numbers.next_number(), numbers.next_number()) else { return Err(damaged()) };
        let document = before.wrapping_add(gap);
        if document >= self.rows {
            return Err(damaged());
        }
        visit(document, count);
        Ok(document)
    }

    /// Calls `visit(at, count)` for those of `len` documents, ascending, that have the term: `document_of(at)` is one
    /// of them.
    #[inline(always)]
    pub fn for_each_of(
        &self,
        len: usize,
        document_of: impl Fn(usize) -> u32,
        mut visit: impl FnMut(usize, u32),
    ) -> Result<()> {
        match self.list {
            List::Sparse(postings) => {
                let mut numbers = Varints(postings);
                let (mut document, mut at) = (0u32, 0);
                for _ in 0..self.frequency {
                    if at == len {
                        break;
                    }
                    document = self.next_of(&mut numbers, document, &mut |document, count| {
                        while at < len && document_of(at) < document {
                            at += 1;
                        }
                        if at < len && document_of(at) == document {
                            visit(at, count);
                        }
                    })?;
                }
                Ok(())
            }
            List::Dense { bits, counts, .. } => {
                let (mut passed, mut before) = (0usize, 0usize);
                for at in 0..len {
                    let document = document_of(at) as usize;
                    let Some(word) = word_at(bits, document / 64) else { return Err(damaged()) };
                    if word >> (document % 64) & 1 == 0 {
                        continue;
                    }
                    while passed < document / 64 {
                        before += word_at(bits, passed).unwrap_or(0).count_ones() as usize;
                        passed += 1;
                    }
                    let below = word & ((1u64 << (document % 64)) - 1);
                    let Some(count) = counts.get(before + below.count_ones() as usize) else { return Err(damaged()) };
                    visit(at, u32::from(*count));
                }
                Ok(())
            }
        }
    }

    /// As [`Self::for_each`], with the encoded positions of each posting.
    pub fn for_each_with_positions(&self, mut visit: impl FnMut(u32, u32, &'a [u8])) -> Result<()> {
        let mut left = Varints(self.positions);
        let mut whole = Ok(());
        self.for_each(|document, count| {
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

/// Splits off the documents by language.
fn split_languages(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut numbers = Varints(bytes);
    let count = numbers.next_number()?;
    let from = bytes.len() - numbers.0.len();
    for _ in 0..count {
        numbers.0 = numbers.0.get(1..)?;
        numbers.next_number()?;
    }
    let end = bytes.len() - numbers.0.len();
    Some((&bytes[from..end], &bytes[end..]))
}

fn bound(most: u8) -> Option<u32> {
    (u32::from(most) < COUNT_MAX).then_some(u32::from(most))
}

#[inline(always)]
fn words_of(bits: &[u8]) -> impl Iterator<Item = u64> {
    bits.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
}

#[inline(always)]
fn word_at(bits: &[u8], at: usize) -> Option<u64> {
    let bytes = bits.get(8 * at..8 * at + 8)?;
    Some(u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
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

pub fn damaged() -> ShardError {
    ShardError::corrupt("A list of postings is damaged.")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sparse_and_dense_lists_are_read_as_written(
            seed in proptest::collection::vec((0..40u32, prop_oneof![20 => 1..5u32, 1 => 250..300u32]), 1..200),
            asked in proptest::collection::btree_set(0..2_000u32, 0..60),
            room in 0..2_000usize,
        ) {
            let mut document = 0;
            let postings: Vec<(u32, u32)> = seed
                .iter()
                .enumerate()
                .map(|(at, (gap, count))| {
                    document += if at == 0 { *gap } else { gap % 11 + 1 };
                    (document, *count)
                })
                .collect();
            let rows = document as usize + 1 + room % 300;
            let most = postings.iter().map(|posting| posting.1).max().unwrap().min(COUNT_MAX);
            let mut bytes = vec![];
            let others = [(Language(3), 1), (Language(9), 300)];
            encode(rows, &postings, most, &others, &mut bytes);
            let list = TermPostings::read(rows as u32, postings.len() as u32, most as u8, &bytes, &[]).unwrap();
            prop_assert_eq!(list.frequency_in(Language(9).bit(), Language(0)), 300);
            prop_assert_eq!(list.frequency_in(Language(0).bit(), Language(0)), (postings.len() as u32).saturating_sub(301));
            let mut read = vec![];
            list.for_each(|document, count| read.push((document, count))).unwrap();
            prop_assert_eq!(&read, &postings);
            for (document, count) in &postings {
                prop_assert!(list.most_in(*document as usize / WINDOW).is_none_or(|most| most >= *count));
            }
            let mut batched = vec![];
            let of_batch = |documents: &[u32], counts: &[u32]| {
                batched.extend(documents.iter().copied().zip(counts.iter().copied()));
            };
            list.for_each_batch(of_batch).unwrap();
            prop_assert_eq!(&batched, &postings);
            let asked: Vec<u32> = asked.into_iter().filter(|document| (*document as usize) < rows).collect();
            let mut found = vec![];
            list.for_each_of(asked.len(), |at| asked[at], |at, count| found.push((asked[at], count))).unwrap();
            let expected: Vec<_> = postings.into_iter().filter(|posting| asked.contains(&posting.0)).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn damaged_lists_are_errors_not_panics(
            bytes in proptest::collection::vec(any::<u8>(), 0..400), frequency in 0..400u32, most in any::<u8>()
        ) {
            for rows in [3, 300, 1_000] {
                if let Ok(list) = TermPostings::read(rows, frequency, most, &bytes, &bytes) {
                    let _ = list.frequency_in(u64::MAX, Language(0));
                    let _ = list.for_each_with_positions(|document, _, _| assert!(document < rows));
                    let _ = list.for_each_of(rows as usize, |at| at as u32, |_, _| {});
                }
            }
        }
    }
}
