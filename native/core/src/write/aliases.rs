//! Further names of Items: those under which the same bytes were sent again. An Item is found by each of them.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::input::{ItemRecord, ItemState};
use super::segments::segments_of;
use super::transaction::Transaction;
use crate::error::{Result, ShardError};
use crate::store::records::{Family, unsealed};
use crate::store::titles::Titles;
use crate::terms::language::Language;
use crate::words::build::analyse;
use crate::words::postings::PostingsView;

/// Names of an Item beside its first one.
const ALIASES_MAX: usize = 16;
/// In a record: the number of the Segment's head.
const HEAD_BYTES: usize = 4;

impl<'s: 't, 't> Transaction<'s, 't> {
    /// Adds a name to an Item. False if there is no such Item, it has failed, or it has too many names.
    pub fn add_alias(&mut self, id: &str, name: &str) -> Result<bool> {
        let Some(mut record) = self.fields_of(id)? else { return Ok(false) };
        if record.get("name").and_then(Value::as_str) == Some(name) {
            return Ok(true);
        }
        let mut names = aliases_of(&record);
        if names.iter().any(|known| known == name) {
            return Ok(true);
        }
        names.push(name.to_owned());
        record.insert("aliases".into(), json!(names));
        let item = ItemRecord::parse(&Value::Object(record).to_string())?;
        if item.state == ItemState::Failed || names.len() > ALIASES_MAX {
            return Ok(false);
        }
        self.put_item(&item)?;
        self.index_names(id)?;
        Ok(true)
    }

    /// An Item's record with the names that were added to it since it was read.
    pub(super) fn with_aliases(&self, item: &ItemRecord) -> Result<ItemRecord> {
        let names = self.fields_of(&item.id)?.map(|record| aliases_of(&record)).unwrap_or_default();
        if names.is_empty() {
            return Ok(item.clone());
        }
        let mut record: Map<String, Value> = serde_json::from_slice(&item.json).map_err(|_| damaged())?;
        record.insert("aliases".into(), json!(names));
        ItemRecord::parse(&Value::Object(record).to_string())
    }

    /// Indexes the words of an Item's first Segment anew if the Item has aliases: they are among these words.
    pub(super) fn index_names(&mut self, id: &str) -> Result<()> {
        let Some(entry) = self.store.entry(&self.txn, id)?.filter(|entry| entry.count > 0) else { return Ok(()) };
        let Some(record) = self.record_of(id)? else { return Ok(()) };
        let fields: Map<String, Value> = serde_json::from_slice(&record).map_err(|_| damaged())?;
        if aliases_of(&fields).is_empty() {
            return Ok(());
        }
        // A block's Segments ascend, and this one may be lower than those that wait.
        self.flush()?;
        let item = std::str::from_utf8(&record).map_err(|_| damaged())?;
        let Some(text) = self.text_with_names(entry.first, item)? else { return Ok(()) };
        let Some(language) = self.bury_words(entry.first)? else { return Ok(()) };
        self.put_words(entry.first, analyse(&text, language, &mut HashMap::new()));
        self.flush()
    }

    fn fields_of(&self, id: &str) -> Result<Option<Map<String, Value>>> {
        let Some(record) = self.record_of(id)? else { return Ok(None) };
        serde_json::from_slice(&record).map(Some).map_err(|_| damaged())
    }

    /// The words of an Item's first Segment, given the Item's record.
    fn text_with_names(&self, first: u32, item: &str) -> Result<Option<String>> {
        let Some(value) = self.store.databases.segments.get(&self.txn, &first)? else { return Ok(None) };
        let record = unsealed(&first.to_be_bytes(), value)?.get(HEAD_BYTES..).ok_or_else(damaged)?;
        let record = std::str::from_utf8(record).map_err(|_| damaged())?;
        Titles::default().with_text(first, record, |_| true, |_| Ok(Some((item, first))))
    }

    /// Takes a Segment's words away. Their language; None if it has no words.
    fn bury_words(&mut self, segment: u32) -> Result<Option<Language>> {
        let mut language = None;
        for (key, dead) in self.touched(segment, segment)? {
            if key.family != Family::WORDS {
                continue;
            }
            let value = self.store.databases.blocks.get(&self.txn, &key.bytes())?.unwrap_or_default();
            let view = PostingsView::read(value)?;
            let (_, segments) = segments_of(key.family, value)?;
            language = Some(view.language(segments.lower_bound(segment) as u32));
            self.bury(key, dead)?;
        }
        Ok(language)
    }
}

fn aliases_of(record: &Map<String, Value>) -> Vec<String> {
    let names = record.get("aliases").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn damaged() -> ShardError {
    ShardError::corrupt("An item's record is damaged.")
}
