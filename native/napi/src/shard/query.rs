use std::sync::Arc;

use farthing_core::shard::query::Question;
use farthing_core::words::language::Language;
use napi::Result;
use napi_derive::napi;

use crate::error::internal;

/// What one ranked list is asked with.
#[napi]
pub struct NativeQuestion {
    pub(super) inner: Arc<Question>,
}

#[napi]
impl NativeQuestion {
    #[napi(factory, catch_unwind)]
    pub fn vector(space: String, vector: &[f32]) -> Self {
        Self { inner: Arc::new(Question::Vector { space, vector: vector.to_vec() }) }
    }

    /// `language`: ISO 639-3 code of the query's language, where it is certain.
    #[napi(factory, catch_unwind)]
    pub fn words(query: String, language: Option<String>) -> Self {
        let language = language.and_then(|code| Language::by_code(&code));
        Self { inner: Arc::new(Question::Words { query, language }) }
    }

    #[napi(factory, catch_unwind)]
    pub fn picture(fingerprint: &[u8], digest: &[u8]) -> Result<Self> {
        let digest = digest.try_into().map_err(|_| internal("A digest has 32 bytes."))?;
        Ok(Self { inner: Arc::new(Question::Picture { fingerprint: fingerprint.to_vec(), digest }) })
    }
}
