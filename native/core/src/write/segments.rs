//! Common needs of writers of all families: how many rows they may have, and their segments.

use crate::blocks::block::Header;
use crate::blocks::columns::U32Column;
use crate::blocks::pictures::PicturesView;
use crate::blocks::vectors::CodesView;
use crate::error::Result;
use crate::store::records::Family;
use crate::words::postings::PostingsView;

/// Rows of a vector block: about 1.5 MB of codes at 384 dimensions, little enough to rewrite in a commit.
pub const VECTOR_ROWS_MAX: usize = 4096;
/// Documents of a block of postings: few dictionaries to search, and scores that fit in a core's cache.
pub const WORDS_ROWS_MAX: usize = 32_768;
pub const PICTURE_ROWS_MAX: usize = 4096;

/// Header and ascending segments of any block.
pub fn segments_of(family: Family, value: &[u8]) -> Result<(Header, U32Column<'_>)> {
    match family {
        Family::WORDS => PostingsView::read(value).map(|view| (view.header, view.segments)),
        Family::PICTURES => PicturesView::read(value).map(|view| (view.header, view.segments)),
        _ => CodesView::read(value).map(|view| (view.header, view.segments)),
    }
}
