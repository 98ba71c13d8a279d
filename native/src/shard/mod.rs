//! A Tenant's index: one LMDB environment with Items, Segments and immutable blocks of vectors, postings and fingerprints.
//!
//! **Invariants.** A commit holds whole Items only, so a snapshot sees all Segments of an Item or none. Blocks are never
//! changed: an append adds some, a removal marks rows as dead, a merge replaces several by one. One process opens an
//! environment once, and one thread at a time writes to it; readers never wait.

pub mod bits;
#[cfg(test)]
mod bits_tests;
pub mod block;
pub mod checked;
pub mod copy;
pub mod databases;
pub mod derive;
pub mod error;
pub mod graph;
pub mod graph_build;
#[cfg(test)]
mod graph_tests;
pub mod hits;
pub mod input;
pub mod line;
pub mod merge;
pub mod methods;
pub mod opened;
pub mod pictures;
pub mod places;
pub mod question;
pub mod queue;
pub mod records;
pub mod rotation;
pub mod scan;
pub mod scan_threads;
pub mod sieve;
pub mod snapshot;
pub mod spaces;
pub mod store;
pub mod structure;
#[cfg(test)]
mod tests;
pub mod top;
pub mod vectors;
pub mod write;
pub mod write_threads;
pub mod writes;
