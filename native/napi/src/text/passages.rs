use std::path::Path;

use farthing_core::text::passages::{self, Block};
use farthing_core::text::pieces::Measure;
use farthing_core::text::tokenize::TextTokenizer;
use napi::Result;
use napi_derive::napi;

use super::tokenize::TokenizerRules;
use crate::error::internal;

#[napi(object)]
pub struct DocumentBlock {
    pub text: String,
    /// UTF-16 units before the block in the text of its page.
    pub start: u32,
    pub page: Option<u32>,
    pub heading: Option<String>,
}

#[napi(object)]
pub struct DocumentPassage {
    pub text: String,
    pub words: String,
    pub page: Option<u32>,
    pub heading: Option<String>,
    pub char_start: u32,
    pub char_end: u32,
}

/// Cuts documents into passages that fit a model, or, without a model, of a number of words.
#[napi]
pub struct PassageCutter {
    measure: Measure,
}

#[napi]
impl PassageCutter {
    /// `path` of a `tokenizer.json`. Null: passages have at most as many words as the rules' limit.
    #[napi(constructor, catch_unwind)]
    pub fn new(path: Option<String>, rules: TokenizerRules, prefix: String) -> Result<Self> {
        let limit = rules.limit as usize;
        let measure = match path {
            Some(path) => Measure::Model {
                tokenizer: TextTokenizer::open(Path::new(&path), rules.into()).map_err(internal)?,
                prefix,
            },
            None => Measure::Words { limit },
        };
        Ok(Self { measure })
    }

    #[napi(catch_unwind)]
    pub fn cut(&self, title: Option<String>, blocks: Vec<DocumentBlock>) -> Result<Vec<DocumentPassage>> {
        let blocks: Vec<Block> = blocks
            .into_iter()
            .map(|block| Block { text: block.text, start: block.start, page: block.page, heading: block.heading })
            .collect();
        let passages = passages::cut(&self.measure, title.as_deref(), &blocks).map_err(internal)?;
        let converted = passages.into_iter().map(|passage| DocumentPassage {
            text: passage.text,
            words: passage.words,
            page: passage.page,
            heading: passage.heading,
            char_start: passage.char_start,
            char_end: passage.char_end,
        });
        Ok(converted.collect())
    }
}
