use std::sync::Arc;

use farthing_core::shard::query::{Conditional, Query, WordsQuery};
use farthing_core::terms::language::Language;
use farthing_core::terms::spelt_right::SpeltRight;
use napi::Result;
use napi_derive::napi;

use crate::error::internal;

/// The query of one ranked list.
#[napi]
pub struct NativeQuery {
    pub(super) inner: Arc<Conditional>,
}

#[napi]
impl NativeQuery {
    #[napi(factory, catch_unwind)]
    pub fn vector(space: String, vector: &[f32]) -> Self {
        Self::of(Query::Vector { space, vector: vector.to_vec() })
    }

    /// `language`: ISO 639-3 code of the text's language, if it is certain.
    #[napi(factory, catch_unwind)]
    pub fn words(text: String, language: Option<String>) -> Self {
        let language = language.and_then(|code| Language::by_code(&code));
        Self::of(Query::Words(WordsQuery::new(text, language, SpeltRight::default())))
    }

    #[napi(factory, catch_unwind)]
    pub fn picture(fingerprint: &[u8], digest: &[u8]) -> Result<Self> {
        let digest = digest.try_into().map_err(|_| internal("A digest has 32 bytes."))?;
        Ok(Self::of(Query::Picture { fingerprint: fingerprint.to_vec(), digest }))
    }
}

impl NativeQuery {
    fn of(query: Query) -> Self {
        Self { inner: Arc::new(Conditional { query, phrases_of: None }) }
    }
}
