//! One write transaction: records, blocks and spaces. What Items need of it is in `items.rs`, what a change of model
//! needs in `spaces.rs`.

use heed::RwTxn;

use super::segments::{PICTURE_ROWS_MAX, VECTOR_ROWS_MAX, WORDS_ROWS_MAX};
use crate::blocks::block::Header;
use crate::blocks::pictures::{self, PictureRow};
use crate::blocks::vectors::{self, VectorRows};
use crate::error::{Result, ShardError};
use crate::filter::known_items::WrittenItem;
use crate::store::keys;
use crate::store::open_store::Store;
use crate::store::records::{BlockKey, Family, Totals, sealed};
use crate::store::spaces::{self, SpaceSpec, check_model};
use crate::words::build::{self, AnalysedText};

/// Spaces of one index at a time.
const SPACES_MAX: u8 = 200;

/// An open write transaction, with the rows that are not in blocks yet.
pub struct Transaction<'s, 't> {
    pub(super) store: &'s Store,
    pub(super) txn: RwTxn<'t>,
    pub(super) totals: Totals,
    words: Vec<(u32, AnalysedText)>,
    pictures: Vec<PictureRow>,
    vectors: Vec<VectorRows>,
    deleted: Vec<BlockKey>,
    /// The Items that were written, for filters, and how many were removed.
    pub(super) written: Vec<WrittenItem>,
    pub(super) removed: usize,
}

impl<'s: 't, 't> Transaction<'s, 't> {
    pub fn begin(store: &'s Store) -> Result<Self> {
        let txn = store.env.write_txn()?;
        let totals = store.totals(&txn)?;
        let vectors = store.spaces.iter().map(|_| VectorRows::default()).collect();
        Ok(Self {
            store,
            txn,
            totals,
            words: vec![],
            pictures: vec![],
            vectors,
            deleted: vec![],
            written: vec![],
            removed: 0,
        })
    }

    /// Writes the blocks and commits. The transaction is on the disk when this returns.
    pub fn commit(mut self) -> Result<()> {
        self.flush()?;
        let json = serde_json::to_vec(&self.totals).map_err(|error| ShardError::internal(error.to_string()))?;
        self.put_meta(keys::TOTALS, &json)?;
        let Self { store, txn, written, removed, deleted, .. } = self;
        store.known_items.during_commit(written, removed, || Ok(txn.commit()?))?;
        store.forget(&deleted);
        Ok(())
    }

    pub(super) fn put_words(&mut self, segment: u32, words: AnalysedText) {
        self.words.push((segment, words));
    }

    pub(super) fn put_picture(&mut self, row: PictureRow) {
        self.pictures.push(row);
    }

    pub(super) fn put_row(&mut self, space: usize, segment: u32, row: &[f32]) -> Result<()> {
        let rows = &mut self.vectors[space];
        rows.segments.push(segment);
        rows.values.extend_from_slice(row);
        if rows.segments.len() >= VECTOR_ROWS_MAX { self.flush() } else { Ok(()) }
    }

    /// Flushes once there is a whole block of words or of pictures.
    pub(super) fn flush_if_full(&mut self) -> Result<()> {
        let full = self.words.len() >= WORDS_ROWS_MAX || self.pictures.len() >= PICTURE_ROWS_MAX;
        if full { self.flush() } else { Ok(()) }
    }

    /// Writes blocks of the rows that have gathered.
    pub(super) fn flush(&mut self) -> Result<()> {
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

    /// Puts a block's bits. False if the block no longer exists.
    pub fn put_bits(&mut self, key: BlockKey, value: &[u8]) -> Result<bool> {
        let databases = &self.store.databases;
        if databases.blocks.get(&self.txn, &key.bytes())?.is_none() {
            return Ok(false);
        }
        databases.bits.put(&mut self.txn, &key.bytes(), value)?;
        Ok(true)
    }

    /// Puts the record of a space's graph, or removes it. False, and nothing is changed, if another model has filled
    /// the space since.
    pub fn put_graph(&mut self, space: &SpaceSpec, record: Option<&[u8]>) -> Result<bool> {
        let key = keys::graph(&space.name);
        let Some(record) = record else { return Ok(self.store.databases.meta.delete(&mut self.txn, &key)?) };
        let Some(family) = self.store.space_family(&self.txn, space)? else { return Ok(false) };
        if let Some(first) = self.store.blocks_of(&self.txn, family)?.next()
            && check_model(space, &Header::read(first?.1, family.kind())?).is_err()
        {
            return Ok(false);
        }
        self.put_meta(&key, record).map(|()| true)
    }

    /// The family of a space, numbered at its first append. Vectors of two models are never mixed.
    pub(super) fn family_for_append(&mut self, space: &SpaceSpec) -> Result<Family> {
        if let Some(family) = self.store.space_family(&self.txn, space)? {
            if let Some(first) = self.store.blocks_of(&self.txn, family)?.next() {
                let header = Header::read(first?.1, family.kind())?;
                check_model(space, &header)?;
            }
            return Ok(family);
        }
        let taken = spaces::stored(&self.store.databases, &self.txn)?;
        let number = taken.last().map_or(0, |space| space.number.saturating_add(1));
        let free = || (0..SPACES_MAX).find(|number| taken.iter().all(|space| space.number != *number));
        let number = Some(number).filter(|number| *number < SPACES_MAX).or_else(free);
        let number = number.ok_or_else(|| ShardError::new("tenant_full", "The index has too many spaces."))?;
        self.put_meta(&keys::number(&space.name), &[number])?;
        Ok(Family::of_space(number))
    }

    pub(super) fn put_meta(&mut self, key: &str, record: &[u8]) -> Result<()> {
        Ok(self.store.databases.meta.put(&mut self.txn, key, &sealed(key.as_bytes(), record))?)
    }
}
