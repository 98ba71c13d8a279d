//! The rows of a block that a search may find.

use std::ops::Range;

use super::block::Header;
use super::columns::U32Column;
use crate::ranking::segment_filter::SegmentFilter;

/// The rows whose segments are named, as stretches, ascending; none is empty and none touches another.
pub fn rows_within(header: &Header, segments: U32Column<'_>, within: &SegmentFilter) -> Vec<Range<usize>> {
    // Without gaps a row's number follows from its segment.
    let has_gaps = u64::from(header.last - header.first) + 1 != u64::from(header.rows);
    let row = |segment: u32| {
        if has_gaps { segments.lower_bound(segment) } else { (segment - header.first) as usize }
    };
    let mut stretches: Vec<Range<usize>> = vec![];
    for (first, last) in within.ranges_in(header.first, header.last) {
        let end = if last == header.last { header.rows as usize } else { row(last + 1) };
        match (row(first), stretches.last_mut()) {
            (from, Some(before)) if from == before.end => before.end = end,
            (from, _) if from < end => stretches.push(from..end),
            _ => {}
        }
    }
    stretches
}
