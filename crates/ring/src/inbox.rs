//! The ring of buffers that receives take from, and the memory behind it.
//!
//! Source: `io_uring_register_buf_ring(3)` of liburing.
#![allow(unsafe_code, reason = "memory that the kernel writes has no safe owner")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;

use crate::{BUFFER_BYTES, Filled};

/// From one buffer to the next. With a power of two the first lines of all
/// buffers, which is all that most answers fill, would lie in the same few sets
/// of the processor's cache.
const STRIDE_BYTES: usize = BUFFER_BYTES + 64;

/// A page, to which the ring of entries must be aligned.
const PAGE_BYTES: usize = 4096;

/// The caller's side of the buffers: reads what came, and gives back what is
/// read.
#[derive(Debug)]
pub struct Inbox {
    memory: Arc<Memory>,
    /// Where the next entry goes; what the kernel may see of it is published
    /// apart.
    tail: u16,
}

/// The memory itself. The first part is the ring of entries that the kernel
/// reads, the rest the buffers that it writes. The ring holds it as well, so
/// that it outlives what the kernel does with it.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
    entries: u16,
}

// SAFETY: nothing in it belongs to a thread. Shared between a ring and its
// inbox, only the inbox dereferences it, and it cannot be copied.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Inbox {
    /// So many buffers, all of them ready to be taken.
    pub(crate) fn new(entries: u16) -> io::Result<Self> {
        debug_assert!(entries.is_power_of_two());
        let bytes = usize::from(entries) * (size_of::<BufRingEntry>() + STRIDE_BYTES);
        let layout = Layout::from_size_align(bytes, PAGE_BYTES).map_err(io::Error::other)?;
        // SAFETY: the layout is not empty, there is at least one entry.
        let Some(start) = NonNull::new(unsafe { alloc_zeroed(layout) }) else {
            handle_alloc_error(layout);
        };
        let mut inbox = Self { memory: Arc::new(Memory { start, layout, entries }), tail: 0 };
        for id in 0..entries {
            inbox.give_back(Filled { id, bytes: 0 });
        }
        inbox.publish();
        Ok(inbox)
    }

    /// The memory, and what is registered of it: the address of the ring of
    /// entries, and their number.
    pub(crate) fn registration(&self) -> (Arc<Memory>, u64, u16) {
        let start = self.memory.start.as_ptr() as u64;
        (Arc::clone(&self.memory), start, self.memory.entries)
    }

    /// What came.
    #[must_use]
    pub fn bytes(&self, filled: &Filled) -> &[u8] {
        let start = self.memory.buffer(filled.id);
        // SAFETY: the memory was zeroed when it was allocated, so every byte of
        // it has a value; the length stays within the buffer; the kernel writes
        // into it only after it was given back, which takes the `Filled` and
        // needs `&mut self`.
        unsafe { std::slice::from_raw_parts(start, filled.bytes.min(BUFFER_BYTES)) }
    }

    /// Has a buffer filled again, from the ring's next wait on.
    #[expect(clippy::needless_pass_by_value, reason = "it is not to be read any more")]
    pub fn give_back(&mut self, filled: Filled) {
        let memory = &self.memory;
        let index = usize::from(self.tail & (memory.entries - 1));
        let address = memory.buffer(filled.id) as u64;
        // SAFETY: the index is below the number of entries, which stand at the
        // start of the memory, aligned to a page. The kernel does not read an
        // entry beyond the published tail.
        let entry = unsafe { &mut *memory.start.cast::<BufRingEntry>().as_ptr().add(index) };
        entry.set_addr(address);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(filled.id);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Lets the kernel see what was given back.
    pub(crate) fn publish(&self) {
        let base = self.memory.start.cast::<BufRingEntry>().as_ptr();
        // SAFETY: the base is that of the first entry, whose unused field is
        // the tail; it is aligned to two bytes, and the kernel only reads it.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(base).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

impl Memory {
    fn buffer(&self, id: u16) -> *mut u8 {
        // An id that the kernel made up would be its fault; it stays in bounds.
        let id = usize::from(id & (self.entries - 1));
        let head = usize::from(self.entries) * size_of::<BufRingEntry>();
        // SAFETY: head and buffers together are as long as the memory.
        unsafe { self.start.as_ptr().add(head + id * STRIDE_BYTES) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buffers lie behind the entries, apart from each other, and in bounds.
    #[test]
    fn buffers_do_not_meet() {
        let inbox = Inbox::new(8).expect("memory");
        let (memory, base, entries) = inbox.registration();
        assert_eq!(entries, 8);
        let starts: Vec<u64> = (0..entries).map(|id| memory.buffer(id) as u64).collect();
        assert_eq!(starts[0], base + 8 * 16);
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= BUFFER_BYTES as u64));
        assert!(starts[7] + BUFFER_BYTES as u64 <= base + memory.layout.size() as u64);
        let filled = Filled { id: 3, bytes: usize::MAX };
        assert_eq!(inbox.bytes(&filled).len(), BUFFER_BYTES);
    }
}
