//! The environment and its databases; what stands in them and how it is read.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use heed::byteorder::BE;
use heed::types::{Bytes, Str, U32, U64};
use heed::{Database, Env, EnvOpenOptions, RoTxn, WithoutTls};
use serde::{Deserialize, Serialize};

use super::block::{self, Dead, Header, Kind};
use super::error::{Result, ShardError};
use super::places::KnownPlaces;

/// Address space of one index: fixed, because growing a map would have to stop its readers. 2,046 of them fit 47 bits.
const MAP_BYTES: usize = 64 << 30;
/// Snapshots of one index that may be open at once.
const READERS_MAX: u32 = 512;
const DATABASES_MAX: u32 = 12;
/// Version of the databases' layout; that of blocks stands in each block.
const FORMAT: u32 = 1;

/// A vector space: all its vectors were made by one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceSpec {
    pub name: String,
    pub dimensions: usize,
    pub model: [u8; 32],
}

/// First byte of a block's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Family(pub u8);

impl Family {
    pub const WORDS: Self = Self(0);
    pub const PICTURES: Self = Self(1);
    const FIRST_SPACE: u8 = 16;

    pub fn of_space(number: u8) -> Self {
        Self(Self::FIRST_SPACE + number)
    }

    pub fn kind(self) -> Kind {
        match self {
            Self::WORDS => Kind::Words,
            Self::PICTURES => Kind::Pictures,
            _ => Kind::VectorCodes,
        }
    }
}

/// Key of a block: its family and a number that is never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockKey {
    pub family: Family,
    pub number: u32,
}

impl BlockKey {
    pub fn bytes(self) -> [u8; 5] {
        let number = self.number.to_be_bytes();
        [self.family.0, number[0], number[1], number[2], number[3]]
    }

    pub fn read(bytes: &[u8]) -> Result<Self> {
        match bytes {
            [family, a, b, c, d] => Ok(Self { family: Family(*family), number: u32::from_be_bytes([*a, *b, *c, *d]) }),
            _ => Err(ShardError::corrupt("A block has no number.")),
        }
    }
}

/// Counters of the whole index, kept as one record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub next_item: u64,
    pub next_segment: u64,
    pub next_block: u64,
    /// Searchable Items, their Segments and the bytes of their files.
    pub items: u64,
    pub segments: u64,
    pub bytes: u64,
}

/// What is kept of an Item beside its record: 57 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemEntry {
    pub sequence: u64,
    pub first: u32,
    pub count: u32,
    pub bytes: u64,
    pub state: u8,
    pub sha256: [u8; 32],
}

impl ItemEntry {
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = self.sequence.to_le_bytes().to_vec();
        bytes.extend(self.first.to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(self.bytes.to_le_bytes());
        bytes.push(self.state);
        bytes.extend(self.sha256);
        bytes
    }

    pub fn read(bytes: &[u8]) -> Result<Self> {
        let damaged = || ShardError::corrupt("An item's entry is damaged.");
        if bytes.len() != 57 {
            return Err(damaged());
        }
        Ok(Self {
            sequence: block::u64_at(bytes, 0),
            first: block::u32_at(bytes, 8),
            count: block::u32_at(bytes, 12),
            bytes: block::u64_at(bytes, 16),
            state: bytes[24],
            sha256: bytes[25..57].try_into().map_err(|_| damaged())?,
        })
    }
}

/// The databases of an index. `meta`: "format", "totals", and "space/NAME" → number of a space.
#[derive(Clone, Copy)]
pub struct Databases {
    pub meta: Database<Str, Bytes>,
    /// Sequence number → JSON.
    pub items: Database<U64<BE>, Bytes>,
    /// Id → [`ItemEntry`].
    pub entries: Database<Str, Bytes>,
    /// SHA-256 of the file and sequence number of an Item that has not failed → nothing.
    pub digests: Database<Bytes, Bytes>,
    /// Segment → first Segment of its place, then JSON.
    pub segments: Database<U32<BE>, Bytes>,
    pub blocks: Database<Bytes, Bytes>,
    /// f32 rows of the vector blocks, apart from their codes.
    pub rows: Database<Bytes, Bytes>,
    /// Dead rows of blocks that have some.
    pub dead: Database<Bytes, Bytes>,
}

/// Which checksums of a block were compared since the environment was opened.
#[derive(Default)]
pub struct Checked {
    block: AtomicBool,
    rows_header: AtomicBool,
    rows: Vec<AtomicU64>,
}

impl Checked {
    /// Compares a row's checksum the first time it is read.
    pub fn row(&self, row: usize, verify: impl FnOnce() -> Result<()>) -> Result<()> {
        let (word, bit) = (&self.rows[row / 64], 1u64 << (row % 64));
        if word.load(Ordering::Relaxed) & bit == 0 {
            verify()?;
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn once(done: &AtomicBool, verify: impl FnOnce() -> Result<()>) -> Result<()> {
    if !done.load(Ordering::Relaxed) {
        verify()?;
        done.store(true, Ordering::Relaxed);
    }
    Ok(())
}

pub struct Store {
    pub env: Env<WithoutTls>,
    pub databases: Databases,
    pub spaces: Vec<SpaceSpec>,
    pub known_places: KnownPlaces,
    checked: RwLock<HashMap<BlockKey, Arc<Checked>>>,
}

impl Store {
    /// Opens the environment of a folder, which must exist; an empty folder becomes an empty index.
    pub fn open(folder: &Path, spaces: Vec<SpaceSpec>) -> Result<Self> {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(MAP_BYTES).max_readers(READERS_MAX).max_dbs(DATABASES_MAX);
        // Safety: the folder belongs to this process alone (its lock is taken at start), on a local file system.
        let env = unsafe { options.open(folder) }?;
        let databases = match existing(&env)? {
            Some(databases) => databases,
            None => create(&env)?,
        };
        Ok(Self { env, databases, spaces, known_places: KnownPlaces::default(), checked: RwLock::default() })
    }

    pub fn totals(&self, txn: &RoTxn<'_>) -> Result<Totals> {
        match self.databases.meta.get(txn, "totals")? {
            Some(json) => {
                serde_json::from_slice(json).map_err(|_| ShardError::corrupt("The totals of the index are damaged."))
            }
            None => Ok(Totals::default()),
        }
    }

    pub fn space_family(&self, txn: &RoTxn<'_>, space: &SpaceSpec) -> Result<Option<Family>> {
        match self.databases.meta.get(txn, &format!("space/{}", space.name))? {
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
        Ok(Dead(self.databases.dead.get(txn, &key.bytes())?.unwrap_or_default()))
    }

    /// Compares a block's checksum the first time it is read since the environment was opened.
    pub fn checked(&self, key: BlockKey, header: &Header, value: &[u8]) -> Result<Arc<Checked>> {
        let known = self.checked.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&key).cloned();
        let checked = known.unwrap_or_else(|| {
            let words = if header.kind == Kind::VectorCodes { (header.rows as usize).div_ceil(64) } else { 0 };
            let fresh = Checked { rows: (0..words).map(|_| AtomicU64::new(0)).collect(), ..Checked::default() };
            let mut all = self.checked.write().unwrap_or_else(|poisoned| poisoned.into_inner());
            all.entry(key).or_insert_with(|| Arc::new(fresh)).clone()
        });
        once(&checked.block, || block::verify(value))?;
        Ok(checked)
    }

    /// As [`Self::checked`], for the header of a block's f32 rows.
    pub fn check_rows_header(checked: &Checked, value: &[u8]) -> Result<()> {
        once(&checked.rows_header, || block::verify(value))
    }

    /// Forgets blocks that no longer exist.
    pub fn forget(&self, keys: &[BlockKey]) {
        let mut all = self.checked.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        for key in keys {
            all.remove(key);
        }
    }
}

fn existing(env: &Env<WithoutTls>) -> Result<Option<Databases>> {
    let txn = env.read_txn()?;
    let Some(meta) = env.open_database::<Str, Bytes>(&txn, Some("meta"))? else { return Ok(None) };
    match meta.get(&txn, "format")?.map(<[u8; 4]>::try_from) {
        Some(Ok(bytes)) if u32::from_le_bytes(bytes) == FORMAT => {}
        Some(Ok(bytes)) => {
            let format = u32::from_le_bytes(bytes);
            return Err(ShardError::corrupt(format!(
                "The index has format {format}; this version reads format {FORMAT}."
            )));
        }
        _ => return Err(ShardError::corrupt("The index does not say its format.")),
    }
    let absent = || ShardError::corrupt("A database of the index is missing.");
    let databases = Databases {
        meta,
        items: env.open_database(&txn, Some("items"))?.ok_or_else(absent)?,
        entries: env.open_database(&txn, Some("entries"))?.ok_or_else(absent)?,
        digests: env.open_database(&txn, Some("digests"))?.ok_or_else(absent)?,
        segments: env.open_database(&txn, Some("segments"))?.ok_or_else(absent)?,
        blocks: env.open_database(&txn, Some("blocks"))?.ok_or_else(absent)?,
        rows: env.open_database(&txn, Some("rows"))?.ok_or_else(absent)?,
        dead: env.open_database(&txn, Some("dead"))?.ok_or_else(absent)?,
    };
    // Handles of databases stay open only when the transaction that opened them is committed.
    txn.commit()?;
    Ok(Some(databases))
}

fn create(env: &Env<WithoutTls>) -> Result<Databases> {
    let mut txn = env.write_txn()?;
    let databases = Databases {
        meta: env.create_database(&mut txn, Some("meta"))?,
        items: env.create_database(&mut txn, Some("items"))?,
        entries: env.create_database(&mut txn, Some("entries"))?,
        digests: env.create_database(&mut txn, Some("digests"))?,
        segments: env.create_database(&mut txn, Some("segments"))?,
        blocks: env.create_database(&mut txn, Some("blocks"))?,
        rows: env.create_database(&mut txn, Some("rows"))?,
        dead: env.create_database(&mut txn, Some("dead"))?,
    };
    databases.meta.put(&mut txn, "format", &FORMAT.to_le_bytes())?;
    txn.commit()?;
    Ok(databases)
}
