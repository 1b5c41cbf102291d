//! Tensors on a GPU, and operations on arrays wherever they are faster.
//!
//! Calls are driven from outside, as those of the codec are. Each gives `{ value }`.

mod arrays;
mod backend;
mod batch;
mod convert;
mod device;
mod kernel;
mod resident;

pub use backend::WebBackend;
pub use batch::{WebBatch, WebBufferId};
pub use device::WebDevice;
pub use kernel::{WebArguments, WebKernel};
pub use resident::WebTensor;
