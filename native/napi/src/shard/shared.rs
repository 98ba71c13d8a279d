//! Open indexes that other JavaScript threads of the process may read, by their Tenants. Who may use one, and until when, is theirs to
//! agree on (`src/server/fronts`): one that is closed refuses every use by itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use farthing_core::shard::open_shard::Shard;
use napi_derive::napi;

use super::open_shard::NativeShard;

static SHARED: Mutex<Option<HashMap<String, Arc<Shard>>>> = Mutex::new(None);

fn shared() -> MutexGuard<'static, Option<HashMap<String, Arc<Shard>>>> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on other threads find the index under this name.
#[napi(catch_unwind)]
pub fn share_index(name: String, shard: &NativeShard) {
    shared().get_or_insert_default().insert(name, shard.inner.clone());
}

/// The index of this name, for the calling thread. Null where none is shared.
#[napi(catch_unwind)]
pub fn shared_index(name: String) -> Option<NativeShard> {
    shared().as_ref()?.get(&name).map(|shard| NativeShard { inner: shard.clone() })
}

/// Nobody finds it any more; those that have it keep it.
#[napi(catch_unwind)]
pub fn unshare_index(name: String) {
    if let Some(all) = shared().as_mut() {
        all.remove(&name);
    }
}
