//! MCP messages: a JSON object that may hold a picture or a file as a string of megabytes. It is taken apart here, away from
//! the event loop, so that what is left for JavaScript to parse and to validate is small.

use crate::request::members::{Budget, Members};
use crate::request::search_body::decode_base64;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;

/// Members of a tool call's arguments that hold a picture or a file.
const PICTURE: &str = "image_b64";
const TEXT: &str = "text";
const CONTENT: &str = "content_b64";

/// What a message may hold beside its picture or file.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Of names and values, as they were sent.
    pub bytes: usize,
    /// JSON values, at any depth.
    pub values: usize,
}

#[derive(Debug, PartialEq)]
pub enum Message {
    /// No JSON object.
    Malformed,
    /// A JSON array.
    Batch,
    TooLarge,
    Split(Parts),
}

/// A message and, apart from it, the strings of `params.arguments` that are a picture or a file. An empty string stands in
/// their places.
#[derive(Debug, Default, PartialEq)]
pub struct Parts {
    pub json: String,
    /// `image_b64`, as the JSON string that was sent.
    pub picture: Option<Vec<u8>>,
    /// `text` in UTF-8.
    pub text: Option<Vec<u8>>,
    /// `content_b64`, decoded.
    pub content: Content,
}

#[derive(Debug, Default, PartialEq)]
pub enum Content {
    #[default]
    Absent,
    /// A string that is no base64.
    Unreadable,
    Present(Vec<u8>),
}

/// Takes a UTF-8 JSON object apart. A repeated member counts once, with its last value, as in `JSON.parse`.
pub fn split_message(body: &[u8], limits: Limits) -> Message {
    let Ok(text) = std::str::from_utf8(body) else { return Message::Malformed };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('[') {
        return Message::Batch;
    }
    let mut budget = Budget::of(limits.bytes);
    match split(text, &mut budget) {
        Err(_) if budget.is_exceeded() => Message::TooLarge,
        Err(_) => Message::Malformed,
        Ok(parts) if count_values(&parts.json) > limits.values => Message::TooLarge,
        Ok(parts) => Message::Split(parts),
    }
}

fn split(text: &str, budget: &mut Budget) -> serde_json::Result<Parts> {
    let mut parts = Parts::default();
    let (arguments, params);
    let mut message = budget.members(text, |name, value| name == "params" && is_object(value))?;
    if let Some(raw) = message.get("params").filter(|raw| is_object(raw)) {
        let mut call = budget.members(raw.get(), |name, value| name == "arguments" && is_object(value))?;
        if let Some(raw) = call.get("arguments").filter(|raw| is_object(raw)) {
            arguments = to_raw_value(&parts.take_from(raw.get(), budget)?)?;
            call.insert("arguments".into(), &arguments);
        }
        params = to_raw_value(&call)?;
        message.insert("params".into(), &params);
    }
    parts.json = serde_json::to_string(&message)?;
    Ok(parts)
}

impl Parts {
    /// The arguments without their picture or file, which are kept.
    fn take_from<'a>(&mut self, arguments: &'a str, budget: &mut Budget) -> serde_json::Result<Members<'a>> {
        let is_apart = |name: &str, value: &RawValue| matches!(name, PICTURE | TEXT | CONTENT) && is_string(value);
        let mut given = budget.members(arguments, is_apart)?;
        for (name, value) in &mut given {
            if !is_apart(name, value) {
                continue;
            }
            match name.as_ref() {
                PICTURE => self.picture = Some(value.get().into()),
                TEXT => self.text = Some(String::from_utf8_lossy(&string_in(value)?).into_owned().into_bytes()),
                _ => self.content = decode_content(&string_in(value)?),
            }
            *value = serde_json::from_str("\"\"")?;
        }
        Ok(given)
    }
}

/// A string's bytes. A lone half of a surrogate pair, which JSON can name, makes them no UTF-8.
fn string_in(value: &RawValue) -> serde_json::Result<Cow<'_, [u8]>> {
    #[derive(serde::Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, [u8]>);
    serde_json::from_str::<Text>(value.get()).map(|Text(bytes)| bytes)
}

/// Base64 in the standard or the URL's alphabet, in one line or in several.
fn decode_content(encoded: &[u8]) -> Content {
    let Ok(encoded) = std::str::from_utf8(encoded) else { return Content::Unreadable };
    let decoded = decode_base64(encoded).or_else(|| {
        let plain: String = encoded
            .chars()
            .filter(|letter| !letter.is_ascii_whitespace())
            .map(|letter| match letter {
                '-' => '+',
                '_' => '/',
                other => other,
            })
            .collect();
        decode_base64(&plain)
    });
    decoded.map_or(Content::Unreadable, Content::Present)
}

fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

fn is_string(value: &RawValue) -> bool {
    value.get().starts_with('"')
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

    fn split(text: &str) -> Parts {
        match split_message(text.as_bytes(), LIMITS) {
            Message::Split(parts) => parts,
            other => panic!("{other:?}"),
        }
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
        assert_eq!(parts.picture, Some(format!("\"{large}\\u0041\"").into_bytes()));
        assert_eq!(parts.text, Some(format!("a \"b\" é {large}").into_bytes()));
        assert_eq!(parts.content, Content::Present(b"hi".into()));
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
            assert_eq!(content, Content::Present(b"\xfb\xff\xbfhi".into()), "{encoded}");
        }
        for encoded in ["%%%", "a", "é", r"\ud800"] {
            let content = split(&call(&format!(r#"{{"content_b64":"{encoded}"}}"#))).content;
            assert_eq!(content, Content::Unreadable, "{encoded}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        let text = split(&call(r#"{"text":"a\ud83d"}"#)).text.expect("a text");
        assert!(String::from_utf8(text).expect("UTF-8").starts_with("a\u{fffd}"));
    }

    #[test]
    fn the_last_of_repeated_members_counts() {
        let parts = split(&call(r#"{"text":"first","text":"last","k":1,"k":2}"#));
        assert_eq!(parts.json, call(r#"{"k":2,"text":""}"#));
        assert_eq!(parts.text, Some(b"last".into()));
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
            assert_eq!(split_message(body.as_bytes(), LIMITS), Message::TooLarge, "{body}");
        }
        let commas = format!(r#"{{"query":"{}\"[["}}"#, ",".repeat(LIMITS.values));
        assert_eq!(split(&call(&commas)).json, call(&commas));
    }

    #[test]
    fn only_objects_are_taken() {
        for text in ["5", "{", "nul", "{}x", "", "   ", "\"a\"", "{\"params\":{]}", &"{\"a\":".repeat(1_000_000)] {
            assert_eq!(split_message(text.as_bytes(), LIMITS), Message::Malformed);
        }
        assert_eq!(split_message(b"\xff{}", LIMITS), Message::Malformed);
        for text in ["[]", " \n[{}]", &"[".repeat(1_000_000)] {
            assert_eq!(split_message(text.as_bytes(), LIMITS), Message::Batch);
        }
    }
}
