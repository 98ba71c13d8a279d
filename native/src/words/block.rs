//! A block of postings as a search sees it.

use super::lists::TermPostings;
use super::postings::PostingsView;
use super::query::Variant;
use crate::blocks::dead::Dead;
use crate::error::Result;

/// A block with the rows that are no longer there.
pub struct WordsBlock<'a> {
    pub view: PostingsView<'a>,
    pub dead: Dead<'a>,
}

impl<'a> WordsBlock<'a> {
    /// The postings of a term, where the block has texts in one of its languages.
    pub fn lookup(&self, variant: &Variant) -> Result<Option<TermPostings<'a>>> {
        if self.view.header.languages & variant.languages == 0 {
            return Ok(None);
        }
        self.view.lookup(variant.term.as_bytes())
    }
}
