//! CUDA code beside the crate: memory and a stream of its own in the primary context.

use std::ffi::c_void;

use cudarc::driver::sys::{self, CUresult};

pub fn ok(code: CUresult) {
    assert_eq!(code, CUresult::CUDA_SUCCESS);
}

/// A stream in the primary context of GPU 0, with its memory. The context is current on the thread.
pub struct Foreign {
    pub stream: sys::CUstream,
    memory: Vec<u64>,
}

impl Foreign {
    pub fn new() -> Self {
        let (mut context, mut stream) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: all variables outlive the calls. 1 makes a stream that does not wait for the default one.
        unsafe {
            ok(sys::cuInit(0));
            ok(sys::cuDevicePrimaryCtxRetain(&raw mut context, 0));
            ok(sys::cuCtxPushCurrent_v2(context));
            ok(sys::cuStreamCreate(&raw mut stream, 1));
        }
        Self {
            stream,
            memory: Vec::new(),
        }
    }

    /// Returns the stream as the crate takes it.
    pub fn handle(&self) -> u64 {
        self.stream as u64
    }

    /// Allocates memory, all of it set to `byte` on the stream.
    pub fn memory(&mut self, n_bytes: u64, byte: u8) -> u64 {
        let mut address = 0;
        // SAFETY: the address outlives the call, and the memory has that many bytes.
        unsafe {
            ok(sys::cuMemAlloc_v2(
                &raw mut address,
                n_bytes.max(1) as usize,
            ))
        };
        self.memory.push(address);
        self.set(address, byte, n_bytes);
        address
    }

    pub fn set(&self, address: u64, byte: u8, n_bytes: u64) {
        // SAFETY: callers pass memory of `memory`.
        unsafe {
            ok(sys::cuMemsetD8Async(
                address,
                byte,
                n_bytes as usize,
                self.stream,
            ))
        };
    }

    /// Allocates memory with these bytes.
    pub fn upload(&mut self, bytes: &[u8]) -> u64 {
        let address = self.memory(bytes.len() as u64, 0);
        self.write(address, bytes);
        address
    }

    pub fn write(&self, address: u64, bytes: &[u8]) {
        let from = bytes.as_ptr().cast::<c_void>();
        // SAFETY: the bytes stay until the stream is done.
        unsafe {
            ok(sys::cuMemcpyHtoDAsync_v2(
                address,
                from,
                bytes.len(),
                self.stream,
            ))
        };
        self.wait();
    }

    /// Enqueues a copy.
    pub fn copy(&self, to: u64, from: u64, n_bytes: u64) {
        // SAFETY: callers pass memory of `memory`.
        unsafe {
            ok(sys::cuMemcpyDtoDAsync_v2(
                to,
                from,
                n_bytes as usize,
                self.stream,
            ))
        };
    }

    pub fn download(&self, address: u64, n_bytes: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; n_bytes];
        let to = bytes.as_mut_ptr().cast::<c_void>();
        // SAFETY: the bytes stay until the stream is done.
        unsafe { ok(sys::cuMemcpyDtoHAsync_v2(to, address, n_bytes, self.stream)) };
        self.wait();
        bytes
    }

    pub fn wait(&self) {
        // SAFETY: the stream was not destroyed.
        unsafe { ok(sys::cuStreamSynchronize(self.stream)) };
    }

    /// Returns the milliseconds that the work which `enqueue` adds takes on the stream.
    pub fn milliseconds(&self, enqueue: impl FnOnce()) -> f32 {
        let mut events = [std::ptr::null_mut(); 2];
        let mut elapsed = 0.0;
        // SAFETY: all variables outlive the calls, and the events are destroyed once.
        unsafe {
            for event in &mut events {
                ok(sys::cuEventCreate(event, 0));
            }
            ok(sys::cuEventRecord(events[0], self.stream));
            enqueue();
            ok(sys::cuEventRecord(events[1], self.stream));
            ok(sys::cuEventSynchronize(events[1]));
            ok(sys::cuEventElapsedTime_v2(
                &raw mut elapsed,
                events[0],
                events[1],
            ));
            for event in events {
                ok(sys::cuEventDestroy_v2(event));
            }
        }
        elapsed
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: nothing of the stream and the memory is used afterwards; errors after a failed test do not count.
        unsafe {
            let _ = sys::cuStreamSynchronize(self.stream);
            for &address in &self.memory {
                let _ = sys::cuMemFree_v2(address);
            }
            let _ = sys::cuStreamDestroy_v2(self.stream);
            let mut popped = std::ptr::null_mut();
            let _ = sys::cuCtxPopCurrent_v2(&raw mut popped);
            let _ = sys::cuDevicePrimaryCtxRelease_v2(0);
        }
    }
}
