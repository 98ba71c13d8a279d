//! Tile registers in memory, as the manual describes their instructions: the packing and the order of AMX are tested on
//! machines without it.

use super::amx::{TILE_BYTES, TILE_ROWS, Tiles, Unit};
use super::tile::QUAD;

#[derive(Clone, Copy)]
pub struct EmulatedUnit;

type Row = [u8; TILE_BYTES];

pub struct EmulatedTiles([[Row; TILE_ROWS]; 8]);

impl Unit for EmulatedUnit {
    type Tiles = EmulatedTiles;
    type Ready = ();

    fn ready(self) {}

    fn tiles(self) -> EmulatedTiles {
        // Not zero, so that a register which is not cleared is found.
        EmulatedTiles([[[0x5a; TILE_BYTES]; TILE_ROWS]; 8])
    }
}

impl Tiles for EmulatedTiles {
    unsafe fn zero<const TILE: usize>(&mut self) {
        self.0[TILE] = [[0; TILE_BYTES]; TILE_ROWS];
    }

    unsafe fn load<const TILE: usize>(&mut self, from: *const u8, stride: usize) {
        for (row, to) in self.0[TILE].iter_mut().enumerate() {
            // Safety: the caller's.
            *to = unsafe { from.add(row * stride).cast::<Row>().read_unaligned() };
        }
    }

    unsafe fn multiply<const SIGNED_ROWS: bool, const SUMS: usize, const ROWS: usize, const COLUMNS: usize>(&mut self) {
        let (rows, columns) = (self.0[ROWS], self.0[COLUMNS]);
        for (sums, row) in self.0[SUMS].iter_mut().zip(rows) {
            for (quad, line) in row.as_chunks::<QUAD>().0.iter().zip(columns) {
                for (sum, weights) in sums.as_chunks_mut::<QUAD>().0.iter_mut().zip(line.as_chunks::<QUAD>().0) {
                    let product = |at: usize| {
                        let byte = if SIGNED_ROWS { i32::from(quad[at] as i8) } else { i32::from(quad[at]) };
                        byte * i32::from(weights[at] as i8)
                    };
                    let added = product(0) + product(1) + product(2) + product(3);
                    *sum = i32::from_le_bytes(*sum).wrapping_add(added).to_le_bytes();
                }
            }
        }
    }

    unsafe fn store<const TILE: usize>(&mut self, to: *mut i32, stride: usize) {
        for (row, from) in self.0[TILE].iter().enumerate() {
            // Safety: the caller's.
            unsafe { to.byte_add(row * stride).cast::<Row>().write_unaligned(*from) };
        }
    }
}
