//! Merging small blocks into large ones, in geometric tiers: a row is copied once for each tier, and a search reads few
//! blocks. The new block is made from a snapshot, beside the appends, and replaces the old ones in the next commit.
//! Readers keep what they see.

use std::collections::{BTreeMap, HashSet};

use super::segments::{PICTURE_ROWS_MAX, VECTOR_ROWS_MAX, WORDS_ROWS_MAX, segments_of};
use super::transaction::Transaction;
use crate::blocks::dead::Dead;
use crate::blocks::pictures;
use crate::blocks::vectors::{self, EncodedVectors};
use crate::error::Result;
use crate::store::open_store::Store;
use crate::store::records::{BlockKey, Family};
use crate::words::merge as words_merge;

/// Blocks of one tier that become one of the next. It is also the ratio of the tiers' sizes.
pub const FAN_IN: usize = 8;
/// Most blocks of one merge.
const SOURCES_MAX: usize = 64;

fn rows_max(family: Family) -> usize {
    match family {
        Family::WORDS => WORDS_ROWS_MAX,
        Family::PICTURES => PICTURE_ROWS_MAX,
        _ => VECTOR_ROWS_MAX,
    }
}

/// The blocks of the next merge worth doing, if any.
pub fn plan(store: &Store) -> Result<Option<Vec<BlockKey>>> {
    let txn = store.env.read_txn()?;
    let mut existing = HashSet::new();
    let mut tiers: BTreeMap<(Family, u32), Vec<(BlockKey, usize)>> = BTreeMap::new();
    for entry in store.databases.blocks.iter(&txn)? {
        let (key, value) = entry?;
        let key = BlockKey::read(key)?;
        existing.insert(key);
        // A damaged block is left alone.
        let Ok((header, _)) = segments_of(key.family, value) else { continue };
        let rows = header.rows as usize;
        let living = rows - store.dead(&txn, key)?.count().min(rows);
        if living * 2 < rows && store.checked(key, &header, value).is_ok() {
            return Ok(Some(vec![key]));
        }
        if rows < rows_max(key.family) {
            tiers.entry((key.family, tier(rows))).or_default().push((key, rows));
        }
    }
    store.forget_but(&existing);
    for ((family, _), blocks) in tiers {
        if blocks.len() >= FAN_IN {
            let mut total = 0;
            let taken = blocks.iter().take(SOURCES_MAX).take_while(|(_, rows)| {
                let room = total < rows_max(family);
                total += rows;
                room
            });
            return Ok(Some(taken.map(|(key, _)| *key).collect()));
        }
    }
    Ok(None)
}

fn tier(rows: usize) -> u32 {
    rows.max(1).ilog(FAN_IN)
}

/// A block that is to replace others. It was made from a snapshot of them.
pub struct Merged {
    family: Family,
    keys: Vec<BlockKey>,
    /// The dead rows of each of them in that snapshot.
    dead: Vec<Vec<u8>>,
    /// The new block; with the f32 rows for vectors. `None` if no row lives.
    block: Option<(Vec<u8>, Option<Vec<u8>>)>,
}

/// Merges blocks of one family. A damaged source ends the merge with an error; nothing is lost.
pub fn run(store: &Store, keys: Vec<BlockKey>) -> Result<Merged> {
    let txn = store.env.read_txn()?;
    let family = keys.first().map_or(Family::WORDS, |key| key.family);
    let mut sources: Vec<(&[u8], Dead<'_>)> = vec![];
    for key in &keys {
        let value = store.databases.blocks.get(&txn, &key.bytes())?.unwrap_or_default();
        sources.push((value, store.dead(&txn, *key)?));
    }
    let block = match family {
        Family::WORDS => words_merge::merge(&sources)?.map(|value| (value, None)),
        Family::PICTURES => pictures::merge(&sources)?.map(|value| (value, None)),
        _ => {
            let mut vectors = vec![];
            for (key, (codes, dead)) in keys.iter().zip(&sources) {
                let rows = store.databases.rows.get(&txn, &key.bytes())?.unwrap_or_default();
                vectors.push(vectors::Source { codes, rows, dead: *dead });
            }
            vectors::merge(&vectors)?.map(|EncodedVectors { codes, rows }| (codes, Some(rows)))
        }
    };
    let dead = sources.iter().map(|(_, dead)| dead.0.to_vec()).collect();
    Ok(Merged { family, keys, dead, block })
}

impl Merged {
    /// Replaces the old blocks. Changes nothing if a row of theirs has died since the snapshot: they are merged again
    /// later.
    pub fn apply<'s: 't, 't>(&self, transaction: &mut Transaction<'s, 't>) -> Result<()> {
        let store = transaction.store;
        for (key, dead) in self.keys.iter().zip(&self.dead) {
            let exists = store.databases.blocks.get(&transaction.txn, &key.bytes())?.is_some();
            if !exists || store.dead(&transaction.txn, *key)?.0 != dead {
                return Ok(());
            }
        }
        if let Some((value, rows)) = &self.block {
            transaction.put_block(self.family, value, rows.as_deref())?;
        }
        for key in &self.keys {
            transaction.delete_block(*key)?;
        }
        Ok(())
    }
}
