//! A block of postings as a search sees it.

use std::ops::Range;

use super::lists::TermPostings;
use super::postings::PostingsView;
use super::query_word::Variant;
use crate::blocks::dead::Dead;
use crate::blocks::rows_within::rows_within;
use crate::error::Result;
use crate::ranking::segment_filter::SegmentFilter;

/// A block of postings with its dead rows.
pub struct WordsBlock<'a> {
    pub view: PostingsView<'a>,
    pub dead: Dead<'a>,
}

impl<'a> WordsBlock<'a> {
    /// The postings of a variant's term. None if the block has no text in one of its languages, or not the term.
    pub fn lookup(&self, variant: &Variant) -> Result<Option<TermPostings<'a>>> {
        self.term(variant)?.map(|at| self.view.term_postings(at)).transpose()
    }

    /// The rows that a search may find, as stretches.
    pub(super) fn rows_within(&self, within: &SegmentFilter) -> Vec<Range<usize>> {
        rows_within(&self.view.header, self.view.segments, within)
    }

    /// The number of a variant's term. None if the block has no text in one of its languages, or not the term.
    pub(super) fn term(&self, variant: &Variant) -> Result<Option<usize>> {
        if self.view.header.languages & variant.languages == 0 {
            return Ok(None);
        }
        self.view.find(variant.term.as_bytes())
    }
}
