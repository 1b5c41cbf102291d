//! Wrong shapes and lengths.

use pagepress::Error;
use pagepress::tensor::{Reduction, Step};

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
