//! Data derived from an index in the background. Writers and readers never wait for it: it is computed on threads for
//! this alone, from snapshots, and put into the index by an ordinary write.

pub mod bits;

#[cfg(feature = "graph")]
use crate::graph::build;
use crate::threads::derive_pool::Kind;
use crate::write::write_queue::Derivation;

/// All that is derived.
pub const DERIVATIONS: &[Derivation] = &[
    (Kind::Bits, bits::derive),
    #[cfg(feature = "graph")]
    (Kind::Graphs, build::derive),
];
