//! The subject of a test: the CPU's operations, or tensors on a device. A tensor here is a view of host memory.

#[cfg(cuda_engine)]
use pagepress::gpu::EngineChoice;
use pagepress::gpu::{DeviceRequest, GpuDevice};
#[cfg(not(target_arch = "wasm32"))]
use pagepress::tensor::DType;
use pagepress::tensor::layer::{Attention, Norm};
use pagepress::tensor::{
    Epilogue, GpuTensor, Precision, Quantization, QuantizedWeights, Reduction, Shape, Step,
    TensorView, cpu,
};
use pagepress::{Error, Result};

use crate::common::devices::shared;

pub enum Subject {
    Cpu,
    Gpu(GpuDevice),
}

/// Elements in host memory and a view of them.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub elements: Vec<f32>,
    pub view: TensorView,
}

impl Tensor {
    pub fn new(elements: Vec<f32>, dims: &[usize]) -> Self {
        let view = TensorView::new(Shape::new(dims).unwrap());
        assert_eq!(elements.len(), view.end());
        Self { elements, view }
    }

    pub fn with_view(&self, view: TensorView) -> Self {
        Self {
            elements: self.elements.clone(),
            view,
        }
    }

    pub fn dims(&self) -> &[usize] {
        self.view.shape().dims()
    }

    /// Returns the elements of the view in row-major order.
    pub fn values(&self) -> Vec<f32> {
        let dims = self.dims();
        let n: usize = dims.iter().product();
        let index = |mut i: usize| {
            let mut index = vec![0; dims.len()];
            for axis in (0..dims.len()).rev() {
                index[axis] = i % dims[axis];
                i /= dims[axis];
            }
            index
        };
        (0..n)
            .map(|i| self.elements[self.view.index_of(&index(i)).unwrap()])
            .collect()
    }

    /// Returns the elements of the view, broadcast to a shape, in row-major order.
    pub fn values_as(&self, shape: &Shape) -> Vec<f32> {
        self.with_view(self.view.broadcast_to(shape).unwrap())
            .values()
    }
}

/// Elements and shape of a result.
pub type Made = (Vec<f32>, Vec<usize>);

impl Subject {
    #[cfg(feature = "wgpu")]
    pub async fn wgpu(request: DeviceRequest) -> [Self; 1] {
        use pagepress::gpu::EngineChoice;
        let request = DeviceRequest {
            engine: EngineChoice::Wgpu,
            allow_software: true,
            ..request
        };
        let device = shared(&request).await.expect(
            "the suite needs a GPU, a software one will do: apt-get install mesa-vulkan-drivers, or set VK_ICD_FILENAMES; for browsers webdriver.json has the flags",
        );
        [Self::Gpu(device)]
    }

    #[cfg(cuda_engine)]
    pub fn cuda(request: DeviceRequest) -> [Self; 1] {
        crate::common::cuda::need_cuda();
        let request = DeviceRequest {
            engine: EngineChoice::Cuda,
            ..request
        };
        let device = pagepress::gpu::runtime::block_on(shared(&request));
        [Self::Gpu(device.unwrap())]
    }

    /// Returns true if layers round rows to the type of a 16-bit matrix, which matrix units multiply: those of CUDA, and those of Vulkan, if
    /// they have the type and workgroups have enough memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn rounds_rows(&self, dtype: DType) -> bool {
        use pagepress::gpu::Backend;
        let Self::Gpu(device) = self else {
            return false;
        };
        let (info, capabilities) = (device.info(), device.capabilities());
        match info.api {
            "cuda" => true,
            "vulkan" => {
                let multiplies = match dtype {
                    DType::F16 => capabilities.cooperative_matrices,
                    DType::BF16 => capabilities.bfloat16_matrices,
                    _ => false,
                };
                multiplies
                    && info.subgroup_size == (32, 32)
                    && capabilities.max_workgroup_bytes >= 28 << 10
            }
            _ => false,
        }
    }

    /// Returns the device if its warpgroups multiply matrices in workgroup memory, and if its bindings take more than a few rows.
    pub fn with_warpgroups(&self) -> Option<&GpuDevice> {
        use pagepress::gpu::Backend;
        let Self::Gpu(device) = self else {
            return None;
        };
        let capabilities = device.capabilities();
        let is_large = capabilities.max_binding_bytes >= 64 << 20;
        (capabilities.warpgroup_matrices && is_large).then_some(device)
    }

    pub async fn elementwise(
        &self,
        steps: &[Step],
        a: &Tensor,
        b: Option<&Tensor>,
    ) -> Result<Made> {
        match self {
            Self::Cpu => {
                let shape = match b {
                    Some(b) => a.view.shape().broadcast(b.view.shape(), "combine")?,
                    None => a.view.shape().clone(),
                };
                let mut out = vec![0.0; shape.n_elements()];
                let b = b.map(|b| b.values_as(&shape));
                cpu::elementwise(steps, &a.values_as(&shape), b.as_deref(), &mut out)?;
                Ok((out, shape.dims().to_vec()))
            }
            Self::Gpu(device) => {
                made(async {
                    let a = resident(device, a).await?;
                    match b {
                        Some(b) => a.combine_async(steps, &resident(device, b).await?).await,
                        None => a.apply_async(steps).await,
                    }
                })
                .await
            }
        }
    }

    pub async fn reduce(&self, reduction: Reduction, a: &Tensor, axes: &[usize]) -> Result<Made> {
        match self {
            Self::Cpu => {
                let dims = a.dims();
                let kept: Vec<usize> = (0..dims.len()).filter(|d| !axes.contains(d)).collect();
                let order = [&kept[..], axes].concat();
                let rows = axes.iter().map(|&axis| dims[axis]).product();
                let outer = kept.iter().map(|&axis| dims[axis]).product();
                let values = a.with_view(a.view.permute(&order)?).values();
                let mut out = vec![0.0; outer];
                cpu::reduce_axis(reduction, &values, [outer, rows, 1], &mut out)?;
                let mut dims = dims.to_vec();
                axes.iter().for_each(|&axis| dims[axis] = 1);
                Ok((out, dims))
            }
            Self::Gpu(device) => {
                made(async {
                    resident(device, a)
                        .await?
                        .reduce_async(reduction, axes)
                        .await
                })
                .await
            }
        }
    }

    pub async fn dot(&self, a: &Tensor, b: &Tensor) -> Result<f32> {
        match self {
            Self::Cpu => cpu::dot(&a.values(), &b.values()),
            Self::Gpu(device) => made(async {
                let (a, b) = (resident(device, a).await?, resident(device, b).await?);
                a.dot_async(&b).await
            })
            .await
            .map(|(values, _)| values[0]),
        }
    }

    pub async fn softmax(&self, log: bool, a: &Tensor) -> Result<Made> {
        match self {
            Self::Cpu => {
                let function = if log { cpu::log_softmax } else { cpu::softmax };
                let cols = a.dims().last().copied().unwrap_or(1);
                let mut out = vec![0.0; a.view.shape().n_elements()];
                function(&a.values(), cols, &mut out)?;
                Ok((out, a.dims().to_vec()))
            }
            Self::Gpu(device) => {
                made(async {
                    let a = resident(device, a).await?;
                    match log {
                        true => a.log_softmax_async().await,
                        false => a.softmax_async().await,
                    }
                })
                .await
            }
        }
    }

    /// Returns the product; `None` on the CPU for more than two axes.
    pub async fn matmul(&self, a: &Tensor, b: &Tensor) -> Option<Result<Made>> {
        match self {
            Self::Cpu => {
                let (&[m, k], &[_, n]) = (a.dims(), b.dims()) else {
                    return None;
                };
                let mut out = vec![0.0; m * n];
                let done = cpu::matmul(&a.values(), &b.values(), &mut out, m, k, n);
                Some(done.map(|()| (out, vec![m, n])))
            }
            Self::Gpu(device) => Some(
                made(async {
                    let (a, b) = (resident(device, a).await?, resident(device, b).await?);
                    a.matmul_async(&b).await
                })
                .await,
            ),
        }
    }

    /// Returns the product of matrices and its epilogue.
    pub async fn matmul_with(
        &self,
        a: &Tensor,
        b: &Tensor,
        epilogue: Epilogue<&Tensor>,
    ) -> Result<Made> {
        let Epilogue {
            bias,
            activation,
            residual,
        } = epilogue;
        match self {
            Self::Cpu => {
                let [m, k, n] = [a.dims()[0], a.dims()[1], b.dims()[1]];
                let mut out = vec![0.0; m * n];
                let values = [bias, residual].map(|tensor| tensor.map(Tensor::values));
                let [bias, residual] = values.each_ref().map(Option::as_deref);
                let epilogue = Epilogue {
                    bias,
                    activation,
                    residual,
                };
                let (a, b) = (a.values(), b.values());
                cpu::matmul_with_epilogue(&a, &b, epilogue, &mut out, [m, k, n])?;
                Ok((out, vec![m, n]))
            }
            Self::Gpu(device) => {
                made(async {
                    let (a, b) = (resident(device, a).await?, resident(device, b).await?);
                    let mut on_device = [None, None];
                    for (to, tensor) in on_device.iter_mut().zip([bias, residual]) {
                        if let Some(tensor) = tensor {
                            *to = Some(resident(device, tensor).await?);
                        }
                    }
                    let [bias, residual] = on_device.each_ref().map(Option::as_ref);
                    let epilogue = Epilogue {
                        bias,
                        activation,
                        residual,
                    };
                    a.matmul_with_epilogue_async(&b, Precision::F32, epilogue)
                        .await
                })
                .await
            }
        }
    }

    /// Returns the product of rows and the transpose of packed weights, `[n, k]`.
    pub async fn matmul_quantized(
        &self,
        quantization: Quantization,
        a: &Tensor,
        weights: &[u8],
        size: [usize; 2],
    ) -> Result<Made> {
        match self {
            Self::Cpu => {
                let [n, k] = size;
                let m = a.dims()[0];
                let mut out = vec![0.0; m * n];
                let values = a.values();
                cpu::matmul_quantized(quantization, &values, weights, &mut out, [m, k, n])?;
                Ok((out, vec![m, n]))
            }
            Self::Gpu(device) => {
                made(async {
                    let a = resident(device, a).await?;
                    let weights =
                        QuantizedWeights::upload_async(device, quantization, weights, size);
                    weights.await?.matmul_async(&a).await
                })
                .await
            }
        }
    }

    pub async fn convolve2d(&self, input: &Tensor, kernel: &Tensor) -> Result<Made> {
        match self {
            Self::Cpu => {
                let size = |t: &Tensor| [t.dims()[0], t.dims()[1]];
                let ([rows, cols], [kr, kc]) = (size(input), size(kernel));
                let (out_rows, out_cols) =
                    ((rows + 1).saturating_sub(kr), (cols + 1).saturating_sub(kc));
                let mut out = vec![0.0; out_rows * out_cols];
                let (input, kernel) = (input.values(), kernel.values());
                cpu::convolve2d(&input, &kernel, &mut out, [rows, cols], [kr, kc])?;
                Ok((out, vec![out_rows, out_cols]))
            }
            Self::Gpu(device) => {
                made(async {
                    let (input, kernel) = (
                        resident(device, input).await?,
                        resident(device, kernel).await?,
                    );
                    input.convolve2d_async(&kernel).await
                })
                .await
            }
        }
    }

    pub async fn norm(
        &self,
        norm: Norm,
        a: &Tensor,
        columns: [Option<&Tensor>; 2],
    ) -> Result<Made> {
        match self {
            Self::Cpu => {
                let cols = a.dims().last().copied().unwrap_or(1);
                let mut out = vec![0.0; a.view.shape().n_elements()];
                let values = columns.map(|tensor| tensor.map(Tensor::values));
                let columns = values.each_ref().map(Option::as_deref);
                cpu::norm(norm, &a.values(), cols, columns, &mut out)?;
                Ok((out, a.dims().to_vec()))
            }
            Self::Gpu(device) => {
                made(async {
                    let a = resident(device, a).await?;
                    let mut on_device = [None, None];
                    for (to, tensor) in on_device.iter_mut().zip(columns) {
                        if let Some(tensor) = tensor {
                            *to = Some(resident(device, tensor).await?);
                        }
                    }
                    let [weight, bias] = &on_device;
                    a.norm_async(norm, weight.as_ref(), bias.as_ref()).await
                })
                .await
            }
        }
    }

    pub async fn rotary(&self, a: &Tensor, turns: &Tensor, first: usize) -> Result<Made> {
        match self {
            Self::Cpu => {
                let heads = [a.dims()[1], a.dims()[2]];
                let mut out = vec![0.0; a.view.shape().n_elements()];
                cpu::rotary(&a.values(), heads, &turns.values(), first, &mut out)?;
                Ok((out, a.dims().to_vec()))
            }
            Self::Gpu(device) => {
                made(async {
                    let (a, turns) = (resident(device, a).await?, resident(device, turns).await?);
                    a.rotary_async(&turns, first).await
                })
                .await
            }
        }
    }

    pub async fn attention(&self, what: Attention, [q, k, v]: [&Tensor; 3]) -> Result<Made> {
        match self {
            Self::Cpu => {
                let mut out = vec![0.0; q.view.shape().n_elements()];
                let (queries, keys, values) = (q.values(), k.values(), v.values());
                let keys = (&keys[..], &values[..], k.view.shape());
                cpu::attention(what, (&queries, q.view.shape()), keys, &mut out)?;
                Ok((out, q.dims().to_vec()))
            }
            Self::Gpu(device) => {
                made(async {
                    let q = resident(device, q).await?;
                    let (k, v) = (resident(device, k).await?, resident(device, v).await?);
                    q.attention_async(&k, &v, what).await
                })
                .await
            }
        }
    }
}

async fn resident(device: &GpuDevice, tensor: &Tensor) -> Result<GpuTensor> {
    let flat = Shape::vector(tensor.elements.len());
    let all = GpuTensor::from_slice_async(device, &tensor.elements, flat).await?;
    GpuTensor::from_buffer(device, all.buffer().clone(), tensor.view.clone())
}

async fn made(result: impl Future<Output = Result<GpuTensor, Error>>) -> Result<Made> {
    let tensor = result.await?;
    Ok((tensor.to_vec_async().await?, tensor.shape().dims().to_vec()))
}
