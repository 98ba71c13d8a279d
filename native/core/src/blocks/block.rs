//! Every block begins with a versioned header with a checksum.
//!
//! ```text
//!  0 magic "FTHB"   4 layout u16   6 kind u8        8 rows u32      12 width u32
//! 16 first segment u32             20 last segment u32              24 length of the value u64
//! 32 CRC-32C u32                   36 largest norm f32              40 bytes under the checksum u64
//! 48 SHA-256 of the model          80 sum u64       88 languages u64               96 zeros
//! ```
//!
//! The checksum covers the header, with its own field as zero, and the bytes after it, up to the number in the header.

use super::columns::{u32_at, u64_at};
use crate::error::{Result, ShardError};

/// LMDB puts 16 bytes before a large value, so a body that starts here is aligned to 64 bytes.
pub const HEADER_BYTES: usize = 112;
const MAGIC: [u8; 4] = *b"FTHB";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// int8 codes, with the scale, residual and segment of each row.
    VectorCodes = 1,
    /// f32 rows, each with its own checksum.
    VectorRows = 2,
    /// An inverted index.
    Words = 3,
    /// Digests and fingerprints of pictures.
    Pictures = 4,
    /// One bit for each dimension of an f32 row, and three numbers for each row.
    VectorBits = 5,
}

impl Kind {
    /// Version of the layout. A block of another version is refused.
    fn layout(self) -> u16 {
        match self {
            Self::Words => 2,
            _ => 1,
        }
    }
}

/// A header. `width`: dimensions of vectors, number of terms, or bytes of a fingerprint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Header {
    pub kind: Kind,
    pub rows: u32,
    pub width: u32,
    pub first: u32,
    pub last: u32,
    /// Largest norm of a vector, or of the vector that its codes stand for. 0 for other kinds.
    pub norm_max: f32,
    pub model: [u8; 32],
    /// Words: sum of the documents' lengths.
    pub sum: u64,
    /// Words: one bit for each language of a document.
    pub languages: u64,
}

impl Header {
    pub fn new(kind: Kind, segments: &[u32], width: usize) -> Self {
        Self {
            kind,
            rows: segments.len() as u32,
            width: width as u32,
            first: segments.first().copied().unwrap_or(0),
            last: segments.last().copied().unwrap_or(0),
            norm_max: 0.0,
            model: [0; 32],
            sum: 0,
            languages: 0,
        }
    }

    /// A value with room for the header. Append the body, then [`Header::seal`] it.
    pub fn reserve(body_bytes: usize) -> Vec<u8> {
        let mut value = Vec::with_capacity(HEADER_BYTES + body_bytes);
        value.resize(HEADER_BYTES, 0);
        value
    }

    /// Writes the header of a finished value. The checksum covers the first `covered` bytes of the body.
    pub fn seal(&self, value: &mut [u8], covered: usize) {
        let length = value.len() as u64;
        let covered = HEADER_BYTES + covered;
        value[0..4].copy_from_slice(&MAGIC);
        value[4..6].copy_from_slice(&self.kind.layout().to_le_bytes());
        value[6] = self.kind as u8;
        value[8..12].copy_from_slice(&self.rows.to_le_bytes());
        value[12..16].copy_from_slice(&self.width.to_le_bytes());
        value[16..20].copy_from_slice(&self.first.to_le_bytes());
        value[20..24].copy_from_slice(&self.last.to_le_bytes());
        value[24..32].copy_from_slice(&length.to_le_bytes());
        value[36..40].copy_from_slice(&self.norm_max.to_le_bytes());
        value[40..48].copy_from_slice(&(covered as u64).to_le_bytes());
        value[48..80].copy_from_slice(&self.model);
        value[80..88].copy_from_slice(&self.sum.to_le_bytes());
        value[88..96].copy_from_slice(&self.languages.to_le_bytes());
        let checksum = checksum(value, covered);
        value[32..36].copy_from_slice(&checksum.to_le_bytes());
    }

    /// Reads a header, and checks that the value is a block of this kind and complete. Does not compare the checksum.
    pub fn read(value: &[u8], kind: Kind) -> Result<Self> {
        if value.len() < HEADER_BYTES || value[0..4] != MAGIC {
            return Err(ShardError::corrupt("A block has no header."));
        }
        let layout = u16::from_le_bytes([value[4], value[5]]);
        if value[6] == kind as u8 && layout != kind.layout() {
            let known = kind.layout();
            return Err(ShardError::corrupt(format!(
                "A block has layout {layout}; this version reads layout {known}."
            )));
        }
        if value[6] != kind as u8 || u64_at(value, 24) != value.len() as u64 {
            return Err(ShardError::corrupt("A block is of another kind or length than its header says."));
        }
        let header = Self {
            kind,
            rows: u32_at(value, 8),
            width: u32_at(value, 12),
            first: u32_at(value, 16),
            last: u32_at(value, 20),
            norm_max: f32::from_bits(u32_at(value, 36)),
            model: value[48..80].try_into().unwrap_or([0; 32]),
            sum: u64_at(value, 80),
            languages: u64_at(value, 88),
        };
        Ok(header)
    }
}

/// Compares a block with its checksum. Its header must have been read before.
pub fn verify(value: &[u8]) -> Result<()> {
    let covered = usize::try_from(u64_at(value, 40)).unwrap_or(usize::MAX);
    if covered < HEADER_BYTES || covered > value.len() || checksum(value, covered) != u32_at(value, 32) {
        return Err(ShardError::corrupt("A block does not match its checksum."));
    }
    Ok(())
}

fn checksum(value: &[u8], covered: usize) -> u32 {
    let head = crc32c::crc32c(&value[..32]);
    let head = crc32c::crc32c_append(head, &[0; 4]);
    crc32c::crc32c_append(head, &value[36..covered])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut value = Header::reserve(10);
        value.extend([7; 10]);
        Header::new(Kind::Words, &[3, 9], 4).seal(&mut value, 10);
        value
    }

    #[test]
    fn a_sealed_block_is_read_back_and_verified() {
        let value = sample();
        let header = Header::read(&value, Kind::Words).unwrap();
        assert_eq!((header.rows, header.width, header.first, header.last), (2, 4, 3, 9));
        verify(&value).unwrap();
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let value = sample();
        for bit in 0..value.len() * 8 {
            let mut damaged = value.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let outcome = Header::read(&damaged, Kind::Words).and_then(|_| verify(&damaged));
            assert_eq!(outcome.unwrap_err().code, "shard_corrupt", "bit {bit}");
        }
        for length in 0..value.len() {
            assert!(Header::read(&value[..length], Kind::Words).is_err());
        }
    }
}
