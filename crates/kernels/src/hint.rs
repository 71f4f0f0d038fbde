//! Processor hints that change no result: prefetching and the tick counter.

#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "both instructions are available as intrinsics only"
    )
)]

/// Bytes in a cache line.
pub const LINE: usize = 64;

/// Prefetches the cache line of an element; an index out of range is ignored.
#[inline]
pub fn prefetch<T>(slice: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has this hint, it faults at no address, and this address is an element's.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, at);
}

/// The processor's tick counter, where reading it costs less than reading the clock. Use differences only.
#[inline]
pub fn ticks() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 has the counter, and Linux lets programs read it.
        Some(unsafe { std::arch::x86_64::_rdtsc() })
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}
