//! Tensors from and to arrays of JavaScript, without a copy through the module's memory, and operations on such arrays.

use super::axes::one_by_one;
use super::backend::GpuBackend;
use super::products::convolved_shape;
use super::reduce::reduced_shape;
use super::resident::GpuTensor;
use super::run::Recording;
use super::shape::Shape;
use super::step::{Reduction, Step};
use super::work::Work;
use super::{check_len, cpu};
use crate::Result;
use crate::gpu::{GpuDevice, HostUse, Place, Recorder, Sized64};
use crate::js_bytes::JsBytes;
use crate::memory::zeros;

impl GpuTensor {
    /// A tensor of the elements of an array, given as its bytes, which are read before this waits for anything.
    pub(crate) async fn from_js_async(
        device: &GpuDevice,
        values: &JsBytes,
        shape: Shape,
    ) -> Result<Self> {
        let n = shape.n_elements();
        check_len("data", values.len() / 4, n as u64)?;
        let mut recording = Recording::new(device);
        let buffer = recording.allocate(n)?;
        if n > 0 {
            let n_bytes = 4 * n as u64;
            let host = device.allocate_host_uncleared(n_bytes, HostUse::Upload)?;
            host.write_js_async(0, values, 0..4 * n).await?;
            let (to, from) = (Place::Device(&buffer, 0), Place::Host(&host, 0));
            recording.stream.copy(to, from, n_bytes)?;
        }
        recording.submit_untimed()?;
        Ok(Self::new(device, buffer, shape))
    }

    /// Copies the elements to a new array, the last axis innermost; gives its bytes.
    pub(crate) async fn to_js_async(&self) -> Result<JsBytes> {
        let Some(host) = self.download().await?.0 else {
            return JsBytes::zeros(0);
        };
        let out = JsBytes::zeros(host.n_bytes() as usize)?;
        host.read_js_async(0..host.n_bytes(), &out, 0).await?;
        Ok(out)
    }
}

/// An array of JavaScript, given as its bytes, in a shape.
#[derive(Debug)]
pub(crate) struct JsArray {
    bytes: JsBytes,
    shape: Shape,
}

impl JsArray {
    /// An array that has as many elements as the shape.
    pub(crate) fn new(name: &'static str, bytes: JsBytes, shape: Shape) -> Result<Self> {
        check_len(name, bytes.len() / 4, shape.n_elements() as u64)?;
        Ok(Self { bytes, shape })
    }

    /// A vector.
    pub(crate) fn vector(bytes: JsBytes) -> Self {
        let shape = Shape::vector(bytes.len() / 4);
        Self { bytes, shape }
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    async fn upload(&self, device: &GpuDevice) -> Result<GpuTensor> {
        GpuTensor::from_js_async(device, &self.bytes, self.shape.clone()).await
    }

    /// The elements.
    pub(crate) fn floats(&self) -> Result<Vec<f32>> {
        let mut floats = zeros(self.shape.n_elements())?;
        let bytes = bytemuck::cast_slice_mut(&mut floats);
        self.bytes.read_into(0, bytes)?;
        Ok(floats)
    }
}

/// What is done with one array or two, in their shapes.
#[derive(Debug)]
pub(crate) enum OperationKind {
    /// Of one or two.
    Steps(Vec<Step>),
    Dot,
    Softmax {
        log: bool,
    },
    Matmul,
    Convolve2d,
    Reduce(Reduction, Vec<usize>),
}

/// An operation on arrays.
#[derive(Debug)]
pub(crate) struct JsOperation {
    pub(crate) kind: OperationKind,
    pub(crate) a: JsArray,
    /// For those of two.
    pub(crate) b: Option<JsArray>,
}

impl JsOperation {
    /// The result on a device. Arrays are read before this waits for anything.
    pub(crate) async fn on_device_async(&self, device: &GpuDevice) -> Result<GpuTensor> {
        let a = self.a.upload(device).await?;
        let b = match &self.b {
            Some(b) => Some(b.upload(device).await?),
            None => None,
        };
        let second = b.as_ref().unwrap_or(&a);
        match &self.kind {
            OperationKind::Steps(steps) => match &b {
                Some(b) => a.combine_async(steps, b).await,
                None => a.apply_async(steps).await,
            },
            OperationKind::Dot => a.dot_async(second).await,
            OperationKind::Softmax { log } => a.softmax_of(*log).await,
            OperationKind::Matmul => a.matmul_async(second).await,
            OperationKind::Convolve2d => a.convolve2d_async(second).await,
            OperationKind::Reduce(reduction, axes) => a.reduce_async(*reduction, axes).await,
        }
    }

    /// The shape of the result on the CPU, and what it costs.
    fn plan(&self) -> Result<(Shape, Work)> {
        let a = &self.a.shape;
        let b = self.b.as_ref().map(JsArray::shape);
        let n = a.n_elements();
        Ok(
            match (&self.kind, a.dims(), b.map_or(&[][..], Shape::dims)) {
                (OperationKind::Steps(steps), ..) => {
                    let n_read = n + b.map_or(0, Shape::n_elements);
                    (a.clone(), Work::elementwise(steps, n, n_read))
                }
                (OperationKind::Matmul, &[m, k], &[_, n]) => {
                    (Shape::new(&[m, n])?, Work::matmul(m, k, n))
                }
                (OperationKind::Convolve2d, ..) => {
                    let b = b.unwrap_or(a);
                    let shape = convolved_shape(a, b)?;
                    let work = Work::convolve2d(n, b.n_elements(), shape.n_elements());
                    (shape, work)
                }
                (OperationKind::Reduce(_, axes), ..) => {
                    let (_, shape) = reduced_shape(a, axes)?;
                    let work = Work::reduce(n, shape.n_elements());
                    (shape, work)
                }
                (OperationKind::Softmax { .. }, ..) => (a.clone(), Work::softmax(n)),
                (OperationKind::Dot | OperationKind::Matmul, ..) => {
                    (Shape::vector(1), Work::dot(n))
                }
            },
        )
    }

    /// The elements of a result of this shape.
    fn on_cpu(&self, shape: &Shape) -> Result<Vec<f32>> {
        let a = self.a.floats()?;
        let b = self.b.as_ref().map(JsArray::floats).transpose()?;
        let second = b.as_deref().unwrap_or(&a);
        let pair = |array: &JsArray| match *array.shape.dims() {
            [rows, cols] => [rows, cols],
            _ => [1, array.shape.n_elements()],
        };
        let [rows, cols] = pair(&self.a);
        let other = self.b.as_ref().map_or([rows, cols], pair);
        let mut out = zeros(shape.n_elements())?;
        match &self.kind {
            OperationKind::Steps(steps) => cpu::elementwise(steps, &a, b.as_deref(), &mut out)?,
            OperationKind::Dot => out = vec![cpu::dot(&a, second)?],
            OperationKind::Softmax { log: false } => cpu::softmax(&a, cols, &mut out)?,
            OperationKind::Softmax { log: true } => cpu::log_softmax(&a, cols, &mut out)?,
            OperationKind::Matmul => cpu::matmul(&a, second, &mut out, rows, cols, other[1])?,
            OperationKind::Convolve2d => {
                cpu::convolve2d(&a, second, &mut out, [rows, cols], other)?;
            }
            OperationKind::Reduce(reduction, axes) => {
                let (axes, _) = reduced_shape(&self.a.shape, axes)?;
                out = one_by_one(*reduction, &a, self.a.shape.dims(), &axes)?;
            }
        }
        Ok(out)
    }
}

impl GpuBackend {
    /// Does an operation where that is faster; gives the bytes of a new array.
    pub(crate) async fn run_js_async(&mut self, operation: &JsOperation) -> Result<JsBytes> {
        let (shape, work) = operation.plan()?;
        let on_gpu = async |device: &GpuDevice| {
            let made = operation.on_device_async(device).await?;
            made.to_js_async().await
        };
        let on_cpu = || {
            let made = operation.on_cpu(&shape)?;
            let bytes = bytemuck::cast_slice(&made);
            let array = JsBytes::zeros(bytes.len())?;
            array.write(0, bytes)?;
            Ok(array)
        };
        self.run(work, on_gpu, on_cpu).await
    }
}
