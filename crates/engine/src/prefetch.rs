//! Asking for memory before it is needed.
//!
//! With a thousand clients a client's data has left the caches by the time its
//! next answer comes. It can come back while the client before it is served,
//! most of which is time in the kernel. The one piece of the engine that the
//! language cannot say without `unsafe`; it reads and changes nothing.
#![allow(unsafe_code, reason = "a hint to the processor has no safe name")]

/// What one access brings from memory, in bytes. A processor with longer lines
/// is asked twice for some, which costs nothing.
const LINE_BYTES: usize = 64;

/// Asks for the first `bytes` of `value`, at most all of it.
#[inline(always)]
pub(crate) fn start_of<T>(value: &T, bytes: usize) {
    let start = std::ptr::from_ref(value).cast::<i8>();
    for at in (0..bytes.min(size_of::<T>())).step_by(LINE_BYTES) {
        line(start.wrapping_add(at));
    }
}

#[inline(always)]
#[cfg(target_arch = "x86_64")]
fn line(at: *const i8) {
    // SAFETY: a prefetch reads nothing that the program could see, and cannot
    // fault, whatever the address.
    unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at) }
}

#[inline(always)]
#[cfg(target_arch = "aarch64")]
fn line(at: *const i8) {
    // SAFETY: as above; PRFM is a hint and changes no register.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{at}]",
            at = in(reg) at,
            options(nostack, preserves_flags, readonly),
        );
    }
}

#[inline(always)]
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn line(_: *const i8) {}
