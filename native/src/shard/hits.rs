//! What the hits of a search show, as one JSON text: a crossing for all of them, and nothing crosses that is not shown.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{Result, ShardError};
use crate::shard::snapshot::Snapshot;
use crate::text::snippet::AskedWords;

/// A Segment's record, each field but the text and the Item's id as it is written.
struct Record<'a> {
    item: Cow<'a, str>,
    text: Option<Cow<'a, str>>,
    others: Vec<(Cow<'a, str>, &'a RawValue)>,
}

/// The records of Segments and of their Items: `{"records": […], "items": […]}`. A record has `item` as an index into `items`,
/// and `snippet` and `highlights` in the place of its `text`; null for a Segment that is not there, and for such an Item.
pub fn hits(snapshot: &Snapshot, segments: &[u32], query: Option<&str>) -> Result<String> {
    let asked = query.map(AskedWords::new).unwrap_or_default();
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
        push_record(&mut records, item, record.text.as_deref(), &record.others, &asked)?;
    }
    records.push_str(&items);
    records.push_str("]}");
    Ok(records)
}

fn push_record(
    out: &mut String,
    item: usize,
    text: Option<&str>,
    others: &[(Cow<'_, str>, &RawValue)],
    asked: &AskedWords,
) -> Result<()> {
    out.push_str(&format!("{{\"item\":{item}"));
    if let Some(text) = text {
        let snippet = asked.snippet(text);
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

/// A text that is borrowed where it holds no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
