//! A hint to the processor's caches.

const CACHE_LINE: usize = 64;

/// Prefetches bytes that are read soon. Does nothing on processors other than x86-64.
#[inline(always)]
pub fn prefetch<T>(bytes: &[T]) {
    const { assert!(size_of::<T>() == 1) };
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // From the start of the first line, so that the last one is reached wherever the bytes begin.
        let from = bytes.as_ptr() as usize % CACHE_LINE;
        for at in (0..from + bytes.len()).step_by(CACHE_LINE) {
            // Safety: a hint, for which any address is valid. Every x86-64 processor has SSE.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast::<i8>().wrapping_add(at).wrapping_sub(from)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, CACHE_LINE);
}
