//! Tensors on a GPU, and operations on arrays wherever they are faster, as classes of JavaScript.
//!
//! Errors are those of the methods of the same names in [`gpu`](crate::gpu) and [`tensor`](crate::tensor), as an `Error`
//! with the property `code`. Arrays are read before a method returns, but for those of a backend.

mod backend;
mod batch;
mod convert;
mod device;
mod kernel;
#[expect(missing_docs, reason = "wasm-bindgen adds items that have none")]
mod names;
mod operation;
mod resident;

pub use backend::WebBackend;
pub use batch::WebBatch;
pub use device::WebDevice;
pub use kernel::{WebArguments, WebKernel};
pub use names::{WebPowerPreference, WebReduction};
pub use operation::WebOperation;
pub use resident::WebTensor;
