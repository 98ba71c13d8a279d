//! A filter, as the server passes it on: checked, bounded, and in one form.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::facts::Value;
use crate::error::{Result, ShardError};

/// Conditions that all hold. The server bounds their depth and number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// Ids. That of an archive or a mail stands for the files inside, too.
    pub items: Option<Vec<String>>,
    /// `application/pdf`, `image/*`.
    pub media_type: Option<Vec<String>>,
    /// Patterns of names; a file inside an archive is found by its path, too.
    pub name: Option<Vec<String>>,
    /// Patterns of the keys that uploaders gave.
    pub key: Option<Vec<String>>,
    /// At this time or later; before this time. RFC 3339 in UTC with milliseconds.
    pub created_after: Option<String>,
    pub created_before: Option<String>,
    pub metadata: BTreeMap<String, Condition>,
    pub and: Vec<Filter>,
    pub or: Option<Vec<Filter>>,
    pub not: Option<Box<Filter>>,
}

/// Conditions on one field of the metadata: all must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    /// One of these.
    #[serde(rename = "in")]
    pub is_in: Option<Vec<Value>>,
    pub gt: Option<Value>,
    pub gte: Option<Value>,
    pub lt: Option<Value>,
    pub lte: Option<Value>,
    pub exists: Option<bool>,
}

impl Filter {
    pub fn from_json(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|error| ShardError::internal(format!("The filter of a search: {error}.")))
    }

    /// Whether ids stand in it: which Segments those name depends on the reader.
    pub fn names_ids(&self) -> bool {
        let inner = self.and.iter().chain(self.or.iter().flatten()).chain(self.not.as_deref());
        self.items.is_some() || inner.into_iter().any(Self::names_ids)
    }
}
