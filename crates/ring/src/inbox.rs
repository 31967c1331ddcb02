//! The ring of buffers that receives take from, and the memory behind it.
//!
//! Source: `io_uring_register_buf_ring(3)` of liburing.
#![allow(unsafe_code, reason = "memory that the kernel writes has no safe owner")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

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
}

/// Numbers for inboxes.
static INBOXES: AtomicU32 = AtomicU32::new(0);

/// The memory itself. The first part is the ring of entries that the kernel
/// reads, the rest the buffers that it writes. The ring holds it as well, so
/// that it outlives what the kernel does with it.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
    entries: u16,
    /// Tells the buffers of one inbox from another's.
    number: u32,
    /// Where the next entry goes; what the kernel may see of it is published
    /// apart, with the next requests.
    tail: AtomicU16,
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
        let number = INBOXES.fetch_add(1, Ordering::Relaxed);
        let memory = Memory { start, layout, entries, number, tail: AtomicU16::new(0) };
        let mut inbox = Self { memory: Arc::new(memory) };
        for id in 0..entries {
            inbox.give_back(inbox.filled(id, 0));
        }
        inbox.memory.publish();
        Ok(inbox)
    }

    /// The memory, and what is registered of it: the address of the ring of
    /// entries, and their number.
    pub(crate) fn registration(&self) -> (Arc<Memory>, u64, u16) {
        let start = self.memory.start.as_ptr() as u64;
        (Arc::clone(&self.memory), start, self.memory.entries)
    }

    /// True where these are the buffers.
    pub(crate) fn is_over(&self, memory: &Arc<Memory>) -> bool {
        Arc::ptr_eq(&self.memory, memory)
    }

    pub(crate) fn filled(&self, id: u16, bytes: usize) -> Filled {
        Filled { id, inbox: self.memory.number, bytes }
    }

    /// What came.
    ///
    /// # Panics
    /// The buffer is another inbox's.
    #[must_use]
    pub fn bytes(&self, filled: &Filled) -> &[u8] {
        assert_eq!(filled.inbox, self.memory.number, "another inbox's buffer");
        let start = self.memory.buffer(filled.id);
        // SAFETY: the memory was zeroed when it was allocated, so every byte of
        // it has a value; the length stays within the buffer; the kernel writes
        // into it only after it was given back, which takes the `Filled` and
        // needs `&mut self`.
        unsafe { std::slice::from_raw_parts(start, filled.bytes.min(BUFFER_BYTES)) }
    }

    /// Has a buffer filled again, from the ring's next requests on.
    ///
    /// # Panics
    /// The buffer is another inbox's.
    #[expect(clippy::needless_pass_by_value, reason = "it is not to be read any more")]
    pub fn give_back(&mut self, filled: Filled) {
        let memory = &self.memory;
        assert_eq!(filled.inbox, memory.number, "another inbox's buffer");
        let tail = memory.tail.load(Ordering::Relaxed);
        let index = usize::from(tail & (memory.entries - 1));
        let address = memory.buffer(filled.id) as u64;
        // SAFETY: the index is below the number of entries, which stand at the
        // start of the memory, aligned to a page. The kernel does not read an
        // entry beyond the published tail.
        let entry = unsafe { &mut *memory.start.cast::<BufRingEntry>().as_ptr().add(index) };
        entry.set_addr(address);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(filled.id);
        memory.tail.store(tail.wrapping_add(1), Ordering::Relaxed);
    }
}

impl Memory {
    /// Lets the kernel see what was given back.
    pub(crate) fn publish(&self) {
        let base = self.start.cast::<BufRingEntry>().as_ptr();
        // SAFETY: the base is that of the first entry, whose unused field is
        // the tail; it is aligned to two bytes, and the kernel only reads it.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(base).cast_mut()) };
        tail.store(self.tail.load(Ordering::Relaxed), Ordering::Release);
    }

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
        let filled = inbox.filled(3, usize::MAX);
        assert_eq!(inbox.bytes(&filled).len(), BUFFER_BYTES);
    }
}
