//! The environment of an index and its databases: creating them, opening them, and what they hold.

use std::fs;
use std::path::Path;

use heed::byteorder::BE;
use heed::types::{Bytes, Str, U32, U64};
use heed::{Database, Env, EnvOpenOptions, WithoutTls};

use super::{keys, structure};
use crate::error::{Result, ShardError};
use crate::process::lock_file::reserve_lock_file;
use crate::threads::scan_pool;

/// LMDB's name for its data file.
pub const FILE: &str = "data.mdb";
/// Address space of one index. It is fixed, because a map cannot grow while readers use it. 2,046 maps fit 47 bits.
const MAP_BYTES: usize = 64 << 30;
/// Snapshots of one index that may be open at once: all the searches that may wait for a thread, and as many again. A
/// slot costs 64 bytes of the lock file, which is mapped, and no memory before its first use.
const READERS_MAX: u32 = 2 * scan_pool::WAITING_MAX as u32;
const DATABASES_MAX: u32 = 12;
/// Version of the databases' layout. Blocks state the version of their layout.
const FORMAT: u32 = 2;

/// The databases of an index. Values of `meta` (except [`keys::FORMAT`]), `items`, `entries`, `segments` and `dead` are
/// [`sealed`](super::records::sealed). Blocks have checksums of their own.
#[derive(Clone, Copy)]
pub struct Databases {
    pub meta: Database<Str, Bytes>,
    /// Sequence number → JSON.
    pub items: Database<U64<BE>, Bytes>,
    /// Id → [`ItemEntry`](super::records::ItemEntry).
    pub entries: Database<Str, Bytes>,
    /// SHA-256 of the file and sequence number of an Item that has not failed → nothing.
    pub digests: Database<Bytes, Bytes>,
    /// SHA-256 of the key that an Item's uploader gave it, and the Item's sequence number → nothing.
    pub keys: Database<Bytes, Bytes>,
    /// Segment → first Segment of its place (u32), then JSON.
    pub segments: Database<U32<BE>, Bytes>,
    pub blocks: Database<Bytes, Bytes>,
    /// The f32 rows of vector blocks.
    pub rows: Database<Bytes, Bytes>,
    /// The dead rows of blocks that have some.
    pub dead: Database<Bytes, Bytes>,
    /// The bits of vector blocks, as far as they are derived.
    pub bits: Database<Bytes, Bytes>,
}

/// Opens the environment of an existing folder. A folder without a file becomes an empty index.
pub fn open(folder: &Path) -> Result<(Env<WithoutTls>, Databases)> {
    let file = folder.join(FILE);
    if !file.try_exists()? {
        create_in(folder)?;
    }
    structure::check(&file, MAP_BYTES as u64)?;
    let env = environment(folder)?;
    let databases = existing(&env)?;
    check_dead(&env, &databases)?;
    Ok((env, databases))
}

/// Dead rows without a block mean that a key was damaged. The block that lost its dead rows would show removed Items
/// again.
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
    reserve_lock_file(folder).map_err(|error| ShardError::from_io(&error))?;
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(MAP_BYTES).max_readers(READERS_MAX).max_dbs(DATABASES_MAX);
    // Safety: the folder belongs to this process alone, which took its lock at start, and lies on a local file system.
    Ok(unsafe { options.open(folder) }?)
}

/// Creates an empty index beside its place and moves it there. So an empty file is a damaged one, never a new one.
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
    match meta.get(&txn, keys::FORMAT)?.map(<[u8; 4]>::try_from) {
        Some(Ok(bytes)) if u32::from_le_bytes(bytes) == FORMAT => {}
        Some(Ok(bytes)) => {
            let format = u32::from_le_bytes(bytes);
            return Err(ShardError::corrupt(format!(
                "The index has format {format}; this version reads format {FORMAT}."
            )));
        }
        _ => return Err(ShardError::corrupt("The index does not say its format.")),
    }
    let databases = Databases {
        meta,
        items: env.open_database(&txn, Some("items"))?.ok_or_else(absent)?,
        entries: env.open_database(&txn, Some("entries"))?.ok_or_else(absent)?,
        digests: env.open_database(&txn, Some("digests"))?.ok_or_else(absent)?,
        segments: env.open_database(&txn, Some("segments"))?.ok_or_else(absent)?,
        blocks: env.open_database(&txn, Some("blocks"))?.ok_or_else(absent)?,
        rows: env.open_database(&txn, Some("rows"))?.ok_or_else(absent)?,
        dead: env.open_database(&txn, Some("dead"))?.ok_or_else(absent)?,
        bits: env.open_database(&txn, Some("bits"))?.ok_or_else(absent)?,
        keys: env.open_database(&txn, Some("keys"))?.ok_or_else(absent)?,
    };
    // Handles of databases stay open only if the transaction that opened them is committed.
    txn.commit()?;
    Ok(databases)
}

fn create(env: &Env<WithoutTls>) -> Result<()> {
    let mut txn = env.write_txn()?;
    let meta: Database<Str, Bytes> = env.create_database(&mut txn, Some("meta"))?;
    for name in ["items", "entries", "digests", "segments", "blocks", "rows", "dead", "bits", "keys"] {
        env.create_database::<Bytes, Bytes>(&mut txn, Some(name))?;
    }
    meta.put(&mut txn, keys::FORMAT, &FORMAT.to_le_bytes())?;
    txn.commit()?;
    Ok(())
}
