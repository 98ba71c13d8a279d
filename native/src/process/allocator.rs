//! How the C library keeps what is freed.

/// Allocations of at least so many bytes are pages of their own, given back as soon as they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const APART_FROM_BYTES: i32 = 1_000_000;
/// Free memory at the end of the heap that is kept.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES: i32 = 16 << 20;

/// Keeps large allocations apart from the heap, for the whole process.
///
/// LMDB allocates 3 MiB for each environment (`MDB_IDL_UM_SIZE` in midl.h) and uses a few of their pages. By itself glibc serves
/// such sizes from the heap once one of them was freed (mallopt(3), M_MMAP_THRESHOLD), where they are zeroed as a whole and stay
/// resident: 64 open indexes took 310 MiB that way, and 13 this way.
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
