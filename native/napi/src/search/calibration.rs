//! For `bench/calibration`: a fit of the curves uses the arithmetic that searches use.

use farthing_core::ranking::options::Stop;
use farthing_core::search::calibration::judged;
use farthing_core::search::evidence::Evidence;
use farthing_core::search::pictures::leads_of;
use napi::Result;
use napi_derive::napi;

use super::native_search::NativeSearch;
use super::plan::SearchPlan;
use crate::error::js_error;
use crate::shard::snapshot::NativeSnapshot;

/// Features of a first passage.
#[napi(object)]
pub struct PassageFeatures {
    pub gap: f64,
    #[napi(js_name = "gap_sixth")]
    pub gap_sixth: f64,
    pub held: f64,
    pub lacks: f64,
    pub written: f64,
    pub agreement: f64,
    pub cosine: f64,
    pub lead: f64,
}

/// Passages in their order, by their numbers in the evidence, and the features of the first.
#[napi(object)]
pub struct JudgedPassages {
    pub features: PassageFeatures,
    pub candidates: Vec<u32>,
    pub orders: Vec<f64>,
}

/// What the lists of a search say of the places that any of them found: `farthing_core::search::evidence::Evidence` as JSON.
#[napi(catch_unwind)]
pub fn search_evidence(search: &NativeSearch, snapshot: &NativeSnapshot) -> Result<String> {
    let search = search.complete()?;
    snapshot.read(|snapshot| search.scan(snapshot, &Stop::default())?.evidence.to_json())
}

/// The order of passages, each a place, that such evidence leads to. Null if there are none.
#[napi(catch_unwind)]
pub fn judge_passages(plan: &SearchPlan, evidence: String) -> Result<Option<JudgedPassages>> {
    let evidence = Evidence::from_json(&evidence).map_err(js_error)?;
    Ok(judged(&plan.inner, &evidence).map(|(features, ordered)| JudgedPassages {
        features: PassageFeatures {
            gap: features.gap,
            gap_sixth: features.gap_sixth,
            held: features.held,
            lacks: features.lacks,
            written: features.written,
            agreement: features.agreement,
            cosine: features.cosine,
            lead: features.lead,
        },
        candidates: ordered.iter().map(|one| one.candidate as u32).collect(),
        orders: ordered.iter().map(|one| one.order).collect(),
    }))
}

/// How far each of a list's scores for pictures leads the best of the others, or is behind it.
#[napi(catch_unwind)]
pub fn picture_leads(scores: Vec<f64>) -> Vec<f64> {
    leads_of(&scores.into_iter().zip(0..).collect::<Vec<_>>())
}
