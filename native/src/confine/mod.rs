//! Confines a child process that reads strangers' files.

mod calls;
pub mod confinement;
mod files;
pub mod protection;
#[cfg(test)]
mod tests;
mod threads;
