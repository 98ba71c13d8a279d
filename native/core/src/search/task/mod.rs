//! One search of one snapshot, from what is asked to the answer, and where it runs.

pub mod inputs;
pub mod pending;
pub mod run;
#[cfg(test)]
mod tests;
