use std::sync::Arc;

use farthing_core::shard::query::{Conditional, Query};
use farthing_core::words::language::Language;
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
    /// `phrases_of`: a text whose quoted phrases every hit must have.
    #[napi(factory, catch_unwind)]
    pub fn vector(space: String, vector: &[f32], phrases_of: Option<String>) -> Self {
        let query = Query::Vector { space, vector: vector.to_vec() };
        Self { inner: Arc::new(Conditional { query, phrases_of }) }
    }

    /// `language`: ISO 639-3 code of the text's language, if it is certain.
    #[napi(factory, catch_unwind)]
    pub fn words(text: String, language: Option<String>) -> Self {
        let language = language.and_then(|code| Language::by_code(&code));
        Self::unconditional(Query::Words { text, language })
    }

    #[napi(factory, catch_unwind)]
    pub fn picture(fingerprint: &[u8], digest: &[u8]) -> Result<Self> {
        let digest = digest.try_into().map_err(|_| internal("A digest has 32 bytes."))?;
        Ok(Self::unconditional(Query::Picture { fingerprint: fingerprint.to_vec(), digest }))
    }
}

impl NativeQuery {
    fn unconditional(query: Query) -> Self {
        Self { inner: Arc::new(Conditional { query, phrases_of: None }) }
    }
}
