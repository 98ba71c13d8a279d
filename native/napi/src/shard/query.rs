use std::sync::{Arc, Mutex, PoisonError};

use farthing_core::shard::query::{Conditional, Query, WordsQuery};
use farthing_core::terms::language::Language;
use napi::Result;
use napi::bindgen_prelude::ClassInstance;
use napi_derive::napi;

use crate::error::internal;
use crate::text::tokenize::TextTokenizer;

/// The query of one ranked list.
#[napi]
#[derive(Clone)]
pub struct NativeQuery {
    pub(super) inner: Arc<Conditional>,
    corrected: Arc<Mutex<Option<String>>>,
}

#[napi]
impl NativeQuery {
    /// `phrases_of`: a text whose quoted phrases every hit must have.
    #[napi(factory, catch_unwind)]
    pub fn vector(space: String, vector: &[f32], phrases_of: Option<String>) -> Self {
        Self::of(Query::Vector { space, vector: vector.to_vec() }, phrases_of)
    }

    /// `language`: ISO 639-3 code of the text's language, if it is certain. `vocabulary`: words that it has whole are no
    /// slips.
    #[napi(factory, catch_unwind)]
    pub fn words(text: String, language: Option<String>, vocabulary: Option<ClassInstance<'_, TextTokenizer>>) -> Self {
        let language = language.and_then(|code| Language::by_code(&code));
        let spelt_right = vocabulary.map(|vocabulary| vocabulary.spelt_right.clone()).unwrap_or_default();
        Self::of(Query::Words(WordsQuery::new(text, language, spelt_right)), None)
    }

    /// The text with slips in its words corrected, as the last answer understood it. Null if there were none.
    #[napi(catch_unwind)]
    pub fn corrected(&self) -> Option<String> {
        self.corrected.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    #[napi(factory, catch_unwind)]
    pub fn picture(fingerprint: &[u8], digest: &[u8]) -> Result<Self> {
        let digest = digest.try_into().map_err(|_| internal("A digest has 32 bytes."))?;
        Ok(Self::of(Query::Picture { fingerprint: fingerprint.to_vec(), digest }, None))
    }
}

impl NativeQuery {
    pub(super) fn keep(&self, corrected: Option<String>) {
        *self.corrected.lock().unwrap_or_else(PoisonError::into_inner) = corrected;
    }

    fn of(query: Query, phrases_of: Option<String>) -> Self {
        Self { inner: Arc::new(Conditional { query, phrases_of }), corrected: Arc::default() }
    }
}
