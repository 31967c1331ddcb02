//! The ring of buffers that receives take from, and the memory behind it.
//!
//! Source: `io_uring_register_buf_ring(3)` of liburing.
#![allow(unsafe_code, reason = "memory that the kernel writes has no safe owner")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;

/// Bytes of a buffer. An answer to the statement used has about 70; a longer
/// one arrives in several buffers.
const BUFFER_BYTES: usize = 1024;

/// The kernel's limit of entries of a buffer ring.
const BUFFERS_MAX: usize = 1 << 15;

/// A page, to which the ring of entries must be aligned.
const PAGE_BYTES: usize = 4096;

/// The buffers. The first part of `memory` is the ring of entries that the
/// kernel reads, the rest the buffers that it writes.
#[derive(Debug)]
pub(super) struct Buffers {
    memory: NonNull<u8>,
    layout: Layout,
    entries: u16,
    /// Where the next entry goes; what the kernel may see of it is published
    /// apart.
    tail: u16,
}

impl Buffers {
    /// At least `wanted` buffers, all of them ready to be taken.
    pub(super) fn new(wanted: usize) -> io::Result<Self> {
        let entries = wanted.next_power_of_two().clamp(1, BUFFERS_MAX);
        let bytes = entries * (size_of::<BufRingEntry>() + BUFFER_BYTES);
        let layout = Layout::from_size_align(bytes, PAGE_BYTES).map_err(io::Error::other)?;
        // SAFETY: the layout is not empty, there is at least one entry.
        let Some(memory) = NonNull::new(unsafe { alloc_zeroed(layout) }) else {
            handle_alloc_error(layout);
        };
        // Not above BUFFERS_MAX, which fits.
        let mut buffers = Self { memory, layout, entries: entries as u16, tail: 0 };
        for id in 0..buffers.entries {
            buffers.give_back(id);
        }
        buffers.publish();
        Ok(buffers)
    }

    /// The address of the ring of entries, and their number.
    pub(super) fn registration(&self) -> (u64, u16) {
        (self.memory.as_ptr() as u64, self.entries)
    }

    /// The first bytes of a buffer that the kernel filled.
    pub(super) fn bytes(&self, id: u16, count: usize) -> &[u8] {
        let start = self.buffer(id);
        // SAFETY: the memory was zeroed when it was allocated, so every byte of
        // it has a value; the length stays within the buffer; the kernel writes
        // into it only after it was given back, which needs `&mut self`.
        unsafe { std::slice::from_raw_parts(start, count.min(BUFFER_BYTES)) }
    }

    /// Queues a buffer to be taken again, once it is published.
    pub(super) fn give_back(&mut self, id: u16) {
        let index = usize::from(self.tail & (self.entries - 1));
        let address = self.buffer(id) as u64;
        // SAFETY: the index is below the number of entries, which stand at the
        // start of the memory, aligned to a page. The kernel does not read an
        // entry beyond the published tail.
        let entry = unsafe { &mut *self.memory.cast::<BufRingEntry>().as_ptr().add(index) };
        entry.set_addr(address);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Lets the kernel see what was given back.
    pub(super) fn publish(&self) {
        let base = self.memory.cast::<BufRingEntry>().as_ptr();
        // SAFETY: the base is that of the first entry, whose unused field is
        // the tail; it is aligned to two bytes, and the kernel only reads it.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(base).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    fn buffer(&self, id: u16) -> *mut u8 {
        // An id that the kernel made up would be its fault; it stays in bounds.
        let id = usize::from(id & (self.entries - 1));
        let head = usize::from(self.entries) * size_of::<BufRingEntry>();
        // SAFETY: head and buffers together are as long as the memory.
        unsafe { self.memory.as_ptr().add(head + id * BUFFER_BYTES) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buffers lie behind the entries, apart from each other, and in bounds.
    #[test]
    fn buffers_do_not_meet() {
        let buffers = Buffers::new(5).expect("memory");
        let (base, entries) = buffers.registration();
        assert_eq!(entries, 8);
        let starts: Vec<u64> = (0..entries).map(|id| buffers.buffer(id) as u64).collect();
        assert_eq!(starts[0], base + 8 * 16);
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == BUFFER_BYTES as u64));
        let end = base + buffers.layout.size() as u64;
        assert_eq!(starts[7] + BUFFER_BYTES as u64, end);
        assert_eq!(buffers.bytes(3, usize::MAX).len(), BUFFER_BYTES);
    }
}
