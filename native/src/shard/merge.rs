//! Small blocks become large ones, geometrically: a row is copied once for each tier it climbs, and a search looks at
//! few blocks. A merge is a commit of its own between appends; readers keep what they see.

use std::collections::BTreeMap;

use super::block::Dead;
use super::error::Result;
use super::pictures;
use super::store::{BlockKey, Family, Store};
use super::vectors::{self, EncodedVectors};
use super::write::{PICTURE_ROWS_MAX, VECTOR_ROWS_MAX, WORDS_ROWS_MAX, Writing, segments_of};
use crate::words::postings;

/// Blocks of one tier that become one block of the next; also the ratio of the tiers' sizes.
const FAN: usize = 8;
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
    let mut tiers: BTreeMap<(Family, u32), Vec<(BlockKey, usize)>> = BTreeMap::new();
    for entry in store.databases.blocks.iter(&txn)? {
        let (key, value) = entry?;
        let key = BlockKey::read(key)?;
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

/// Merges and commits. A source that turns out damaged ends the merge with its error; nothing is lost.
pub fn run(store: &Store, plan: &MergePlan) -> Result<()> {
    let mut writing = Writing::begin(store)?;
    let Some(family) = plan.keys.first().map(|key| key.family) else { return Ok(()) };
    match family {
        Family::WORDS | Family::PICTURES => {
            let merged = {
                let mut sources: Vec<(&[u8], Dead<'_>)> = vec![];
                for key in &plan.keys {
                    let value = store.databases.blocks.get(writing.txn(), &key.bytes())?.unwrap_or_default();
                    sources.push((value, store.dead(writing.txn(), *key)?));
                }
                if family == Family::WORDS { postings::merge(&sources)? } else { pictures::merge(&sources)? }
            };
            if let Some(value) = merged {
                writing.put_block(family, &value, None)?;
            }
        }
        _ => {
            if let Some(EncodedVectors { codes, rows }) = merged_vectors(store, &writing, plan)? {
                writing.put_block(family, &codes, Some(&rows))?;
            }
        }
    }
    for key in &plan.keys {
        writing.delete_block(*key)?;
    }
    writing.commit()?;
    store.forget(&plan.keys);
    Ok(())
}

fn merged_vectors(store: &Store, writing: &Writing<'_, '_>, plan: &MergePlan) -> Result<Option<EncodedVectors>> {
    let mut sources = vec![];
    for key in &plan.keys {
        let codes = store.databases.blocks.get(writing.txn(), &key.bytes())?.unwrap_or_default();
        let rows = store.databases.rows.get(writing.txn(), &key.bytes())?.unwrap_or_default();
        sources.push(vectors::Source { codes, rows, dead: store.dead(writing.txn(), *key)? });
    }
    vectors::merge(&sources)
}
