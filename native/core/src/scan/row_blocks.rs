//! The blocks of a space with their f32 rows, for reads of given segments.

use std::sync::Arc;

use heed::RoTxn;

use super::vector_search::rows_of;
use crate::blocks::dead::Dead;
use crate::blocks::vectors::{CodesView, RowsView};
use crate::error::Result;
use crate::store::checked::Checked;
use crate::store::open_store::Store;
use crate::store::spaces::{SpaceSpec, check_model};

pub struct RowBlock<'t> {
    pub codes: CodesView<'t>,
    pub dead: Dead<'t>,
    rows: RowsView<'t>,
    checked: Arc<Checked>,
}

impl<'t> RowBlock<'t> {
    /// The blocks of a space in the order they were made. None if nothing was stored there.
    pub fn of_space(store: &Store, txn: &'t RoTxn<'_>, space: &SpaceSpec) -> Result<Vec<Self>> {
        let Some(family) = store.space_family(txn, space)? else { return Ok(vec![]) };
        let mut blocks = vec![];
        for entry in store.blocks_of(txn, family)? {
            let (key, value) = entry?;
            let codes = CodesView::read(value)?;
            check_model(space, &codes.header)?;
            let checked = store.checked(key, &codes.header, value)?;
            let rows = rows_of(store, txn, key, &codes, &checked)?;
            blocks.push(Self { codes, rows, dead: store.dead(txn, key)?, checked });
        }
        Ok(blocks)
    }

    /// A row's little-endian bytes, compared with their checksum the first time.
    pub fn row(&self, row: usize) -> Result<&'t [u8]> {
        self.checked.row(row, || self.rows.verify_row(row))?;
        Ok(self.rows.row(row))
    }

    /// Which of some ascending segments have a row here: the index of each among them, and its row.
    pub fn rows_among(&self, segments: &[u32]) -> impl Iterator<Item = (usize, usize)> {
        let within = self.codes.segments.within(segments);
        within.filter_map(|at| Some((at, self.codes.segments.position(segments[at])?)))
    }
}

/// The row of each of some segments, which ascend and live: little-endian f32. None for one that has no row in the space.
pub fn stored_rows<'t>(
    store: &Store,
    txn: &'t RoTxn<'_>,
    space: &SpaceSpec,
    segments: &[u32],
) -> Result<Vec<Option<&'t [u8]>>> {
    let mut rows = vec![None; segments.len()];
    for block in RowBlock::of_space(store, txn, space)? {
        for (at, row) in block.rows_among(segments) {
            rows[at] = Some(block.row(row)?);
        }
    }
    Ok(rows)
}
