//! What a search asks an index.

use crate::blocks::pictures::DIGEST_BYTES;
use crate::words::language::Language;

/// What one ranked list is asked with.
#[derive(Debug, Clone)]
pub enum Question {
    Vector {
        space: String,
        vector: Vec<f32>,
    },
    /// `language`: that of the query, where it is certain.
    Words {
        query: String,
        language: Option<Language>,
    },
    Picture {
        fingerprint: Vec<u8>,
        digest: [u8; DIGEST_BYTES],
    },
}
