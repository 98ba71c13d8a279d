use farthing_core::process::allocator;

/// Runs when Node loads the addon, before it allocates anything large.
#[napi_derive::module_init]
fn init() {
    allocator::keep_large_allocations_apart();
}
