//! Words to the processor that change no answer: what will be read soon, and how much time has passed, roughly.

#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "both are instructions that only intrinsics name"
    )
)]

/// Bytes that come from memory together.
pub const LINE: usize = 64;

/// Asks for the line of an element to be loaded; an element that is not there is left out.
#[inline]
pub fn prefetch<T>(slice: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which every x86-64 has and which faults at no address; this one is an element's.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, at);
}

/// The processor's count of ticks, if reading it costs less than asking for the time; for differences only.
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
