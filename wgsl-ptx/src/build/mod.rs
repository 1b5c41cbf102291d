//! Typed builder of PTX: modules, kernels, registers, instructions, structured control flow.

mod arithmetic;
mod asynchronous;
mod bits;
mod convergence;
mod flow;
mod kernel;
mod matrix;
mod memory;
mod module;
mod predication;
mod types;
mod warp;
mod warpgroup;

pub use arithmetic::{Comparison, Rounding};
pub(crate) use asynchronous::COPIED_BYTES;
pub use kernel::{Label, PtxKernel, Space, Symbol};
pub use matrix::{MatrixProduct, PairOperation};
pub use memory::{Address, AtomicOperation, Ordering};
pub use module::PtxModule;
pub(crate) use module::SM_RANGE;
pub use types::{Operand, PtxType, Register};
pub use warp::{Shuffle, Special, WarpReduction};
pub use warpgroup::{GroupProduct, SharedMatrix};
