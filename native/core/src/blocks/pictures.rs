//! Blocks of pictures: the digest of each file and its perceptual fingerprint. A search scans all of them.

use crate::blocks::block::{self, HEADER_BYTES, Header, Kind};
use crate::blocks::columns::{Columns, U32Column, push_u32s};
use crate::blocks::dead::Dead;
use crate::blocks::rows_within::rows_within;
use crate::error::{Result, ShardError};
use crate::picture::fingerprint::{NEAR_BITS_MAX, differing_bits, is_blank};
use crate::ranking::segment_filter::SegmentFilter;
use crate::ranking::top_k::{Scored, TopK};

pub const DIGEST_BYTES: usize = 32;
/// Longest fingerprint that is kept.
pub const FINGERPRINT_BYTES_MAX: usize = 64;

/// A picture to be stored.
#[derive(Debug, Clone)]
pub struct PictureRow {
    pub segment: u32,
    pub digest: [u8; DIGEST_BYTES],
    pub fingerprint: Vec<u8>,
}

/// Makes a block. Fingerprints are padded to one width, and keep their own length, so that kinds never mix.
pub fn encode(rows: &[PictureRow]) -> Vec<u8> {
    let segments: Vec<u32> = rows.iter().map(|row| row.segment).collect();
    let width = rows.iter().map(|row| row.fingerprint.len()).max().unwrap_or(0);
    let body = rows.len() * (5 + DIGEST_BYTES + width);
    let mut value = Header::reserve(body);
    push_u32s(&mut value, segments.iter().copied());
    value.extend(rows.iter().flat_map(|row| row.digest));
    value.extend(rows.iter().map(|row| row.fingerprint.len() as u8));
    for row in rows {
        value.extend_from_slice(&row.fingerprint);
        value.resize(value.len() + width - row.fingerprint.len(), 0);
    }
    Header::new(Kind::Pictures, &segments, width).seal(&mut value, body);
    value
}

/// A block of pictures.
pub struct PicturesView<'a> {
    pub header: Header,
    pub segments: U32Column<'a>,
    digests: &'a [u8],
    lengths: &'a [u8],
    fingerprints: &'a [u8],
}

impl<'a> PicturesView<'a> {
    pub fn read(value: &'a [u8]) -> Result<Self> {
        let header = Header::read(value, Kind::Pictures)?;
        let (rows, width) = (header.rows as usize, header.width as usize);
        let mut columns = Columns(&value[HEADER_BYTES..]);
        let view = Self {
            header,
            segments: U32Column(columns.take(Some(4 * rows))?),
            digests: columns.take(Some(DIGEST_BYTES * rows))?,
            lengths: columns.take(Some(rows))?,
            fingerprints: columns.take(rows.checked_mul(width))?,
        };
        Ok(view)
    }

    fn digest(&self, row: usize) -> &'a [u8] {
        &self.digests[row * DIGEST_BYTES..(row + 1) * DIGEST_BYTES]
    }

    fn fingerprint(&self, row: usize) -> Result<&'a [u8]> {
        let (width, length) = (self.header.width as usize, usize::from(self.lengths[row]));
        if length > width {
            return Err(ShardError::corrupt("A fingerprint is longer than its block says."));
        }
        Ok(&self.fingerprints[row * width..row * width + length])
    }

    fn row(&self, row: usize) -> Result<PictureRow> {
        let digest = self.digest(row).try_into().map_err(|_| ShardError::corrupt("A digest is cut short."))?;
        Ok(PictureRow { segment: self.segments.get(row), digest, fingerprint: self.fingerprint(row)?.to_vec() })
    }

    /// Offers the pictures that come from the same file (score 1) or are nearly the same (1 − share of differing bits,
    /// below 1). Others are left out.
    /// `within`: the segments that may be found; None: all. Returns the number of rows that were looked at.
    pub fn search(
        &self,
        (digest, fingerprint): (&[u8], &[u8]),
        dead: Dead<'_>,
        within: Option<&SegmentFilter>,
        top_k: &mut TopK,
    ) -> Result<u64> {
        let all = || std::iter::once(0..self.header.rows as usize).collect();
        let stretches = within.map_or_else(all, |within| rows_within(&self.header, self.segments, within));
        let looked_at = stretches.iter().map(|rows| rows.len() as u64).sum();
        for row in stretches.into_iter().flatten().filter(|row| !dead.has(*row)) {
            let score =
                if self.digest(row) == digest { Some(1.0) } else { similarity(fingerprint, self.fingerprint(row)?) };
            if let Some(score) = score {
                top_k.offer(Scored { score, segment: self.segments.get(row) });
            }
        }
        Ok(looked_at)
    }
}

fn similarity(query: &[u8], fingerprint: &[u8]) -> Option<f32> {
    let differing = differing_bits(query, fingerprint).filter(|_| !is_blank(query) && !is_blank(fingerprint))?;
    let bits = 8 * query.len() as u32;
    let near = differing * 8 * crate::picture::fingerprint::FINGERPRINT_BYTES as u32 <= NEAR_BITS_MAX * bits;
    // Half a bit keeps another file with the same fingerprint below the same file.
    near.then(|| 1.0 - (differing as f32 + 0.5) / bits as f32)
}

/// Merges the living pictures of several blocks into one. `None` if none lives.
pub fn merge(sources: &[(&[u8], Dead<'_>)]) -> Result<Option<Vec<u8>>> {
    let mut rows = vec![];
    for (value, dead) in sources {
        let view = PicturesView::read(value)?;
        block::verify(value)?;
        for row in (0..view.header.rows as usize).filter(|row| !dead.has(*row)) {
            rows.push(view.row(row)?);
        }
    }
    rows.sort_unstable_by_key(|row| row.segment);
    Ok((!rows.is_empty()).then(|| encode(&rows)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(segment: u32, digest: u8, fingerprint: [u8; 16]) -> PictureRow {
        PictureRow { segment, digest: [digest; 32], fingerprint: fingerprint.to_vec() }
    }

    fn search(value: &[u8], digest: u8, fingerprint: [u8; 16]) -> Vec<(u32, f32)> {
        let mut top_k = TopK::new(10);
        PicturesView::read(value)
            .unwrap()
            .search((&[digest; 32], &fingerprint), Dead::default(), None, &mut top_k)
            .unwrap();
        top_k.into_sorted().iter().map(|hit| (hit.segment, hit.score)).collect()
    }

    #[test]
    fn the_same_file_is_first_then_near_copies_and_others_are_left_out() {
        let near = {
            let mut bits = [0xaa; 16];
            bits[0] ^= 0b111;
            bits
        };
        let value = encode(&[row(0, 1, near), row(1, 2, [0xaa; 16]), row(2, 3, [0x55; 16]), row(3, 9, [0x12; 16])]);
        let hits = search(&value, 9, [0xaa; 16]);
        assert_eq!(hits.iter().map(|hit| hit.0).collect::<Vec<_>>(), [3, 1, 0]);
        assert_eq!(hits[0].1, 1.0);
        assert!(hits[1].1 < 1.0 && hits[2].1 < hits[1].1);
    }

    #[test]
    fn blank_pictures_resemble_nothing_but_their_own_file() {
        let value = encode(&[row(0, 1, [0; 16]), row(1, 2, [0; 16])]);
        assert_eq!(search(&value, 2, [0; 16]), [(1, 1.0)]);
    }

    #[test]
    fn merged_blocks_hold_the_living_in_order() {
        let (left, right) = (encode(&[row(4, 1, [1; 16]), row(9, 2, [2; 16])]), encode(&[row(6, 3, [3; 16])]));
        let merged = merge(&[(&left, Dead(&[0b10])), (&right, Dead::default())]).unwrap().unwrap();
        assert_eq!(PicturesView::read(&merged).unwrap().segments.iter().collect::<Vec<_>>(), [4, 6]);
        assert_eq!(merge(&[(&left, Dead(&[0b11]))]).unwrap(), None);
    }
}
