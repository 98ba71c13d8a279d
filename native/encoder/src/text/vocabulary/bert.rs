//! BERT's word pieces (Schuster and Nakajima 2012).

use std::collections::HashMap;

use serde::Deserialize;
use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

use super::aligned::{Aligned, characters};
use super::file::TokenizerFile;
use super::words::Words;

#[derive(Deserialize)]
struct Model {
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: HashMap<String, u32>,
}

#[derive(Deserialize)]
struct Normalizer {
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    lowercase: bool,
}

pub struct Bert {
    /// Pieces that begin a word, and those that continue one.
    beginning: Words,
    continuing: Words,
    unknown: u32,
    /// Characters of the longest word that is cut.
    longest: usize,
    normalizer: Normalizer,
}

impl Bert {
    pub fn new(file: &TokenizerFile) -> Result<Self, String> {
        let normalizer = &file.normalizer;
        if normalizer["type"] != "BertNormalizer" || file.pre_tokenizer["type"] != "BertPreTokenizer" {
            return Err("its words are parted by other rules than BERT's".into());
        }
        let normalizer = Normalizer::deserialize(normalizer).map_err(|error| error.to_string())?;
        let Model { unk_token, continuing_subword_prefix, max_input_chars_per_word, vocab } =
            serde_json::from_str(file.model.get()).map_err(|error| error.to_string())?;
        let words = || vocab.iter().map(|(word, id)| (word.as_str(), *id));
        let continuing = words().filter_map(|(word, id)| Some((word.strip_prefix(&continuing_subword_prefix)?, id)));
        Ok(Self {
            beginning: Words::new(words())?,
            continuing: Words::new(continuing)?,
            unknown: *vocab.get(&unk_token).ok_or("its unknown token is no word of it")?,
            longest: max_input_chars_per_word,
            normalizer,
        })
    }

    /// Calls `found` with each token and where it ends.
    pub fn each(&self, text: &str, found: &mut impl FnMut(u32, usize)) {
        let mut word = Aligned::default();
        let mut pieces = vec![];
        let mut finish = |word: &mut Aligned| {
            self.pieces_of(word, &mut pieces);
            pieces.drain(..).for_each(|(id, end)| found(id, end));
            word.clear();
        };
        for (character, end) in characters(text) {
            self.normal(character, &mut |character| {
                let is_mark = character.is_ascii_punctuation() || (!character.is_ascii() && character.is_punctuation());
                if is_mark || character.is_whitespace() {
                    finish(&mut word);
                }
                if !character.is_whitespace() {
                    word.push(character, end);
                }
                if is_mark {
                    finish(&mut word);
                }
            });
        }
        finish(&mut word);
    }

    /// Calls `put` with what stands for a character.
    fn normal(&self, character: char, put: &mut impl FnMut(char)) {
        let Normalizer { clean_text, handle_chinese_chars, strip_accents, lowercase } = self.normalizer;
        if character.is_ascii_graphic() {
            return put(if lowercase { character.to_ascii_lowercase() } else { character });
        }
        if clean_text {
            match character {
                '\t' | '\n' | '\r' | ' ' => return put(' '),
                '\0' | '\u{fffd}' => return,
                _ if character.is_other() => return,
                _ => {}
            }
        }
        let stands_alone = handle_chinese_chars && is_chinese(character);
        let mut put_lower = |character: char| {
            if lowercase { character.to_lowercase().for_each(&mut *put) } else { put(character) }
        };
        if stands_alone {
            put_lower(' ');
        }
        if strip_accents.unwrap_or(lowercase) {
            std::iter::once(character).nfd().filter(|part| !part.is_mark_nonspacing()).for_each(&mut put_lower);
        } else {
            put_lower(character);
        }
        if stands_alone {
            put_lower(' ');
        }
    }

    /// The longest pieces of a word from its start on, each with where it ends; the unknown token where none fits.
    fn pieces_of(&self, word: &Aligned, pieces: &mut Vec<(u32, usize)>) {
        let bytes = word.text().as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            let words = if start == 0 { &self.beginning } else { &self.continuing };
            match words.beginning(&bytes[start..]).last().filter(|_| start > 0 || !self.is_too_long(word)) {
                Some((id, length)) => {
                    start += length;
                    pieces.push((id, word.end(start)));
                }
                None => {
                    pieces.clear();
                    return pieces.push((self.unknown, word.end(bytes.len())));
                }
            }
        }
    }

    fn is_too_long(&self, word: &Aligned) -> bool {
        word.text().len() > self.longest && word.text().chars().count() > self.longest
    }
}

/// The blocks of Chinese characters that BERT knows: each is a word.
fn is_chinese(character: char) -> bool {
    matches!(u32::from(character),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F | 0x2B740..=0x2B81F
        | 0x2B920..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}
