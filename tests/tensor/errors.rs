//! Wrong shapes and lengths.

use pagepress::Error;
use pagepress::tensor::{GpuTensor, Reduction, Shape, Step, TensorView};

use crate::subject::{Subject, Tensor};

fn tensor(dims: &[usize]) -> Tensor {
    Tensor::new(vec![1.0; dims.iter().product()], dims)
}

pub async fn wrong_shapes_are_typed_errors(subject: &Subject) {
    let error = subject
        .elementwise(&[Step::Add], &tensor(&[2, 3]), Some(&tensor(&[2])))
        .await;
    let error = error.unwrap_err();
    assert!(
        matches!(&error, Error::ShapeMismatch { left, right, .. } if left.dims() == [2, 3] && right.dims() == [2])
    );
    let alone = subject
        .elementwise(&[Step::Add], &tensor(&[3]), None)
        .await
        .unwrap_err();
    assert_eq!(alone.code(), "INVALID_ARGUMENT");
    if let Some(product) = subject.matmul(&tensor(&[2, 3]), &tensor(&[4, 5])).await {
        let code = product.unwrap_err().code();
        assert!(
            ["SHAPE_MISMATCH", "LENGTH_MISMATCH"].contains(&code),
            "{code}"
        );
    }
    let large_kernel = subject
        .convolve2d(&tensor(&[3, 9]), &tensor(&[4, 2]))
        .await
        .unwrap_err();
    assert_eq!(large_kernel.code(), "INVALID_ARGUMENT");
    let Subject::Gpu(_) = subject else { return };
    let axis = subject
        .reduce(Reduction::Sum, &tensor(&[3, 9]), &[2])
        .await
        .unwrap_err();
    assert_eq!(axis.code(), "INVALID_ARGUMENT");
    let twice = subject
        .reduce(Reduction::Sum, &tensor(&[3, 9]), &[1, 1])
        .await
        .unwrap_err();
    assert_eq!(twice.code(), "INVALID_ARGUMENT");
    let length = subject.dot(&tensor(&[3]), &tensor(&[4])).await.unwrap_err();
    assert_eq!(length.code(), "SHAPE_MISMATCH");
}

pub async fn places_beyond_memory_are_typed_errors(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let one = GpuTensor::from_slice_async(device, &[1.0], Shape::vector(1)).await;
    let one = one.unwrap();
    // The size in bytes of so many elements overflows 64 bits.
    for n in [usize::MAX, usize::MAX / 4, usize::MAX / 4 + 2] {
        let view = TensorView::new(Shape::vector(n));
        let error = GpuTensor::from_buffer(device, one.buffer().clone(), view).unwrap_err();
        assert_eq!(error.code(), "LENGTH_MISMATCH");
    }
    if cfg!(target_arch = "wasm32") {
        // On wasm32, memory would grow by a gigabyte and never shrink.
        return;
    }
    let huge = Shape::new(&[usize::MAX >> 4]).unwrap();
    let huge = one.broadcast_to(&huge).unwrap();
    for error in [
        huge.to_vec_async().await.unwrap_err(),
        huge.apply_async(&[Step::Relu]).await.unwrap_err(),
    ] {
        let code = error.code();
        assert!(
            ["OUT_OF_MEMORY", "INVALID_ARGUMENT"].contains(&code),
            "{error}"
        );
    }
    // An error leaves the device usable.
    assert_eq!(one.to_vec_async().await.unwrap(), [1.0]);
}
