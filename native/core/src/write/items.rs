//! Adding, changing and removing Items, with all that belongs to them.

use std::collections::HashMap;

use serde::Deserialize;

use super::input::{ItemRecord, ItemState, PreparedSegment};
use super::segments::segments_of;
use super::transaction::Transaction;
use crate::blocks::dead::Dead;
use crate::blocks::pictures::PictureRow;
use crate::error::{Result, ShardError};
use crate::store::records::{BlockKey, ItemEntry, key_of, sealed, unsealed};

impl<'s: 't, 't> Transaction<'s, 't> {
    /// Puts an Item with all its Segments. They replace what the Item had before. Names that were added to it stay.
    pub fn append(&mut self, item: &ItemRecord, segments: &[PreparedSegment]) -> Result<()> {
        let item = &self.with_aliases(item)?;
        self.remove_segments(&item.id)?;
        let count = segments.len() as u64;
        let first = self.totals.next_segment;
        if first + count > u64::from(u32::MAX) {
            return Err(ShardError::new("tenant_full", "The index has used up its segment numbers."));
        }
        self.totals.next_segment += count;
        // A place is known in the whole index by its first Segment.
        let mut heads: HashMap<u32, u32> = HashMap::new();
        for (number, segment) in (first as u32..).zip(segments) {
            let head = *heads.entry(segment.input.place).or_insert(number);
            self.put_segment(number, head, segment)?;
        }
        self.put_record(item, Some((first as u32, count as u32)))?;
        self.index_names(&item.id)
    }

    /// Puts an Item's record. Its Segments stay, unless the Item has failed.
    pub fn put_item(&mut self, item: &ItemRecord) -> Result<()> {
        if item.state == ItemState::Failed {
            self.remove_segments(&item.id)?;
        }
        self.put_record(item, None)
    }

    /// Takes an Item's Segments away and marks it as failed, because another takes its place. It can still be removed.
    pub fn retire(&mut self, id: &str) -> Result<()> {
        let Some(record) = self.record_of(id)? else { return Ok(()) };
        let damaged = || ShardError::corrupt("An item's record is damaged.");
        let mut json: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&record).map_err(|_| damaged())?;
        json.insert("state".into(), "failed".into());
        json.insert("error".into(), serde_json::json!({ "code": "item_replaced", "detail": REPLACED }));
        let text = serde_json::to_string(&json).map_err(|_| damaged())?;
        self.put_item(&ItemRecord::parse(&text)?)
    }

    /// An Item's record as JSON.
    pub(super) fn record_of(&self, id: &str) -> Result<Option<Vec<u8>>> {
        let Some(entry) = self.store.entry(&self.txn, id)? else { return Ok(None) };
        let value = self.store.databases.items.get(&self.txn, &entry.sequence)?;
        value.map(|value| Ok(unsealed(&entry.sequence.to_be_bytes(), value)?.to_vec())).transpose()
    }

    /// Removes an Item with all that belongs to it. False if there is none.
    pub fn remove_item(&mut self, id: &str) -> Result<bool> {
        self.remove_segments(id)?;
        let Some(entry) = self.store.entry(&self.txn, id)? else { return Ok(false) };
        // A damaged record has no key that could be read, and can still be removed.
        let record = self.record_of(id).unwrap_or_default().unwrap_or_default();
        let key = serde_json::from_slice::<Keyed>(&record).ok().and_then(|keyed| keyed.key);
        let databases = &self.store.databases;
        if let Some(key) = key {
            databases.keys.delete(&mut self.txn, &key_of(&key, entry.sequence))?;
        }
        databases.items.delete(&mut self.txn, &entry.sequence)?;
        databases.entries.delete(&mut self.txn, id)?;
        databases.digests.delete(&mut self.txn, &digest_key(&entry))?;
        self.uncount(&entry);
        self.removed += 1;
        Ok(true)
    }

    fn count(&mut self, entry: &ItemEntry) {
        if entry.state == ItemState::Searchable as u8 {
            self.totals.items += 1;
            self.totals.segments += u64::from(entry.count);
            self.totals.bytes += entry.bytes;
        }
    }

    fn uncount(&mut self, entry: &ItemEntry) {
        if entry.state == ItemState::Searchable as u8 {
            self.totals.items = self.totals.items.saturating_sub(1);
            self.totals.segments = self.totals.segments.saturating_sub(u64::from(entry.count));
            self.totals.bytes = self.totals.bytes.saturating_sub(entry.bytes);
        }
    }

    fn put_record(&mut self, item: &ItemRecord, segments: Option<(u32, u32)>) -> Result<()> {
        let databases = &self.store.databases;
        let before = self.store.entry(&self.txn, &item.id)?;
        let sequence = match &before {
            Some(before) => {
                databases.digests.delete(&mut self.txn, &digest_key(before))?;
                self.uncount(before);
                before.sequence
            }
            None => {
                self.totals.next_item += 1;
                self.totals.next_item - 1
            }
        };
        let (first, count) = segments.or(before.map(|before| (before.first, before.count))).unwrap_or_default();
        let entry =
            ItemEntry { sequence, first, count, bytes: item.bytes, state: item.state as u8, sha256: item.sha256 };
        databases.items.put(&mut self.txn, &sequence, &sealed(&sequence.to_be_bytes(), &item.json))?;
        databases.entries.put(&mut self.txn, &item.id, &sealed(item.id.as_bytes(), &entry.to_bytes()))?;
        if item.state != ItemState::Failed {
            databases.digests.put(&mut self.txn, &digest_key(&entry), &[])?;
        }
        if let Some(key) = &item.key {
            databases.keys.put(&mut self.txn, &key_of(key, sequence), &[])?;
        }
        self.count(&entry);
        self.written.push(((first, count), item.json.clone()));
        Ok(())
    }

    fn put_segment(&mut self, number: u32, head: u32, segment: &PreparedSegment) -> Result<()> {
        let PreparedSegment { input, words } = segment;
        let mut record = head.to_le_bytes().to_vec();
        record.extend_from_slice(input.record.as_bytes());
        self.store.databases.segments.put(&mut self.txn, &number, &sealed(&number.to_be_bytes(), &record))?;
        if let Some(words) = words {
            self.put_words(number, words.clone());
        }
        if let Some(picture) = &input.picture {
            let fingerprint = picture.fingerprint.clone();
            self.put_picture(PictureRow { segment: number, digest: picture.digest, fingerprint });
        }
        for (space, vector) in &input.vectors {
            self.put_row(*space, number, vector)?;
        }
        self.flush_if_full()
    }

    /// Removes an Item's Segments from every family.
    fn remove_segments(&mut self, id: &str) -> Result<()> {
        let Some(entry) = self.store.entry(&self.txn, id)?.filter(|entry| entry.count > 0) else { return Ok(()) };
        self.flush()?;
        let end = u64::from(entry.first) + u64::from(entry.count);
        let last = (end - 1) as u32;
        self.store.databases.segments.delete_range(&mut self.txn, &(entry.first..=last))?;
        let touched = self.touched(entry.first, last)?;
        for (key, dead) in touched {
            self.bury(key, dead)?;
        }
        let without = ItemEntry { count: 0, ..entry };
        self.uncount(&entry);
        self.count(&without);
        self.store.databases.entries.put(&mut self.txn, id, &sealed(id.as_bytes(), &without.to_bytes()))?;
        Ok(())
    }

    /// Writes which rows of a block are dead; removes it if all are.
    pub(super) fn bury(&mut self, key: BlockKey, dead: Option<Vec<u8>>) -> Result<()> {
        let Some(dead) = dead else { return self.delete_block(key) };
        let dead = sealed(&key.bytes(), &dead);
        Ok(self.store.databases.dead.put(&mut self.txn, &key.bytes(), &dead)?)
    }

    /// The blocks that hold Segments of a range, each with its new dead rows. `None` if no row would be left.
    pub(super) fn touched(&self, first: u32, last: u32) -> Result<Vec<(BlockKey, Option<Vec<u8>>)>> {
        let mut touched = vec![];
        for entry in self.store.databases.blocks.iter(&self.txn)? {
            let (key, value) = entry?;
            let key = BlockKey::read(key)?;
            // A damaged block stays: searches report it, and its Items can still be removed.
            let Ok((header, segments)) = segments_of(key.family, value) else { continue };
            if header.first > last || header.last < first {
                continue;
            }
            let rows = segments.len();
            let mut dead = self.store.dead(&self.txn, key)?.0.to_vec();
            dead.resize(rows.div_ceil(8), 0);
            let before = Dead(&dead).count();
            for row in segments.lower_bound(first)..rows {
                if segments.get(row) > last {
                    break;
                }
                dead[row / 8] |= 1 << (row % 8);
            }
            let after = Dead(&dead).count();
            if after > before {
                touched.push((key, (after < rows).then_some(dead)));
            }
        }
        Ok(touched)
    }
}

/// Why an Item that is still listed is not found any more.
const REPLACED: &str = "A later upload with the same key has taken its place. It is being removed.";

#[derive(Deserialize)]
struct Keyed {
    key: Option<String>,
}

fn digest_key(entry: &ItemEntry) -> Vec<u8> {
    let mut key = entry.sha256.to_vec();
    key.extend(entry.sequence.to_be_bytes());
    key
}
