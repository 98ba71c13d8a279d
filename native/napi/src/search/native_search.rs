use std::sync::Arc;

use farthing_core::ranking::options::Stop;
use farthing_core::search::plan::Scans;
use farthing_core::search::run::{Answer, RankedEarly, Search, Wanted};
use farthing_core::shard::query::{Conditional, Query, WordsQuery};
use farthing_core::terms::language::Language;
use farthing_core::text::language;
use farthing_core::threads::scan_pool;
use farthing_core::words::query::has_phrases;
use napi::bindgen_prelude::{Buffer, ClassInstance, Object};
use napi::{Env, JsDeferred, Result};
use napi_derive::napi;

use super::plan::SearchPlan;
use crate::error::{internal, js_error};
use crate::shard::snapshot::{NativeSnapshot, SearchStop};
use crate::text::tokenize::TextTokenizer;

/// The answer to a search.
#[napi(object)]
pub struct SearchedHits {
    /// A JSON array.
    pub json: Buffer,
    /// The words with slips corrected.
    pub corrected: Option<String>,
    /// Numbers of hits, of places that any list found, and of the index's Segments; confidence of the first hit; milliseconds of
    /// scan and fusion; then of each list of the plan: scanned, rescored, exact (0 or 1), and the method.
    pub facts: Vec<f64>,
}

/// A search: its plan, and what each list is asked with.
#[napi]
pub struct NativeSearch {
    plan: Arc<farthing_core::search::plan::Plan>,
    wanted: Wanted,
    words: Option<String>,
    foreign: Vec<bool>,
    /// Of each list of the plan; None until it is known.
    queries: Vec<Option<Arc<Conditional>>>,
    early: Arc<RankedEarly>,
}

#[napi]
impl NativeSearch {
    /// `depth`: places that each list should reach. `exact`: every list is proved. `expires_at`: when the Items end, if that is not
    /// what is stored.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        plan: &SearchPlan,
        k: u32,
        depth: u32,
        exact: bool,
        min_confidence: f64,
        explain: bool,
        expires_at: Option<String>,
    ) -> Self {
        let (k, depth) = (k as usize, depth as usize);
        let plan = plan.inner.clone();
        Self {
            wanted: Wanted { k, depth, exact, min_confidence, explain, expires_at, ..Wanted::default() },
            words: None,
            foreign: vec![false; plan.lists.len()],
            queries: vec![None; plan.lists.len()],
            early: Arc::default(),
            plan,
        }
    }

    /// The words of the query. Words that `vocabulary` has whole are no slips. `asks`: they ask something.
    #[napi(catch_unwind)]
    pub fn ask_words(&mut self, words: String, vocabulary: Option<ClassInstance<'_, TextTokenizer>>, asks: bool) {
        let certain = language::detect(&words).filter(|(_, reliable)| *reliable).map(|(code, _)| code);
        let is_foreign = |known: &Vec<String>| certain.is_some_and(|code| !known.iter().any(|known| known == code));
        for (list, foreign) in self.plan.lists.iter().zip(&mut self.foreign) {
            *foreign = list.languages.as_ref().is_some_and(is_foreign);
        }
        self.wanted.asks = asks;
        self.wanted.describes_none = asks || has_phrases(&words);
        let spelt_right = vocabulary.map(|vocabulary| vocabulary.spelt_right.clone()).unwrap_or_default();
        let query = WordsQuery::new(words.clone(), certain.and_then(Language::by_code), spelt_right);
        self.ask(Scans::Words, Query::Words(query));
        self.words = Some(words);
    }

    /// The vector for a list of the plan, in a space of the index. The words come before it.
    #[napi(catch_unwind)]
    pub fn ask_vector(&mut self, list: u32, space: String, vector: &[f32]) -> Result<()> {
        let at = list as usize;
        let of = self.plan.lists.get(at).ok_or_else(|| internal("The plan has no such list."))?;
        // Every hit of passages has the phrases that the words quote.
        let phrases_of = (of.kind == farthing_core::search::plan::Kind::Passages).then(|| self.words.clone()).flatten();
        self.queries[at] =
            Some(Arc::new(Conditional { query: Query::Vector { space, vector: vector.to_vec() }, phrases_of }));
        Ok(())
    }

    /// The picture of the query.
    #[napi(catch_unwind)]
    pub fn ask_picture(&mut self, fingerprint: &[u8], digest: &[u8]) -> Result<()> {
        let digest = digest.try_into().map_err(|_| internal("A digest has 32 bytes."))?;
        self.ask(Scans::Fingerprints, Query::Picture { fingerprint: fingerprint.to_vec(), digest });
        Ok(())
    }

    /// Ranks the words while there is something to wait for, unless that would hold up the caller. The list counts if the index is
    /// still the same when the search runs.
    #[napi(catch_unwind)]
    pub fn rank_words(&self, snapshot: &NativeSnapshot) -> Result<()> {
        let at = self.plan.lists.iter().position(|list| list.scans == Scans::Words);
        match at.and_then(|at| self.queries[at].as_ref()) {
            Some(query) => snapshot.read(|snapshot| self.early.rank(snapshot, query, &self.wanted.options())),
            None => Ok(()),
        }
    }

    /// Searches a snapshot. Null where that would hold up the caller for too long.
    #[napi(catch_unwind)]
    pub fn run(&self, snapshot: &NativeSnapshot) -> Result<Option<SearchedHits>> {
        let search = self.complete()?;
        let answer = snapshot.read(|snapshot| {
            if search.is_long(snapshot)? { Ok(None) } else { search.run(snapshot, &Stop::default()).map(Some) }
        })?;
        Ok(answer.map(searched))
    }

    /// As `run`, on another thread. Until then the snapshot may be closed, but not used.
    #[napi(catch_unwind, ts_return_type = "Promise<SearchedHits>")]
    pub fn run_off_thread<'env>(
        &self,
        env: &'env Env,
        snapshot: &NativeSnapshot,
        stop: &SearchStop,
    ) -> Result<Object<'env>> {
        type Resolve = Box<dyn FnOnce(Env) -> Result<SearchedHits> + Send>;
        let (deferred, promise): (JsDeferred<SearchedHits, Resolve>, _) = env.create_deferred()?;
        let (search, shared, stop) = (self.complete()?, snapshot.shared(), stop.inner.clone());
        let refused = deferred.clone();
        let work = move || match shared.search(&stop, |snapshot| search.run(snapshot, &stop)) {
            Ok(answer) => deferred.resolve(Box::new(move |_| Ok(searched(answer)))),
            Err(error) => deferred.reject(error),
        };
        if let Err(error) = scan_pool::run(work) {
            refused.reject(js_error(error));
        }
        Ok(promise)
    }
}

impl NativeSearch {
    fn ask(&mut self, scans: Scans, query: Query) {
        let query = Arc::new(Conditional { query, phrases_of: None });
        for (list, asked) in self.plan.lists.iter().zip(&mut self.queries) {
            if list.scans == scans {
                *asked = Some(query.clone());
            }
        }
    }

    pub(super) fn complete(&self) -> Result<Search> {
        let queries: Option<Vec<Arc<Conditional>>> = self.queries.iter().cloned().collect();
        Ok(Search {
            plan: self.plan.clone(),
            wanted: self.wanted.clone(),
            words: self.words.clone(),
            queries: queries.ok_or_else(|| internal("A list of the plan is not asked with anything."))?,
            foreign: self.foreign.clone(),
            early: self.early.clone(),
        })
    }
}

fn searched(
    Answer { hits, candidates, confidence, scans, corrected, segments, scan_ms, fuse_ms }: Answer,
) -> SearchedHits {
    let mut facts = vec![f64::from(hits.count), candidates as f64, segments as f64, confidence, scan_ms, fuse_ms];
    for scan in scans {
        let exact = f64::from(u8::from(scan.exact));
        facts.extend([scan.scanned as f64, scan.rescored as f64, exact, f64::from(scan.method as u8)]);
    }
    SearchedHits { json: hits.json.into(), corrected, facts }
}
