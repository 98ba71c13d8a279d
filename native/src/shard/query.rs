//! What a search asks of an index.

use std::sync::{Arc, Mutex, PoisonError};

use crate::blocks::pictures::DIGEST_BYTES;
use crate::terms::language::Language;
use crate::terms::spelt_right::SpeltRight;
use crate::words::rank::Asked;

/// The query of one ranked list, and the words whose quoted phrases every hit must have.
#[derive(Debug, Clone)]
pub struct Conditional {
    pub query: Query,
    pub phrases_of: Option<String>,
}

/// The query of one ranked list.
#[derive(Debug, Clone)]
pub enum Query {
    Vector { space: String, vector: Vec<f32> },
    Words(WordsQuery),
    Picture { fingerprint: Vec<u8>, digest: [u8; DIGEST_BYTES] },
}

/// A query of words. What they mean in one state of an index is found out once for all clones, for it is ranked, ranked deeper,
/// and then rated.
#[derive(Debug, Clone)]
pub struct WordsQuery {
    text: String,
    language: Option<Language>,
    spelt_right: SpeltRight,
    asked: Arc<Mutex<Option<AskedOf>>>,
}

/// A query with the state of the index that it was asked of.
#[derive(Debug)]
struct AskedOf {
    state: usize,
    asked: Arc<Asked>,
}

impl WordsQuery {
    /// `language`: that of the text, if it is certain. `spelt_right`: its words that are no slips.
    pub fn new(text: String, language: Option<Language>, spelt_right: SpeltRight) -> Self {
        Self { text, language, spelt_right, asked: Arc::default() }
    }

    /// The query of one state of an index: always the same index.
    pub(super) fn asked(&self, state: usize) -> Arc<Asked> {
        let mut last = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref().filter(|last| last.state == state) {
            return last.asked.clone();
        }
        let asked = Arc::new(Asked::new(&self.text, self.language, self.spelt_right.clone()));
        *last = Some(AskedOf { state, asked: asked.clone() });
        asked
    }
}
