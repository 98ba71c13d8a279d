//! The vector spaces of an index.
//!
//! A space belongs to one model: vectors of two models are never in one space. An index has one space for each role, and
//! keeps the model that filled it first, whichever is in use: so a role never has vectors of two models either. A space's
//! name is its role.

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

/// The spaces of an index that is opened for `wanted`: one that is filled keeps its model, then come those that only the file
/// holds. Each with whether the file holds it.
pub fn resolve(databases: &Databases, txn: &RoTxn<'_>, wanted: Vec<SpaceSpec>) -> Result<Vec<(SpaceSpec, bool)>> {
    // With no readable block nothing says which model filled a space.
    let filled = |space: StoredSpace| {
        let (model, dimensions) = space.model?;
        Some(SpaceSpec { name: space.name, dimensions, model })
    };
    let mut stored: Vec<SpaceSpec> = stored(databases, txn)?.into_iter().filter_map(filled).collect();
    let mut spaces: Vec<(SpaceSpec, bool)> = vec![];
    for spec in wanted {
        let at = stored.iter().position(|space| space.name == spec.name);
        spaces.push(at.map_or((spec, false), |at| (stored.remove(at), true)));
    }
    spaces.extend(stored.into_iter().map(|space| (space, true)));
    Ok(spaces)
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
