//! BERT's rules for words of ASCII alone, the same tokens as the tokenizers crate's: that takes 2 µs for each of them, a look into
//! its vocabulary a fiftieth. White space parts words under these rules, so that the others are left to it without a difference.

use tokenizers::{Model, ModelWrapper, NormalizerWrapper, PreTokenizerWrapper};

use crate::text::vocabulary::words_model::{Tokenizer, WordsModel};

#[derive(Debug, Clone)]
pub struct PlainWords {
    lowercase: bool,
    /// Of a word that no pieces make.
    unknown: u32,
    /// Bytes of the longest word that is looked up.
    longest: usize,
    /// Before a piece that continues a word.
    continuing: String,
}

impl PlainWords {
    /// None where a `tokenizer.json` has other rules.
    pub fn of(tokenizer: &Tokenizer) -> Option<Self> {
        let WordsModel::Given(ModelWrapper::WordPiece(model)) = tokenizer.get_model() else { return None };
        let Some(NormalizerWrapper::BertNormalizer(normalizer)) = tokenizer.get_normalizer() else { return None };
        let Some(PreTokenizerWrapper::BertPreTokenizer(_)) = tokenizer.get_pre_tokenizer() else { return None };
        let added = tokenizer.get_added_vocabulary();
        // Others are taken out of a text before its words are parted.
        if !added.get_vocab().keys().all(|token| added.is_special_token(token)) {
            return None;
        }
        Some(Self {
            lowercase: normalizer.lowercase,
            unknown: model.token_to_id(&model.unk_token)?,
            longest: model.max_input_chars_per_word,
            continuing: model.continuing_subword_prefix.clone(),
        })
    }

    /// Calls `found` with each token of a text, without special tokens, and the byte at which it ends.
    pub fn each(&self, tokenizer: &Tokenizer, text: &str, found: &mut impl FnMut(u32, usize)) -> Result<(), String> {
        let mut piece = String::new();
        let mut pieces = Vec::new();
        let mut others: Option<(usize, usize)> = None;
        for (start, end) in parts(text) {
            let part = &text[start..end];
            if !part.bytes().all(|byte| byte.is_ascii_graphic()) {
                others = Some((others.map_or(start, |(first, _)| first), end));
                continue;
            }
            if let Some((first, last)) = others.take() {
                given(tokenizer, text, first, last, found)?;
            }
            for (from, to) in words(part) {
                self.pieces_of(tokenizer, &part[from..to], &mut piece, &mut pieces);
                for &(id, reached) in &pieces {
                    found(id, start + from + reached);
                }
            }
        }
        others.map_or(Ok(()), |(first, last)| given(tokenizer, text, first, last, found))
    }

    /// The longest pieces of a word from its start on, each with the byte at which it ends.
    fn pieces_of(&self, tokenizer: &Tokenizer, word: &str, piece: &mut String, pieces: &mut Vec<(u32, usize)>) {
        pieces.clear();
        let mut start = 0;
        while start < word.len() {
            piece.clear();
            if start > 0 {
                piece.push_str(&self.continuing);
            }
            let before = piece.len();
            piece.push_str(&word[start..]);
            if self.lowercase {
                piece.make_ascii_lowercase();
            }
            let id = loop {
                if word.len() > self.longest || piece.len() == before {
                    pieces.clear();
                    pieces.push((self.unknown, word.len()));
                    return;
                }
                if let Some(id) = tokenizer.get_model().token_to_id(piece) {
                    break id;
                }
                piece.pop();
            };
            start += piece.len() - before;
            pieces.push((id, start));
        }
    }
}

/// Byte ranges between white space.
fn parts(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    text.split([' ', '\t', '\n', '\r']).filter_map(move |part| {
        let start = at;
        at += part.len() + 1;
        (!part.is_empty()).then_some((start, start + part.len()))
    })
}

/// Byte ranges of a part's words: what stands between marks, and each mark.
fn words(part: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = part.get(at..).filter(|rest| !rest.is_empty())?;
        let length = rest.find(|character: char| character.is_ascii_punctuation()).unwrap_or(rest.len()).max(1);
        let start = at;
        at += length;
        Some((start, at))
    })
}

/// The tokens that the tokenizers crate gives for a part of a text.
fn given(
    tokenizer: &Tokenizer,
    text: &str,
    start: usize,
    end: usize,
    found: &mut impl FnMut(u32, usize),
) -> Result<(), String> {
    let encoding = tokenizer.encode(&text[start..end], false).map_err(|error| error.to_string())?;
    for (&id, &(_, reached)) in encoding.get_ids().iter().zip(encoding.get_offsets()) {
        found(id, start + reached);
    }
    Ok(())
}
