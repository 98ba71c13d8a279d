//! Memory for weights.

use super::aligned::Aligned;

/// An empty vector with room for `bytes`, in large pages where the system gives them when asked: a forward pass reads all
/// weights once, and with pages of 4 KiB it would wait for thousands of translations of addresses.
pub fn in_large_pages(bytes: usize) -> Aligned<u8> {
    let memory = Aligned::with_capacity(bytes);
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let (start, bytes) = memory.capacity_ptr();
        let (start, end) = ((start as usize).next_multiple_of(PAGE), (start as usize + bytes) / PAGE * PAGE);
        if start < end {
            // Safety: advice on whole pages of memory that is owned here. It changes no byte; if it fails, nothing is lost.
            unsafe {
                libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
            }
        }
    }
    memory
}
