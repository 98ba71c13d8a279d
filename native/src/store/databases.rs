//! The environment of an index and its databases: how they are made, found, and what stands in them.

use std::fs;
use std::path::Path;

use heed::byteorder::BE;
use heed::types::{Bytes, Str, U32, U64};
use heed::{Database, Env, EnvOpenOptions, WithoutTls};

use super::{keys, structure};
use crate::error::{Result, ShardError};
use crate::threads::scan_pool;

/// LMDB's name for its data file.
pub const FILE: &str = "data.mdb";
/// Address space of one index: fixed, because growing a map would have to stop its readers. 2,046 of them fit 47 bits.
const MAP_BYTES: usize = 64 << 30;
/// Snapshots of one index that may be open at once: of all the searches that may wait for a thread (`threads/scan_pool.rs`), and as many
/// more. A place costs 64 bytes of the lock file, which is mapped, and memory only once it was used.
const READERS_MAX: u32 = 2 * scan_pool::WAITING_MAX as u32;
const DATABASES_MAX: u32 = 12;
/// Version of the databases' layout; that of blocks stands in each block.
const FORMAT: u32 = 2;

/// The databases of an index. Values of `meta` (but "format"), `items`, `entries`, `segments` and `dead` are [`sealed`](crate::store::records::sealed); blocks have checksums
/// of their own. `meta`: "format", "totals", "space/NAME" → number of a space, "serves/ROLE" → name of the space that serves (`spaces.rs`),
/// "graph/NAME" → what is remembered of a space's graph, and "filled/NAME" → how often rows of earlier Segments were put there.
#[derive(Clone, Copy)]
pub struct Databases {
    pub meta: Database<Str, Bytes>,
    /// Sequence number → JSON.
    pub items: Database<U64<BE>, Bytes>,
    /// Id → [`ItemEntry`](crate::store::records::ItemEntry).
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

/// Opens the environment of a folder, which must exist; a folder without a file becomes an empty index.
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
    meta.put(&mut txn, keys::FORMAT, &FORMAT.to_le_bytes())?;
    txn.commit()?;
    Ok(())
}
