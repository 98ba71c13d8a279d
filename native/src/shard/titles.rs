//! The words of Segments as they were indexed: those of their Item's title, and their own.

use std::collections::HashMap;

use serde::Deserialize;

use super::snapshot::Snapshot;
use crate::error::Result;

#[derive(Deserialize)]
struct Passage {
    item: String,
    text: Option<String>,
}

#[derive(Deserialize)]
struct Titled {
    title: Option<String>,
}

/// Titles of Items, each read once.
#[derive(Default)]
pub struct Titles {
    known: HashMap<String, Option<String>>,
}

impl Titles {
    /// The title of a Segment's Item and its own text. None if it has no text.
    pub fn with_text(&mut self, snapshot: &Snapshot, segment: u32) -> Result<Option<String>> {
        let Some(record) = snapshot.record(segment)? else { return Ok(None) };
        let Ok(Passage { item, text: Some(text) }) = serde_json::from_str::<Passage>(record) else { return Ok(None) };
        if !self.known.contains_key(&item) {
            let title = snapshot.item(&item)?.and_then(|record| serde_json::from_str::<Titled>(record).ok()?.title);
            self.known.insert(item.clone(), title);
        }
        let title = self.known[&item].as_deref();
        Ok(Some(title.map_or_else(|| text.clone(), |title| format!("{title}\n{text}"))))
    }
}
