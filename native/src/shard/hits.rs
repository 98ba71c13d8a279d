//! The hits of a search as one JSON text. Of stored records only the names of members are parsed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::snapshot::Snapshot;
use crate::error::{Result, ShardError};
use crate::text::snippet::QueryWords;

/// Room for a hit: an Item, a snippet and what else is stored.
const HIT_BYTES: usize = 1200;

/// What the fusion says of a hit.
#[derive(Debug, Clone, Copy)]
pub struct FusedHit<'a> {
    pub segment: u32,
    /// Members of a JSON object that stand before and after what is stored: `"score":1.5,"family":"raw"`.
    pub before: &'a str,
    pub after: &'a str,
}

/// The hits as a JSON array, and how many there are: those without a Segment or an Item are left out.
#[derive(Debug, PartialEq, Eq)]
pub struct WrittenHits {
    pub json: String,
    pub count: u32,
}

/// The members of a JSON object, as they are written.
type Members<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// A Segment's record. All members but the text, the Item's id and the place stay as they are written.
struct Record<'a> {
    item: Cow<'a, str>,
    text: Option<Cow<'a, str>>,
    others: Members<'a>,
}

/// Writes hits in their order. In place of a record's `text` stand `snippet` and `highlights`, for the words of `query`.
/// `expires_at`: when the Items end, if that is not what is stored.
pub fn hits(
    snapshot: &Snapshot,
    fused: &[FusedHit<'_>],
    query: Option<&str>,
    expires_at: Option<&str>,
) -> Result<WrittenHits> {
    let words = query.map(|query| words_of(snapshot, query)).transpose()?.unwrap_or_default();
    let mut written = WrittenHits { json: String::with_capacity(2 + HIT_BYTES * fused.len()), count: 0 };
    let mut items: HashMap<String, Option<String>> = HashMap::new();
    written.json.push('[');
    for FusedHit { segment, before, after } in fused {
        let Some(json) = snapshot.record(*segment)? else { continue };
        let record: Record = serde_json::from_str(json).map_err(|_| damaged())?;
        if !items.contains_key(&*record.item) {
            let item = snapshot.item(&record.item)?.map(|item| ending(item, expires_at)).transpose()?;
            items.insert(record.item.to_string(), item);
        }
        let Some(Some(item)) = items.get(&*record.item) else { continue };
        let out = &mut written.json;
        if written.count > 0 {
            out.push(',');
        }
        out.push_str("{\"item\":");
        out.push_str(item);
        push_members(out, before);
        push_record(out, &record, &words)?;
        push_members(out, after);
        out.push('}');
        written.count += 1;
    }
    written.json.push(']');
    Ok(written)
}

fn words_of(snapshot: &Snapshot, query: &str) -> Result<QueryWords> {
    let language = snapshot.language_of(query)?;
    Ok(QueryWords::new(query, |word| language.is_stop_word(word)))
}

/// An Item with another end.
fn ending<'a>(item: &'a str, expires_at: Option<&str>) -> Result<String> {
    let Some(expires_at) = expires_at else { return Ok(item.to_owned()) };
    let mut members = serde_json::from_str::<Object<'a>>(item).map_err(|_| damaged())?.0;
    let end = serde_json::value::to_raw_value(expires_at).map_err(|_| damaged())?;
    match members.iter_mut().find(|(name, _)| name == "expires_at") {
        Some(member) => member.1 = &end,
        None => members.push((Cow::Borrowed("expires_at"), &end)),
    }
    let mut out = String::with_capacity(item.len() + 64);
    for (name, value) in &members {
        out.push(if out.is_empty() { '{' } else { ',' });
        push_string(&mut out, name)?;
        out.push(':');
        out.push_str(value.get());
    }
    out.push('}');
    Ok(out)
}

fn push_members(out: &mut String, members: &str) {
    if !members.is_empty() {
        out.push(',');
        out.push_str(members);
    }
}

/// The members of a record, each after a comma. Text without a source comes from the file itself: `native`.
fn push_record(out: &mut String, Record { text, others, .. }: &Record<'_>, words: &QueryWords) -> Result<()> {
    if let Some(text) = text {
        let snippet = words.snippet(text);
        out.push_str(",\"snippet\":");
        push_string(out, &snippet.text)?;
        out.push_str(",\"highlights\":");
        out.push_str(&serde_json::to_string(&snippet.highlights).map_err(|_| damaged())?);
    }
    for (name, value) in others {
        out.push(',');
        push_string(out, name)?;
        out.push(':');
        out.push_str(value.get());
    }
    if text.is_some() && !others.iter().any(|(name, _)| name == "text_source") {
        out.push_str(",\"text_source\":\"native\"");
    }
    Ok(())
}

fn push_string(out: &mut String, text: &str) -> Result<()> {
    out.push_str(&serde_json::to_string(text).map_err(|_| damaged())?);
    Ok(())
}

fn damaged() -> ShardError {
    ShardError::corrupt("A segment's record is damaged.")
}

/// Any JSON object.
struct Object<'a>(Members<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> std::result::Result<Object<'de>, M::Error> {
                let mut members = Vec::with_capacity(16);
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Fields)
    }
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
                        "place" => drop(map.next_value::<&RawValue>()?),
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
