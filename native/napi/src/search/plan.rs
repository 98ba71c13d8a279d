use std::sync::Arc;

use farthing_core::search::plan::Plan;
use napi::Result;
use napi_derive::napi;

use crate::error::js_error;

/// The lists that answer one combination of query, families and models, and how they count.
#[napi]
pub struct SearchPlan {
    pub(crate) inner: Arc<Plan>,
}

#[napi]
impl SearchPlan {
    /// `json`: the fields of `farthing_core::search::plan::Plan`.
    #[napi(constructor, catch_unwind)]
    pub fn new(json: String) -> Result<Self> {
        Ok(Self { inner: Arc::new(Plan::from_json(&json).map_err(js_error)?) })
    }
}
