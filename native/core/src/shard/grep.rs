//! The lines of an index that match a pattern, as one JSON text: in order of ingestion, an Item's title before its text.

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
    /// The Items whose lines are wanted. None: all.
    pub filter: Option<Filter>,
    /// When the Items end, if that is not what is stored.
    pub expires_at: Option<String>,
    pub stop: Stop,
}

/// The lines as a JSON array in UTF-8, and how many there are.
#[derive(Debug, PartialEq, Eq)]
pub struct WrittenLines {
    pub json: Vec<u8>,
    pub count: u32,
    /// There are more lines, or the time was over before all texts were read.
    pub truncated: bool,
}

/// Writes the lines that match.
///
/// # Errors
/// `shard_corrupt`; `interrupted` once the scan was stopped.
pub fn grep(snapshot: &Snapshot, pattern: &Pattern, wanted: &WantedLines, until: Instant) -> Result<WrittenLines> {
    let within = wanted.filter.as_ref().map(|filter| snapshot.within(filter)).transpose()?;
    let ranges = within.as_ref().map_or(&[(0, u32::MAX)][..], |within| within.ranges());
    let mut scan = Scan { snapshot, pattern, stop: &wanted.stop, until, looks: 0 };
    let mut lines = Lines {
        items: Items::new(snapshot, wanted.expires_at.as_deref())?,
        pattern,
        max: wanted.lines_max,
        out: vec![b'['],
        count: 0,
    };
    let is_whole = scan.run(ranges, &mut lines)?;
    lines.out.push(b']');
    Ok(WrittenLines { json: lines.out, count: lines.count as u32, truncated: !is_whole })
}

struct Scan<'a> {
    snapshot: &'a Snapshot,
    pattern: &'a Pattern,
    stop: &'a Stop,
    until: Instant,
    looks: usize,
}

/// The fields that are read of an Item's record.
#[derive(Deserialize)]
struct Titled {
    id: String,
    title: Option<String>,
}

impl<'a> Scan<'a> {
    /// False where more may be found.
    fn run(&mut self, ranges: &[(u32, u32)], lines: &mut Lines<'a>) -> Result<bool> {
        let Some(titled) = self.titled()? else { return Ok(false) };
        let mut titled = titled.into_iter().peekable();
        // Of the Segment before: its Item, and the first Segment of that.
        let mut known = (String::new(), 0);
        for (first, last) in ranges {
            for entry in self.snapshot.records(*first, *last)? {
                let (segment, json) = entry?;
                if !self.may_go_on()? {
                    return Ok(false);
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
                let own = title.iter().map(|title| (0, title.as_str())).chain(self.pattern.lines(own));
                for (number, line) in own {
                    if !lines.push(&record, segment - known.1, number, line)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// The first Segments of the Items whose titles match, ascending. None: the time is over.
    fn titled(&mut self) -> Result<Option<Vec<u32>>> {
        let mut titled = vec![];
        let databases = &self.snapshot.queue.store().databases;
        for entry in databases.items.iter(&self.snapshot.txn)? {
            let (sequence, value) = entry?;
            if !self.may_go_on()? {
                return Ok(None);
            }
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
        Ok(Some(titled))
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
    out: Vec<u8>,
    count: usize,
}

impl<'a> Lines<'a> {
    /// False where there is no room. `passage`: its number in the Item.
    fn push(&mut self, record: &Record<'a>, passage: u32, number: usize, line: &str) -> Result<bool> {
        if self.count == self.max {
            return Ok(false);
        }
        let start = self.out.len();
        let out = &mut self.out;
        out.extend_from_slice(if self.count > 0 { b",{\"item\":" } else { b"{\"item\":" });
        if !self.items.push(out, record.item.clone())? {
            out.truncate(start);
            return Ok(true);
        }
        out.extend_from_slice(format!(",\"passage\":{passage},\"line\":{number},\"text\":").as_bytes());
        let shown = self.pattern.shown(line);
        push_string(out, &shown.text)?;
        out.extend_from_slice(b",\"highlights\":");
        push_json(out, &shown.highlights)?;
        push_stored(out, record.text.is_some(), &record.others)?;
        out.push(b'}');
        self.count += 1;
        Ok(true)
    }
}
