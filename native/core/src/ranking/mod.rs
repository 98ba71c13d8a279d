//! What every ranked list has in common: how it is asked for, and the best k of it.

pub mod options;
pub mod place;
pub mod rating;
pub mod top_k;
pub mod within;
