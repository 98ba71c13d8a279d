//! The formats of blocks: immutable rows of one family, as they lie in the map.

pub mod bits;
pub mod block;
pub mod columns;
pub mod dead;
pub mod pictures;
pub mod rotation;
pub mod rows_within;
pub mod varint;
pub mod vectors;
