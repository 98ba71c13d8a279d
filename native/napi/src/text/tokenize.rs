use std::path::Path;

use farthing_encoder::text::tokenize::{self, TokenRules};
use napi::Result;
use napi::bindgen_prelude::{BigInt64ArraySlice, Uint32Array};
use napi_derive::napi;

use crate::error::internal;

#[napi(object)]
pub struct TokenizerRules {
    /// Most tokens of a text, with special tokens.
    pub limit: u32,
    pub special_tokens: bool,
    /// Token ids that are left out.
    pub dropped: Vec<u32>,
}

impl From<TokenizerRules> for TokenRules {
    fn from(rules: TokenizerRules) -> Self {
        Self { limit: rules.limit as usize, special_tokens: rules.special_tokens, dropped: rules.dropped }
    }
}

/// A model's tokenizer. All threads that open the same file share its vocabulary.
#[napi]
pub struct TextTokenizer {
    inner: tokenize::TextTokenizer,
}

#[napi]
impl TextTokenizer {
    #[napi(constructor, catch_unwind)]
    pub fn new(path: String, rules: TokenizerRules) -> Result<Self> {
        let inner = tokenize::TextTokenizer::open(Path::new(&path), rules.into()).map_err(internal)?;
        Ok(Self { inner })
    }

    /// Tokens of texts, each after the prefix and cut to the limit.
    #[napi(catch_unwind)]
    pub fn encode(&self, texts: Vec<String>, prefix: String) -> Result<TokenBatch> {
        let rows = texts.iter().map(|text| {
            if prefix.is_empty() { self.inner.encode(text) } else { self.inner.encode(&format!("{prefix}{text}")) }
        });
        Ok(TokenBatch { rows: rows.collect() })
    }
}

/// The tokens of texts, kept on the native side until they are written into a tensor.
#[napi]
pub struct TokenBatch {
    rows: Vec<Vec<u32>>,
}

#[napi]
impl TokenBatch {
    /// Number of tokens of each text.
    #[napi(catch_unwind)]
    pub fn lengths(&self) -> Uint32Array {
        self.rows.iter().map(|row| row.len() as u32).collect::<Vec<_>>().into()
    }

    /// Writes rows into tensors of `rows × width`: the ids, then `padding`; a mask of 1 for each token, then 0.
    #[napi(catch_unwind)]
    pub fn fill(
        &self,
        rows: &[u32],
        width: u32,
        padding: i64,
        mut ids: BigInt64ArraySlice,
        mut mask: BigInt64ArraySlice,
    ) -> Result<()> {
        let width = width as usize;
        // Safety: the arrays belong to the calling thread, which runs nothing else until this returns.
        let (ids, mask) = unsafe { (ids.as_mut(), mask.as_mut()) };
        if width == 0 || ids.len() != rows.len() * width || mask.len() != ids.len() {
            return Err(internal("a tensor's size does not match its rows"));
        }
        for ((row, ids), mask) in rows.iter().zip(ids.chunks_exact_mut(width)).zip(mask.chunks_exact_mut(width)) {
            let Some(tokens) = self.rows.get(*row as usize).filter(|tokens| tokens.len() <= width) else {
                return Err(internal("a row is absent or longer than its tensor"));
            };
            ids.fill(padding);
            mask.fill(0);
            for (slot, token) in ids.iter_mut().zip(tokens) {
                *slot = i64::from(*token);
            }
            mask[..tokens.len()].fill(1);
        }
        Ok(())
    }
}
