use farthing_core::memory;

/// Runs when Node loads the addon, before it allocates anything large.
#[napi_derive::module_init]
fn init() {
    memory::keep_large_allocations_apart();
}
