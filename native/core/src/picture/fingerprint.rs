//! The perceptual fingerprint of a picture: which of two neighbouring cells of a coarse grid is brighter (a "difference
//! hash", N. Krawetz 2013, "Kind of Like That"). Scaling, JPEG, blur and small overlays change few bits.

/// Differences along a side: 8 × 8 across and 8 × 8 downwards.
const CELLS: usize = 8;
/// Bytes of a fingerprint: 64 bits across, then 64 bits downwards.
pub const FINGERPRINT_BYTES: usize = 2 * CELLS * CELLS / 8;
/// Most differing bits of near copies. Among 18 photographs a copy (up to eight times smaller, JPEG 30, blurred,
/// brighter or darker, grey, an overlay in a corner) differed in at most 12 of the 128 bits, another photograph in at
/// least 37. Crops and mirror images (38 and more) are not near.
pub const NEAR_BITS_MAX: u32 = 20;

/// Fingerprint of a grey picture of `width * height` bytes, row by row. Both sides must have at least 16 pixels.
///
/// The fingerprint of a picture without contrast is all zeros: see [`is_blank`].
pub fn picture_fingerprint(grey: &[u8], width: usize, height: usize) -> Result<[u8; FINGERPRINT_BYTES], String> {
    if width < 2 * CELLS || height < 2 * CELLS {
        return Err(format!("a picture of {width} × {height} pixels is too small for a fingerprint"));
    }
    if width.checked_mul(height) != Some(grey.len()) {
        return Err(format!("{} bytes are no grey picture of {width} × {height} pixels", grey.len()));
    }
    let mut bytes = [0; FINGERPRINT_BYTES];
    let across = cells(grey, width, height, CELLS + 1, CELLS);
    let down = cells(grey, width, height, CELLS, CELLS + 1);
    for row in 0..CELLS {
        for column in 0..CELLS {
            let at = row * CELLS + column;
            let left = row * (CELLS + 1) + column;
            set(&mut bytes, at, brighter(across[left + 1], across[left]));
            set(&mut bytes, CELLS * CELLS + at, brighter(down[at + CELLS], down[at]));
        }
    }
    Ok(bytes)
}

/// Whether no cell of the picture is brighter than its neighbour. Such a picture resembles nothing.
pub fn is_blank(fingerprint: &[u8]) -> bool {
    fingerprint.iter().all(|byte| *byte == 0)
}

/// Number of differing bits. `None` if the fingerprints are of different kinds.
pub fn differing_bits(left: &[u8], right: &[u8]) -> Option<u32> {
    (left.len() == right.len()).then(|| left.iter().zip(right).map(|(left, right)| (left ^ right).count_ones()).sum())
}

/// Grey levels by which a cell must be brighter. Compression alone adds less to a plain surface.
const CONTRAST_MIN: f32 = 0.5;

fn brighter(cell: f32, neighbour: f32) -> bool {
    cell - neighbour > CONTRAST_MIN
}

fn set(bytes: &mut [u8], bit: usize, value: bool) {
    bytes[bit / 8] |= u8::from(value) << (bit % 8);
}

/// Mean grey of each cell of a grid. A pixel between cells counts for each by its share in it.
fn cells(grey: &[u8], width: usize, height: usize, columns: usize, rows: usize) -> Vec<f32> {
    let across = shares(width, columns);
    let down = shares(height, rows);
    let mut means = vec![0f32; columns * rows];
    let mut line = vec![0f32; columns];
    for (pixels, shares_down) in grey.chunks_exact(width).zip(&down) {
        line.fill(0.0);
        for (&pixel, shares_across) in pixels.iter().zip(&across) {
            for &(column, share) in shares_across {
                line[column] += share * f32::from(pixel);
            }
        }
        for &(row, share) in shares_down {
            for (mean, value) in means[row * columns..(row + 1) * columns].iter_mut().zip(&line) {
                *mean += share * value;
            }
        }
    }
    means
}

/// For each pixel of a side, the cells that it lies in, each with its share of the cell. The shares of a cell sum to 1.
fn shares(pixels: usize, cells: usize) -> Vec<Vec<(usize, f32)>> {
    let size = pixels as f64 / cells as f64;
    let cell_shares = |pixel: usize| {
        let (start, end) = (pixel as f64, pixel as f64 + 1.0);
        let first = (start / size) as usize;
        let last = ((end / size).ceil() as usize).min(cells);
        (first..last)
            .map(|cell| {
                let overlap = end.min((cell + 1) as f64 * size) - start.max(cell as f64 * size);
                (cell, (overlap.max(0.0) / size) as f32)
            })
            .collect()
    };
    (0..pixels).map(cell_shares).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waves(width: usize, height: usize, phase: f32) -> Vec<u8> {
        let pixel = |x: usize, y: usize| {
            let (x, y) = ((x as f32 + 0.5) / width as f32, (y as f32 + 0.5) / height as f32);
            (128.0 + 60.0 * (9.0 * x + phase).sin() + 50.0 * (7.0 * y + 3.0 * x + phase * 2.0).cos()) as u8
        };
        (0..width * height).map(|at| pixel(at % width, at / width)).collect()
    }

    #[test]
    fn the_same_picture_in_another_size_is_near_and_another_picture_is_far() {
        let original = picture_fingerprint(&waves(256, 192, 0.0), 256, 192).unwrap();
        let smaller = picture_fingerprint(&waves(61, 47, 0.0), 61, 47).unwrap();
        let other = picture_fingerprint(&waves(256, 192, 2.0), 256, 192).unwrap();
        assert!(differing_bits(&original, &smaller).unwrap() <= NEAR_BITS_MAX / 2);
        assert!(differing_bits(&original, &other).unwrap() > NEAR_BITS_MAX);
    }

    #[test]
    fn a_plain_picture_is_blank() {
        assert!(is_blank(&picture_fingerprint(&[200; 64 * 64], 64, 64).unwrap()));
        assert!(!is_blank(&picture_fingerprint(&waves(64, 64, 1.0), 64, 64).unwrap()));
    }

    #[test]
    fn the_shares_of_every_cell_sum_to_one() {
        for (pixels, cells) in [(16, 8), (17, 9), (64, 9), (255, 8)] {
            let mut sums = vec![0f32; cells];
            for (cell, share) in shares(pixels, cells).into_iter().flatten() {
                sums[cell] += share;
            }
            assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-4), "{pixels} {cells} {sums:?}");
        }
    }

    #[test]
    fn wrong_sizes_are_errors() {
        assert!(picture_fingerprint(&[0; 100], 10, 10).is_err());
        assert!(picture_fingerprint(&[0; 100], 64, 64).is_err());
        assert!(picture_fingerprint(&[0; 100], usize::MAX, 64).is_err());
    }
}
