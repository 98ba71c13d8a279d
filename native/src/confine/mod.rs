mod calls;
pub mod confinement;
mod files;
pub mod protection;
#[cfg(test)]
mod tests;
mod threads;
