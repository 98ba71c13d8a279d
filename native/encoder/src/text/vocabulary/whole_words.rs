//! The whole words of a tokenizer's vocabulary.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::file::TokenizerFile;

/// Before each word of a unigram vocabulary.
const SPACE: char = '\u{2581}';

#[derive(Deserialize)]
struct WordPiece {
    continuing_subword_prefix: String,
    vocab: HashMap<String, u32>,
}

#[derive(Deserialize)]
struct Unigram {
    vocab: Vec<(String, f64)>,
}

/// The words, of letters alone, that a `tokenizer.json` has whole; in no order. None for vocabularies of bytes.
pub fn whole_words(path: &Path) -> Result<Vec<String>, String> {
    let refused = |error: String| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let file: TokenizerFile<'_> = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
    let model = file.model.get();
    let mut words = match file.kind().as_deref() {
        Some("WordPiece") => {
            let WordPiece { continuing_subword_prefix: prefix, vocab } =
                serde_json::from_str(model).map_err(|error| refused(error.to_string()))?;
            vocab.into_keys().filter(|word| !word.starts_with(&prefix)).collect()
        }
        Some("Unigram") => {
            let Unigram { vocab } = serde_json::from_str(model).map_err(|error| refused(error.to_string()))?;
            vocab.iter().filter_map(|(word, _)| Some(word.strip_prefix(SPACE)?.to_owned())).collect()
        }
        _ => vec![],
    };
    words.retain(|word: &String| !word.is_empty() && word.chars().all(char::is_alphabetic));
    Ok(words)
}
