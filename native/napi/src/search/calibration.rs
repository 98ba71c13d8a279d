//! For `bench/calibration`: a fit of the curves uses the arithmetic that searches use.

use farthing_core::ranking::options::Stop;
use farthing_core::search::calibration::judge;
use farthing_core::search::evidence::Evidence;
use farthing_core::search::pictures::leads_of;
use farthing_core::search::query::QueryFacts;
use napi::Result;
use napi_derive::napi;

use super::native_search::NativeSearch;
use super::plan::SearchPlan;
use crate::error::js_error;
use crate::shard::snapshot::NativeSnapshot;

/// Evidence of the lists of a search about the places that any of them found: `farthing_core::search::evidence::Evidence` as JSON.
#[napi(catch_unwind)]
pub fn search_evidence(search: &NativeSearch, snapshot: &NativeSnapshot) -> Result<String> {
    let search = search.complete()?;
    snapshot.read(|snapshot| search.scan(snapshot, &Stop::default())?.evidence.to_json())
}

/// The order of passages, each a place, that such evidence leads to: `farthing_core::search::calibration::Judged` as JSON. Null if
/// there are none. `segments`: of the index. `asks`: the query asks something.
#[napi(catch_unwind)]
pub fn judge_passages(plan: &SearchPlan, evidence: String, segments: u32, asks: bool) -> Result<Option<String>> {
    let query = QueryFacts { segments: u64::from(segments), asks, ..QueryFacts::default() };
    let evidence = Evidence::from_json(&evidence).map_err(js_error)?;
    judge(&plan.inner, &evidence, &query).map(|judged| judged.to_json().map_err(js_error)).transpose()
}

/// How far each of a list's scores for pictures leads the best of the others, or is behind it.
#[napi(catch_unwind)]
pub fn picture_leads(scores: Vec<f64>) -> Vec<f64> {
    leads_of(&scores.into_iter().zip(0..).collect::<Vec<_>>())
}
