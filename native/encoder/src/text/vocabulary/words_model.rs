//! The models of words that a `tokenizer.json` may have.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use tokenizers::models::TrainerWrapper;
use tokenizers::{
    DecoderWrapper, Model, ModelWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper, Token,
    TokenizerImpl,
};

use crate::text::vocabulary::unigram::{CompactUnigram, UnigramFile};

/// A `tokenizer.json`, opened.
pub type Tokenizer =
    TokenizerImpl<WordsModel, NormalizerWrapper, PreTokenizerWrapper, PostProcessorWrapper, DecoderWrapper>;

#[allow(clippy::large_enum_variant, reason = "one is made for each model: its size does not matter")]
pub enum WordsModel {
    Compact(CompactUnigram),
    Given(ModelWrapper),
}

#[derive(Deserialize)]
struct Kind {
    r#type: Option<String>,
}

impl<'de> Deserialize<'de> for WordsModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        let kind: Kind = serde_json::from_str(json.get()).map_err(D::Error::custom)?;
        if kind.r#type.as_deref() == Some("Unigram") {
            let file: UnigramFile = serde_json::from_str(json.get()).map_err(D::Error::custom)?;
            if let Some(compact) = CompactUnigram::new(&file) {
                return Ok(Self::Compact(compact));
            }
        }
        serde_json::from_str(json.get()).map(Self::Given).map_err(D::Error::custom)
    }
}

impl Model for WordsModel {
    type Trainer = TrainerWrapper;

    fn tokenize(&self, text: &str) -> tokenizers::Result<Vec<Token>> {
        match self {
            Self::Compact(model) => model.tokenize(text),
            Self::Given(model) => model.tokenize(text),
        }
    }

    fn token_to_id(&self, token: &str) -> Option<u32> {
        match self {
            Self::Compact(model) => model.token_to_id(token),
            Self::Given(model) => model.token_to_id(token),
        }
    }

    fn id_to_token(&self, id: u32) -> Option<String> {
        match self {
            Self::Compact(model) => model.id_to_token(id),
            Self::Given(model) => model.id_to_token(id),
        }
    }

    fn get_vocab(&self) -> HashMap<String, u32> {
        match self {
            Self::Compact(model) => model.get_vocab(),
            Self::Given(model) => model.get_vocab(),
        }
    }

    fn get_vocab_size(&self) -> usize {
        match self {
            Self::Compact(model) => model.get_vocab_size(),
            Self::Given(model) => model.get_vocab_size(),
        }
    }

    fn save(&self, folder: &Path, prefix: Option<&str>) -> tokenizers::Result<Vec<PathBuf>> {
        match self {
            Self::Compact(model) => model.save(folder, prefix),
            Self::Given(model) => model.save(folder, prefix),
        }
    }

    fn get_trainer(&self) -> Self::Trainer {
        match self {
            Self::Compact(model) => model.get_trainer(),
            Self::Given(model) => model.get_trainer(),
        }
    }
}
