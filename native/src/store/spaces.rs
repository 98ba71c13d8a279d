//! The vector spaces of an index.
//!
//! A space belongs to one model: vectors of two models are never in one space. After a change of model, the new model's
//! vectors gather in a second space. The old one serves searches until each of its living rows has one in the new
//! space.
//!
//! A space's name is its role. If the role had another model before, `@` and the beginning of the model's SHA-256
//! follow. The space that serves a role is the one with blocks that `meta` names, otherwise the one with blocks and the
//! lowest number.

use heed::RoTxn;

use super::databases::Databases;
use super::keys;
use super::records::{Family, unsealed};
use crate::blocks::block::{self, Header};
use crate::error::{Result, ShardError};

/// A vector space. All its vectors were made by one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceSpec {
    pub name: String,
    pub dimensions: usize,
    /// SHA-256 of the model.
    pub model: [u8; 32],
}

/// Index of a space by its name.
pub fn position(spaces: &[SpaceSpec], name: &str) -> Result<usize> {
    let found = spaces.iter().position(|space| space.name == name);
    found.ok_or_else(|| ShardError::internal(format!("{name} is no space of the index.")))
}

/// A space that a file holds.
pub struct StoredSpace {
    pub name: String,
    pub number: u8,
    /// SHA-256 and dimensions of the first block that is not damaged.
    model: Option<([u8; 32], usize)>,
}

/// The role of a space: its name without the model.
pub fn role(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}

/// Every space of a file, in the order of their numbers.
pub fn stored(databases: &Databases, txn: &RoTxn<'_>) -> Result<Vec<StoredSpace>> {
    let mut all = vec![];
    for entry in databases.meta.prefix_iter(txn, keys::SPACES)? {
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
        all.push(StoredSpace { name: key[keys::SPACES.len()..].to_owned(), number: *number, model });
    }
    all.sort_by_key(|space| space.number);
    Ok(all)
}

/// The spaces of an index that is opened for `wanted`, which are named by role: these with their names in the file,
/// then those of other models that the file holds.
pub fn resolve(databases: &Databases, txn: &RoTxn<'_>, wanted: Vec<SpaceSpec>) -> Result<Vec<SpaceSpec>> {
    let stored = stored(databases, txn)?;
    let mut spaces: Vec<SpaceSpec> = wanted
        .into_iter()
        .map(|spec| {
            let candidates: Vec<&StoredSpace> = stored.iter().filter(|space| role(&space.name) == spec.name).collect();
            let same = candidates.iter().find(|space| space.model == Some((spec.model, spec.dimensions)));
            let name = match (same, candidates.first()) {
                (Some(space), _) => space.name.clone(),
                (None, None) => spec.name.clone(),
                // No readable block was made by another model: there is nothing to change from.
                (None, Some(first)) if candidates.iter().all(|space| space.model.is_none()) => first.name.clone(),
                _ => format!("{}@{}", spec.name, hex(&spec.model[..8])),
            };
            SpaceSpec { name, ..spec }
        })
        .collect();
    for StoredSpace { name, model, .. } in stored {
        if let Some((model, dimensions)) = model
            && spaces.iter().all(|space| space.name != name)
        {
            spaces.push(SpaceSpec { name, dimensions, model });
        }
    }
    Ok(spaces)
}

/// Name of the space that serves a role. None if nothing was stored for it.
pub fn serving(databases: &Databases, txn: &RoTxn<'_>, wanted_role: &str) -> Result<Option<String>> {
    let key = keys::serving(wanted_role);
    let named = match databases.meta.get(txn, &key)? {
        Some(value) => Some(String::from_utf8_lossy(unsealed(key.as_bytes(), value)?).into_owned()),
        None => None,
    };
    let filled = stored(databases, txn)?.into_iter();
    let mut filled = filled.filter(|space| role(&space.name) == wanted_role && space.model.is_some());
    let first = filled.next();
    if first.as_ref().is_some_and(|space| Some(&space.name) == named.as_ref()) {
        return Ok(named);
    }
    let other = filled.find(|space| Some(&space.name) == named.as_ref());
    Ok(other.or(first).map(|space| space.name))
}

/// Bytes in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Refuses a block of another model than the space's.
pub fn check_model(space: &SpaceSpec, header: &Header) -> Result<()> {
    if header.model == space.model && header.width as usize == space.dimensions {
        return Ok(());
    }
    Err(ShardError::new(
        "shard_model_mismatch",
        format!(
            "The vectors of {} were made by another model file than the one that is installed. Ingest again.",
            space.name
        ),
    ))
}
