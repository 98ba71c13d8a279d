use napi_derive::napi;

/// Whether a query quotes a phrase: every passage that it finds then has it.
#[napi(catch_unwind)]
pub fn has_phrases(query: String) -> bool {
    farthing_core::words::query::has_phrases(&query)
}
