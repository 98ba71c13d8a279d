//! Settings of the C library's allocator.

/// Allocations of at least this size get their own pages, which are returned to the system when they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const APART_FROM_BYTES: i32 = 1_000_000;
/// Free memory at the end of the heap that is not returned to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES: i32 = 16 << 20;

/// Keeps large allocations apart from the heap, for the whole process.
///
/// LMDB allocates 3 MiB for each environment (`MDB_IDL_UM_SIZE` in midl.h) and uses a few of their pages. By default
/// glibc takes such sizes from the heap once one of them was freed (mallopt(3), M_MMAP_THRESHOLD). There they are
/// zeroed as a whole and stay resident: 64 open indexes took 310 MiB. With their own pages they take 13 MiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_large_allocations_apart() {
    // SAFETY: sets parameters of the allocator, which takes them at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, APART_FROM_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_large_allocations_apart() {}

/// Gives free memory in the heaps of all threads back to the system (malloc_trim(3)). What a start needed once, as compilers'
/// and loaders' scratch, stays resident otherwise. Takes some milliseconds.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn return_free_memory() {
    // SAFETY: glibc locks each heap; nothing in use moves.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn return_free_memory() {}
