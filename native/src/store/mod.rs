pub mod checked;
pub mod databases;
pub mod methods;
pub mod open_store;
pub mod records;
pub mod spaces;
pub mod structure;
