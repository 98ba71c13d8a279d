//! The Segments that a search may find, where it may not find all.

/// Ranges of Segments, first and last, ascending. None touches another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SegmentFilter {
    ranges: Vec<(u32, u32)>,
    segments: u64,
}

impl SegmentFilter {
    /// A filter of ranges (first, last) in any order. Those that overlap or touch become one.
    pub fn of_ranges(mut ranges: Vec<(u32, u32)>) -> Self {
        if !ranges.is_sorted() {
            ranges.sort_unstable();
        }
        let mut of = Self::default();
        for (first, last) in ranges {
            of.push(first, last);
        }
        of
    }

    /// A filter of ascending Segments.
    pub fn of_segments(segments: impl IntoIterator<Item = u32>) -> Self {
        let mut of = Self::default();
        for segment in segments {
            of.push(segment, segment);
        }
        of
    }

    /// A filter of all Segments but those of some ranges (first, last).
    pub fn without(ranges: &[(u32, u32)]) -> Self {
        let mut others = vec![];
        let mut from = 0u64;
        for &(first, last) in Self::of_ranges(ranges.to_vec()).ranges() {
            if u64::from(first) > from {
                others.push((from as u32, first - 1));
            }
            from = u64::from(last) + 1;
        }
        if from <= u64::from(u32::MAX) {
            others.push((from as u32, u32::MAX));
        }
        Self::of_ranges(others)
    }

    /// Adds a range that begins at or after the start of the last one.
    fn push(&mut self, first: u32, last: u32) {
        match self.ranges.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => {
                let end = before.1.max(last);
                self.segments += u64::from(end - before.1);
                before.1 = end;
            }
            _ => {
                self.segments += u64::from(last - first) + 1;
                self.ranges.push((first, last));
            }
        }
    }

    /// How many Segments it names. Some may have been removed.
    pub fn segments(&self) -> u64 {
        self.segments
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub fn has(&self, segment: u32) -> bool {
        let at = self.ranges.partition_point(|range| range.1 < segment);
        self.ranges.get(at).is_some_and(|range| range.0 <= segment)
    }

    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// The ranges that reach into a stretch of Segments, cut to it.
    pub fn ranges_in(&self, first: u32, last: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let from = self.ranges.partition_point(|range| range.1 < first);
        self.ranges[from..]
            .iter()
            .take_while(move |range| range.0 <= last)
            .map(move |range| (range.0.max(first), range.1.min(last)))
    }

    /// The Segments that both name.
    pub fn and(&self, other: &Self) -> Self {
        let mut both = Self::default();
        let (mut left, mut right) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        while let (Some(one), Some(two)) = (left.peek(), right.peek()) {
            let (first, last) = (one.0.max(two.0), one.1.min(two.1));
            if first <= last {
                both.push(first, last);
            }
            if one.1 < two.1 {
                left.next()
            } else {
                right.next()
            };
        }
        both
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set_of(ranges: &[(u32, u32)]) -> BTreeSet<u32> {
        ranges.iter().flat_map(|range| range.0..=range.1).collect()
    }

    proptest! {
        #[test]
        fn ranges_name_the_segments_of_a_set(
            one in proptest::collection::vec((0..200u32, 0..9u32), 0..20),
            two in proptest::collection::vec((0..200u32, 0..9u32), 0..20),
            (first, more) in (0..220u32, 0..60u32),
        ) {
            let ranges = |of: Vec<(u32, u32)>| of.into_iter().map(|(at, more)| (at, at + more)).collect::<Vec<_>>();
            let (one, two) = (ranges(one), ranges(two));
            let (sets, withins) = ([set_of(&one), set_of(&two)], [SegmentFilter::of_ranges(one), SegmentFilter::of_ranges(two)]);
            for (set, within) in sets.iter().zip(&withins) {
                prop_assert_eq!(&set_of(within.ranges()), set);
                prop_assert_eq!(within.segments(), set.len() as u64);
                prop_assert!(within.ranges().windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
                prop_assert_eq!(&SegmentFilter::of_segments(set.iter().copied()), within);
                prop_assert!((0..220).all(|segment| within.has(segment) == set.contains(&segment)));
                let cut: Vec<(u32, u32)> = within.ranges_in(first, first + more).collect();
                prop_assert_eq!(set_of(&cut), set.range(first..=first + more).copied().collect());
            }
            let both: BTreeSet<u32> = sets[0].intersection(&sets[1]).copied().collect();
            prop_assert_eq!(withins[0].and(&withins[1]), SegmentFilter::of_segments(both));
        }
    }
}
