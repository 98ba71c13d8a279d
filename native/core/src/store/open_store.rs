//! The open environment of an index: its databases, and what is known of them while it is open.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use heed::{Env, RoTxn, WithoutTls};

use super::checked::Checked;
use super::databases::{self, Databases};
use super::keys;
use super::known_places::KnownPlaces;
use super::methods::Methods;
use super::neighbours::{self, NeighbourIndex};
use super::records::{BlockKey, Family, ItemEntry, Totals, unsealed};
use super::spaces::{self, SpaceSpec};
use crate::blocks::block::Header;
use crate::blocks::dead::Dead;
use crate::error::{Result, ShardError};
use crate::filter::known_items::KnownItems;

pub struct Store {
    pub env: Env<WithoutTls>,
    pub databases: Databases,
    /// Those that the file held when it was opened, and those of the models in use for other roles.
    pub spaces: Vec<SpaceSpec>,
    /// Which of them the file held.
    pub stored: Vec<bool>,
    pub methods: Methods,
    pub folder: PathBuf,
    graphs: RwLock<HashMap<Family, Arc<dyn NeighbourIndex>>>,
    pub known_places: KnownPlaces,
    pub known_items: KnownItems,
    checked: RwLock<HashMap<BlockKey, Arc<Checked>>>,
    checked_records: RwLock<Arc<Checked>>,
}

impl Store {
    /// Opens the environment of an existing folder. A folder without a file becomes an empty index. `spaces` are named
    /// by role, and taken for roles that nothing is stored of: an index keeps its models.
    pub fn open(folder: &Path, spaces: Vec<SpaceSpec>, methods: Methods) -> Result<Self> {
        let (env, databases) = databases::open(folder)?;
        let (spaces, stored) = {
            let txn = env.read_txn()?;
            spaces::resolve(&databases, &txn, spaces)?.into_iter().unzip()
        };
        Ok(Self {
            env,
            databases,
            spaces,
            stored,
            methods,
            folder: folder.to_path_buf(),
            graphs: RwLock::default(),
            known_places: KnownPlaces::default(),
            known_items: KnownItems::default(),
            checked: RwLock::default(),
            checked_records: RwLock::default(),
        })
    }

    pub fn totals(&self, txn: &RoTxn<'_>) -> Result<Totals> {
        match self.meta_record(txn, keys::TOTALS)? {
            Some(json) => {
                serde_json::from_slice(json).map_err(|_| ShardError::corrupt("The totals of the index are damaged."))
            }
            None => Ok(Totals::default()),
        }
    }

    /// Facts kept of an Item beside its record.
    pub fn entry(&self, txn: &RoTxn<'_>, id: &str) -> Result<Option<ItemEntry>> {
        let value = self.databases.entries.get(txn, id)?;
        value.map(|value| ItemEntry::read(unsealed(id.as_bytes(), value)?)).transpose()
    }

    /// Whether the index is so large that a search method may need something derived, or has a graph that it may no
    /// longer need.
    pub fn may_derive(&self) -> bool {
        let totals = self.env.read_txn().map_err(ShardError::from).and_then(|txn| self.totals(&txn));
        let least = self.methods.bits_rows_min.min(self.methods.graph_rows_min) as u64;
        totals.is_ok_and(|totals| totals.segments >= least)
            || neighbours::files(&self.folder).is_ok_and(|files| !files.is_empty())
    }

    /// The graph of a space, if it is the one that a reader's snapshot remembers.
    pub fn graph(&self, txn: &RoTxn<'_>, space: &SpaceSpec, family: Family) -> Option<Arc<dyn NeighbourIndex>> {
        let known = self.graphs.read().unwrap_or_else(PoisonError::into_inner).get(&family).cloned()?;
        let remembered = self.meta_record(txn, &keys::graph(&space.name));
        matches!(remembered, Ok(Some(record)) if record == known.record()).then_some(known)
    }

    /// Replaces the open graph of a family.
    pub fn set_graph(&self, family: Family, graph: Option<Arc<dyn NeighbourIndex>>) {
        let mut all = self.graphs.write().unwrap_or_else(PoisonError::into_inner);
        match graph {
            Some(graph) => all.insert(family, graph),
            None => all.remove(&family),
        };
    }

    /// The family of a space's blocks. None if nothing was stored there.
    pub fn space_family(&self, txn: &RoTxn<'_>, space: &SpaceSpec) -> Result<Option<Family>> {
        match self.meta_record(txn, &keys::number(&space.name))? {
            Some([number]) => Ok(Some(Family::of_space(*number))),
            Some(_) => Err(ShardError::corrupt("The number of a space is damaged.")),
            None => Ok(None),
        }
    }

    /// The blocks of a family with their values, in the order they were made. Checksums are not compared.
    pub fn blocks_of<'t>(
        &self,
        txn: &'t RoTxn<'_>,
        family: Family,
    ) -> Result<impl Iterator<Item = Result<(BlockKey, &'t [u8])>>> {
        let blocks = self.databases.blocks.prefix_iter(txn, &[family.0])?;
        Ok(blocks.map(|entry| {
            let (key, value) = entry?;
            Ok((BlockKey::read(key)?, value))
        }))
    }

    /// The dead rows of a block.
    pub fn dead<'t>(&self, txn: &'t RoTxn<'_>, key: BlockKey) -> Result<Dead<'t>> {
        let key = key.bytes();
        let value = self.databases.dead.get(txn, &key)?;
        Ok(Dead(value.map(|value| unsealed(&key, value)).transpose()?.unwrap_or_default()))
    }

    /// Compares a block's checksum, if it is read for the first time since the index was opened.
    pub fn checked(&self, key: BlockKey, header: &Header, value: &[u8]) -> Result<Arc<Checked>> {
        let known = self.checked.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let checked = known.unwrap_or_else(|| {
            let mut all = self.checked.write().unwrap_or_else(PoisonError::into_inner);
            all.entry(key).or_insert_with(|| Arc::new(Checked::of(header))).clone()
        });
        checked.block(value)?;
        Ok(checked)
    }

    /// Which records were compared of the Segments below a number, each a row: a record never changes.
    pub fn checked_records(&self, below: usize) -> Arc<Checked> {
        let known = self.checked_records.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known.has_rows(below) {
            return known;
        }
        let mut all = self.checked_records.write().unwrap_or_else(PoisonError::into_inner);
        *all = Arc::new(all.with_rows(below));
        all.clone()
    }

    /// A record of `meta`.
    pub fn meta_record<'t>(&self, txn: &'t RoTxn<'_>, key: &str) -> Result<Option<&'t [u8]>> {
        self.databases.meta.get(txn, key)?.map(|value| unsealed(key.as_bytes(), value)).transpose()
    }

    /// Forgets which checksums of deleted blocks were compared.
    pub fn forget(&self, keys: &[BlockKey]) {
        if keys.is_empty() {
            return;
        }
        let mut all = self.checked.write().unwrap_or_else(PoisonError::into_inner);
        for key in keys {
            all.remove(key);
        }
    }

    /// Forgets all other blocks. A reader from before a removal may have read a block after it was forgotten.
    pub fn forget_but(&self, keys: &HashSet<BlockKey>) {
        let mut all = self.checked.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|key, _| keys.contains(key));
    }

    /// Number of blocks with a comparison.
    #[cfg(test)]
    pub fn remembered(&self) -> usize {
        self.checked.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}
