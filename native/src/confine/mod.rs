mod calls;
pub mod confinement;
mod files;
#[cfg(test)]
mod tests;
mod threads;
