//! Takes JSON objects of strangers apart: a search, or a call of a tool, that may hold a picture or a file as a string of
//! megabytes. That is done here, away from the event loop, so that what is left for JavaScript to parse and to validate is small.

use crate::request::members::{Budget, Members};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

const PICTURE: &str = "image_b64";
const TEXT: &str = "text";
const CONTENT: &str = "content_b64";

/// Which object it is, and so which strings leave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A search: `image_b64`, decoded. No bytes are a search without members.
    Search,
    /// An MCP message: of `params.arguments`, `image_b64` as the JSON string that was sent, `text` in UTF-8, and `content_b64`,
    /// decoded.
    ToolCall,
}

/// Most bytes of a body beside its picture or file.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Names and values, as they were sent.
    pub bytes: usize,
    /// JSON values, at any depth.
    pub values: usize,
}

#[derive(Debug, PartialEq)]
pub enum Split {
    /// No JSON object.
    Malformed,
    TooLarge,
    Parts(Parts),
}

/// A body and, apart from it, its strings. An empty string stands in their places.
#[derive(Debug, Default, PartialEq)]
pub struct Parts {
    pub json: String,
    pub picture: Part,
    /// SHA-256 of a picture that was decoded.
    pub picture_sha256: Option<[u8; 32]>,
    pub text: Part,
    pub content: Part,
}

#[derive(Debug, Default, PartialEq)]
pub enum Part {
    #[default]
    Absent,
    /// A string that is no base64.
    Unreadable,
    Present(Vec<u8>),
}

/// Takes a UTF-8 JSON object apart. A repeated member counts once, with its last value, as in `JSON.parse`.
pub fn split_body(body: &[u8], limits: Limits, shape: Shape) -> Split {
    let Ok(text) = std::str::from_utf8(body) else { return Split::Malformed };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = if shape == Shape::Search && text.trim().is_empty() { "{}" } else { text };
    let mut budget = Budget::of(limits.bytes);
    match split(text, &mut budget, shape) {
        Err(_) if budget.is_exceeded() => Split::TooLarge,
        Err(_) => Split::Malformed,
        Ok(parts) if count_values(&parts.json) > limits.values => Split::TooLarge,
        Ok(parts) => Split::Parts(parts),
    }
}

fn split(text: &str, budget: &mut Budget, shape: Shape) -> serde_json::Result<Parts> {
    let mut parts = Parts::default();
    if shape == Shape::Search {
        parts.json = serde_json::to_string(&parts.take_from(text, budget, shape)?)?;
        return Ok(parts);
    }
    let (arguments, params);
    let mut message = budget.members(text, |name, value| name == "params" && is_object(value))?;
    if let Some(raw) = message.get("params").filter(|raw| is_object(raw)) {
        let mut call = budget.members(raw.get(), |name, value| name == "arguments" && is_object(value))?;
        if let Some(raw) = call.get("arguments").filter(|raw| is_object(raw)) {
            arguments = to_raw_value(&parts.take_from(raw.get(), budget, shape)?)?;
            call.insert("arguments".into(), &arguments);
        }
        params = to_raw_value(&call)?;
        message.insert("params".into(), &params);
    }
    parts.json = serde_json::to_string(&message)?;
    Ok(parts)
}

impl Parts {
    /// The members without those strings, which are kept.
    fn take_from<'a>(&mut self, object: &'a str, budget: &mut Budget, shape: Shape) -> serde_json::Result<Members<'a>> {
        let names = if shape == Shape::Search { &[PICTURE][..] } else { &[PICTURE, TEXT, CONTENT] };
        let is_apart = |name: &str, value: &RawValue| names.contains(&name) && value.get().starts_with('"');
        let mut members = budget.members(object, is_apart)?;
        for (name, value) in &mut members {
            if !is_apart(name, value) {
                continue;
            }
            match (name.as_ref(), shape) {
                (PICTURE, Shape::Search) => self.take_picture(&string_in(value)?),
                (PICTURE, Shape::ToolCall) => self.picture = Part::Present(value.get().into()),
                (TEXT, _) => {
                    let text = String::from_utf8_lossy(&string_in(value)?).into_owned();
                    self.text = Part::Present(text.into_bytes());
                }
                _ => self.content = decode_base64(&string_in(value)?).map_or(Part::Unreadable, Part::Present),
            }
            *value = serde_json::from_str("\"\"")?;
        }
        Ok(members)
    }

    fn take_picture(&mut self, encoded: &[u8]) {
        let decoded = decode_base64(encoded).filter(|bytes| !bytes.is_empty());
        self.picture_sha256 = decoded.as_deref().map(|bytes| Sha256::digest(bytes).into());
        self.picture = decoded.map_or(Part::Unreadable, Part::Present);
    }
}

/// A string's bytes. A lone half of a surrogate pair, which JSON can name, makes them no UTF-8.
fn string_in(value: &RawValue) -> serde_json::Result<Cow<'_, [u8]>> {
    #[derive(serde::Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, [u8]>);
    serde_json::from_str::<Text>(value.get()).map(|Text(bytes)| bytes)
}

/// Base64 in the standard or the URL's alphabet, in one line or in several, with or without padding, with or without a `data:`
/// prefix.
fn decode_base64(encoded: &[u8]) -> Option<Vec<u8>> {
    let encoded = std::str::from_utf8(encoded).ok()?;
    let payload = match encoded.strip_prefix("data:") {
        Some(rest) => rest.split_once(";base64,")?.1,
        None => encoded,
    };
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&STANDARD, config);
    engine.decode(payload.trim()).ok().or_else(|| {
        let letters = payload.bytes().filter(|byte| !byte.is_ascii_whitespace());
        let standard = letters.map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        });
        engine.decode(standard.collect::<Vec<u8>>()).ok()
    })
}

fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

/// How many values JSON text holds, from above: what begins one or parts it from the next, outside of strings.
fn count_values(json: &str) -> usize {
    let (mut values, mut quoted, mut escaped) = (1, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b',' | b'[' | b'{' if !quoted => values += 1,
            _ => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { bytes: 1000, values: 50 };

    fn parts_of(text: &str, shape: Shape) -> Parts {
        match split_body(text.as_bytes(), LIMITS, shape) {
            Split::Parts(parts) => parts,
            other => panic!("{other:?}"),
        }
    }

    fn split(text: &str) -> Parts {
        parts_of(text, Shape::ToolCall)
    }

    fn search(text: &str) -> Parts {
        parts_of(text, Shape::Search)
    }

    fn call(arguments: &str) -> String {
        format!(r#"{{"id":1,"params":{{"arguments":{arguments},"name":"search"}}}}"#)
    }

    #[test]
    fn a_picture_and_a_file_of_any_size_leave_the_message() {
        let large = "A".repeat(1 << 20);
        let sent =
            format!(r#"{{"image_b64":"{large}\u0041","k":3,"text":"a \"b\" \u00e9 {large}","content_b64":"aGk="}}"#);
        let parts = split(&call(&sent));
        assert_eq!(parts.json, call(r#"{"content_b64":"","image_b64":"","k":3,"text":""}"#));
        assert_eq!(parts.picture, Part::Present(format!("\"{large}\\u0041\"").into_bytes()));
        assert_eq!(parts.text, Part::Present(format!("a \"b\" é {large}").into_bytes()));
        assert_eq!(parts.content, Part::Present(b"hi".into()));
    }

    #[test]
    fn what_is_no_string_or_lies_elsewhere_stays() {
        for json in [
            call(r#"{"content_b64":5,"image_b64":null,"text":["a"]}"#),
            call("[5]"),
            r#"{"id":1,"params":[1,2]}"#.into(),
            r#"{"id":1,"method":"ping","text":"a"}"#.into(),
            r#"{"id":1,"params":{"content_b64":"aGk=","text":"a"}}"#.into(),
            "{}".into(),
        ] {
            assert_eq!(split(&json), Parts { json, ..Parts::default() });
        }
    }

    #[test]
    fn base64_comes_in_either_alphabet_and_in_lines() {
        for encoded in ["+/+/aGk=", "-_-_aGk", r"+/+/\naGk=\r\n", "data:text/plain;base64,+/+/aGk="] {
            let content = split(&call(&format!(r#"{{"content_b64":"{encoded}"}}"#))).content;
            assert_eq!(content, Part::Present(b"\xfb\xff\xbfhi".into()), "{encoded}");
        }
        for encoded in ["%%%", "a", "é", r"\ud800"] {
            let content = split(&call(&format!(r#"{{"content_b64":"{encoded}"}}"#))).content;
            assert_eq!(content, Part::Unreadable, "{encoded}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        let Part::Present(text) = split(&call(r#"{"text":"a\ud83d"}"#)).text else { panic!("no text") };
        assert!(String::from_utf8(text).expect("UTF-8").starts_with("a\u{fffd}"));
    }

    #[test]
    fn the_last_of_repeated_members_counts() {
        let parts = split(&call(r#"{"text":"first","text":"last","k":1,"k":2}"#));
        assert_eq!(parts.json, call(r#"{"k":2,"text":""}"#));
        assert_eq!(parts.text, Part::Present(b"last".into()));
        assert_eq!(search(r#"{"k":1,"k":2}"#).json, r#"{"k":2}"#);
    }

    #[test]
    fn the_rest_is_bounded_wherever_it_lies() {
        let long = format!("\"{}\"", "x".repeat(LIMITS.bytes));
        let names: String = (0..LIMITS.bytes).map(|name| format!("\"{name}\":0,")).collect();
        for body in [
            call(&format!(r#"{{"query":{long}}}"#)),
            call(&format!(r#"{{{names}"k":1}}"#)),
            call(&format!("[{long}]")),
            format!(r#"{{"params":{{"_meta":{long}}}}}"#),
            format!(r#"{{"params":{long}}}"#),
            format!(r#"{{"params":{{{names}"a":0}}}}"#),
            format!("{{{names}\"a\":0}}"),
            format!("{{\"image_b64\":{long}}}"),
            call(&format!("{{\"families\":[{}0]}}", "0,".repeat(LIMITS.values))),
            call(&format!("{{\"families\":{}0{}}}", "[".repeat(LIMITS.values), "]".repeat(LIMITS.values))),
        ] {
            assert_eq!(split_body(body.as_bytes(), LIMITS, Shape::ToolCall), Split::TooLarge, "{body}");
        }
        let commas = format!(r#"{{"query":"{}\"[["}}"#, ",".repeat(LIMITS.values));
        assert_eq!(split(&call(&commas)).json, call(&commas));
    }

    #[test]
    fn only_objects_are_taken() {
        for text in [
            "[]",
            " \n[{}]",
            "5",
            "{",
            "nul",
            "{}x",
            "\"a\"",
            "{\"params\":{]}",
            &"[".repeat(1_000_000),
            &"{\"a\":".repeat(1_000_000),
        ] {
            for shape in [Shape::Search, Shape::ToolCall] {
                assert_eq!(split_body(text.as_bytes(), LIMITS, shape), Split::Malformed, "{shape:?}");
            }
        }
        assert_eq!(split_body(b"\xff{}", LIMITS, Shape::Search), Split::Malformed);
        assert_eq!(split_body(b"  ", LIMITS, Shape::ToolCall), Split::Malformed);
        assert_eq!(search("  ").json, "{}", "a search without members");
    }

    #[test]
    fn beside_the_picture_of_a_search_little_is_taken() {
        let picture = "A".repeat(1 << 20);
        let body = |rest: usize| format!(r#"{{"image_b64":"{picture}","k":"{}"}}"#, "x".repeat(rest));
        assert!(matches!(search(&body(900)).picture, Part::Present(_)));
        let members: String = (0..400).map(|index| format!(r#""{index}":0,"#)).collect();
        for too_large in [
            body(1100),
            format!(r#"{{{members}"k":1}}"#),
            format!(r#"{{"image_b64":["{picture}"]}}"#),
            format!(r#"{{"text":"{picture}"}}"#),
        ] {
            assert_eq!(split_body(too_large.as_bytes(), LIMITS, Shape::Search), Split::TooLarge);
        }
    }

    #[test]
    fn the_picture_of_a_search_is_decoded_and_known_by_its_digest() {
        for encoded in ["aGk", "aGk=", "data:image/png;base64,aGk="] {
            let parts = search(&format!(r#"{{"query":"a \"b\"","image_b64":"{encoded}","k":3}}"#));
            assert_eq!(parts.json, r#"{"image_b64":"","k":3,"query":"a \"b\""}"#);
            assert_eq!(parts.picture, Part::Present(b"hi".into()), "{encoded}");
            assert_eq!(parts.picture_sha256, Some(Sha256::digest(b"hi").into()));
        }
        for unreadable in ["%%%", "", r"\ud800"] {
            let parts = search(&format!(r#"{{"image_b64":"{unreadable}"}}"#));
            assert_eq!((parts.picture, parts.picture_sha256), (Part::Unreadable, None), "{unreadable}");
        }
        for json in [r#"{"image_b64":5}"#, r#"{"image_b64":null}"#] {
            assert_eq!(search(json), Parts { json: json.into(), ..Parts::default() });
        }
    }
}
