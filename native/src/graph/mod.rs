pub mod build;
pub mod open_graph;
#[cfg(test)]
mod tests;
