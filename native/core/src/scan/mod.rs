//! Reading the rows of vector spaces.

#[cfg(test)]
pub mod bits_tests;
pub mod candidates;
#[cfg(test)]
mod candidates_tests;
pub mod rating;
pub mod row_blocks;
pub mod vector_search;
