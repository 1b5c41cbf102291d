//! Records products of tensors on matrix units: of 16 bits, and of f32 where it may be rounded.

use super::epilogue::{Dense, given_of};
use super::products::{factors, matrix, split};
use super::{AnyOperand, Recording};
use crate::Result;
use crate::gpu::{Backend, Buffer};
use crate::kernels::Slot;
use crate::kernels::tensor::{
    Matrix, MatrixUnits, Product, matmul_half_job, matmul_tf32_job, multiplies_halves, takes_units,
};
use crate::tensor::{DType, Epilogue, TensorView};

impl Recording {
    /// Records the product of two tensors into `out`, of `f32`, with an epilogue, on matrix units for the type of the first. Records nothing and
    /// returns false if the second has another type, or if rows cannot be read in units of 16 bytes.
    pub(super) async fn matmul_on_matrix_units(
        &mut self,
        units: MatrixUnits,
        [a, b]: [AnyOperand<'_>; 2],
        epilogue: &Epilogue<Dense>,
        out: &Buffer,
    ) -> Result<bool> {
        let factors = factors(a.view, b.view)?;
        let (_, [m, k]) = split(&factors.a)?;
        let (_, [_, n]) = split(&factors.b)?;
        let batch = factors.batch.n_elements();
        let is_possible =
            a.dtype == b.dtype && [m, n, k, batch].iter().all(|&n| (1..=MOST).contains(&n));
        if !is_possible {
            return Ok(false);
        }
        let a = AnyOperand {
            view: &factors.a,
            ..a
        };
        let b = AnyOperand {
            view: &factors.b,
            ..b
        };
        let (Some(a), Some(b)) = (factor(a, true), factor(b, false)) else {
            return Ok(false);
        };
        let what = Product {
            batch: batch as u64,
            m: m as u64,
            n: n as u64,
            k: k as u64,
            a: a.matrix,
            b: b.matrix,
        };
        let most = self.device().capabilities().max_binding_bytes;
        let job = match a.operand.dtype {
            DType::F32 => matmul_tf32_job(&what, epilogue.form(), units, most)?,
            dtype => matmul_half_job(&what, dtype, epilogue.form(), units, most)?,
        };
        let Some(job) = job else {
            return Ok(false);
        };
        let a = self.packed(a.operand, a.is_copied).await?;
        let b = self.packed(b.operand, b.is_copied).await?;
        let mut given = vec![(Slot::A, &a, 0), (Slot::B, &b, 0), (Slot::Out, out, 0)];
        given.extend(given_of(epilogue));
        self.run(&job, &given).await?;
        Ok(true)
    }

    /// Returns the matrix units for products of a type: those of CUDA, and for 16 bits those of Vulkan whose subgroups have 32 invocations.
    pub(crate) fn matrix_units(&self, dtype: DType) -> Option<MatrixUnits> {
        let info = self.device().info();
        match info.api {
            "cuda" => self.asynchronous_units(dtype),
            "vulkan" => {
                let units = self.units_of_vulkan(dtype);
                units.filter(|&units| multiplies_halves(dtype, units))
            }
            _ => None,
        }
    }

    /// Returns the matrix units for attention: those whose elements kernels find in registers.
    pub(super) fn attention_units(&self, dtype: DType) -> Option<MatrixUnits> {
        match self.device().info().api {
            "cuda" => self.asynchronous_units(dtype),
            "vulkan" if self.device().capabilities().matrix_elements => self.units_of_vulkan(dtype),
            _ => None,
        }
    }

    /// Returns the matrix units of Vulkan for a type, if subgroups have 32 invocations.
    fn units_of_vulkan(&self, dtype: DType) -> Option<MatrixUnits> {
        let is_usable = self.multiplies(dtype) && self.device().info().subgroup_size == (32, 32);
        is_usable.then(|| self.units())
    }

    /// Returns the matrix units of CUDA for a type, beside which copies to workgroup memory run asynchronously. Through Vulkan, the
    /// compiler of NVIDIA's driver spills the kernels that are made for them.
    pub(super) fn asynchronous_units(&self, dtype: DType) -> Option<MatrixUnits> {
        self.units_of_cuda(self.multiplies(dtype))
    }

    /// Returns true if the device has matrices of a 16-bit type.
    fn multiplies(&self, dtype: DType) -> bool {
        let capabilities = self.device().capabilities();
        match dtype {
            DType::F32 => false,
            DType::F16 => capabilities.cooperative_matrices,
            DType::BF16 => capabilities.bfloat16_matrices,
        }
    }

    /// Returns the matrix units that round f32 to TF32.
    pub(super) fn tf32_units(&self) -> Option<MatrixUnits> {
        self.units_of_cuda(self.device().capabilities().tf32_matrices)
    }

    /// Returns the matrix units of a device of CUDA that multiplies a type.
    fn units_of_cuda(&self, multiplies: bool) -> Option<MatrixUnits> {
        let device = self.device();
        let is_usable = multiplies
            && device.info().api == "cuda"
            && device.capabilities().compute_units.is_some();
        is_usable.then(|| self.units())
    }

    /// Returns the device as its matrix units depend on it.
    fn units(&self) -> MatrixUnits {
        let capabilities = self.device().capabilities();
        MatrixUnits {
            n_units: self.limits().n_units().into(),
            workgroup_bytes: capabilities.max_workgroup_bytes.into(),
            has_warpgroups: capabilities.warpgroup_matrices,
            copies_asynchronously: self.device().info().api == "cuda",
        }
    }

    /// Returns the buffer of an operand or, if `is_copied`, a row-major copy of its elements.
    pub(super) async fn packed(&mut self, a: AnyOperand<'_>, is_copied: bool) -> Result<Buffer> {
        if !is_copied {
            return Ok(a.buffer.clone());
        }
        let copy = self.allocate_of(a.dtype, a.view.shape().n_elements())?;
        self.cast(a, a.dtype, &copy).await?;
        Ok(copy)
    }
}

/// Lengths and strides are 32-bit words in the kernel, and lengths are rounded up to tiles.
const MOST: usize = u32::MAX as usize - 0xffff;

/// A factor, and the layout in which the kernel reads it.
struct Factor<'a> {
    operand: AnyOperand<'a>,
    matrix: Matrix,
    /// True if it must be copied to have that layout.
    is_copied: bool,
}

/// Returns the layout in which the kernel reads a batch of matrices: as they are, or as a contiguous copy; `None` if
/// rows of neither begin at multiples of 16 bytes.
fn factor(operand: AnyOperand<'_>, is_left: bool) -> Option<Factor<'_>> {
    let view = operand.view;
    // Elements of 16 bytes.
    let unit = 4 * operand.dtype.per_word();
    let (_, [rows, columns]) = split(view).ok()?;
    let k = if is_left { columns } else { rows } as u64;
    let is_taken = |matrix: &Matrix| {
        let is_along_k = matrix.transposed != is_left;
        takes_units(matrix, is_along_k, k, unit)
    };
    let n = (view.end() as u64).next_multiple_of(unit);
    let given = matrix(view, n).filter(|matrix| is_taken(matrix) && is_small(view));
    let (matrix, is_copied) = match given {
        Some(matrix) => (matrix, false),
        None => {
            let n = (view.shape().n_elements() as u64).next_multiple_of(unit);
            (Matrix::dense(rows as u64, columns as u64, n), true)
        }
    };
    let is_usable = is_taken(&matrix) && matrix.n <= MOST as u64;
    is_usable.then_some(Factor {
        operand,
        matrix,
        is_copied,
    })
}

fn is_small(view: &TensorView) -> bool {
    view.strides().iter().all(|&stride| stride <= MOST)
}
