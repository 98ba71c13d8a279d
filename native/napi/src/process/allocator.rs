use farthing_core::process::allocator;

/// Runs when Node loads the addon, before it allocates anything large.
#[napi_derive::module_init]
fn init() {
    allocator::keep_large_allocations_apart();
}

/// Gives free memory of the process back to the system: once, when all that a start needed is loaded.
#[napi_derive::napi(catch_unwind)]
pub fn return_free_memory() {
    allocator::return_free_memory();
}
