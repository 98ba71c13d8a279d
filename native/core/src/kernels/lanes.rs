//! The order in which every kernel adds up an f32 dot product.

/// Lanes of the f32 dot product.
pub const LANES: usize = 32;

/// The last step of every f32 kernel: the elements after the last whole group of lanes, then the tree of additions.
#[inline(always)]
pub(super) fn finish_f32(
    mut lanes: [f32; LANES],
    query: &[f32],
    row: &[u8],
    from: usize,
    fused: impl Fn(f32, f32, f32) -> f32,
) -> f32 {
    for (lane, at) in lanes.iter_mut().zip(from..query.len()) {
        *lane = fused(query[at], f32_at(row, at), *lane);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for at in 0..width {
            lanes[at] += lanes[at + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[inline(always)]
pub(super) fn f32_at(row: &[u8], at: usize) -> f32 {
    f32::from_le_bytes([row[4 * at], row[4 * at + 1], row[4 * at + 2], row[4 * at + 3]])
}
