//! Handles of one device on another are rejected, for every kind of handle and on every engine.

use pagepress::gpu::{
    Backend, GpuDevice, HostMemory, HostUse, KernelArg, KernelSource, Place, Recorder, Waitable,
};
use pagepress::kernels::Access;
use pagepress::tensor::{Epilogue, GpuCommandBatch, GpuTensor, Precision, Shape, Step, TensorView};
use pagepress::{Error, Result};

use crate::subject::Subject;

const DOUBLE: &str = "
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(4)
    fn double(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = data[id.x] * 2u; }";

fn refused<T>(what: &str, result: Result<T>) {
    match result {
        Ok(_) => panic!("{what} of another device is taken"),
        Err(Error::InvalidArgument { value, .. }) => {
            assert_eq!(value, "of another device", "{what}");
        }
        Err(other) => panic!("{what}: {other}"),
    }
}

pub async fn handles_of_another_device_are_refused(subject: &Subject) {
    let Subject::Gpu(first) = subject else {
        return;
    };
    let second = first.reopen_async().await.unwrap();
    assert_eq!(first.id(), first.clone().id());
    assert_ne!(first.id(), second.id());
    buffers_and_kernels(first, &second).await.unwrap();
    // Ids of handles on the second device are larger and smaller than those on the first.
    for _ in 0..20 {
        second.allocate_memory(64).unwrap();
    }
    tensors(first, &second).await.unwrap();
    tensors(&second, first).await.unwrap();
}

async fn buffers_and_kernels(here: &GpuDevice, there: &GpuDevice) -> Result<()> {
    let source = KernelSource::new(DOUBLE, "double", &[Access::ReadWrite]);
    let (kernel, other_kernel) = (
        here.compile_kernel(&source).await?,
        there.compile_kernel(&source).await?,
    );
    let (buffer, other) = (here.allocate_memory(256)?, there.allocate_memory(256)?);
    assert_eq!(other.device_id(), there.id());
    let bytes = [1u8; 256];
    here.upload_async(&buffer, 0, &bytes).await?;
    there.upload_async(&other, 0, &bytes).await?;
    let grid = [1, 1, 1];
    let (own, foreign) = ([KernelArg::Buffer(&buffer)], [KernelArg::Buffer(&other)]);
    refused("a kernel", here.launch_kernel(&other_kernel, grid, &own));
    refused("a buffer", here.launch_kernel(&kernel, grid, &foreign));
    let slice = [KernelArg::Slice(&other, 0..256)];
    refused("a slice", here.launch_kernel(&kernel, grid, &slice));
    refused("a download", here.download_async(&other, 0..256).await);
    refused("an upload", here.upload_async(&other, 0, &bytes).await);
    let up = there.allocate_host(256, HostUse::Upload)?;
    let down = there.allocate_host(256, HostUse::Download)?;
    up.write_async(0, &bytes).await?;
    let mut stream = here.stream();
    assert_eq!(stream.device_id(), here.id());
    let (ours, theirs) = (Place::Device(&buffer, 0), Place::Device(&other, 0));
    refused("host memory", stream.copy(ours, Place::Host(&up, 0), 256));
    refused("host memory", stream.copy(Place::Host(&down, 0), ours, 256));
    refused("a source", stream.copy(ours, theirs, 256));
    refused("a target", stream.copy(theirs, ours, 256));
    // Rejected calls are not recorded, and both devices still work.
    stream.launch(&kernel, grid, &own)?;
    stream.submit()?.wait_async().await?;
    there
        .launch_kernel(&other_kernel, grid, &foreign)?
        .wait_async()
        .await?;
    for (device, buffer) in [(here, &buffer), (there, &other)] {
        let found = device.download_async(buffer, 0..32).await?;
        assert_eq!(found, [[2u8; 16], [1; 16]].concat());
    }
    Ok(())
}

async fn tensors(here: &GpuDevice, there: &GpuDevice) -> Result<()> {
    let square = Shape::new(&[2, 2])?;
    let left = GpuTensor::from_slice_async(here, &[1.0, 2.0, 3.0, 4.0], square.clone()).await?;
    let right = GpuTensor::from_slice_async(there, &[10.0; 4], square.clone()).await?;
    refused("a summand", left.combine_async(&[Step::Add], &right).await);
    refused("a factor", left.matmul_async(&right).await);
    let epilogue = Epilogue {
        residual: Some(&right),
        ..Epilogue::default()
    };
    let with_residual = left.matmul_with_epilogue_async(&left, Precision::F32, epilogue);
    refused("a residual", with_residual.await);
    refused("a vector", left.dot_async(&right).await);
    refused("a kernel", left.convolve2d_async(&right).await);
    let view = TensorView::new(square);
    let taken = GpuTensor::from_buffer(here, right.buffer().clone(), view.clone());
    refused("memory", taken);
    assert!(GpuTensor::from_buffer(here, left.buffer().clone(), view).is_ok());
    let mut batch = GpuCommandBatch::new(here.clone());
    let a = batch.tensor(&right);
    batch.relu(a);
    refused("a tensor of a batch", batch.execute().await);
    assert_eq!(left.to_vec_async().await?, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(right.to_vec_async().await?, [10.0; 4]);
    Ok(())
}
