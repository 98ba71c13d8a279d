//! Segments that have a row in one space and none in another.

use heed::RoTxn;

use crate::blocks::block::Header;
use crate::blocks::vectors::CodesView;
use crate::error::Result;
use crate::store::open_store::Store;
use crate::store::records::BlockKey;
use crate::store::spaces::SpaceSpec;

/// Most Segments that one call of [`lacking`] returns.
pub const LACKING_MAX: usize = 65_536;

/// Living Segments of one space that another lacks, except those given up: ascending, at most [`LACKING_MAX`]. Blocks
/// that are read for the first time must match their checksums.
pub fn lacking(
    store: &Store,
    txn: &RoTxn<'_>,
    (from, to): (&SpaceSpec, &SpaceSpec),
    given_up: &[u32],
    limit: usize,
) -> Result<Vec<u32>> {
    let living = |space| living(store, txn, space, |key, header, value| store.checked(key, header, value).map(drop));
    Ok(without(living(from)?, living(to)?, given_up, limit.min(LACKING_MAX)))
}

/// The lowest `limit` of the numbers that are in neither of the other two lists, ascending.
pub fn without(numbers: Vec<u32>, mut others: Vec<u32>, given_up: &[u32], limit: usize) -> Vec<u32> {
    others.extend_from_slice(given_up);
    others.sort_unstable();
    let mut left: Vec<u32> = numbers.into_iter().filter(|number| others.binary_search(number).is_err()).collect();
    left.sort_unstable();
    left.truncate(limit);
    left
}

/// Living Segments of a space, block by block. `verify` sees each block before it is used.
pub fn living(
    store: &Store,
    txn: &RoTxn<'_>,
    space: &SpaceSpec,
    verify: impl Fn(BlockKey, &Header, &[u8]) -> Result<()>,
) -> Result<Vec<u32>> {
    let Some(family) = store.space_family(txn, space)? else { return Ok(vec![]) };
    let mut all = vec![];
    for entry in store.blocks_of(txn, family)? {
        let (key, value) = entry?;
        let CodesView { header, segments, .. } = CodesView::read(value)?;
        verify(key, &header, value)?;
        let dead = store.dead(txn, key)?;
        all.extend(segments.iter().enumerate().filter(|(row, _)| !dead.has(*row)).map(|(_, segment)| segment));
    }
    Ok(all)
}

/// Whether a Segment has a row in a space, living or dead.
pub fn has_row(store: &Store, txn: &RoTxn<'_>, space: &SpaceSpec, segment: u32) -> Result<bool> {
    let Some(family) = store.space_family(txn, space)? else { return Ok(false) };
    for entry in store.blocks_of(txn, family)? {
        let CodesView { header, segments, .. } = CodesView::read(entry?.1)?;
        if header.first <= segment && segment <= header.last && segments.position(segment).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
