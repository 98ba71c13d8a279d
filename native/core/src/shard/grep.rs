//! The lines of an index that match a pattern, as one JSON text: in order of ingestion, an Item's title before its text.

use std::fmt;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::hits::{Items, Record, damaged, push_json, push_stored, push_string};
use super::snapshot::{Snapshot, text};
use crate::error::Result;
use crate::filter::expression::Filter;
use crate::ranking::options::Stop;
use crate::store::records::unsealed;
use crate::text::pattern::Pattern;

/// A scan ends after this time with what it has: others wait for its thread.
pub const TIME_MAX: Duration = Duration::from_secs(2);
/// Records between two looks at the clock.
const LOOK_EVERY: usize = 64;

/// Which lines are wanted.
#[derive(Debug, Clone, Default)]
pub struct WantedLines {
    pub lines_max: usize,
    /// Lines of the passage that are shown before and behind each.
    pub context: usize,
    /// Where a scan before ended: [`WrittenLines::next`].
    pub after: Option<Cursor>,
    /// The Items whose lines are wanted. None: all.
    pub filter: Option<Filter>,
    /// When the Items end, if that is not what is stored.
    pub expires_at: Option<String>,
    pub stop: Stop,
}

/// A place among the lines that match: a Segment, and how many of its lines are before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub segment: u32,
    pub lines: u32,
}

impl Cursor {
    /// Of `12.3`, as it is written. None for another text.
    pub fn read(text: &str) -> Option<Self> {
        let (segment, lines) = text.split_once('.')?;
        Some(Self { segment: segment.parse().ok()?, lines: lines.parse().ok()? })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.segment, self.lines)
    }
}

/// The lines as a JSON array in UTF-8, and how many there are.
#[derive(Debug, PartialEq, Eq)]
pub struct WrittenLines {
    pub json: Vec<u8>,
    pub count: u32,
    /// There may be more lines from here on: there was no room, or the time was over before all texts were read.
    pub next: Option<Cursor>,
}

/// Writes the lines that match.
///
/// # Errors
/// `shard_corrupt`; `interrupted` once the scan was stopped.
pub fn grep(snapshot: &Snapshot, pattern: &Pattern, wanted: &WantedLines, until: Instant) -> Result<WrittenLines> {
    let within = wanted.filter.as_ref().map(|filter| snapshot.within(filter)).transpose()?;
    let ranges = within.as_ref().map_or(&[(0, u32::MAX)][..], |within| within.ranges());
    let after = wanted.after.unwrap_or_default();
    let mut scan = Scan { snapshot, pattern, stop: &wanted.stop, until, after, looks: 0 };
    let mut lines = Lines {
        items: Items::new(snapshot, wanted.expires_at.as_deref())?,
        pattern,
        max: wanted.lines_max,
        context: wanted.context,
        out: vec![b'['],
        count: 0,
    };
    let next = scan.run(ranges, &mut lines)?;
    lines.out.push(b']');
    Ok(WrittenLines { json: lines.out, count: lines.count as u32, next })
}

struct Scan<'a> {
    snapshot: &'a Snapshot,
    pattern: &'a Pattern,
    stop: &'a Stop,
    until: Instant,
    after: Cursor,
    looks: usize,
}

/// The fields that are read of an Item's record.
#[derive(Deserialize)]
struct Titled {
    id: String,
    title: Option<String>,
}

impl<'a> Scan<'a> {
    /// Where more may be found.
    fn run(&mut self, ranges: &[(u32, u32)], lines: &mut Lines<'a>) -> Result<Option<Cursor>> {
        let mut titled = self.titled()?.into_iter().peekable();
        // Of the Segment before: its Item, and the first Segment of that.
        let mut known = (String::new(), 0);
        let after = self.after;
        for (first, last) in ranges.iter().filter(|(_, last)| *last >= after.segment) {
            for entry in self.snapshot.records(after.segment.max(*first), *last)? {
                let (segment, json) = entry?;
                if !self.may_go_on()? {
                    return Ok(Some(Cursor { segment, lines: 0 }.max(after)));
                }
                while titled.next_if(|first| *first < segment).is_some() {}
                let is_titled = titled.next_if_eq(&segment).is_some();
                if !is_titled && !self.pattern.may_be_in(json) {
                    continue;
                }
                let record: Record<'a> = serde_json::from_str(text(json)?).map_err(|_| damaged())?;
                if known.0 != record.item {
                    let range = self.snapshot.segments_of_item(&record.item)?;
                    known = (record.item.to_string(), range.map_or(segment, |(first, _)| first));
                }
                let own = record.text.as_deref().unwrap_or_default();
                let title = if is_titled { self.title_of(&record.item)? } else { None };
                // A document that is a title alone has it as its text.
                let title = title.filter(|title| own.lines().next() != Some(title.as_str()));
                let matching = title.iter().map(|title| (0, title.as_str())).chain(self.pattern.lines(own));
                let before = if segment == after.segment { after.lines } else { 0 };
                for (at, (number, line)) in (0..).zip(matching).skip(before as usize) {
                    if lines.count == lines.max {
                        return Ok(Some(Cursor { segment, lines: at }));
                    }
                    lines.push(&record, segment - known.1, number, line)?;
                }
            }
        }
        Ok(None)
    }

    /// The first Segments of the Items whose titles match, ascending.
    fn titled(&mut self) -> Result<Vec<u32>> {
        let mut titled = vec![];
        let databases = &self.snapshot.queue.store().databases;
        for entry in databases.items.iter(&self.snapshot.txn)? {
            let (sequence, value) = entry?;
            self.stop.check()?;
            let json = unsealed(&sequence.to_be_bytes(), value)?;
            if !self.pattern.may_be_in(json) {
                continue;
            }
            let Ok(Titled { id, title: Some(title) }) = serde_json::from_slice(json) else { continue };
            if self.pattern.lines(&title).next().is_some() {
                let range = self.snapshot.segments_of_item(&id)?;
                titled.extend(range.filter(|(_, count)| *count > 0).map(|(first, _)| first));
            }
        }
        titled.sort_unstable();
        Ok(titled)
    }

    fn title_of(&self, item: &str) -> Result<Option<String>> {
        let Some(json) = self.snapshot.item(item)? else { return Ok(None) };
        Ok(serde_json::from_str::<Titled>(json).map_err(|_| damaged())?.title)
    }

    fn may_go_on(&mut self) -> Result<bool> {
        self.stop.check()?;
        self.looks += 1;
        Ok(!self.looks.is_multiple_of(LOOK_EVERY) || Instant::now() < self.until)
    }
}

struct Lines<'a> {
    items: Items<'a>,
    pattern: &'a Pattern,
    max: usize,
    context: usize,
    out: Vec<u8>,
    count: usize,
}

impl<'a> Lines<'a> {
    /// `passage`: its number in the Item.
    fn push(&mut self, record: &Record<'a>, passage: u32, number: usize, line: &str) -> Result<()> {
        let start = self.out.len();
        let out = &mut self.out;
        out.extend_from_slice(if self.count > 0 { b",{\"item\":" } else { b"{\"item\":" });
        if !self.items.push(out, record.item.clone())? {
            out.truncate(start);
            return Ok(());
        }
        out.extend_from_slice(format!(",\"passage\":{passage},\"line\":{number},\"text\":").as_bytes());
        let shown = self.pattern.shown(line);
        push_string(out, &shown.text)?;
        out.extend_from_slice(b",\"highlights\":");
        push_json(out, &shown.highlights)?;
        if self.context > 0 && number > 0 {
            let own: Vec<&str> = record.text.as_deref().unwrap_or_default().lines().collect();
            let around = |lines: &[&str]| lines.iter().map(|line| self.pattern.shown(line).text).collect::<Vec<_>>();
            let behind = number.min(own.len())..(number + self.context).min(own.len());
            out.extend_from_slice(b",\"before\":");
            push_json(out, &around(&own[(number - 1).saturating_sub(self.context)..number - 1]))?;
            out.extend_from_slice(b",\"after\":");
            push_json(out, &around(&own[behind]))?;
        }
        push_stored(out, record.text.is_some(), &record.others)?;
        out.push(b'}');
        self.count += 1;
        Ok(())
    }
}
