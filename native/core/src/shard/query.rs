//! Queries to an index.

use std::sync::{Arc, Mutex, PoisonError};

use crate::blocks::pictures::DIGEST_BYTES;
use crate::terms::language::Language;
use crate::terms::spelt_right::SpeltRight;
use crate::words::query::may_have_phrases;
use crate::words::rank::ResolvedQuery;

/// Longest scans on the caller's thread: about half a millisecond on one core of 2.5 GHz without VNNI
/// (`make bench NAME=path`, `cargo run --example methods`). Elements of vectors (16,384 rows of 384), passages, pictures.
const VECTOR_ELEMENTS_AT_ONCE_MAX: u64 = 16_384 * 384;
const PASSAGES_AT_ONCE_MAX: u64 = 32_768;
const PICTURES_AT_ONCE_MAX: u64 = 131_072;
/// A query of words costs as much as a scan for each of these bytes…
const QUERY_AT_ONCE: u64 = 128;
/// … and this many times as much with phrases, whose words must be adjacent.
const PHRASES_COST: u64 = 64;

/// The query of one ranked list, and the words whose quoted phrases every hit must have.
#[derive(Debug, Clone)]
pub struct Conditional {
    pub query: Query,
    pub phrases_of: Option<String>,
}

impl Conditional {
    /// Whether scanning an index of this size would hold up the caller's thread for too long.
    pub fn is_long(&self, segments: u64) -> bool {
        match &self.query {
            Query::Vector { vector, .. } => {
                let phrases = self.phrases_of.as_deref().filter(|words| may_have_phrases(words));
                phrases.is_some_and(|words| has_many_words(words, segments))
                    || segments * vector.len() as u64 > VECTOR_ELEMENTS_AT_ONCE_MAX
            }
            Query::Words(words) => has_many_words(&words.text, segments),
            Query::Picture { .. } => segments > PICTURES_AT_ONCE_MAX,
        }
    }
}

fn has_many_words(words: &str, segments: u64) -> bool {
    let phrases = if may_have_phrases(words) { PHRASES_COST } else { 1 };
    segments * (words.len() as u64).div_ceil(QUERY_AT_ONCE) * phrases > PASSAGES_AT_ONCE_MAX
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
    resolved: Arc<Mutex<Option<ResolvedIn>>>,
}

/// A query with the state of the index that it was resolved in.
#[derive(Debug)]
struct ResolvedIn {
    state: usize,
    resolved: Arc<ResolvedQuery>,
}

impl WordsQuery {
    /// `language`: that of the text, if it is certain. `spelt_right`: its words that are no slips.
    pub fn new(text: String, language: Option<Language>, spelt_right: SpeltRight) -> Self {
        Self { text, language, spelt_right, resolved: Arc::default() }
    }

    /// The query of one state of an index: always the same index.
    pub(super) fn resolved(&self, state: usize) -> Arc<ResolvedQuery> {
        let mut last = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref().filter(|last| last.state == state) {
            return last.resolved.clone();
        }
        let resolved = Arc::new(ResolvedQuery::new(&self.text, self.language, self.spelt_right.clone()));
        *last = Some(ResolvedIn { state, resolved: resolved.clone() });
        resolved
    }
}
