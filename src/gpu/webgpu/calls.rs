//! What `webgpu.ts` of the package does. Objects of the browser are numbers; none of this throws.

use crate::js::Token;

/// Numbers of [`limits`], in its order.
pub(super) const N_LIMITS: usize = 7;

/// Buffer usages of WebGPU.
pub(super) const MAP_READ: u32 = 1;
pub(super) const MAP_WRITE: u32 = 2;
pub(super) const COPY_SRC: u32 = 4;
pub(super) const COPY_DST: u32 = 8;
pub(super) const UNIFORM: u32 = 64;
pub(super) const STORAGE: u32 = 128;

/// Steps of [`submit`], each a number and what belongs to it. Of a launch: pipeline, grid, number of arguments, and of
/// each buffer, offset, bytes.
pub(super) const LAUNCH: f64 = 0.0;
/// Source, offset, target, offset, bytes.
pub(super) const COPY: f64 = 1.0;
/// Buffer, address in the module's memory, bytes: written before any other step.
pub(super) const WRITE: f64 = 2.0;

/// What to compile.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Description {
    pub wgsl: [usize; 2],
    pub entry: [usize; 2],
    /// An [`crate::kernels::Access`] a byte.
    pub bindings: [usize; 2],
    /// Names, each ended by a line feed.
    pub names: [usize; 2],
    /// Values of 64 bits.
    pub values: [usize; 2],
}

#[link(wasm_import_module = "gpu")]
unsafe extern "C" {
    /// Answers with a device on the browser's adapter.
    pub(super) safe fn open_device(low_power: bool, allow_software: bool, asked: Token);
    /// 1 or 0 for software, vendor and name of the adapter, as lines.
    pub(super) safe fn describe(device: u32) -> u32;
    pub(super) fn limits(device: u32, to: *mut f64);
    pub(super) safe fn destroy_device(device: u32);
    /// What went wrong since it was asked last: a text after `L` if the device is lost, `M` if memory ran out, else `E`;
    /// 0 if nothing.
    pub(super) safe fn fault(device: u32) -> u32;
    /// 0 if there is no memory.
    pub(super) safe fn create_buffer(device: u32, n_bytes: f64, usage: u32, mapped: bool) -> u32;
    pub(super) safe fn destroy_buffer(buffer: u32);
    /// Answers once the device is done with the buffer.
    pub(super) safe fn map(buffer: u32, for_writing: bool, start: f64, n_bytes: f64, asked: Token);
    /// The mapping of a range as an array; 0 if it is gone.
    pub(super) safe fn mapped(buffer: u32, start: f64, n_bytes: f64) -> u32;
    pub(super) safe fn unmap(buffer: u32);
    /// Answers with a pipeline.
    pub(super) fn compile(device: u32, what: *const Description, asked: Token);
    /// Answers, once all is done, with the nanoseconds of all launches; less than 0 if they were not measured.
    pub(super) fn submit(device: u32, steps: *const f64, n_numbers: usize, asked: Token);
    /// The same without an answer: what goes wrong is a fault of the device.
    pub(super) fn submit_untimed(device: u32, steps: *const f64, n_numbers: usize);
    /// Answers once everything submitted is done.
    pub(super) safe fn synchronize(device: u32, asked: Token);
}
