//! The facts of one Item that filters test.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{Result, ShardError};

/// A value of an Item's metadata. Values of two kinds are never equal, and none is in another's range.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Value {
    Flag(bool),
    Number(f64),
    Text(Box<str>),
}

impl Value {
    /// Whether two values are of one kind.
    pub fn is_like(&self, other: &Self) -> bool {
        self.kind() == other.kind()
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Flag(_) => 0,
            Self::Number(_) => 1,
            Self::Text(_) => 2,
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Flag(one), Self::Flag(two)) => one.cmp(two),
            // -0 is 0.
            (Self::Number(one), Self::Number(two)) => (one + 0.0).total_cmp(&(two + 0.0)),
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            _ => self.kind().cmp(&other.kind()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

/// The fields that are read of an Item's record.
#[derive(Debug, Clone, Deserialize)]
pub struct ItemFacts {
    pub id: Box<str>,
    #[serde(default)]
    pub name: Box<str>,
    /// Further names.
    #[serde(default)]
    pub aliases: Vec<Box<str>>,
    /// In the archive that it came in.
    pub path: Option<Box<str>>,
    #[serde(default)]
    pub media_type: Box<str>,
    /// RFC 3339, in UTC with milliseconds: the order of texts is that of time.
    #[serde(default)]
    pub created_at: Box<str>,
    pub key: Option<Box<str>>,
    pub parent_item_id: Option<Box<str>>,
    /// Files inside it.
    pub members: Option<u64>,
    #[serde(default)]
    pub metadata: BTreeMap<Box<str>, Value>,
}

impl ItemFacts {
    pub fn parse(json: &[u8]) -> Result<Self> {
        serde_json::from_slice(json).map_err(|_| ShardError::corrupt("An item's record is damaged."))
    }
}
