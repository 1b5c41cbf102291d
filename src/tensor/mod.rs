//! Tensors of `f32` and operations on them: on the GPU, where they stay ([`GpuTensor`]), and on the CPU ([`cpu`]).
//!
//! [`GpuDevice`](crate::gpu::GpuDevice) has the operations on slices, in and out. [`GpuTensor`] keeps its elements on the
//! device, so that chains of operations do not cross the bus. [`GpuCommandBatch`] queues operations and submits them as
//! one. [`GpuBackend`] opens a device when the first operation comes, and works on the CPU where there is none.
//!
//! # Numbers
//! NaN gives NaN in every operation. Sums are added in an order that depends on the shape alone: on one device the result
//! is the same each time.

pub mod cpu;
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
pub use crate::ops::{MAX_RANK, Quantization, Reduction, Shape, Step};
// The modules of this folder name them by these paths.
pub(crate) use crate::ops::lengths::{check_dims, check_len};
#[cfg(gpu_engine)]
use crate::ops::step;
use crate::ops::{lengths, shape};
