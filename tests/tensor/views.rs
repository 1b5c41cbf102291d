//! Views and operands of different shapes.

use pagepress::tensor::{MemoryLayout, Step, TensorView};

use crate::naive::numbers;
use crate::subject::{Subject, Tensor};

fn tensor(dims: &[usize], seed: u64) -> Tensor {
    Tensor::new(numbers(dims.iter().product(), seed, 1.0), dims)
}

pub async fn operands_extend_to_each_other(subject: &Subject) {
    let cases: [(&[usize], &[usize]); 9] = [
        (&[2, 3], &[3]),
        (&[3], &[2, 3]),
        (&[4, 1], &[1, 5]),
        (&[100, 70], &[]),
        (&[1], &[1000]),
        (&[2, 3, 4, 5], &[3, 1, 5]),
        (&[7, 1, 5, 1, 3], &[1, 2, 1, 4, 3]),
        (&[33, 129], &[33, 1]),
        (&[0, 3], &[1, 3]),
    ];
    for (a_dims, b_dims) in cases {
        let (a, b) = (tensor(a_dims, 22), tensor(b_dims, 23));
        let shape = a.view.shape().broadcast(b.view.shape(), "test").unwrap();
        let (found, dims) = subject
            .elementwise(&[Step::Sub], &a, Some(&b))
            .await
            .unwrap();
        assert_eq!(dims, shape.dims());
        let pairs = a.values_as(&shape).into_iter().zip(b.values_as(&shape));
        let exact: Vec<f32> = pairs.map(|(a, b)| a - b).collect();
        assert_eq!(found, exact, "{a_dims:?} {b_dims:?}");
    }
}

/// Returns views of all kinds of one tensor.
fn views(of: &TensorView) -> Vec<TensorView> {
    let rank = of.shape().rank();
    let mut views = vec![of.clone()];
    for axis in 0..rank {
        let dim = of.shape().dims()[axis];
        views.push(of.slice(axis, dim / 3..dim).unwrap());
        views.push(of.slice(axis, 0..dim.div_ceil(2)).unwrap());
        views.push(of.slice(axis, dim / 2..dim / 2).unwrap());
    }
    let transposed: Vec<TensorView> = views
        .iter()
        .flat_map(|view| (1..rank).map(|axis| view.transpose(0, axis).unwrap()))
        .collect();
    views.extend(transposed);
    views
}

pub async fn views_are_what_they_show(subject: &Subject) {
    for dims in [&[5, 7][..], &[64, 64], &[3, 4, 5], &[2, 3, 1, 6], &[9]] {
        let whole = tensor(dims, 24);
        for view in views(&whole.view) {
            let tensor = whole.with_view(view.clone());
            let values = tensor.values();
            let (copy, _) = subject.elementwise(&[], &tensor, None).await.unwrap();
            assert_eq!(copy, values, "{view:?}");
            let (sum, _) = subject
                .elementwise(&[Step::Scale(2.0), Step::Add], &tensor, Some(&tensor))
                .await
                .unwrap();
            let exact: Vec<f32> = values.iter().map(|x| 2.0 * x + x).collect();
            assert_eq!(sum, exact, "{view:?}");
            if view.layout() == MemoryLayout::RowMajor && view.offset() == 0 {
                continue;
            }
            // Row operations on strided elements return the same bits as on a dense copy.
            let dense = Tensor::new(values, tensor.dims());
            let bits = |(values, dims): (Vec<f32>, Vec<usize>)| {
                (
                    values.into_iter().map(f32::to_bits).collect::<Vec<_>>(),
                    dims,
                )
            };
            let strided = subject.softmax(false, &tensor).await.unwrap();
            let dense = subject.softmax(false, &dense).await.unwrap();
            assert_eq!(bits(strided), bits(dense));
        }
    }
}
