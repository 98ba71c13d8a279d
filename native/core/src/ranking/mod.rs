//! Common parts of every ranked list: its options, its places, and the best k of it.

pub mod hit_group;
pub mod options;
pub mod rating;
pub mod segment_filter;
pub mod top_k;
