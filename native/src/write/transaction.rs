//! What one write transaction does: Items come, change and go, with all that belongs to them.

use heed::RwTxn;
use std::collections::HashMap;

use crate::blocks::block::Header;
use crate::blocks::columns::U32Column;
use crate::blocks::dead::Dead;
use crate::blocks::pictures::{self, PictureRow, PicturesView};
use crate::blocks::vectors::{self, CodesView, VectorRows};
use crate::error::{Result, ShardError};
use crate::store::open_store::{SpaceSpec, Store};
use crate::store::records::{BlockKey, Family, ItemEntry, Totals, sealed, unsealed};
use crate::store::spaces;
use crate::words::build::{self, AnalysedText};
use crate::words::postings::PostingsView;
use crate::write::input::{ItemRecord, ItemState, PreparedSegment};

/// Rows of a vector block: about 1.5 MB of codes at 384 dimensions, small enough to be rewritten in a commit.
pub const VECTOR_ROWS_MAX: usize = 4096;
/// Segments of a block of postings: few dictionaries to look in, and scores that fit a core's cache.
pub const WORDS_ROWS_MAX: usize = 32_768;
pub const PICTURE_ROWS_MAX: usize = 4096;
/// Spaces of one index at a time.
const SPACES_MAX: u8 = 200;

/// A record of `meta` as it was read.
pub struct Unchanged {
    pub key: String,
    pub record: Option<Vec<u8>>,
}

/// Key of what is remembered of a space's graph.
pub fn graph_key(space: &SpaceSpec) -> String {
    format!("graph/{}", space.name)
}

/// Key of how often rows of earlier Segments were put into a space.
pub fn filled_key(space: &SpaceSpec) -> String {
    format!("filled/{}", space.name)
}

/// One open write transaction with what is still to be put into blocks.
pub struct Writing<'s, 't> {
    pub(crate) store: &'s Store,
    pub(crate) txn: RwTxn<'t>,
    totals: Totals,
    words: Vec<(u32, AnalysedText)>,
    pictures: Vec<PictureRow>,
    vectors: Vec<VectorRows>,
    deleted: Vec<BlockKey>,
}

impl<'s: 't, 't> Writing<'s, 't> {
    pub fn begin(store: &'s Store) -> Result<Self> {
        let txn = store.env.write_txn()?;
        let totals = store.totals(&txn)?;
        let vectors = store.spaces.iter().map(|_| VectorRows::default()).collect();
        Ok(Self { store, txn, totals, words: vec![], pictures: vec![], vectors, deleted: vec![] })
    }

    /// Puts an Item with all its Segments in the place of what it was before.
    pub fn append(&mut self, item: &ItemRecord, segments: &[PreparedSegment]) -> Result<()> {
        self.remove_segments(&item.id)?;
        let count = segments.len() as u64;
        let first = self.totals.next_segment;
        if first + count > u64::from(u32::MAX) {
            return Err(ShardError::new("tenant_full", "The index has used up its segment numbers."));
        }
        self.totals.next_segment += count;
        // A place is known in the whole Shard by the first Segment that lies in it.
        let mut heads: HashMap<u32, u32> = HashMap::new();
        for (number, segment) in (first as u32..).zip(segments) {
            let head = *heads.entry(segment.input.place).or_insert(number);
            self.put_segment(number, head, segment)?;
        }
        self.put_record(item, Some((first as u32, count as u32)))
    }

    /// Puts an Item's record. Its Segments stay, but those of one that has failed.
    pub fn put_item(&mut self, item: &ItemRecord) -> Result<()> {
        if item.state == ItemState::Failed {
            self.remove_segments(&item.id)?;
        }
        self.put_record(item, None)
    }

    /// Removes an Item with all that belongs to it; false when there is none.
    pub fn remove_item(&mut self, id: &str) -> Result<bool> {
        self.remove_segments(id)?;
        let Some(entry) = self.entry(id)? else { return Ok(false) };
        let databases = &self.store.databases;
        databases.items.delete(&mut self.txn, &entry.sequence)?;
        databases.entries.delete(&mut self.txn, id)?;
        databases.digests.delete(&mut self.txn, &digest_key(&entry))?;
        self.uncount(&entry);
        Ok(true)
    }

    /// Writes the blocks and commits: on the disk when this returns.
    pub fn commit(mut self) -> Result<()> {
        self.flush()?;
        let json = serde_json::to_vec(&self.totals).map_err(|error| ShardError::internal(error.to_string()))?;
        self.store.databases.meta.put(&mut self.txn, "totals", &sealed(b"totals", &json))?;
        self.txn.commit()?;
        self.store.forget(&self.deleted);
        Ok(())
    }

    fn entry(&self, id: &str) -> Result<Option<ItemEntry>> {
        let value = self.store.databases.entries.get(&self.txn, id)?;
        value.map(|value| ItemEntry::read(unsealed(id.as_bytes(), value)?)).transpose()
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
        let before = self.entry(&item.id)?;
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
        self.count(&entry);
        Ok(())
    }

    fn put_segment(&mut self, number: u32, head: u32, segment: &PreparedSegment) -> Result<()> {
        let PreparedSegment { input, words } = segment;
        let mut record = head.to_le_bytes().to_vec();
        record.extend_from_slice(input.record.as_bytes());
        self.store.databases.segments.put(&mut self.txn, &number, &sealed(&number.to_be_bytes(), &record))?;
        if let Some(words) = words {
            self.words.push((number, words.clone()));
        }
        if let Some(picture) = &input.picture {
            let fingerprint = picture.fingerprint.clone();
            self.pictures.push(PictureRow { segment: number, digest: picture.digest, fingerprint });
        }
        for (space, vector) in &input.vectors {
            self.put_row(*space, number, vector)?;
        }
        if self.words.len() >= WORDS_ROWS_MAX || self.pictures.len() >= PICTURE_ROWS_MAX {
            self.flush()?;
        }
        Ok(())
    }

    pub(crate) fn put_row(&mut self, space: usize, segment: u32, row: &[f32]) -> Result<()> {
        let rows = &mut self.vectors[space];
        rows.segments.push(segment);
        rows.values.extend_from_slice(row);
        if rows.segments.len() >= VECTOR_ROWS_MAX { self.flush() } else { Ok(()) }
    }

    /// Makes blocks of what has gathered.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.put_block(Family::WORDS, &build::encode(&words), None)?;
        }
        let pictures = std::mem::take(&mut self.pictures);
        if !pictures.is_empty() {
            self.put_block(Family::PICTURES, &pictures::encode(&pictures), None)?;
        }
        for index in 0..self.vectors.len() {
            let rows = std::mem::take(&mut self.vectors[index]);
            if !rows.segments.is_empty() {
                let store = self.store;
                let space = &store.spaces[index];
                // A space of another model that has gone meanwhile does not come back.
                if index >= store.in_use && store.space_family(&self.txn, space)?.is_none() {
                    continue;
                }
                let family = self.family_for_append(space)?;
                let block = vectors::encode(&rows, space.dimensions, space.model);
                self.put_block(family, &block.codes, Some(&block.rows))?;
            }
        }
        Ok(())
    }

    pub fn put_block(&mut self, family: Family, value: &[u8], rows: Option<&[u8]>) -> Result<BlockKey> {
        let number = u32::try_from(self.totals.next_block)
            .map_err(|_| ShardError::new("tenant_full", "The index has used up its block numbers."))?;
        self.totals.next_block += 1;
        let key = BlockKey { family, number };
        self.store.databases.blocks.put(&mut self.txn, &key.bytes(), value)?;
        if let Some(rows) = rows {
            self.store.databases.rows.put(&mut self.txn, &key.bytes(), rows)?;
        }
        Ok(key)
    }

    pub fn delete_block(&mut self, key: BlockKey) -> Result<()> {
        let databases = &self.store.databases;
        databases.blocks.delete(&mut self.txn, &key.bytes())?;
        databases.rows.delete(&mut self.txn, &key.bytes())?;
        databases.dead.delete(&mut self.txn, &key.bytes())?;
        databases.bits.delete(&mut self.txn, &key.bytes())?;
        self.deleted.push(key);
        Ok(())
    }

    /// Puts a record about something derived; false when what it was derived from has changed.
    pub fn put_derived(&mut self, key: &str, json: &[u8], only_while: &Unchanged) -> Result<bool> {
        if self.store.derived_record(&self.txn, &only_while.key)? != only_while.record.as_deref() {
            return Ok(false);
        }
        self.put_meta(key, json)?;
        Ok(true)
    }

    /// Says that rows of earlier Segments have come to a space: a graph does not hold them.
    pub(crate) fn mark_filled(&mut self, space: &SpaceSpec) -> Result<()> {
        let key = filled_key(space);
        let before = self.store.derived_record(&self.txn, &key)?.and_then(|record| record.try_into().ok());
        let times = before.map_or(0, u64::from_le_bytes) + 1;
        self.put_meta(&key, &times.to_le_bytes())?;
        self.forget_graph(space)
    }

    pub(crate) fn forget_graph(&mut self, space: &SpaceSpec) -> Result<()> {
        self.store.databases.meta.delete(&mut self.txn, &graph_key(space))?;
        Ok(())
    }

    /// Puts a block's bits; false when the block is no longer there.
    pub fn put_bits(&mut self, key: BlockKey, value: &[u8]) -> Result<bool> {
        let databases = &self.store.databases;
        if databases.blocks.get(&self.txn, &key.bytes())?.is_none() {
            return Ok(false);
        }
        databases.bits.put(&mut self.txn, &key.bytes(), value)?;
        Ok(true)
    }

    pub fn txn(&self) -> &RwTxn<'t> {
        &self.txn
    }

    /// The family of a space, numbered at its first append. Vectors of two models are never mixed.
    pub(crate) fn family_for_append(&mut self, space: &SpaceSpec) -> Result<Family> {
        if let Some(family) = self.store.space_family(&self.txn, space)? {
            if let Some(first) = self.store.blocks_of(&self.txn, family)?.next() {
                let header = Header::read(first?.1, family.kind())?;
                check_model(space, &header)?;
            }
            return Ok(family);
        }
        let taken = spaces::found(&self.store.databases, &self.txn)?;
        // Higher than any other: of two spaces of one role, the older one has the lower number.
        let number = taken.last().map_or(0, |space| space.number.saturating_add(1));
        let free = || (0..SPACES_MAX).find(|number| taken.iter().all(|space| space.number != *number));
        let number = Some(number).filter(|number| *number < SPACES_MAX).or_else(free);
        let number = number.ok_or_else(|| ShardError::new("tenant_full", "The index has too many spaces."))?;
        let key = format!("space/{}", space.name);
        self.put_meta(&key, &[number])?;
        Ok(Family::of_space(number))
    }

    pub(crate) fn put_meta(&mut self, key: &str, record: &[u8]) -> Result<()> {
        Ok(self.store.databases.meta.put(&mut self.txn, key, &sealed(key.as_bytes(), record))?)
    }

    /// Removes an Item's Segments from every family.
    fn remove_segments(&mut self, id: &str) -> Result<()> {
        let Some(entry) = self.entry(id)?.filter(|entry| entry.count > 0) else { return Ok(()) };
        self.flush()?;
        let end = u64::from(entry.first) + u64::from(entry.count);
        let last = (end - 1) as u32;
        self.store.databases.segments.delete_range(&mut self.txn, &(entry.first..=last))?;
        let touched = self.touched(entry.first, last)?;
        for (key, dead) in touched {
            match dead {
                Some(dead) => {
                    let dead = sealed(&key.bytes(), &dead);
                    self.store.databases.dead.put(&mut self.txn, &key.bytes(), &dead)?;
                }
                None => self.delete_block(key)?,
            }
        }
        let without = ItemEntry { count: 0, ..entry };
        self.uncount(&entry);
        self.count(&without);
        self.store.databases.entries.put(&mut self.txn, id, &sealed(id.as_bytes(), &without.to_bytes()))?;
        Ok(())
    }

    /// The blocks that hold Segments of a range, each with its new dead rows; `None` where no row would be left.
    fn touched(&self, first: u32, last: u32) -> Result<Vec<(BlockKey, Option<Vec<u8>>)>> {
        let mut touched = vec![];
        for entry in self.store.databases.blocks.iter(&self.txn)? {
            let (key, value) = entry?;
            let key = BlockKey::read(key)?;
            // A damaged block stays as it is: whatever searches it is told, and its Items can still be removed.
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

/// Says that a block was made by another model than the one that is installed.
pub fn check_model(space: &SpaceSpec, header: &Header) -> Result<()> {
    if header.model == space.model && header.width as usize == space.dimensions {
        return Ok(());
    }
    Err(ShardError::new(
        "shard_model_mismatch",
        format!(
            "The vectors of {} were made by another model file than the one that is installed. Ingest again.",
            space.name
        ),
    ))
}

/// Header and ascending segments of any block.
pub fn segments_of(family: Family, value: &[u8]) -> Result<(Header, U32Column<'_>)> {
    match family {
        Family::WORDS => PostingsView::read(value).map(|view| (view.header, view.segments)),
        Family::PICTURES => PicturesView::read(value).map(|view| (view.header, view.segments)),
        _ => CodesView::read(value).map(|view| (view.header, view.segments)),
    }
}

fn digest_key(entry: &ItemEntry) -> Vec<u8> {
    let mut key = entry.sha256.to_vec();
    key.extend(entry.sequence.to_be_bytes());
    key
}
