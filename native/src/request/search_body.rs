//! Search bodies: a JSON object in which one member may be megabytes of base64. Splitting it here keeps the parsing,
//! decoding and digesting of a large picture away from the event loop.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

use crate::request::members::Budget;

const IMAGE_FIELD: &str = "image_b64";

/// A search body without its picture.
#[derive(Debug, PartialEq)]
pub struct SearchBody {
    /// The object as JSON, without `image_b64` if that was a string.
    pub json: String,
    pub image: Image,
}

#[derive(Debug, PartialEq)]
pub enum Image {
    Absent,
    /// A string that is not base64.
    Unreadable,
    Present {
        bytes: Vec<u8>,
        sha256: [u8; 32],
    },
}

#[derive(Debug, PartialEq)]
pub enum Split {
    /// No JSON object.
    Malformed,
    /// More than `json_bytes_max` beside the picture.
    TooLarge,
    Body(SearchBody),
}

/// Splits a UTF-8 JSON object into its picture and the rest, of at most `json_bytes_max`. Of repeated members the last one
/// counts, as in `JSON.parse`. An empty body is an empty object.
pub fn split_search_body(body: &[u8], json_bytes_max: usize) -> Split {
    let mut budget = Budget::of(json_bytes_max);
    match split(body, &mut budget) {
        Some(body) => Split::Body(body),
        None if budget.is_exceeded() => Split::TooLarge,
        None => Split::Malformed,
    }
}

fn split(body: &[u8], budget: &mut Budget) -> Option<SearchBody> {
    let text = std::str::from_utf8(body).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Some(SearchBody { json: "{}".into(), image: Image::Absent });
    }
    let is_picture = |name: &str, value: &RawValue| name == IMAGE_FIELD && value.get().starts_with('"');
    let mut members = budget.members(text, is_picture).ok()?;
    let image = match members.get(IMAGE_FIELD).and_then(|raw| serde_json::from_str::<Text>(raw.get()).ok()) {
        None => Image::Absent,
        Some(Text(encoded)) => {
            members.remove(IMAGE_FIELD);
            decode_image(&encoded)
        }
    };
    Some(SearchBody { json: serde_json::to_string(&members).ok()?, image })
}

/// A JSON string, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

fn decode_image(encoded: &str) -> Image {
    match decode_base64(encoded) {
        Some(bytes) if !bytes.is_empty() => {
            let sha256 = Sha256::digest(&bytes).into();
            Image::Present { bytes, sha256 }
        }
        _ => Image::Unreadable,
    }
}

/// Standard base64, with or without padding, with or without a `data:` prefix. `None` for anything else.
pub(crate) fn decode_base64(encoded: &str) -> Option<Vec<u8>> {
    let payload = match encoded.strip_prefix("data:") {
        Some(rest) => rest.split_once(";base64,")?.1,
        None => encoded,
    };
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&STANDARD, config).decode(payload.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON_BYTES_MAX: usize = 1000;

    fn split(text: &str) -> SearchBody {
        match split_search_body(text.as_bytes(), JSON_BYTES_MAX) {
            Split::Body(body) => body,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn beside_a_picture_of_any_size_there_are_so_many_bytes() {
        let picture = "A".repeat(1 << 20);
        let body = |rest: usize| format!(r#"{{"image_b64":"{picture}","k":"{}"}}"#, "x".repeat(rest));
        assert!(matches!(split(&body(900)).image, Image::Present { .. }));
        let members: String = (0..400).map(|index| format!(r#""{index}":0,"#)).collect();
        for too_large in [body(1100), format!(r#"{{{members}"k":1}}"#), format!(r#"{{"image_b64":["{picture}"]}}"#)] {
            assert_eq!(split_search_body(too_large.as_bytes(), JSON_BYTES_MAX), Split::TooLarge);
        }
    }

    #[test]
    fn the_picture_is_split_off_and_the_rest_stays_in_the_json() {
        let body = split(r#"{"query":"a \"b\"","image_b64":"aGk=","k":3}"#);
        assert_eq!(body.json, r#"{"k":3,"query":"a \"b\""}"#);
        let Image::Present { bytes, sha256 } = body.image else { panic!("no picture") };
        assert_eq!(bytes, b"hi");
        assert_eq!(sha256[..], Sha256::digest(b"hi")[..]);
    }

    #[test]
    fn padding_and_a_data_prefix_are_optional() {
        for encoded in ["aGk", "aGk=", "data:image/png;base64,aGk="] {
            assert!(
                matches!(split(&format!(r#"{{"image_b64":"{encoded}"}}"#)).image, Image::Present { .. }),
                "{encoded}"
            );
        }
    }

    #[test]
    fn invalid_base64_is_unreadable_and_other_types_stay_in_the_json() {
        assert_eq!(split(r#"{"image_b64":"%%%"}"#).image, Image::Unreadable);
        assert_eq!(split(r#"{"image_b64":""}"#).image, Image::Unreadable);
        assert_eq!(split(r#"{"image_b64":5}"#).json, r#"{"image_b64":5}"#);
        assert_eq!(split(r#"{"image_b64":null}"#).image, Image::Absent);
    }

    #[test]
    fn the_last_of_repeated_members_counts() {
        assert_eq!(split(r#"{"k":1,"k":2}"#).json, r#"{"k":2}"#);
    }

    #[test]
    fn only_objects_are_accepted() {
        for text in ["[]", "5", "{", "nul", "{}x", &"[".repeat(1_000_000), &"{\"a\":".repeat(1_000_000)] {
            assert_eq!(split_search_body(text.as_bytes(), JSON_BYTES_MAX), Split::Malformed);
        }
        assert_eq!(split_search_body(b"\xff{}", JSON_BYTES_MAX), Split::Malformed);
        assert_eq!(split("  ").json, "{}");
    }
}
