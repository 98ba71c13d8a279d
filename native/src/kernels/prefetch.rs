//! A hint to the processor's caches.

const CACHE_LINE: usize = 64;

/// Asks for bytes that are read soon; where the processor is not one we know how to ask, nothing.
#[inline(always)]
pub fn prefetch<T>(bytes: &[T]) {
    const { assert!(size_of::<T>() == 1) };
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // From the start of the first line, so that the last one is asked for wherever the bytes begin.
        let from = bytes.as_ptr() as usize % CACHE_LINE;
        for at in (0..from + bytes.len()).step_by(CACHE_LINE) {
            // Safety: a hint: no address is wrong. SSE belongs to every 64-bit processor of this kind.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast::<i8>().wrapping_add(at).wrapping_sub(from)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, CACHE_LINE);
}
