//! Small blocks become large ones, geometrically: a row is copied once for each tier it climbs, and a search looks at
//! few blocks. The new block is made from a snapshot, beside the appends, and takes the place of the old ones in the next
//! commit; readers keep what they see.

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

/// Blocks of one tier that become one block of the next; also the ratio of the tiers' sizes.
pub const FAN: usize = 8;
/// Most blocks of one merge.
const SOURCES_MAX: usize = 64;

/// Blocks that are to become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergePlan {
    pub keys: Vec<BlockKey>,
}

fn rows_max(family: Family) -> usize {
    match family {
        Family::WORDS => WORDS_ROWS_MAX,
        Family::PICTURES => PICTURE_ROWS_MAX,
        _ => VECTOR_ROWS_MAX,
    }
}

/// The next merge worth doing, if any.
pub fn plan(store: &Store) -> Result<Option<MergePlan>> {
    let txn = store.env.read_txn()?;
    let mut there = HashSet::new();
    let mut tiers: BTreeMap<(Family, u32), Vec<(BlockKey, usize)>> = BTreeMap::new();
    for entry in store.databases.blocks.iter(&txn)? {
        let (key, value) = entry?;
        let key = BlockKey::read(key)?;
        there.insert(key);
        // A damaged block is left alone.
        let Ok((header, _)) = segments_of(key.family, value) else { continue };
        let rows = header.rows as usize;
        let living = rows - store.dead(&txn, key)?.count().min(rows);
        if living * 2 < rows && store.checked(key, &header, value).is_ok() {
            return Ok(Some(MergePlan { keys: vec![key] }));
        }
        if rows < rows_max(key.family) {
            tiers.entry((key.family, tier(rows))).or_default().push((key, rows));
        }
    }
    store.forget_but(&there);
    for ((family, _), blocks) in tiers {
        if blocks.len() >= FAN {
            let mut total = 0;
            let taken = blocks.iter().take(SOURCES_MAX).take_while(|(_, rows)| {
                let room = total < rows_max(family);
                total += rows;
                room
            });
            return Ok(Some(MergePlan { keys: taken.map(|(key, _)| *key).collect() }));
        }
    }
    Ok(None)
}

fn tier(rows: usize) -> u32 {
    rows.max(1).ilog(FAN)
}

/// A block that is to take the place of others, made from a snapshot of them.
pub struct Merged {
    family: Family,
    keys: Vec<BlockKey>,
    /// What was dead in each of them.
    dead: Vec<Vec<u8>>,
    /// `None` when none of their rows lives. Vectors: with the f32 rows.
    block: Option<(Vec<u8>, Option<Vec<u8>>)>,
}

/// Makes the block of a plan. A source that turns out damaged ends the merge with its error; nothing is lost.
pub fn run(store: &Store, plan: &MergePlan) -> Result<Merged> {
    let txn = store.env.read_txn()?;
    let family = plan.keys.first().map_or(Family::WORDS, |key| key.family);
    let mut sources: Vec<(&[u8], Dead<'_>)> = vec![];
    for key in &plan.keys {
        let value = store.databases.blocks.get(&txn, &key.bytes())?.unwrap_or_default();
        sources.push((value, store.dead(&txn, *key)?));
    }
    let block = match family {
        Family::WORDS => words_merge::merge(&sources)?.map(|value| (value, None)),
        Family::PICTURES => pictures::merge(&sources)?.map(|value| (value, None)),
        _ => {
            let mut vectors = vec![];
            for (key, (codes, dead)) in plan.keys.iter().zip(&sources) {
                let rows = store.databases.rows.get(&txn, &key.bytes())?.unwrap_or_default();
                vectors.push(vectors::Source { codes, rows, dead: *dead });
            }
            vectors::merge(&vectors)?.map(|EncodedVectors { codes, rows }| (codes, Some(rows)))
        }
    };
    let dead = sources.iter().map(|(_, dead)| dead.0.to_vec()).collect();
    Ok(Merged { family, keys: plan.keys.clone(), dead, block })
}

impl Merged {
    /// Puts the block in its place; leaves all as it is when a row of the sources has died meanwhile: it is made again then.
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
