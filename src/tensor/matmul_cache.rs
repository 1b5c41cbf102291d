//! [`GpuMatmulCache`]: weight matrices that stay on the device between products.

use std::collections::HashMap;
use std::ops::Range;

use super::check_dims;
use super::record::{Operand, Recording, factors};
use super::shape::Shape;
use super::view::TensorView;
use super::{Epilogue, GpuTensor};
use crate::gpu::{Backend, Buffer, GpuDevice, HostBuffer, HostMemory, HostUse, Sized64};
use crate::kernels::tensor::padded_bytes;
use crate::memory::with_room;
use crate::{Error, Result};

/// Maximum number of elements of a part: kernels address elements with 32-bit indices.
const MAX_PART: u64 = 1 << 30;

/// Layout of a weight matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WeightLayout {
    /// `[k, n]`: a row per input, as the right factor of a product.
    InputRows,
    /// `[n, k]`: a row per output, the layout of many model files.
    OutputRows,
}

/// Computes products with weights that stay on the device. Weights are uploaded once, kernels are compiled once, and
/// buffers for inputs and outputs are reused. A weight matrix that is too large for one binding is stored in parts,
/// whose products are added.
///
/// ```no_run
/// use pagepress::gpu::{GpuDevice, GpuMatmulCache, WeightLayout};
/// # async fn run() -> pagepress::Result<()> {
/// let mut cache = GpuMatmulCache::new(GpuDevice::new_async().await?);
/// let identity = [1.0, 0.0, 0.0, 1.0];
/// cache.upload_weight_async("layer 0", &identity, 2, 2, WeightLayout::InputRows).await?;
/// let mut output = [0.0; 2];
/// cache.matmul_async("layer 0", &[3.0, 4.0], &mut output, 1).await?;
/// assert_eq!(output, [3.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GpuMatmulCache {
    device: GpuDevice,
    weights: HashMap<String, Weight>,
    transfer: Option<Transfer>,
}

#[derive(Debug)]
struct Weight {
    k: usize,
    n: usize,
    parts: Vec<Part>,
}

/// The part of a weight matrix for a range of inputs.
#[derive(Debug)]
struct Part {
    inputs: Range<usize>,
    /// Layout in `buffer`; the shape is `[inputs.len(), n]`.
    view: TensorView,
    buffer: Buffer,
}

/// Buffers for inputs and outputs, of the largest sizes so far.
#[derive(Debug)]
struct Transfer {
    host_input: HostBuffer,
    input: Buffer,
    output: Buffer,
    host_output: HostBuffer,
}

impl GpuMatmulCache {
    /// Creates a cache without weights.
    #[must_use]
    pub fn new(device: GpuDevice) -> Self {
        Self {
            device,
            weights: HashMap::new(),
            transfer: None,
        }
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> &GpuDevice {
        &self.device
    }

    /// Uploads a matrix from `k` inputs to `n` outputs; replaces one of the same name.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::InvalidArgument`] if the weights of one input are too large for a binding;
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn upload_weight_async(
        &mut self,
        name: &str,
        values: &[f32],
        k: usize,
        n: usize,
        layout: WeightLayout,
    ) -> Result<()> {
        check_dims("values", values.len(), &[k, n])?;
        let capabilities = self.device.capabilities();
        // Kernels may read a few elements beyond the end of a matrix, which they do not use.
        let n_bytes = capabilities
            .max_binding_bytes
            .min(capabilities.max_buffer_bytes.saturating_sub(256));
        let n_inputs = inputs_per_part(n, (n_bytes / 16 * 4).min(MAX_PART))?;
        let mut parts = Vec::with_capacity(k.div_ceil(n_inputs));
        for start in (0..k).step_by(n_inputs) {
            let inputs = start..k.min(start + n_inputs);
            parts.push(self.upload_part(values, inputs, [k, n], layout).await?);
        }
        self.weights.insert(name.into(), Weight { k, n, parts });
        Ok(())
    }

    async fn upload_part(
        &self,
        values: &[f32],
        inputs: Range<usize>,
        [k, n]: [usize; 2],
        layout: WeightLayout,
    ) -> Result<Part> {
        let mut columns: Vec<f32>;
        let (part, view) = match layout {
            WeightLayout::InputRows => {
                let view = TensorView::new(Shape::new(&[inputs.len(), n])?);
                (&values[inputs.start * n..inputs.end * n], view)
            }
            WeightLayout::OutputRows => {
                let shape = Shape::new(&[n, inputs.len()])?;
                let n_elements = shape.n_elements();
                let view = TensorView::new(shape).transpose(0, 1)?;
                if inputs.len() == k {
                    (values, view)
                } else {
                    columns = with_room(n_elements)?;
                    let rows = values.chunks_exact(k.max(1));
                    rows.for_each(|row| columns.extend_from_slice(&row[inputs.clone()]));
                    (&columns[..], view)
                }
            }
        };
        let mut recording = Recording::new(&self.device);
        let buffer = recording.upload(part).await?;
        // Waits after each part, so that staging memory is not needed for all parts at once.
        recording.submit()?.wait_async().await?;
        Ok(Part {
            inputs,
            view,
            buffer,
        })
    }

    /// Returns the names of the weights, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.weights.keys().map(String::as_str)
    }

    /// Returns the numbers of inputs and outputs of a weight matrix, `[k, n]`; `None` if there is none of this name.
    #[must_use]
    pub fn weight_size(&self, name: &str) -> Option<[usize; 2]> {
        self.weights.get(name).map(|weight| [weight.k, weight.n])
    }

    /// Returns the number of parts of a weight matrix; `None` if there is none of this name.
    #[must_use]
    pub fn n_parts(&self, name: &str) -> Option<usize> {
        self.weights.get(name).map(|weight| weight.parts.len())
    }

    /// Returns the number of bytes of all weights on the device.
    #[must_use]
    pub fn weight_bytes(&self) -> u64 {
        let parts = self.weights.values().flat_map(|weight| &weight.parts);
        parts.map(|part| part.buffer.n_bytes()).sum()
    }

    /// Removes a weight matrix. Returns true if there was one of this name.
    pub fn remove_weight(&mut self, name: &str) -> bool {
        self.weights.remove(name).is_some()
    }

    fn weight(&self, name: &str) -> Result<&Weight> {
        self.weights
            .get(name)
            .ok_or_else(|| Error::InvalidArgument {
                name: "name",
                value: format!("{name:?}"),
                expected: "a weight that was uploaded",
            })
    }

    /// Computes the product of `input`, `[m, k]`, and the named weights, and writes it to `output`, `[m, n]`. Runs as
    /// one submission.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there are no weights of this name; [`Error::LengthMismatch`],
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn matmul_async(
        &mut self,
        name: &str,
        input: &[f32],
        output: &mut [f32],
        m: usize,
    ) -> Result<()> {
        let (k, n) = self.weight(name).map(|weight| (weight.k, weight.n))?;
        let input_shape = Shape::new(&[m, k])?;
        check_dims("input", input.len(), &[m, k])?;
        check_dims("output", output.len(), &[m, n])?;
        if output.is_empty() {
            return Ok(());
        }
        if input.is_empty() {
            output.fill(0.0);
            return Ok(());
        }
        self.make_room(input.len(), output.len())?;
        let (Some(transfer), weight) = (&self.transfer, self.weight(name)?) else {
            return Ok(());
        };
        let mut recording = Recording::new(&self.device);
        recording
            .upload_through(&transfer.host_input, input, &transfer.input)
            .await?;
        let view = TensorView::new(input_shape);
        let input = Operand {
            buffer: &transfer.input,
            view: &view,
        };
        let made = weight
            .product(&mut recording, input, &transfer.output)
            .await?;
        recording.download_through(&made, output.len(), &transfer.host_output)?;
        recording.submit_untimed()?;
        let n_bytes = 4 * output.len() as u64;
        let copy = |bytes: &[u8]| crate::copy::copy(bytemuck::cast_slice_mut(output), bytes);
        transfer.host_output.read_async(0..n_bytes, copy).await
    }

    /// Computes the product of a tensor on the same device, `[m, k]`, and the named weights. The result, `[m, n]`, of
    /// the type of the tensor, stays on the device.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there are no weights of this name, or for a tensor of another device;
    /// [`Error::ShapeMismatch`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn apply_async(&self, name: &str, input: &GpuTensor) -> Result<GpuTensor> {
        let weight = self.weight(name)?;
        let &[m, k] = input.shape().dims() else {
            return Err(weight.mismatch(input.shape()));
        };
        if k != weight.k {
            return Err(weight.mismatch(input.shape()));
        }
        let shape = Shape::new(&[m, weight.n])?;
        let mut recording = Recording::new(&self.device);
        let out = recording.allocate(shape.n_elements())?;
        let rows = recording.widened(input.operand()).await?;
        let made = weight.product(&mut recording, rows.operand(), &out).await?;
        let (view, dtype) = (TensorView::new(shape), input.dtype());
        let made = recording.rounded(&made, &view, dtype).await?;
        recording.submit_untimed()?;
        Ok(GpuTensor::of(&self.device, made, dtype, view))
    }

    /// Ensures that the buffers for inputs and outputs are large enough.
    fn make_room(&mut self, n_input: usize, n_output: usize) -> Result<()> {
        let (input, output) = (padded_bytes(n_input as u64), padded_bytes(n_output as u64));
        let is_enough = |transfer: &Transfer| {
            transfer.input.n_bytes() >= input && transfer.output.n_bytes() >= output
        };
        if self.transfer.as_ref().is_some_and(is_enough) {
            return Ok(());
        }
        // Frees the old buffers first, so that their memory can be reused.
        let before = self.transfer.take();
        let before = before.map_or((0, 0), |old| (old.input.n_bytes(), old.output.n_bytes()));
        let (input, output) = (input.max(before.0), output.max(before.1));
        self.transfer = Some(Transfer {
            host_input: self
                .device
                .allocate_host_uncleared(input, HostUse::Upload)?,
            input: self.device.allocate_uncleared(input)?,
            output: self.device.allocate_uncleared(output)?,
            host_output: self
                .device
                .allocate_host_uncleared(output, HostUse::Download)?,
        });
        Ok(())
    }
}

impl Weight {
    fn mismatch(&self, input: &Shape) -> Error {
        match Shape::new(&[self.k, self.n]) {
            Ok(shape) => input.mismatch(
                &shape,
                "matmul",
                "rows are as long as the weights have inputs",
            ),
            Err(error) => error,
        }
    }

    /// Records the product of `input` and all parts. Returns the buffer of the result: `out` for one part, a new buffer
    /// for several.
    async fn product(
        &self,
        recording: &mut Recording,
        input: Operand<'_>,
        out: &Buffer,
    ) -> Result<Buffer> {
        let mut sum: Option<Buffer> = None;
        for part in &self.parts {
            let a = input.view.slice(1, part.inputs.clone())?;
            let factors = factors(&a, &part.view)?;
            let shape = &factors.shape;
            let Some(before) = sum else {
                recording
                    .matmul(input.buffer, &part.buffer, &factors, out)
                    .await?;
                sum = Some(out.clone());
                continue;
            };
            let both = recording.allocate(shape.n_elements())?;
            let epilogue = Epilogue {
                residual: Some((before, 0)),
                ..Epilogue::default()
            };
            let buffers = [input.buffer, &part.buffer];
            recording
                .matmul_finished(buffers, &factors, &epilogue, &both)
                .await?;
            sum = Some(both);
        }
        match sum {
            Some(sum) => Ok(sum),
            // Without inputs the result is all zeros.
            None => {
                let a = input.view.slice(1, 0..0)?;
                let none = TensorView::new(Shape::new(&[0, self.n])?);
                let factors = factors(&a, &none)?;
                recording
                    .matmul(input.buffer, input.buffer, &factors, out)
                    .await?;
                Ok(out.clone())
            }
        }
    }
}

/// Returns the number of inputs per part, such that a part has at most `max_elements`.
fn inputs_per_part(n: usize, max_elements: u64) -> Result<usize> {
    let n_inputs = max_elements / (n as u64).max(1);
    // Parts start at multiples of 64 inputs, so that rows can be loaded as aligned vectors.
    let aligned = if n_inputs >= 64 {
        n_inputs / 64 * 64
    } else {
        n_inputs
    };
    if aligned == 0 {
        return Err(Error::InvalidArgument {
            name: "n",
            value: n.to_string(),
            expected: "weights of one input that fit in a binding of the device",
        });
    }
    Ok(usize::try_from(aligned).unwrap_or(usize::MAX))
}

/// Blocking forms, native only.
#[cfg(not(target_arch = "wasm32"))]
impl GpuMatmulCache {
    /// [`upload_weight_async`](Self::upload_weight_async), blocking.
    ///
    /// # Errors
    /// As [`upload_weight_async`](Self::upload_weight_async).
    pub fn upload_weight(
        &mut self,
        name: &str,
        values: &[f32],
        k: usize,
        n: usize,
        layout: WeightLayout,
    ) -> Result<()> {
        crate::gpu::runtime::block_on(self.upload_weight_async(name, values, k, n, layout))
    }

    /// [`matmul_async`](Self::matmul_async), blocking.
    ///
    /// # Errors
    /// As [`matmul_async`](Self::matmul_async).
    pub fn matmul(
        &mut self,
        name: &str,
        input: &[f32],
        output: &mut [f32],
        m: usize,
    ) -> Result<()> {
        crate::gpu::runtime::block_on(self.matmul_async(name, input, output, m))
    }

    /// [`apply_async`](Self::apply_async), blocking.
    ///
    /// # Errors
    /// As [`apply_async`](Self::apply_async).
    pub fn apply(&self, name: &str, input: &GpuTensor) -> Result<GpuTensor> {
        crate::gpu::runtime::block_on(self.apply_async(name, input))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_large_as_the_limit_permits() {
        assert_eq!(inputs_per_part(10, 100), Ok(10));
        assert_eq!(inputs_per_part(10, 1000), Ok(64));
        assert_eq!(inputs_per_part(100, 100), Ok(1));
        assert_eq!(inputs_per_part(0, 64), Ok(64));
        assert!(inputs_per_part(101, 100).is_err());
    }
}
