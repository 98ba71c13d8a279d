//! Spaces of an index whose model is changed.
//!
//! A space belongs to one model for ever: vectors of two models are never in one. After a change of model the vectors of the
//! new one gather in a space beside the old, which serves until every living row of it is there too. A space's name is its
//! role, and, where the role had another model before, `@` and the beginning of the model's SHA-256. The space that serves a
//! role is the one with blocks that "serves/ROLE" names, otherwise the one with blocks and the lowest number.

use heed::RoTxn;

use crate::blocks::block::{self, Header};
use crate::blocks::vectors::check_finite;
use crate::error::{Result, ShardError};
use crate::store::databases::Databases;
use crate::store::open_store::{SpaceSpec, Store};
use crate::store::records::{BlockKey, Family, unsealed};
use crate::write::transaction::{Writing, segments_of};

/// Segments that one call of [`lacking`] gives at most.
pub const LACKING_MAX: usize = 65_536;

/// A space as it stands in a file.
pub struct Found {
    pub name: String,
    pub number: u8,
    /// Of the first block that is not damaged.
    model: Option<([u8; 32], usize)>,
}

/// What a space is for: its name without the model.
pub fn role(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}

/// Every space of a file, by its number.
pub fn found(databases: &Databases, txn: &RoTxn<'_>) -> Result<Vec<Found>> {
    let mut all = vec![];
    for entry in databases.meta.prefix_iter(txn, "space/")? {
        let (key, value) = entry?;
        let [number] = unsealed(key.as_bytes(), value)? else {
            return Err(ShardError::corrupt("The number of a space is damaged."));
        };
        let family = Family::of_space(*number);
        let mut model = None;
        for block in databases.blocks.prefix_iter(txn, &[family.0])? {
            let (_, value) = block?;
            if let Ok(header) = Header::read(value, family.kind())
                && block::verify(value).is_ok()
            {
                model = Some((header.model, header.width as usize));
                break;
            }
        }
        all.push(Found { name: key["space/".len()..].to_owned(), number: *number, model });
    }
    all.sort_by_key(|space| space.number);
    Ok(all)
}

/// Names for the spaces that are asked for by their roles, and after them those of other models that the file holds.
pub fn resolve(databases: &Databases, txn: &RoTxn<'_>, asked: Vec<SpaceSpec>) -> Result<Vec<SpaceSpec>> {
    let found = found(databases, txn)?;
    let mut spaces: Vec<SpaceSpec> = asked
        .into_iter()
        .map(|spec| {
            let own: Vec<&Found> = found.iter().filter(|space| role(&space.name) == spec.name).collect();
            let same = own.iter().find(|space| space.model == Some((spec.model, spec.dimensions)));
            let name = match (same, own.first()) {
                (Some(space), _) => space.name.clone(),
                (None, None) => spec.name.clone(),
                // Nothing that can be read was made by another model: there is nothing to change from.
                (None, Some(first)) if own.iter().all(|space| space.model.is_none()) => first.name.clone(),
                _ => format!("{}@{}", spec.name, hex(&spec.model[..8])),
            };
            SpaceSpec { name, ..spec }
        })
        .collect();
    for Found { name, model, .. } in found {
        if let Some((model, dimensions)) = model
            && spaces.iter().all(|space| space.name != name)
        {
            spaces.push(SpaceSpec { name, dimensions, model });
        }
    }
    Ok(spaces)
}

/// Name of the space that serves a role; none when nothing of it was stored.
pub fn serving(databases: &Databases, txn: &RoTxn<'_>, role_asked: &str) -> Result<Option<String>> {
    let key = format!("serves/{role_asked}");
    let named = match databases.meta.get(txn, &key)? {
        Some(value) => Some(String::from_utf8_lossy(unsealed(key.as_bytes(), value)?).into_owned()),
        None => None,
    };
    let filled = found(databases, txn)?.into_iter();
    let mut filled = filled.filter(|space| role(&space.name) == role_asked && space.model.is_some());
    let first = filled.next();
    if first.as_ref().is_some_and(|space| Some(&space.name) == named.as_ref()) {
        return Ok(named);
    }
    let other = filled.find(|space| Some(&space.name) == named.as_ref());
    Ok(other.or(first).map(|space| space.name))
}

/// Living Segments of one space, but those given up, that another does not have: ascending, at most [`LACKING_MAX`]. What is read
/// for the first time must match its checksum.
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

/// The lowest numbers that are in neither of two other lists, ascending.
fn without(numbers: Vec<u32>, mut others: Vec<u32>, given_up: &[u32], limit: usize) -> Vec<u32> {
    others.extend_from_slice(given_up);
    others.sort_unstable();
    let mut left: Vec<u32> = numbers.into_iter().filter(|number| others.binary_search(number).is_err()).collect();
    left.sort_unstable();
    left.truncate(limit);
    left
}

fn living(
    store: &Store,
    txn: &RoTxn<'_>,
    space: &SpaceSpec,
    verify: impl Fn(BlockKey, &Header, &[u8]) -> Result<()>,
) -> Result<Vec<u32>> {
    let Some(family) = store.space_family(txn, space)? else { return Ok(vec![]) };
    let mut all = vec![];
    for entry in store.blocks_of(txn, family)? {
        let (key, value) = entry?;
        let (header, segments) = segments_of(family, value)?;
        verify(key, &header, value)?;
        let dead = store.dead(txn, key)?;
        all.extend(segments.iter().enumerate().filter(|(row, _)| !dead.has(*row)).map(|(_, segment)| segment));
    }
    Ok(all)
}

fn has_row(store: &Store, txn: &RoTxn<'_>, space: &SpaceSpec, segment: u32) -> Result<bool> {
    let Some(family) = store.space_family(txn, space)? else { return Ok(false) };
    for entry in store.blocks_of(txn, family)? {
        let (header, segments) = segments_of(family, entry?.1)?;
        if header.first <= segment && segment <= header.last && segments.position(segment).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Rows of a space for Segments that are in the index already.
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

impl<'s: 't, 't> Writing<'s, 't> {
    /// Adds rows of Segments to a space. Those that have gone, or have a row there, are left out.
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

    /// Lets a space serve in the place of another, which goes. False, and nothing changes, while living Segments of the old
    /// one, but those given up, have no row in the new one.
    pub fn switch_space(&mut self, from: usize, to: usize, given_up: &[u32]) -> Result<bool> {
        self.flush()?;
        let store = self.store;
        let (from, to) = (&store.spaces[from], &store.spaces[to]);
        if role(&from.name) != role(&to.name) || from.name == to.name {
            return Err(ShardError::internal(format!("{} cannot take the place of {}.", to.name, from.name)));
        }
        // The store remembers nothing of blocks that this transaction made: their numbers come again if it fails.
        let living = |space| living(store, &self.txn, space, |_, _, value| block::verify(value));
        if !without(living(from)?, living(to)?, given_up, 1).is_empty() {
            return Ok(false);
        }
        self.family_for_append(to)?;
        let key = format!("serves/{}", role(&to.name));
        self.put_meta(&key, to.name.as_bytes())?;
        self.drop_space(from)?;
        Ok(true)
    }

    /// Removes a space that does not serve; false for one that does.
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
        self.store.databases.meta.delete(&mut self.txn, &format!("space/{}", space.name))?;
        self.forget_graph(space)
    }
}

/// The first eight bytes of a model's SHA-256 in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
