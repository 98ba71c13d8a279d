//! A `tokenizer.json`.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub struct TokenizerFile<'a> {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    #[serde(default)]
    pub normalizer: Value,
    #[serde(default)]
    pub pre_tokenizer: Value,
    #[serde(default)]
    post_processor: Value,
    #[serde(borrow)]
    pub model: &'a RawValue,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    special: bool,
}

#[derive(Deserialize)]
struct Kind {
    r#type: Option<String>,
}

/// The special tokens around a text.
#[derive(Default, Clone)]
pub struct Around {
    pub before: Vec<u32>,
    pub after: Vec<u32>,
}

impl TokenizerFile<'_> {
    /// The name of its model.
    pub fn kind(&self) -> Option<String> {
        serde_json::from_str::<Kind>(self.model.get()).ok()?.r#type
    }

    /// Refuses an added token that is not special: it would have to be taken out of a text before its words are parted.
    pub fn refuse_plain_tokens(&self) -> Result<(), String> {
        match self.added_tokens.iter().find(|token| !token.special) {
            Some(AddedToken { id, .. }) => Err(format!("its added token {id} is not special")),
            None => Ok(()),
        }
    }

    pub fn around(&self) -> Result<Around, String> {
        #[derive(Deserialize)]
        struct Special {
            ids: Vec<u32>,
        }
        let processor = &self.post_processor;
        let refused = || format!("its post-processor is {processor}");
        let mut around = Around::default();
        match processor["type"].as_str() {
            None if processor.is_null() => {}
            Some("BertProcessing" | "RobertaProcessing") => {
                let id = |name: &str| processor[name][1].as_u64().map(|id| vec![id as u32]).ok_or_else(refused);
                around = Around { before: id("cls")?, after: id("sep")? };
            }
            Some("TemplateProcessing") => {
                let special: HashMap<String, Special> =
                    Deserialize::deserialize(&processor["special_tokens"]).map_err(|_| refused())?;
                let mut side = &mut around.before;
                for part in processor["single"].as_array().ok_or_else(refused)? {
                    match part["SpecialToken"]["id"].as_str() {
                        Some(name) => side.extend(&special.get(name).ok_or_else(refused)?.ids),
                        None => side = &mut around.after,
                    }
                }
            }
            _ => return Err(refused()),
        }
        Ok(around)
    }
}

/// The parts of a sequence of rules, or the one rule.
pub fn rules(given: &Value, parts: &str) -> Vec<Value> {
    match given["type"].as_str() {
        Some("Sequence") => given[parts].as_array().cloned().unwrap_or_default(),
        Some(_) => vec![given.clone()],
        None => vec![],
    }
}
