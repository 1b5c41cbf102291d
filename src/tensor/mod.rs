//! Tensors of `f32` and operations on them: on the GPU, where they stay ([`GpuTensor`]), and on the CPU ([`cpu`]).
//!
//! [`GpuDevice`](crate::gpu::GpuDevice) has the operations on slices, in and out. [`GpuTensor`] keeps its elements on the
//! device, so that chains of operations do not cross the bus. [`GpuCommandBatch`] queues operations and submits them as
//! one. [`GpuBackend`] opens a device when the first operation comes, and works on the CPU where there is none.
//!
//! # Numbers
//! NaN gives NaN in every operation. Sums are added in an order that depends on the shape alone: on one device the result
//! is the same each time.

#[cfg(gpu_engine)]
mod attention;
#[cfg(gpu_engine)]
mod axes;
#[cfg(gpu_engine)]
mod backend;
#[cfg(gpu_engine)]
mod batch;
#[cfg(gpu_engine)]
mod calibrate;
pub mod cpu;
#[cfg(gpu_engine)]
mod device;
#[cfg(gpu_engine)]
mod elementwise;
#[cfg(gpu_engine)]
mod graph;
pub mod layer;
#[cfg(gpu_engine)]
mod matmul_cache;
#[cfg(gpu_engine)]
mod norm;
#[cfg(gpu_engine)]
mod pool;
#[cfg(gpu_engine)]
mod products;
#[cfg(gpu_engine)]
mod quantized;
#[cfg(gpu_engine)]
mod reduce;
#[cfg(gpu_engine)]
mod resident;
#[cfg(gpu_engine)]
mod run;
#[cfg(gpu_engine)]
mod softmax;
mod view;
#[cfg(web_tensor)]
mod web;
#[cfg(gpu_engine)]
mod work;

#[cfg(web_tensor)]
pub(crate) use axes::rows_shape;
#[cfg(gpu_engine)]
pub use backend::GpuBackend;
#[cfg(gpu_engine)]
pub use batch::{BufferId, GpuCommandBatch};
pub use cpu::{
    MaxOp, MinOp, ReduceOp, SumOp, TILE_SIZE, tiled_max_2d, tiled_min_2d, tiled_reduce_2d,
    tiled_reduce_partial, tiled_sum_2d,
};
#[cfg(gpu_engine)]
pub use layer::{QkvLoRA, WgslForwardPass};
#[cfg(gpu_engine)]
pub use matmul_cache::{GpuMatmulCache, WeightLayout};
#[cfg(gpu_engine)]
pub use quantized::QuantizedWeights;
#[cfg(gpu_engine)]
pub use resident::GpuTensor;
pub use view::{MemoryLayout, PartitionView, TensorView, TileInfo};
#[cfg(web_tensor)]
pub(crate) use web::{JsArray, JsOperation, OperationKind};

#[cfg(gpu_engine)]
pub use crate::engine::BackendUsed;
pub use crate::ops::{MAX_RANK, Quantization, Reduction, Shape, Step};
// The modules of this folder name them by these paths.
pub(crate) use crate::ops::lengths::{check_dims, check_len};
use crate::ops::{lengths, shape};
#[cfg(gpu_engine)]
use crate::ops::{quantization, step};
