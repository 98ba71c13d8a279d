//! Bits of the large blocks of vectors.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::blocks::vectors::{CodesView, RowsView};
use crate::blocks::{bits, block};
use crate::error::Result;
use crate::store::open_store::Store;
use crate::store::records::{BlockKey, Family};
use crate::write::write_op::WriteOp;
use crate::write::write_queue::WriteQueue;

/// Smaller blocks get no bits: they are soon merged, and have few codes.
const ROWS_MIN: usize = 512;

/// Gives bits to the blocks that lack them, until the index is closed.
pub fn derive(queue: &Arc<WriteQueue>) -> Result<()> {
    while !queue.is_closing() {
        let Some(key) = without_bits(queue.store())? else { break };
        let Some(bits) = bits_of(queue.store(), key)? else { continue };
        queue.write_unless_closing(WriteOp::PutBits { key, bits })?;
    }
    Ok(())
}

/// A large block without bits, in a space that is large enough for them.
fn without_bits(store: &Store) -> Result<Option<BlockKey>> {
    let txn = store.env.read_txn()?;
    let mut families: BTreeMap<Family, (usize, Vec<BlockKey>)> = BTreeMap::new();
    for entry in store.databases.blocks.iter(&txn)? {
        let (key, value) = entry?;
        let key = BlockKey::read(key)?;
        // A damaged block is left alone.
        let (true, Ok(codes)) = (key.family.is_space(), CodesView::read(value)) else { continue };
        let rows = codes.header.rows as usize;
        let (total, large) = families.entry(key.family).or_default();
        *total += rows;
        if rows >= ROWS_MIN && bits::fits(codes.header.width as usize) {
            large.push(key);
        }
    }
    for (total, large) in families.into_values() {
        if total < store.methods.bits_rows_min {
            continue;
        }
        for key in large {
            if store.databases.bits.get(&txn, &key.bytes())?.is_none() {
                return Ok(Some(key));
            }
        }
    }
    Ok(None)
}

/// The bits of a block. None if the block no longer exists.
fn bits_of(store: &Store, key: BlockKey) -> Result<Option<Vec<u8>>> {
    let txn = store.env.read_txn()?;
    let Some(value) = store.databases.rows.get(&txn, &key.bytes())? else { return Ok(None) };
    let rows = RowsView::read(value)?;
    block::verify(value)?;
    (0..rows.header.rows as usize).try_for_each(|row| rows.verify_row(row))?;
    Ok(Some(bits::encode(&rows)))
}
