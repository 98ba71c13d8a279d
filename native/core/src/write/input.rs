//! Items and Segments as they come in. They are checked and analysed before a write transaction begins.

use std::collections::HashMap;

use serde::Deserialize;

use crate::blocks::pictures::{DIGEST_BYTES, FINGERPRINT_BYTES_MAX};
use crate::blocks::vectors::check_finite;
use crate::error::{Result, ShardError};
use crate::store::spaces::SpaceSpec;
use crate::terms::analysis::Terms;
use crate::terms::judgement::{Prior, language_of};
use crate::terms::language::Language;
use crate::words::build::{AnalysedText, analyse};

/// Longest id of an Item. LMDB's limit for keys is 511 bytes.
const ID_BYTES_MAX: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ItemState {
    Pending = 0,
    Searchable = 1,
    Failed = 2,
}

/// An Item's JSON, and the fields of it that the index uses.
#[derive(Debug, Clone)]
pub struct ItemRecord {
    pub json: Vec<u8>,
    pub id: String,
    pub sha256: [u8; 32],
    pub state: ItemState,
    pub bytes: u64,
    /// That its uploader gave it.
    pub key: Option<String>,
}

#[derive(Deserialize)]
struct ItemFields {
    id: String,
    sha256: String,
    state: String,
    bytes: u64,
    key: Option<String>,
}

impl ItemRecord {
    pub fn parse(json: &str) -> Result<Self> {
        let fields: ItemFields = serde_json::from_str(json)
            .map_err(|error| ShardError::internal(format!("An item record cannot be read: {error}.")))?;
        if fields.id.is_empty() || fields.id.len() > ID_BYTES_MAX {
            return Err(ShardError::internal("An item id is empty or too long."));
        }
        let state = match fields.state.as_str() {
            "pending" => ItemState::Pending,
            "searchable" => ItemState::Searchable,
            "failed" => ItemState::Failed,
            other => return Err(ShardError::internal(format!("{other} is no state of an item."))),
        };
        let sha256 = digest_of_hex(&fields.sha256)
            .ok_or_else(|| ShardError::internal("An item's sha256 is not 64 hexadecimal digits."))?;
        Ok(Self { json: json.as_bytes().to_vec(), id: fields.id, sha256, state, bytes: fields.bytes, key: fields.key })
    }
}

/// The bytes of 64 hexadecimal digits.
pub fn digest_of_hex(hex: &str) -> Option<[u8; 32]> {
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

/// A Segment as the caller gives it.
#[derive(Debug, Clone, Default)]
pub struct SegmentInput {
    /// JSON, stored unchanged.
    pub record: String,
    pub place: u32,
    pub words: Option<String>,
    pub picture: Option<PictureInput>,
    /// Index of the space among the Shard's, and the vector.
    pub vectors: Vec<(usize, Vec<f32>)>,
}

#[derive(Debug, Clone)]
pub struct PictureInput {
    pub digest: [u8; DIGEST_BYTES],
    pub fingerprint: Vec<u8>,
}

impl SegmentInput {
    /// Refuses what must not get into the index. Nothing is written before all Segments of an Item have passed.
    pub fn check(&self, spaces: &[SpaceSpec]) -> Result<()> {
        for (space, vector) in &self.vectors {
            let spec =
                spaces.get(*space).ok_or_else(|| ShardError::internal("A vector belongs to no space of the index."))?;
            if vector.len() != spec.dimensions {
                return Err(ShardError::internal(format!(
                    "A vector of {} has {} dimensions instead of {}.",
                    spec.name,
                    vector.len(),
                    spec.dimensions
                )));
            }
            check_finite(vector)?;
        }
        match &self.picture {
            Some(picture) if picture.fingerprint.len() > FINGERPRINT_BYTES_MAX => {
                Err(ShardError::internal(format!("A fingerprint has more than {FINGERPRINT_BYTES_MAX} bytes.")))
            }
            _ => Ok(()),
        }
    }
}

/// A Segment with its text analysed.
pub struct PreparedSegment {
    pub input: SegmentInput,
    pub words: Option<AnalysedText>,
}

/// Analyses the texts of an Item's Segments in their language, and adds them to what is known of the index.
pub fn prepare(segments: Vec<SegmentInput>, index: &mut Prior) -> Vec<PreparedSegment> {
    let item = language_of(segments.iter().filter_map(|segment| segment.words.as_deref()), index);
    let mut terms_of: HashMap<Language, Terms> = HashMap::new();
    let analysed = segments.into_iter().map(|mut input| {
        let words = input.words.take().map(|text| analyse(&text, item, &mut terms_of));
        PreparedSegment { input, words }
    });
    let prepared: Vec<PreparedSegment> = analysed.collect();
    for words in prepared.iter().filter_map(|segment| segment.words.as_ref()) {
        index.add(words.language, 1);
    }
    prepared
}
