//! Data derived from an index in the background. Writers and readers never wait for it: it is computed on a thread
//! for this alone, from a snapshot, and put into the index by an ordinary write.

pub mod bits;
