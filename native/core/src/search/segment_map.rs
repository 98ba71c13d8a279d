//! Maps by the numbers of segments. They come from the index, not from its users: a hash of one multiplication is enough.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub type SegmentMap<V> = HashMap<u32, V, BuildHasherDefault<SegmentHasher>>;
pub type SegmentSet = HashSet<u32, BuildHasherDefault<SegmentHasher>>;

#[derive(Default)]
pub struct SegmentHasher(u64);

impl Hasher for SegmentHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        // The tables take the upper and the lower bits.
        let mixed = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
