//! Small records of an index, keys of blocks, and the checksums of records.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::blocks::block::Kind;
use crate::blocks::columns::{u32_at, u64_at};
use crate::error::{Result, ShardError};

/// A family of blocks: words, pictures, or the vectors of one space. It is the first byte of a block's key.
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

/// Key of a block: its family, and a number that is never used again.
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

/// Counters of the whole index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub next_item: u64,
    pub next_segment: u64,
    pub next_block: u64,
    /// Searchable Items; below, their Segments and the bytes of their files.
    pub items: u64,
    pub segments: u64,
    pub bytes: u64,
}

/// Facts kept of an Item beside its JSON: 57 bytes.
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
            sequence: u64_at(bytes, 0),
            first: u32_at(bytes, 8),
            count: u32_at(bytes, 12),
            bytes: u64_at(bytes, 16),
            state: bytes[24],
            sha256: bytes[25..57].try_into().map_err(|_| damaged())?,
        })
    }
}

/// Index entry of an Item whose uploader gave it a key. Items with the same key come in the order of writing.
pub fn key_of(key: &str, sequence: u64) -> Vec<u8> {
    let mut bytes = Sha256::digest(key.as_bytes()).to_vec();
    bytes.extend(sequence.to_be_bytes());
    bytes
}

/// Bytes of what [`key_of`] begins with.
pub const KEY_BYTES: usize = 32;

/// A record after the CRC-32C of its key and itself, so that damage is noticed, and a record under another key, too.
pub fn sealed(key: &[u8], record: &[u8]) -> Vec<u8> {
    let checksum = crc32c::crc32c_append(crc32c::crc32c(key), record);
    let mut value = Vec::with_capacity(4 + record.len());
    value.extend(checksum.to_le_bytes());
    value.extend_from_slice(record);
    value
}

/// The record in a value that [`sealed`] made.
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
