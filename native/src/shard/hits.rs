//! What the hits of a search show, as one JSON text: a single call for all of them, and nothing but what is shown.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::snapshot::Snapshot;
use crate::error::{Result, ShardError};
use crate::text::snippet::QueryWords;

/// A Segment's record. All fields but the text and the Item's id stay as they are written.
struct Record<'a> {
    item: Cow<'a, str>,
    text: Option<Cow<'a, str>>,
    others: Vec<(Cow<'a, str>, &'a RawValue)>,
}

/// The records of Segments and of their Items: `{"records": […], "items": […]}`. In a record, `item` is an index into
/// `items`, and `snippet` and `highlights` stand in place of `text`. A Segment or Item that does not exist is null.
pub fn hits(snapshot: &Snapshot, segments: &[u32], query: Option<&str>) -> Result<String> {
    let words = query.map(|query| words_of(snapshot, query)).transpose()?.unwrap_or_default();
    let mut records = String::from("{\"records\":[");
    let mut items = String::from("],\"items\":[");
    let mut known: HashMap<String, usize> = HashMap::new();
    for (at, segment) in segments.iter().enumerate() {
        if at > 0 {
            records.push(',');
        }
        let Some(json) = snapshot.record(*segment)? else {
            records.push_str("null");
            continue;
        };
        let record: Record = serde_json::from_str(json).map_err(|_| damaged())?;
        let next = known.len();
        let item = match known.get(&*record.item) {
            Some(item) => *item,
            None => {
                if next > 0 {
                    items.push(',');
                }
                items.push_str(snapshot.item(&record.item)?.unwrap_or("null"));
                known.insert(record.item.into_owned(), next);
                next
            }
        };
        push_record(&mut records, item, record.text.as_deref(), &record.others, &words)?;
    }
    records.push_str(&items);
    records.push_str("]}");
    Ok(records)
}

fn words_of(snapshot: &Snapshot, query: &str) -> Result<QueryWords> {
    let language = snapshot.language_of(query)?;
    Ok(QueryWords::new(query, |word| language.is_stop_word(word)))
}

fn push_record(
    out: &mut String,
    item: usize,
    text: Option<&str>,
    others: &[(Cow<'_, str>, &RawValue)],
    words: &QueryWords,
) -> Result<()> {
    out.push_str(&format!("{{\"item\":{item}"));
    if let Some(text) = text {
        let snippet = words.snippet(text);
        out.push_str(",\"snippet\":");
        out.push_str(&serde_json::to_string(&snippet.text).map_err(|_| damaged())?);
        out.push_str(",\"highlights\":");
        out.push_str(&serde_json::to_string(&snippet.highlights).map_err(|_| damaged())?);
    }
    for (name, value) in others {
        out.push(',');
        out.push_str(&serde_json::to_string(name).map_err(|_| damaged())?);
        out.push(':');
        out.push_str(value.get());
    }
    out.push('}');
    Ok(())
}

fn damaged() -> ShardError {
    ShardError::corrupt("A segment's record is damaged.")
}

impl<'de: 'a, 'a> Deserialize<'de> for Record<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Record<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a segment's record")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> std::result::Result<Record<'de>, M::Error> {
                let mut record = Record { item: Cow::Borrowed(""), text: None, others: Vec::with_capacity(4) };
                while let Some(Name(name)) = map.next_key()? {
                    match &*name {
                        "item" => record.item = map.next_value::<Name>()?.0,
                        "text" => record.text = map.next_value::<Option<Name>>()?.map(|text| text.0),
                        _ => record.others.push((name, map.next_value()?)),
                    }
                }
                Ok(record)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// A JSON string, borrowed if it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
