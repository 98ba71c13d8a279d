//! Another model for a space: all its vectors are replaced in one commit.

use std::collections::HashMap;

use super::segments::VECTOR_ROWS_MAX;
use super::transaction::Transaction;
use crate::blocks::vectors::{self, CodesView, VectorRows};
use crate::error::{Result, ShardError};
use crate::store::records::BlockKey;
use crate::store::spaces::SpaceSpec;

impl<'s: 't, 't> Transaction<'s, 't> {
    /// Puts vectors of another model in the place of those that a space has. Rows of Segments that are gone are left out. False, and
    /// nothing is changed, if the space has a Segment without a row.
    pub fn change_model(&mut self, space: &SpaceSpec, rows: &VectorRows) -> Result<bool> {
        if rows.values.len() != rows.segments.len() * space.dimensions {
            return Err(ShardError::internal(format!("Not every row of {} has its dimensions.", space.name)));
        }
        vectors::check_finite(&rows.values)?;
        self.flush()?;
        let Some(family) = self.store.space_family(&self.txn, space)? else { return Ok(false) };
        let mut keys: Vec<BlockKey> = vec![];
        let mut living: Vec<u32> = vec![];
        for block in self.store.blocks_of(&self.txn, family)? {
            let (key, value) = block?;
            let segments = CodesView::read(value)?.segments;
            let dead = self.store.dead(&self.txn, key)?;
            living.extend((0..segments.len()).filter(|row| !dead.has(*row)).map(|row| segments.get(row)));
            keys.push(key);
        }
        living.sort_unstable();
        let row_of: HashMap<u32, usize> =
            rows.segments.iter().enumerate().map(|(at, segment)| (*segment, at)).collect();
        let Some(kept) = living.iter().map(|segment| row_of.get(segment)).collect::<Option<Vec<_>>>() else {
            return Ok(false);
        };
        for key in keys {
            self.delete_block(key)?;
        }
        self.put_graph(space, None)?;
        for (segments, kept) in living.chunks(VECTOR_ROWS_MAX).zip(kept.chunks(VECTOR_ROWS_MAX)) {
            let row = |at: &&usize| &rows.values[**at * space.dimensions..][..space.dimensions];
            let values = kept.iter().flat_map(row).copied().collect();
            let block =
                vectors::encode(&VectorRows { segments: segments.to_vec(), values }, space.dimensions, space.model);
            self.put_block(family, &block.codes, Some(&block.rows))?;
        }
        Ok(true)
    }
}
