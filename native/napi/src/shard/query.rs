use std::sync::Arc;

use farthing_core::shard::query::Query;
use farthing_core::words::language::Language;
use napi::Result;
use napi_derive::napi;

use crate::error::internal;

/// The query of one ranked list.
#[napi]
pub struct NativeQuery {
    pub(super) inner: Arc<Query>,
}

#[napi]
impl NativeQuery {
    #[napi(factory, catch_unwind)]
    pub fn vector(space: String, vector: &[f32]) -> Self {
        Self { inner: Arc::new(Query::Vector { space, vector: vector.to_vec() }) }
    }

    /// `language`: ISO 639-3 code of the text's language, if it is certain.
    #[napi(factory, catch_unwind)]
    pub fn words(text: String, language: Option<String>) -> Self {
        let language = language.and_then(|code| Language::by_code(&code));
        Self { inner: Arc::new(Query::Words { text, language }) }
    }

    #[napi(factory, catch_unwind)]
    pub fn picture(fingerprint: &[u8], digest: &[u8]) -> Result<Self> {
        let digest = digest.try_into().map_err(|_| internal("A digest has 32 bytes."))?;
        Ok(Self { inner: Arc::new(Query::Picture { fingerprint: fingerprint.to_vec(), digest }) })
    }
}
