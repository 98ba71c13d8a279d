//! The hits of a search as one JSON text. Of stored records only the names of members are parsed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::extents::{Extent, HitText, Shown, extents};
use super::snapshot::Snapshot;
use crate::error::{Result, ShardError};
use crate::text::snippet::QueryWords;

/// Room for a hit: an Item, a snippet and what else is stored.
const HIT_BYTES: usize = 1200;

/// Facts about a hit besides those that are stored.
pub trait HitMembers {
    fn segment(&self) -> u32;
    /// Other Segments of the same place, that are shown with it.
    fn others(&self) -> &[u32] {
        &[]
    }
    /// Writes members of its JSON object, each after a comma, that stand before what is stored.
    fn push_before(&self, out: &mut Vec<u8>);
    /// The same for those that stand behind it.
    fn push_after(&self, out: &mut Vec<u8>);
}

/// A Segment without further members.
impl HitMembers for u32 {
    fn segment(&self) -> u32 {
        *self
    }

    fn push_before(&self, _: &mut Vec<u8>) {}

    fn push_after(&self, _: &mut Vec<u8>) {}
}

/// The hits as a JSON array in UTF-8, and how many there are: those without a Segment or an Item are left out.
#[derive(Debug, PartialEq, Eq)]
pub struct WrittenHits {
    pub json: Vec<u8>,
    pub count: u32,
    /// Some text had no room.
    pub truncated: bool,
}

/// The members of a JSON object, as they are written.
pub(super) type Members<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// A Segment's record. All members but the text, the Item's id and the place stay as they are written.
pub(super) struct Record<'a> {
    pub(super) item: Cow<'a, str>,
    pub(super) text: Option<Cow<'a, str>>,
    pub(super) others: Members<'a>,
}

/// Writes hits in their order. In place of a record's `text` stand `snippet`, `highlights` and `table`, for the words of `query`. `also`: other
/// passages of the place that no text holds.
/// `expires_at`: when the Items end, if that is not what is stored. `extent`: how much text they show besides; None: none.
pub fn hits(
    snapshot: &Snapshot,
    found: &[impl HitMembers],
    query: Option<&str>,
    expires_at: Option<&str>,
    extent: Option<Extent>,
) -> Result<WrittenHits> {
    let words = query.map(|query| words_of(snapshot, query)).transpose()?.unwrap_or_default();
    let mut items = Items::new(snapshot, expires_at)?;
    let segments = || found.iter().map(HitMembers::segment).collect::<Vec<u32>>();
    let texts = extent.map(|extent| extents(snapshot, &segments(), extent, &words)).transpose()?.unwrap_or_default();
    let mut out = Vec::with_capacity(2 + HIT_BYTES * found.len());
    let mut count = 0;
    out.push(b'[');
    for (at, hit) in found.iter().enumerate() {
        let shown = texts.shown.get(at);
        if shown == Some(&Shown::Not) {
            continue;
        }
        let Some(json) = snapshot.record(hit.segment())? else { continue };
        let Record { item, text, others } = serde_json::from_str(json).map_err(|_| damaged())?;
        let start = out.len();
        out.extend_from_slice(if count > 0 { b",{\"item\":" } else { b"{\"item\":" });
        if !items.push(&mut out, item)? {
            out.truncate(start);
            continue;
        }
        hit.push_before(&mut out);
        push_record(&mut out, text.as_deref(), &others, &words)?;
        if let Some(Shown::Text(text)) = shown {
            push_text(&mut out, text)?;
        }
        push_others(&mut out, snapshot, hit.others().iter().filter(|other| !texts.holds(**other)), &words)?;
        hit.push_after(&mut out);
        out.push(b'}');
        count += 1;
    }
    out.push(b']');
    Ok(WrittenHits { json: out, count, truncated: texts.truncated })
}

fn words_of(snapshot: &Snapshot, query: &str) -> Result<QueryWords> {
    let language = snapshot.language_of(query)?;
    Ok(QueryWords::new(query, |word| language.is_stop_word(word)))
}

/// The Items of hits. One that was written before is copied.
pub(super) struct Items<'a> {
    snapshot: &'a Snapshot,
    end: Option<Box<RawValue>>,
    written: HashMap<Cow<'a, str>, Option<Range<usize>>>,
}

impl<'a> Items<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, expires_at: Option<&str>) -> Result<Self> {
        let end = expires_at.map(serde_json::value::to_raw_value).transpose().map_err(|_| damaged())?;
        Ok(Self { snapshot, end, written: HashMap::new() })
    }

    /// Returns false, and writes nothing, if there is no such Item.
    pub(super) fn push(&mut self, out: &mut Vec<u8>, id: Cow<'a, str>) -> Result<bool> {
        if let Some(written) = self.written.get(&id) {
            out.extend_from_within(written.clone().unwrap_or_default());
            return Ok(written.is_some());
        }
        let start = out.len();
        let item = self.snapshot.item(&id)?;
        if let Some(item) = item {
            match &self.end {
                Some(end) => push_ending(out, item, end)?,
                None => out.extend_from_slice(item.as_bytes()),
            }
        }
        self.written.insert(id, item.map(|_| start..out.len()));
        Ok(item.is_some())
    }
}

/// An Item with another end.
fn push_ending(out: &mut Vec<u8>, item: &str, end: &RawValue) -> Result<()> {
    let Object(mut members) = serde_json::from_str(item).map_err(|_| damaged())?;
    match members.iter_mut().find(|(name, _)| name == "expires_at") {
        Some(member) => member.1 = end,
        None => members.push((Cow::Borrowed("expires_at"), end)),
    }
    for (at, (name, value)) in members.iter().enumerate() {
        out.push(if at == 0 { b'{' } else { b',' });
        push_member(out, name, value)?;
    }
    out.push(b'}');
    Ok(())
}

/// A record's snippet and members, each after a comma.
fn push_record(out: &mut Vec<u8>, text: Option<&str>, others: &Members<'_>, words: &QueryWords) -> Result<()> {
    if let Some(text) = text {
        let snippet = words.snippet(text);
        out.extend_from_slice(b",\"snippet\":");
        push_string(out, &snippet.text)?;
        out.extend_from_slice(b",\"highlights\":");
        push_json(out, &snippet.highlights)?;
        if let Some(row) = &snippet.row {
            out.extend_from_slice(b",\"table\":");
            push_json(out, row)?;
        }
    }
    push_stored(out, text.is_some(), others)
}

/// The members of a record, each after a comma. Text without a source comes from the file itself: `native`.
pub(super) fn push_stored(out: &mut Vec<u8>, has_text: bool, others: &Members<'_>) -> Result<()> {
    for (name, value) in others {
        out.push(b',');
        push_member(out, name, value)?;
    }
    if has_text && !others.iter().any(|(name, _)| name == "text_source") {
        out.extend_from_slice(b",\"text_source\":\"native\"");
    }
    Ok(())
}

/// Other passages, each with its members in braces. Those of which nothing is stored are left out.
fn push_others<'s>(
    out: &mut Vec<u8>,
    snapshot: &Snapshot,
    others: impl Iterator<Item = &'s u32>,
    words: &QueryWords,
) -> Result<()> {
    let mut count = 0;
    for segment in others {
        let Some(json) = snapshot.record(*segment)? else { continue };
        let Record { text, others, .. } = serde_json::from_str(json).map_err(|_| damaged())?;
        out.extend_from_slice(if count > 0 { b"," } else { b",\"also\":[" });
        let start = out.len();
        push_record(out, text.as_deref(), &others, words)?;
        // In place of the first member's comma.
        match out.get_mut(start) {
            Some(comma) => *comma = b'{',
            None => out.push(b'{'),
        }
        out.push(b'}');
        count += 1;
    }
    if count > 0 {
        out.push(b']');
    }
    Ok(())
}

fn push_text(out: &mut Vec<u8>, HitText { text, from, next }: &HitText) -> Result<()> {
    out.extend_from_slice(b",\"text\":");
    push_string(out, text)?;
    out.extend_from_slice(format!(",\"text_from\":{from},\"text_next\":{next}").as_bytes());
    Ok(())
}

fn push_member(out: &mut Vec<u8>, name: &str, value: &RawValue) -> Result<()> {
    push_string(out, name)?;
    out.push(b':');
    out.extend_from_slice(value.get().as_bytes());
    Ok(())
}

pub(super) fn push_string(out: &mut Vec<u8>, text: &str) -> Result<()> {
    let is_escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    // All bytes, not the first that is: so compilers look at many at once.
    if text.bytes().fold(false, |any, byte| any | is_escaped(byte)) {
        return push_json(out, text);
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
    Ok(())
}

pub(super) fn push_json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<()> {
    serde_json::to_writer(out, value).map_err(|_| damaged())
}

pub(super) fn damaged() -> ShardError {
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
