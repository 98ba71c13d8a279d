use std::path::Path;
use std::sync::Arc;

use farthing_encoder::encoding::threads::Use;
use farthing_encoder::text::passages::{self, Block, Passage};
use farthing_encoder::text::pieces::Measure;
use farthing_encoder::text::tokenize::TextTokenizer;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;

use super::off_thread::off_thread;
use crate::error::internal;
use crate::text::tokenize::TokenizerRules;

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
    measure: Arc<Measure>,
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
        Ok(Self { measure: Arc::new(measure) })
    }

    /// On one of the encoder's threads for passages, behind what they have to encode.
    #[napi(catch_unwind, ts_return_type = "Promise<Array<DocumentPassage>>")]
    pub fn cut<'env>(&self, env: &'env Env, title: Option<String>, blocks: Vec<DocumentBlock>) -> Result<Object<'env>> {
        let measure = self.measure.clone();
        off_thread(
            env,
            Use::Passage,
            move |_| {
                let blocks: Vec<Block> = blocks.into_iter().map(Block::from).collect();
                Ok(passages::cut(&measure, title.as_deref(), &blocks))
            },
            |passages| Ok(passages.into_iter().map(DocumentPassage::from).collect::<Vec<_>>()),
        )
    }
}

impl From<DocumentBlock> for Block {
    fn from(DocumentBlock { text, start, page, heading }: DocumentBlock) -> Self {
        Self { text, start, page, heading }
    }
}

impl From<Passage> for DocumentPassage {
    fn from(Passage { text, words, page, heading, char_start, char_end }: Passage) -> Self {
        Self { text, words, page, heading, char_start, char_end }
    }
}
