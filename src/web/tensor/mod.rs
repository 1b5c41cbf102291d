//! Tensors on a GPU, and operations on arrays wherever they are faster.
//!
//! Calls are driven from outside, so that whatever goes wrong in one, traps too, is thrown where it waits for the call.
//! Each gives `{ value }`.

mod arrays;
mod backend;
mod batch;
mod call;
mod convert;
mod device;
mod kernel;
mod resident;

pub use backend::WebBackend;
pub use batch::{WebBatch, WebBufferId};
pub use call::Call;
pub use device::WebDevice;
pub use kernel::{WebArguments, WebKernel};
pub use resident::WebTensor;
