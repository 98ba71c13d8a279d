//! An open index: its databases, and what is known of them as long as it is open.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use heed::{Env, RoTxn, WithoutTls};

use crate::blocks::block::Header;
use crate::blocks::dead::Dead;
use crate::error::{Result, ShardError};
use crate::graph::open_graph::Graph;
use crate::shard::places::KnownPlaces;
use crate::store::checked::Checked;
use crate::store::databases::{self, Databases};
use crate::store::methods::Methods;
use crate::store::records::{BlockKey, Family, Totals, unsealed};
use crate::store::spaces;

/// A vector space: all its vectors were made by one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceSpec {
    pub name: String,
    pub dimensions: usize,
    pub model: [u8; 32],
}

pub struct Store {
    pub env: Env<WithoutTls>,
    pub databases: Databases,
    /// Those of the models in use, and after them those of other models that the file held when it was opened.
    pub spaces: Vec<SpaceSpec>,
    pub methods: Methods,
    pub folder: PathBuf,
    graphs: RwLock<HashMap<Family, Arc<Graph>>>,
    /// How many of them are of models in use.
    pub in_use: usize,
    pub known_places: KnownPlaces,
    checked: RwLock<HashMap<BlockKey, Arc<Checked>>>,
}

impl Store {
    /// Opens the environment of a folder, which must exist; a folder without a file becomes an empty index. `spaces`: by role.
    pub fn open(folder: &Path, spaces: Vec<SpaceSpec>, methods: Methods) -> Result<Self> {
        let (env, databases) = databases::open(folder)?;
        let in_use = spaces.len();
        let spaces = {
            let txn = env.read_txn()?;
            spaces::resolve(&databases, &txn, spaces)?
        };
        Ok(Self {
            env,
            databases,
            spaces,
            in_use,
            methods,
            folder: folder.to_path_buf(),
            graphs: RwLock::default(),
            known_places: KnownPlaces::default(),
            checked: RwLock::default(),
        })
    }

    pub fn totals(&self, txn: &RoTxn<'_>) -> Result<Totals> {
        match self.databases.meta.get(txn, "totals")? {
            Some(value) => {
                let json = unsealed(b"totals", value)?;
                serde_json::from_slice(json).map_err(|_| ShardError::corrupt("The totals of the index are damaged."))
            }
            None => Ok(Totals::default()),
        }
    }

    pub fn space_family(&self, txn: &RoTxn<'_>, space: &SpaceSpec) -> Result<Option<Family>> {
        let key = format!("space/{}", space.name);
        match self.databases.meta.get(txn, &key)?.map(|value| unsealed(key.as_bytes(), value)).transpose()? {
            Some([number]) => Ok(Some(Family::of_space(*number))),
            Some(_) => Err(ShardError::corrupt("The number of a space is damaged.")),
            None => Ok(None),
        }
    }

    /// The blocks of a family with their values, in the order they were made; checksums are not compared.
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

    pub fn dead<'t>(&self, txn: &'t RoTxn<'_>, key: BlockKey) -> Result<Dead<'t>> {
        let key = key.bytes();
        let value = self.databases.dead.get(txn, &key)?;
        Ok(Dead(value.map(|value| unsealed(&key, value)).transpose()?.unwrap_or_default()))
    }

    /// Compares a block's checksum the first time it is read since the environment was opened.
    pub fn checked(&self, key: BlockKey, header: &Header, value: &[u8]) -> Result<Arc<Checked>> {
        let known = self.checked.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&key).cloned();
        let checked = known.unwrap_or_else(|| {
            let mut all = self.checked.write().unwrap_or_else(|poisoned| poisoned.into_inner());
            all.entry(key).or_insert_with(|| Arc::new(Checked::of(header))).clone()
        });
        checked.block(value)?;
        Ok(checked)
    }

    /// The graph of a space, where one is open.
    pub fn graph(&self, family: Family) -> Option<Arc<Graph>> {
        self.graphs.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&family).cloned()
    }

    pub fn set_graph(&self, family: Family, graph: Arc<Graph>) {
        self.graphs.write().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(family, graph);
    }

    /// Names of the files of open graphs.
    pub fn graph_files(&self) -> Vec<String> {
        let graphs = self.graphs.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        graphs.values().map(|graph| graph.record.file.clone()).collect()
    }

    /// A record of `meta` about something derived.
    pub fn derived_record<'t>(&self, txn: &'t RoTxn<'_>, key: &str) -> Result<Option<&'t [u8]>> {
        self.databases.meta.get(txn, key)?.map(|value| unsealed(key.as_bytes(), value)).transpose()
    }

    /// Forgets what was compared of blocks that no longer exist.
    pub fn forget(&self, keys: &[BlockKey]) {
        if keys.is_empty() {
            return;
        }
        let mut all = self.checked.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        for key in keys {
            all.remove(key);
        }
    }

    /// Forgets all other blocks: a reader from before a removal may have looked at one after it.
    pub fn forget_but(&self, keys: &HashSet<BlockKey>) {
        let mut all = self.checked.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.retain(|key, _| keys.contains(key));
    }

    /// Blocks of which something was compared.
    #[cfg(test)]
    pub fn remembered(&self) -> usize {
        self.checked.read().unwrap_or_else(|poisoned| poisoned.into_inner()).len()
    }
}
