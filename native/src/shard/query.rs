//! What a search asks of an index.

use crate::blocks::pictures::DIGEST_BYTES;
use crate::terms::language::Language;

/// The query of one ranked list, and the words whose quoted phrases every hit must have.
#[derive(Debug, Clone)]
pub struct Conditional {
    pub query: Query,
    pub phrases_of: Option<String>,
}

/// The query of one ranked list.
#[derive(Debug, Clone)]
pub enum Query {
    Vector {
        space: String,
        vector: Vec<f32>,
    },
    /// `language`: that of the text, if it is certain. `spelt_right`: words of it, in lower case, that are no slips.
    Words {
        text: String,
        language: Option<Language>,
        spelt_right: Vec<String>,
    },
    Picture {
        fingerprint: Vec<u8>,
        digest: [u8; DIGEST_BYTES],
    },
}
