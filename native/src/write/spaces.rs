//! Writes for a change of model: rows for the new space, and the switch to it.

use super::transaction::Transaction;
use crate::blocks::block;
use crate::blocks::vectors::check_finite;
use crate::error::{Result, ShardError};
use crate::scan::lacking::{has_row, living, without};
use crate::store::keys;
use crate::store::spaces::{SpaceSpec, role, serving};

/// Rows of a space for Segments that exist.
pub struct SpaceRows {
    /// Index of the space among the Shard's.
    pub space: usize,
    pub segments: Vec<u32>,
    /// Row by row.
    pub values: Vec<f32>,
}

impl SpaceRows {
    /// Refuses what must not get into the index.
    pub fn check(&self, spaces: &[SpaceSpec]) -> Result<()> {
        let width = spaces.get(self.space).map_or(0, |space| space.dimensions);
        if width == 0 || self.values.len() != self.segments.len() * width {
            return Err(ShardError::internal("Rows do not have the dimensions of their space."));
        }
        check_finite(&self.values)
    }
}

impl<'s: 't, 't> Transaction<'s, 't> {
    /// Adds rows to a space. Segments that were removed, or have a row there, are left out.
    pub fn put_rows(&mut self, SpaceRows { space, segments, values }: &SpaceRows) -> Result<()> {
        self.flush()?;
        let store = self.store;
        let spec = &store.spaces[*space];
        let mut rows: Vec<(u32, &[f32])> = segments.iter().copied().zip(values.chunks_exact(spec.dimensions)).collect();
        rows.sort_unstable_by_key(|(segment, _)| *segment);
        rows.dedup_by_key(|(segment, _)| *segment);
        for (segment, row) in rows {
            let known = store.databases.segments.get(&self.txn, &segment)?.is_some();
            if known && !has_row(store, &self.txn, spec, segment)? {
                self.put_row(*space, segment, row)?;
            }
        }
        self.mark_filled(spec)?;
        self.flush()
    }

    /// Lets a space serve in place of another, which is removed. Returns false and changes nothing while the new space
    /// lacks a row for a living Segment of the old one that was not given up.
    pub fn switch_space(&mut self, from: usize, to: usize, given_up: &[u32]) -> Result<bool> {
        self.flush()?;
        let store = self.store;
        let (from, to) = (&store.spaces[from], &store.spaces[to]);
        if role(&from.name) != role(&to.name) || from.name == to.name {
            return Err(ShardError::internal(format!("{} cannot take the place of {}.", to.name, from.name)));
        }
        // The store must not remember blocks of this transaction: if it fails, their numbers are used again.
        let living = |space| living(store, &self.txn, space, |_, _, value| block::verify(value));
        if !without(living(from)?, living(to)?, given_up, 1).is_empty() {
            return Ok(false);
        }
        self.family_for_append(to)?;
        self.put_meta(&keys::serving(role(&to.name)), to.name.as_bytes())?;
        self.drop_space(from)?;
        Ok(true)
    }

    /// Removes a space that does not serve. False if it does.
    pub fn remove_space(&mut self, space: usize) -> Result<bool> {
        self.flush()?;
        let store = self.store;
        let spec = &store.spaces[space];
        if serving(&store.databases, &self.txn, role(&spec.name))?.as_ref() == Some(&spec.name) {
            return Ok(false);
        }
        self.drop_space(spec)?;
        Ok(true)
    }

    fn drop_space(&mut self, space: &SpaceSpec) -> Result<()> {
        let Some(family) = self.store.space_family(&self.txn, space)? else { return Ok(()) };
        let blocks = self.store.blocks_of(&self.txn, family)?;
        let keys = blocks.map(|entry| entry.map(|(key, _)| key)).collect::<Result<Vec<_>>>()?;
        for key in &keys {
            self.delete_block(*key)?;
        }
        self.store.databases.meta.delete(&mut self.txn, &keys::number(&space.name))?;
        self.forget_neighbours(space)
    }

    /// Counts that rows of earlier Segments were added to a space, and forgets its neighbour index, which does not hold
    /// them.
    fn mark_filled(&mut self, space: &SpaceSpec) -> Result<()> {
        let key = keys::filled(&space.name);
        let before = self.store.meta_record(&self.txn, &key)?.and_then(|record| record.try_into().ok());
        let times = before.map_or(0, u64::from_le_bytes) + 1;
        self.put_meta(&key, &times.to_le_bytes())?;
        self.forget_neighbours(space)
    }

    fn forget_neighbours(&mut self, space: &SpaceSpec) -> Result<()> {
        self.store.databases.meta.delete(&mut self.txn, &keys::neighbours(&space.name))?;
        Ok(())
    }
}
