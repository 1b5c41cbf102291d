//! Tensors and operations on them, in `f32`, on the GPU ([`GpuTensor`]) and on the CPU ([`cpu`]).
//!
//! [`GpuDevice`](crate::gpu::GpuDevice) has operations on slices: each call uploads its inputs and downloads its
//! result. [`GpuTensor`] keeps its elements in device memory, so that chains of operations need no transfers; they may
//! also be of 16 bits, see [`DType`].
//! [`GpuCommandBatch`] queues operations and runs them in one submission. [`GpuBackend`] runs each operation on the CPU
//! or on a GPU, whichever is expected to be faster, and on the CPU if there is no GPU.
//!
//! # Numbers
//! NaN is propagated by every operation. Sums are added in an order that depends on the shape alone, so results are
//! reproducible on one device.

pub mod cpu;
pub mod gguf;
pub mod layer;
#[cfg(gpu_engine)]
mod matmul_cache;
#[cfg(gpu_engine)]
mod op;
#[cfg(gpu_engine)]
mod record;
#[cfg(gpu_engine)]
mod surface;
mod view;

pub use cpu::{
    MaxOp, MinOp, ReduceOp, SumOp, TILE_SIZE, tiled_max_2d, tiled_min_2d, tiled_reduce_2d,
    tiled_reduce_partial, tiled_sum_2d,
};
#[cfg(gpu_engine)]
pub use layer::{QkvLoRA, WgslForwardPass};
#[cfg(gpu_engine)]
pub use matmul_cache::{GpuMatmulCache, WeightLayout};
#[cfg(web_tensor)]
pub(crate) use op::Op;
#[cfg(web_tensor)]
pub(crate) use surface::web::JsCall;
#[cfg(gpu_engine)]
pub use surface::{
    backend::GpuBackend,
    batch::{BufferId, GpuCommandBatch},
    quantized::QuantizedWeights,
    resident::GpuTensor,
};
pub use view::{MemoryLayout, PartitionView, TensorView, TileInfo};

#[cfg(gpu_engine)]
pub use crate::engine::BackendUsed;
pub use crate::ops::{
    Activation, DType, Epilogue, MAX_RANK, Precision, Quantization, Reduction, Shape, Step,
};
// Modules of this folder import these by the paths below.
pub(crate) use crate::ops::lengths::{check_dims, check_len};
use crate::ops::{lengths, shape};
