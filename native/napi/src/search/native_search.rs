use std::sync::Arc;

use farthing_core::filter::expression::Filter;
use farthing_core::filter::order::Order;
use farthing_core::ranking::options::Stop;
use farthing_core::search::task::inputs::SearchInputs;
use farthing_core::search::task::run::{Answer, Search, Wanted};
use farthing_core::shard::extents::Extent;
use napi::bindgen_prelude::{Buffer, ClassInstance, Object};
use napi::{Env, Result};
use napi_derive::napi;

use super::plan::SearchPlan;
use crate::error::{internal, js_error};
use crate::shard::off_thread::off_thread;
use crate::shard::snapshot::{NativeSnapshot, SearchStop};
use crate::text::vocabulary::Vocabulary;

/// The answer to a search.
#[napi(object)]
pub struct SearchedHits {
    /// A JSON array.
    pub json: Buffer,
    /// The words with slips corrected.
    pub corrected: Option<String>,
    /// Quoted phrases that stand nowhere: their words were looked for.
    pub relaxed: Vec<String>,
    /// Numbers of hits, of places that any list found, and of the index's Segments; confidence of the first hit; milliseconds of
    /// scan and fusion; whether a filter leaves nothing, and whether a text had no room (0 or 1); then of each list of the plan: scanned, rescored, exact (0 or 1), the method, and the recall if it is not exact.
    pub facts: Vec<f64>,
}

/// How much text hits show: passages on each side, and UTF-16 units of all texts together.
#[napi(object)]
pub struct TextExtent {
    pub around: u32,
    pub units_max: Option<u32>,
}

/// A search: its plan, and what its lists are asked with.
#[napi]
pub struct NativeSearch {
    pub(super) inputs: SearchInputs,
}

#[napi]
impl NativeSearch {
    /// `depth`: places that each list should reach. `exact`: every list is proved. `expires_at`: when the Items end, if that is not
    /// what is stored. `filter`: the fields of `farthing_core::filter::expression::Filter` as JSON, bounded by the caller; `order`: those of
    /// `farthing_core::filter::order::Order`.
    #[allow(clippy::too_many_arguments, reason = "an object of them costs ten times as much to cross the boundary")]
    #[napi(constructor, catch_unwind)]
    pub fn new(
        plan: &SearchPlan,
        k: u32,
        depth: u32,
        exact: bool,
        min_confidence: f64,
        explain: bool,
        expires_at: Option<String>,
        filter: Option<String>,
        extent: Option<TextExtent>,
        order: Option<String>,
    ) -> Result<Self> {
        let wanted = wanted(k, depth, exact, min_confidence, explain, expires_at, filter, extent, order)?;
        Ok(Self { inputs: SearchInputs::new(plan.inner.clone(), wanted) })
    }

    /// Segments from one to another that are not found.
    #[napi(catch_unwind)]
    pub fn leave_out(&mut self, first: u32, last: u32) {
        self.inputs.leave_out(first, last);
    }

    /// The words of the query. Words that `vocabulary` has are no slips. `asks`: they ask something.
    #[napi(catch_unwind)]
    pub fn ask_words(&mut self, words: String, vocabulary: Option<ClassInstance<'_, Vocabulary>>, asks: bool) {
        let spelt_right = vocabulary.map(|vocabulary| vocabulary.spelt_right.clone()).unwrap_or_default();
        self.inputs.ask_words(words, spelt_right, asks);
    }

    /// The vector for a list of the plan, in a space of the index.
    #[napi(catch_unwind)]
    pub fn ask_vector(&mut self, list: u32, space: String, vector: &[f32]) -> Result<()> {
        self.inputs.ask_vector(list as usize, space, vector.to_vec()).map_err(js_error)
    }

    /// The picture of the query.
    #[napi(catch_unwind)]
    pub fn ask_picture(&mut self, fingerprint: &[u8], digest: &[u8]) -> Result<()> {
        let digest = digest.try_into().map_err(|_| internal("A digest has 32 bytes."))?;
        self.inputs.ask_picture(fingerprint.to_vec(), digest);
        Ok(())
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
        let (search, shared, stop) = (self.complete()?, snapshot.shared(), stop.inner.clone());
        off_thread(env, move || shared.search(&stop, |snapshot| search.run(snapshot, &stop)), searched)
    }
}

impl NativeSearch {
    pub(super) fn complete(&self) -> Result<Search> {
        self.inputs.clone().complete().map_err(js_error)
    }
}

/// What a search wants of its hits.
#[allow(clippy::too_many_arguments, reason = "as the constructor has them")]
pub(crate) fn wanted(
    k: u32,
    depth: u32,
    exact: bool,
    min_confidence: f64,
    explain: bool,
    expires_at: Option<String>,
    filter: Option<String>,
    extent: Option<TextExtent>,
    order: Option<String>,
) -> Result<Wanted> {
    let (k, depth) = (k as usize, depth as usize);
    let extent = extent
        .map(|TextExtent { around, units_max }| Extent { around, units_max: units_max.map(|units| units as usize) });
    let filter = filter.map(|json| Filter::from_json(&json)).transpose().map_err(js_error)?.map(Arc::new);
    let order = order.map(|json| Order::from_json(&json)).transpose().map_err(js_error)?.map(Arc::new);
    Ok(Wanted { k, depth, exact, min_confidence, explain, expires_at, filter, extent, order, ..Wanted::default() })
}

pub(crate) fn searched(
    Answer { hits, candidates, confidence, scans, corrected, relaxed, segments, filtered_out, scan_ms, fuse_ms }: Answer,
) -> SearchedHits {
    let mut facts = vec![f64::from(hits.count), candidates as f64, segments as f64, confidence, scan_ms, fuse_ms];
    facts.extend([filtered_out, hits.truncated].map(|fact| f64::from(u8::from(fact))));
    for scan in scans {
        let exact = f64::from(u8::from(scan.exact));
        facts.extend([scan.scanned as f64, scan.rescored as f64, exact, f64::from(scan.method as u8), scan.recall]);
    }
    SearchedHits { json: hits.json.into(), corrected, relaxed, facts }
}
