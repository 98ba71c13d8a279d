//! Which Items a search may find: conditions on what is known of each, and the Segments of those that meet them.
//!
//! `known_items` keeps what filters ask of every Item in columns, so that a condition costs what it matches and not what the
//! index holds. It is made at the first filtered search, and each commit adds to it.

mod dates;
pub mod expression;
pub mod facts;
pub mod glob;
pub mod item_set;
pub mod known_items;
pub mod order;
pub mod table;
