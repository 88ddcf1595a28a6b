//! The allocator: sizes in powers of two with a free list each, from a heap that only grows. A call's buffers come back
//! to the lists and serve the next call.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;

struct Heap {
    free: [usize; 32], // first free block of 2^i bytes; its first word is the next one
    top: usize,
    end: usize,
}

struct Allocator(UnsafeCell<Heap>);

// A guest has one thread.
unsafe impl Sync for Allocator {}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(UnsafeCell::new(Heap { free: [0; 32], top: 0, end: 0 }));

extern "C" {
    static __heap_base: u8;
}

const PAGE: usize = 65536;

impl Heap {
    unsafe fn grow(&mut self, size: usize) -> usize {
        if self.top == 0 {
            self.top = (&__heap_base as *const u8 as usize + 63) & !63;
            self.end = core::arch::wasm32::memory_size(0) * PAGE;
        }
        let at = (self.top + size.min(64) - 1) & !(size.min(64) - 1);
        match at.checked_add(size) {
            Some(end) if end <= self.end => self.top = end,
            Some(end) => {
                let pages = ((end - self.end) + PAGE - 1) / PAGE;
                if core::arch::wasm32::memory_grow(0, pages.max(16)) != usize::MAX {
                    self.end += pages.max(16) * PAGE;
                } else if core::arch::wasm32::memory_grow(0, pages) != usize::MAX {
                    self.end += pages * PAGE;
                } else {
                    return 0;
                }
                self.top = end;
            }
            None => return 0,
        }
        at
    }
}

fn class(layout: &Layout) -> usize {
    layout.size().max(layout.align()).max(16).next_power_of_two().trailing_zeros() as usize
}

unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let heap = &mut *self.0.get();
        let class = class(&layout);
        if class >= 31 {
            return core::ptr::null_mut();
        }
        let block = heap.free[class];
        if block != 0 {
            heap.free[class] = *(block as *const usize);
            return block as *mut u8;
        }
        heap.grow(1 << class) as *mut u8
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        let heap = &mut *self.0.get();
        let class = class(&layout);
        *(p as *mut usize) = heap.free[class];
        heap.free[class] = p as usize;
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    use core::fmt::Write;
    struct Line([u8; 256], usize);
    impl Write for Line {
        fn write_str(&mut self, s: &str) -> core::fmt::Result {
            let n = s.len().min(self.0.len() - self.1);
            self.0[self.1..self.1 + n].copy_from_slice(&s.as_bytes()[..n]);
            self.1 += n;
            Ok(())
        }
    }
    let mut line = Line([0; 256], 0);
    let _ = write!(line, "{}", info.message());
    crate::host::log_bytes(3, &line.0[..line.1]);
    core::arch::wasm32::unreachable()
}
