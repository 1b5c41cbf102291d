//! Rotary positions.

use pagepress::tensor::layer::rotary_turns;

use crate::naive::{self, numbers};
use crate::subject::{Subject, Tensor};
use crate::tolerance::ROTARY;

/// Compares the rotation of `a` with plain loops.
pub async fn check(subject: &Subject, a: &Tensor, turns: &Tensor, first: usize) {
    let (found, dims) = subject.rotary(a, turns, first).await.unwrap();
    assert_eq!(dims, a.dims());
    let exact = naive::rotary(&a.values(), [dims[1], dims[2]], &turns.values(), first);
    assert_eq!(found.len(), exact.len());
    for (i, (found, (exact, magnitude))) in found.iter().zip(exact).enumerate() {
        let off = (f64::from(*found) - exact).abs();
        assert!(
            off <= ROTARY * magnitude,
            "{dims:?} from {first}: element {i} is {found}, exactly {exact}"
        );
    }
}

pub fn turns(positions: usize, elements: usize) -> Tensor {
    let values = rotary_turns(10_000.0, elements, positions).unwrap();
    Tensor::new(values, &[positions, elements])
}

pub async fn heads_of_any_size_are_rotated(subject: &Subject) {
    for ([rows, heads, elements], first) in [
        ([1, 1, 2], 0),
        ([3, 5, 6], 2),
        ([40, 3, 64], 0),
        ([7, 2, 128], 900),
        ([300, 9, 34], 11),
        ([2, 70, 256], 1),
        ([0, 3, 4], 5),
        ([4, 0, 2], 0),
        ([5, 2, 0], 0),
    ] {
        let a = Tensor::new(
            numbers(rows * heads * elements, 75, 3.0),
            &[rows, heads, elements],
        );
        check(subject, &a, &turns(first + rows + 3, elements), first).await;
    }
}

pub async fn views_are_rotated_as_they_are(subject: &Subject) {
    let whole = Tensor::new(numbers(4 * 30 * 16, 76, 2.0), &[4, 30, 16]);
    let a = whole.with_view(whole.view.transpose(0, 1).unwrap());
    let table = turns(50, 16);
    check(subject, &a, &table, 20).await;
    for start in [1, 16] {
        let part = table.with_view(table.view.slice(0, start..50).unwrap());
        check(subject, &a, &part, 3).await;
    }
}

pub async fn wrong_turns_are_typed_errors(subject: &Subject) {
    let a = Tensor::new(vec![1.0; 24], &[3, 2, 4]);
    for (positions, first) in [(2, 0), (5, 3), (5, usize::MAX)] {
        let error = subject.rotary(&a, &turns(positions, 4), first).await;
        assert_eq!(error.unwrap_err().code(), "INVALID_ARGUMENT");
    }
    let odd = Tensor::new(vec![1.0; 18], &[3, 2, 3]);
    let of_three = Tensor::new(vec![1.0; 15], &[5, 3]);
    let code = match subject {
        Subject::Cpu => ["LENGTH_MISMATCH", "INVALID_ARGUMENT"],
        Subject::Gpu(_) => ["SHAPE_MISMATCH"; 2],
    };
    let wider = Tensor::new(vec![1.0; 30], &[5, 6]);
    let error = subject.rotary(&a, &wider, 0).await.unwrap_err();
    assert_eq!(error.code(), code[0]);
    let error = subject.rotary(&odd, &of_three, 0).await.unwrap_err();
    assert_eq!(error.code(), code[1]);
    let error = rotary_turns(10_000.0, 3, 5).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
}
