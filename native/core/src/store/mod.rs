//! The LMDB environment of an index: its databases, records and spaces, and what is known of them while it is open.

pub mod checked;
pub mod databases;
pub mod keys;
pub mod known_places;
pub mod methods;
pub mod neighbours;
pub mod open_store;
pub mod records;
pub mod spaces;
pub mod structure;
pub mod titles;
