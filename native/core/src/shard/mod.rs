//! An open index of one Tenant: an LMDB environment with Items, Segments and immutable blocks of vectors, postings and
//! fingerprints.
//!
//! **Invariants.** A commit holds whole Items only, so a snapshot sees all Segments of an Item or none. Blocks are
//! never changed: an append adds some, a removal marks rows as dead, a merge replaces several by one. A process opens
//! an environment once, and one thread at a time writes to it. Readers never wait.

pub mod extents;
pub mod grep;
pub mod hits;
pub mod open_shard;
pub mod places;
pub mod query;
mod reads_items;
pub mod snapshot;
#[cfg(test)]
mod tests;
