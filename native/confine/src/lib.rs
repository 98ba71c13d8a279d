//! Confines a child process that reads strangers' files.

mod allowed;
mod calls;
#[cfg(test)]
mod calls_tests;
pub mod confinement;
mod files;
pub mod protection;
#[cfg(test)]
mod tests;
mod threads;
