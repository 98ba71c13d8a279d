//! What is derived from an index in the background: bits of its large blocks, and graphs. Writers and readers never wait for it: it is
//! computed on a thread of its own, from a snapshot, and then put into the index with the writes that wait.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::blocks::bits;
use crate::blocks::block;
use crate::blocks::vectors::{CodesView, RowsView};
use crate::error::{Result, ShardError, guarded};
use crate::graph::build;
use crate::store::open_store::Store;
use crate::store::records::{BlockKey, Family};
use crate::threads::thread_pool::Line;
use crate::threads::write_pool::lower_priority;
use crate::write::transaction::Unchanged;
use crate::write::write_op::Write;
use crate::write::write_queue::WriteQueue;

/// Smaller blocks are soon merged, and their codes are few.
const ROWS_MIN: usize = 512;

/// Whether an index is so large that something may be to be derived.
pub fn is_due(store: &Store) -> bool {
    let totals = store.env.read_txn().map_err(ShardError::from).and_then(|txn| store.totals(&txn));
    let least = store.methods.bits_rows_min.min(store.methods.graph_rows_min) as u64;
    totals.is_ok_and(|totals| totals.segments >= least)
}

/// Derives what is missing, until the index is closed.
fn look(queue: &Arc<WriteQueue>) -> Result<()> {
    while !queue.is_closing() {
        let Some(key) = without_bits(queue.store())? else { break };
        let Some(bits) = bits_of(queue.store(), key)? else { continue };
        put(queue, Write::PutBits { key, bits })?;
    }
    if queue.is_closing() { Ok(()) } else { build::look(queue) }
}

/// Puts a record about something derived into the index, durably; false when what it was derived from has changed.
pub fn put_record(queue: &Arc<WriteQueue>, key: String, json: Vec<u8>, only_while: Unchanged) -> Result<bool> {
    put(queue, Write::PutDerived { key, json, only_while })
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
        if rows >= ROWS_MIN && bits::fit(codes.header.width as usize) {
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

/// The bits of a block; none when it is gone.
fn bits_of(store: &Store, key: BlockKey) -> Result<Option<Vec<u8>>> {
    let txn = store.env.read_txn()?;
    let Some(value) = store.databases.rows.get(&txn, &key.bytes())? else { return Ok(None) };
    let rows = RowsView::read(value)?;
    block::verify(value)?;
    (0..rows.header.rows as usize).try_for_each(|row| rows.verify_row(row))?;
    Ok(Some(bits::encode(&rows)))
}

fn put(queue: &Arc<WriteQueue>, write: Write) -> Result<bool> {
    let (send, receive) = std::sync::mpsc::channel();
    queue.submit(write, Box::new(move |result| drop(send.send(result))));
    match receive.recv() {
        Ok(Err(_)) if queue.is_closing() => Ok(false),
        Ok(outcome) => outcome,
        Err(_) => Err(ShardError::internal("What was derived was given up.")),
    }
}

/// Puts an index in line; one thread serves all of them.
pub fn push(queue: Arc<WriteQueue>) {
    line().push(queue);
}

/// Takes an index out of the line; false when it was not, or no longer, waiting there.
pub fn withdraw(queue: &WriteQueue) -> bool {
    line().withdraw(|other| std::ptr::eq(Arc::as_ptr(other), queue))
}

fn line() -> &'static Line<Arc<WriteQueue>> {
    static LINE: OnceLock<&'static Line<Arc<WriteQueue>>> = OnceLock::new();
    LINE.get_or_init(|| Line::open("derive", 1, lower_priority, serve))
}

fn serve(queue: Arc<WriteQueue>) {
    let outcome = guarded(|| look(&queue));
    if queue.derived(outcome) {
        push(queue);
    }
}
