//! Byte pairs as CLIP merges them (Sennrich et al. 2016, arXiv:1508.07909; Radford et al. 2021, arXiv:2103.00020).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::Deserialize;
use serde_json::json;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{UnicodeNormalization, is_nfc};
use unicode_segmentation::UnicodeSegmentation;

use super::aligned::{Aligned, characters};
use super::file::{TokenizerFile, rules};

const PATTERN: &str = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";
const ENDINGS: [&str; 7] = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];

#[derive(Deserialize)]
struct Model {
    vocab: HashMap<String, u32>,
    merges: Vec<Merge>,
    #[serde(default)]
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: String,
    #[serde(default)]
    dropout: Option<f64>,
    #[serde(default)]
    byte_fallback: bool,
    #[serde(default)]
    ignore_merges: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Merge {
    Line(String),
    Pair(String, String),
}

pub struct Clip {
    /// Of each byte within a word, and of one that ends a word.
    within: [u32; 256],
    last: [u32; 256],
    /// Rank and result of each pair that is merged.
    merges: HashMap<(u32, u32), (usize, u32)>,
}

/// A part of a word, between its neighbours.
struct Part {
    id: u32,
    end: usize,
    before: Option<usize>,
    after: Option<usize>,
    is_merged: bool,
}

impl Clip {
    pub fn new(file: &TokenizerFile) -> Result<Self, String> {
        let types = |given| rules(given, "normalizers").iter().map(|rule| rule["type"].clone()).collect::<Vec<_>>();
        let parting = rules(&file.pre_tokenizer, "pretokenizers");
        let are_clips = types(&file.normalizer) == ["NFC", "Replace", "Lowercase"]
            && matches!(&parting[..], [split, bytes] if split["pattern"]["Regex"] == PATTERN
                && split["behavior"] == "Removed" && split["invert"] == true
                && bytes["type"] == "ByteLevel" && bytes["add_prefix_space"] == json!(false));
        if !are_clips {
            return Err("its words are parted by other rules than CLIP's".into());
        }
        let model: Model = serde_json::from_str(file.model.get()).map_err(|error| error.to_string())?;
        if model.dropout.is_some() || model.byte_fallback || model.ignore_merges {
            return Err("its bytes are not merged as CLIP's".into());
        }
        if model.continuing_subword_prefix.is_some_and(|prefix| !prefix.is_empty()) {
            return Err("its pieces have a prefix".into());
        }
        let id = |word: &str| model.vocab.get(word).copied().ok_or_else(|| format!("it lacks the word {word}"));
        let (mut within, mut last) = ([0; 256], [0; 256]);
        for (byte, letter) in (0..).zip(letters()) {
            within[byte] = id(&letter.to_string())?;
            last[byte] = id(&format!("{letter}{}", model.end_of_word_suffix))?;
        }
        let mut merges = HashMap::with_capacity(model.merges.len());
        for (rank, merge) in model.merges.iter().enumerate() {
            let (one, other) = match merge {
                Merge::Pair(one, other) => (one.as_str(), other.as_str()),
                Merge::Line(line) => line.split_once(' ').ok_or("a merge is no pair")?,
            };
            merges.insert((id(one)?, id(other)?), (rank, id(&format!("{one}{other}"))?));
        }
        Ok(Self { within, last, merges })
    }

    /// Calls `found` with each token and where it ends.
    pub fn each(&self, text: &str, found: &mut impl FnMut(u32, usize)) {
        let normal = normal(text);
        let mut rest = normal.text();
        while let Some(first) = rest.chars().next() {
            let length = match ENDINGS.iter().find(|ending| rest.starts_with(**ending)) {
                Some(ending) => ending.len(),
                None if first.is_whitespace() || first.is_numeric() => first.len_utf8(),
                None => {
                    let is_letter = is_letter(first);
                    let belongs = |other: char| {
                        if is_letter {
                            self::is_letter(other)
                        } else {
                            !other.is_whitespace() && !other.is_numeric() && !self::is_letter(other)
                        }
                    };
                    rest.find(|other| !belongs(other)).unwrap_or(rest.len())
                }
            };
            if !first.is_whitespace() {
                let begin = normal.text().len() - rest.len();
                self.merge(&normal, begin, begin + length, found);
            }
            rest = &rest[length..];
        }
    }

    /// Merges the bytes of a word, the pairs of the lowest rank first.
    fn merge(&self, text: &Aligned, begin: usize, end: usize, found: &mut impl FnMut(u32, usize)) {
        let bytes = &text.text().as_bytes()[begin..end];
        let mut parts: Vec<Part> = bytes
            .iter()
            .enumerate()
            .map(|(at, byte)| {
                let (before, after) = (at.checked_sub(1), Some(at + 1).filter(|after| *after < bytes.len()));
                let ids = if after.is_some() { &self.within } else { &self.last };
                Part { id: ids[usize::from(*byte)], end: text.end(begin + at + 1), before, after, is_merged: false }
            })
            .collect();
        let pair = |parts: &[Part], at: usize| {
            let (rank, id) = self.merges.get(&(parts[at].id, parts[parts[at].after?].id))?;
            Some(Reverse((*rank, at, *id)))
        };
        let mut waiting: BinaryHeap<_> = (0..parts.len()).filter_map(|at| pair(&parts, at)).collect();
        while let Some(next) = waiting.pop() {
            let Reverse((_, at, id)) = next;
            // One of the two may be merged by now.
            if parts[at].is_merged || pair(&parts, at) != Some(next) {
                continue;
            }
            let Some(right) = parts[at].after else { continue };
            parts[right].is_merged = true;
            let after = parts[right].after;
            parts[at] = Part { id, end: parts[right].end, after, ..parts[at] };
            if let Some(after) = after {
                parts[after].before = Some(at);
            }
            waiting.extend([parts[at].before, Some(at)].into_iter().flatten().filter_map(|at| pair(&parts, at)));
        }
        parts.iter().filter(|part| !part.is_merged).for_each(|part| found(part.id, part.end));
    }
}

/// A text composed and in lower case.
fn normal(text: &str) -> Aligned {
    let mut normal = Aligned::default();
    let mut put = |character: char, end| character.to_lowercase().for_each(|lower| normal.push(lower, end));
    if is_nfc(text) {
        characters(text).for_each(|(character, end)| put(character, end));
    } else {
        for (at, cluster) in text.grapheme_indices(true) {
            cluster.nfc().for_each(|character| put(character, at + cluster.len()));
        }
    }
    normal
}

/// The general category L: what is alphabetic without letters that are numbers, marks, or in circles and squares.
fn is_letter(character: char) -> bool {
    character.is_alphabetic()
        && !character.is_numeric()
        && !is_combining_mark(character)
        && !matches!(character, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}')
}

/// The letter that stands for each byte in the vocabulary (GPT-2's `bytes_to_unicode`).
fn letters() -> impl Iterator<Item = char> {
    let mut others = '\u{100}'..;
    (0..=255u8).map(move |byte| match byte {
        b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => char::from(byte),
        _ => others.next().unwrap_or_default(),
    })
}
