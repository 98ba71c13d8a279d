//! Inputs of a search's lists, as they become known.

use std::sync::Arc;

use super::run::{Search, Wanted};
use crate::blocks::pictures::DIGEST_BYTES;
use crate::error::{Result, ShardError};
use crate::search::plan::{Kind, Plan, Scans};
use crate::search::query::asks_of_facts;
use crate::shard::query::{Conditional, Query, WordsQuery};
use crate::terms::language::Language;
use crate::terms::spelt_right::SpeltRight;
use crate::text::language;
use crate::words::query::has_phrases;

/// A search, and what is known of its query.
#[derive(Clone)]
pub struct SearchInputs {
    plan: Arc<Plan>,
    wanted: Wanted,
    words: Option<AskedWords>,
    picture: Option<Arc<Conditional>>,
    /// For each list of the plan: a space of the index, and the vector in it.
    vectors: Vec<Option<(String, Vec<f32>)>>,
}

#[derive(Clone)]
struct AskedWords {
    text: String,
    spelt_right: SpeltRight,
    asks: bool,
}

impl SearchInputs {
    pub fn new(plan: Arc<Plan>, wanted: Wanted) -> Self {
        Self { vectors: vec![None; plan.lists.len()], plan, wanted, words: None, picture: None }
    }

    #[cfg(test)]
    pub(super) fn plan(self) -> Arc<Plan> {
        self.plan
    }

    /// Segments from one to another are not found.
    pub fn leave_out(&mut self, first: u32, last: u32) {
        self.wanted.without.push((first, last));
    }

    /// The words of the query. `spelt_right`: those that are no slips. `asks`: they ask something.
    pub fn ask_words(&mut self, text: String, spelt_right: SpeltRight, asks: bool) {
        self.words = Some(AskedWords { text, spelt_right, asks });
    }

    /// The vector for a list of the plan, in a space of the index.
    pub fn ask_vector(&mut self, list: usize, space: String, vector: Vec<f32>) -> Result<()> {
        let asked = self.vectors.get_mut(list).ok_or_else(|| ShardError::internal("The plan has no such list."))?;
        *asked = Some((space, vector));
        Ok(())
    }

    /// The picture of the query.
    pub fn ask_picture(&mut self, fingerprint: Vec<u8>, digest: [u8; DIGEST_BYTES]) {
        let query = Query::Picture { fingerprint, digest };
        self.picture = Some(Arc::new(Conditional { query, phrases_of: None }));
    }

    /// # Errors
    /// `internal` while a list is not asked with anything.
    pub fn complete(self) -> Result<Search> {
        let Self { plan, mut wanted, words, picture, vectors } = self;
        let certain = words.as_ref().and_then(|words| language::detect(&words.text)).filter(|(_, reliable)| *reliable);
        let certain = certain.map(|(code, _)| code);
        let is_other_script =
            |known: &Vec<String>| words.as_ref().is_some_and(|words| language::is_in_other_script(&words.text, known));
        let is_foreign = |known: &Vec<String>| {
            certain.map_or_else(|| is_other_script(known), |code| !known.iter().any(|known| known == code))
        };
        let foreign = plan.lists.iter().map(|list| list.languages.as_ref().is_some_and(is_foreign)).collect();
        let text = words.as_ref().map(|words| words.text.clone());
        let words = words.map(|AskedWords { text, spelt_right, asks }| {
            wanted.asks = asks;
            wanted.describes_none = asks || has_phrases(&text);
            wanted.asks_of_facts = asks && asks_of_facts(&text);
            let query = Query::Words(WordsQuery::new(text, certain.and_then(Language::by_code), spelt_right));
            Arc::new(Conditional { query, phrases_of: None })
        });
        let queries = plan.lists.iter().zip(vectors).map(|(list, vector)| match list.scans {
            Scans::Words => words.clone(),
            Scans::Fingerprints => picture.clone(),
            Scans::Vectors => vector.map(|(space, vector)| {
                // Every hit of passages has the phrases that the words quote.
                let phrases_of = text.clone().filter(|_| list.kind == Kind::Passages);
                Arc::new(Conditional { query: Query::Vector { space, vector }, phrases_of })
            }),
        });
        let queries: Option<Vec<Arc<Conditional>>> = queries.collect();
        let queries = queries.ok_or_else(|| ShardError::internal("A list of the plan is not asked with anything."))?;
        Ok(Search { plan, wanted, words: text, queries, foreign })
    }
}
