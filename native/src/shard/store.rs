//! The environment and its databases; what stands in them and how it is read.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use heed::byteorder::BE;
use heed::types::{Bytes, Str, U32, U64};
use heed::{Database, Env, EnvOpenOptions, RoTxn, WithoutTls};
use serde::{Deserialize, Serialize};

use super::block::{self, Dead, Header, Kind};
use super::error::{Result, ShardError};
use super::graph::Graph;
use super::methods::Methods;
use super::places::KnownPlaces;
use super::spaces;
use super::structure;

/// LMDB's name for its data file.
const FILE: &str = "data.mdb";
/// Address space of one index: fixed, because growing a map would have to stop its readers. 2,046 of them fit 47 bits.
const MAP_BYTES: usize = 64 << 30;
/// Snapshots of one index that may be open at once.
const READERS_MAX: u32 = 512;
const DATABASES_MAX: u32 = 12;
/// Version of the databases' layout; that of blocks stands in each block.
const FORMAT: u32 = 2;

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

    pub fn is_space(self) -> bool {
        self.0 >= Self::FIRST_SPACE
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

/// The databases of an index. Values of `meta` (but "format"), `items`, `entries`, `segments` and `dead` are [`sealed`]; blocks have checksums
/// of their own. `meta`: "format", "totals", "space/NAME" → number of a space, "serves/ROLE" → name of the space that serves (`spaces.rs`),
/// "graph/NAME" → what is remembered of a space's graph, and "filled/NAME" → how often rows of earlier Segments were put there.
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
    /// Bits of the blocks of vectors that have some by now.
    pub bits: Database<Bytes, Bytes>,
}

/// Which checksums of a block were compared since the environment was opened.
#[derive(Default)]
pub struct Checked {
    block: AtomicBool,
    rows_header: AtomicBool,
    bits: AtomicBool,
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
        let file = folder.join(FILE);
        if !file.try_exists()? {
            create_in(folder)?;
        }
        structure::check(&file, MAP_BYTES as u64)?;
        let env = environment(folder)?;
        let databases = existing(&env)?;
        check_dead(&env, &databases)?;
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

    /// As [`Self::checked`], for a block's bits.
    pub fn check_bits(checked: &Checked, value: &[u8]) -> Result<()> {
        once(&checked.bits, || block::verify(value))
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

    /// Forgets blocks that no longer exist.
    pub fn forget(&self, keys: &[BlockKey]) {
        let mut all = self.checked.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        for key in keys {
            all.remove(key);
        }
    }
}

/// A record with the CRC-32C of its key and itself before it, so that neither damage nor another record's place goes unnoticed.
pub fn sealed(key: &[u8], record: &[u8]) -> Vec<u8> {
    let checksum = crc32c::crc32c_append(crc32c::crc32c(key), record);
    let mut value = Vec::with_capacity(4 + record.len());
    value.extend(checksum.to_le_bytes());
    value.extend_from_slice(record);
    value
}

/// The record of a value that [`sealed`] made.
pub fn unsealed<'v>(key: &[u8], value: &'v [u8]) -> Result<&'v [u8]> {
    match value.split_first_chunk::<4>() {
        Some((checksum, record))
            if u32::from_le_bytes(*checksum) == crc32c::crc32c_append(crc32c::crc32c(key), record) =>
        {
            Ok(record)
        }
        _ => Err(ShardError::corrupt("A record of the index does not match its checksum.")),
    }
}

/// A removal must not be lost with the key of its block.
fn check_dead(env: &Env<WithoutTls>, databases: &Databases) -> Result<()> {
    let txn = env.read_txn()?;
    for entry in databases.dead.iter(&txn)? {
        if databases.blocks.get(&txn, entry?.0)?.is_none() {
            return Err(ShardError::corrupt("Removals belong to a block that is not there."));
        }
    }
    Ok(())
}

fn environment(folder: &Path) -> Result<Env<WithoutTls>> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(MAP_BYTES).max_readers(READERS_MAX).max_dbs(DATABASES_MAX);
    // Safety: the folder belongs to this process alone (its lock is taken at start), on a local file system.
    Ok(unsafe { options.open(folder) }?)
}

/// Makes an empty index beside its place and moves it there whole: a file that is there but empty was damaged, not begun.
fn create_in(folder: &Path) -> Result<()> {
    let draft = folder.join("draft");
    if draft.try_exists()? {
        fs::remove_dir_all(&draft)?;
    }
    fs::create_dir(&draft)?;
    let env = environment(&draft)?;
    create(&env)?;
    env.prepare_for_closing().wait();
    fs::rename(draft.join(FILE), folder.join(FILE))?;
    fs::File::open(folder)?.sync_all()?;
    fs::remove_dir_all(&draft)?;
    Ok(())
}

fn existing(env: &Env<WithoutTls>) -> Result<Databases> {
    let txn = env.read_txn()?;
    let absent = || ShardError::corrupt("A database of the index is missing.");
    let meta = env.open_database::<Str, Bytes>(&txn, Some("meta"))?.ok_or_else(absent)?;
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
    // A file of an earlier version has none: what stands there can be made again.
    let Some(bits) = env.open_database::<Bytes, Bytes>(&txn, Some("bits"))? else {
        drop(txn);
        let mut writing = env.write_txn()?;
        env.create_database::<Bytes, Bytes>(&mut writing, Some("bits"))?;
        writing.commit()?;
        return existing(env);
    };
    let databases = Databases {
        meta,
        items: env.open_database(&txn, Some("items"))?.ok_or_else(absent)?,
        entries: env.open_database(&txn, Some("entries"))?.ok_or_else(absent)?,
        digests: env.open_database(&txn, Some("digests"))?.ok_or_else(absent)?,
        segments: env.open_database(&txn, Some("segments"))?.ok_or_else(absent)?,
        blocks: env.open_database(&txn, Some("blocks"))?.ok_or_else(absent)?,
        rows: env.open_database(&txn, Some("rows"))?.ok_or_else(absent)?,
        dead: env.open_database(&txn, Some("dead"))?.ok_or_else(absent)?,
        bits,
    };
    // Handles of databases stay open only when the transaction that opened them is committed.
    txn.commit()?;
    Ok(databases)
}

fn create(env: &Env<WithoutTls>) -> Result<()> {
    let mut txn = env.write_txn()?;
    let meta: Database<Str, Bytes> = env.create_database(&mut txn, Some("meta"))?;
    for name in ["items", "entries", "digests", "segments", "blocks", "rows", "dead", "bits"] {
        env.create_database::<Bytes, Bytes>(&mut txn, Some(name))?;
    }
    meta.put(&mut txn, "format", &FORMAT.to_le_bytes())?;
    txn.commit()?;
    Ok(())
}
