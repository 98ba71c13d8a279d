//! The words of Segments as they were indexed: those of their Item's title, their own, and for the first Segment of an Item
//! those of its names.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;

use crate::error::Result;

#[derive(Deserialize)]
struct Passage<'a> {
    #[serde(borrow)]
    item: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

/// The fields that are read of an Item's record.
#[derive(Clone, Default, Deserialize)]
struct Titled {
    title: Option<String>,
    name: Option<String>,
    /// Further names.
    #[serde(default)]
    aliases: Vec<String>,
}

/// Titles and names of Items, each read once.
#[derive(Default)]
pub struct Titles {
    known: HashMap<String, (Titled, u32)>,
}

impl Titles {
    /// The title of a Segment's Item, its own text, and if it is the Item's first one, the Item's names. None if it has no text,
    /// or the lines are not wanted. `record`: the Segment's. `item_of` reads an Item's record, and the number of its first Segment.
    pub fn with_text<'a>(
        &mut self,
        segment: u32,
        record: &str,
        is_wanted: impl FnOnce(&[&str]) -> bool,
        item_of: impl FnOnce(&str) -> Result<Option<(&'a str, u32)>>,
    ) -> Result<Option<String>> {
        let Ok(Passage { item, text: Some(text) }) = serde_json::from_str(record) else { return Ok(None) };
        if !self.known.contains_key(&*item) {
            let (titled, first) = match item_of(&item)? {
                Some((record, first)) => (serde_json::from_str(record).unwrap_or_default(), first),
                None => (Titled::default(), 0),
            };
            self.known.insert(item.to_string(), (titled, first));
        }
        let (Titled { title, name, aliases }, first) = &self.known[&*item];
        let mut lines: Vec<&str> = [title.as_deref(), Some(&text)].into_iter().flatten().collect();
        if segment == *first {
            for name in name.iter().chain(aliases) {
                lines.push(name);
                lines.extend(name.rsplit_once('.').map(|parts| parts.0).filter(|stem| !stem.is_empty()));
            }
        }
        Ok(is_wanted(&lines).then(|| lines.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_segment_of_an_item_has_the_words_of_its_name() {
        let item = r#"{"name":"report-2024.txt","title":"Annual report"}"#;
        let text = |segment: u32, text: &str| {
            let record = format!(r#"{{"item":"i","text":"{text}"}}"#);
            Titles::default().with_text(segment, &record, |_| true, |_| Ok(Some((item, 7)))).unwrap()
        };
        assert_eq!(text(7, "Rain").as_deref(), Some("Annual report\nRain\nreport-2024.txt\nreport-2024"));
        assert_eq!(text(8, "Snow").as_deref(), Some("Annual report\nSnow"));
        assert_eq!(Titles::default().with_text(7, r#"{"item":"i"}"#, |_| true, |_| Ok(None)).unwrap(), None);
    }
}
