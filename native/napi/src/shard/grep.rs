use std::time::Instant;

use farthing_core::error::ShardError;
use farthing_core::filter::expression::Filter;
use farthing_core::shard::grep::{Cursor, TIME_MAX, WantedLines, WrittenLines, grep};
use farthing_core::text::pattern::Pattern;
use napi::bindgen_prelude::{Buffer, Object};
use napi::{Env, Result};
use napi_derive::napi;

use super::off_thread::off_thread;
use super::snapshot::{NativeSnapshot, SearchStop};
use crate::error::js_error;

/// A JSON array of lines, and where there may be more.
#[napi(object)]
pub struct LinesJson {
    pub json: Buffer,
    pub count: u32,
    pub next: Option<String>,
}

/// The lines of texts that match a pattern, on another thread: see `farthing_core::shard::grep`. Until then the snapshot may be closed,
/// but not used. `after`: the `next` of another call. `filter`, `expires_at`: as of a search.
#[napi(catch_unwind, ts_return_type = "Promise<LinesJson>")]
#[allow(clippy::too_many_arguments, reason = "as those of a search")]
pub fn grep_off_thread<'env>(
    env: &'env Env,
    snapshot: &NativeSnapshot,
    pattern: String,
    ignore_case: bool,
    lines_max: u32,
    context: u32,
    after: Option<String>,
    filter: Option<String>,
    expires_at: Option<String>,
    stop: &SearchStop,
) -> Result<Object<'env>> {
    let filter = filter.map(|json| Filter::from_json(&json)).transpose().map_err(js_error)?;
    let (shared, stop) = (snapshot.shared(), stop.inner.clone());
    let after = after.map(|after| Cursor::read(&after).ok_or_else(|| js_error(no_cursor()))).transpose()?;
    let (lines_max, context) = (lines_max as usize, context as usize);
    let wanted = WantedLines { lines_max, context, after, filter, expires_at, stop };
    let work = move || {
        shared.search(&wanted.stop, |snapshot| {
            let pattern = Pattern::read(&pattern, ignore_case)?;
            grep(snapshot, &pattern, &wanted, Instant::now() + TIME_MAX)
        })
    };
    off_thread(env, work, |WrittenLines { json, count, next }| LinesJson {
        json: json.into(),
        count,
        next: next.map(|next| next.to_string()),
    })
}

/// Reads a pattern on another thread, for its error.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn check_pattern<'env>(env: &'env Env, pattern: String, ignore_case: bool) -> Result<Object<'env>> {
    off_thread(env, move || Pattern::read(&pattern, ignore_case).map_err(js_error), drop)
}

fn no_cursor() -> ShardError {
    ShardError::new("field_invalid", "after: it is no `next` of an answer.")
}
