//! A graph for very large spaces. Only the table of search methods (`derive/methods.rs`) names this folder.

pub mod build;
pub mod open_graph;
#[cfg(test)]
mod tests;
