//! Built-in functions on whole vectors and matrices.

use naga::proc::TypeResolution;
use naga::{Expression, Handle, MathFunction, TypeInner};

use crate::Result;
use crate::build::{Comparison, Operand, PtxType};
use crate::lower::Lowering;
use crate::lower::frame::Frame;
use crate::lower::value::Value;

impl Lowering<'_> {
    /// Lowers a function that is not component-wise; returns `None` for others.
    pub(super) fn vector_function(
        &mut self,
        fun: MathFunction,
        x: &[Vec<Operand>],
        types: &[&TypeResolution],
    ) -> Result<Option<Vec<Operand>>> {
        let second = x.get(1).cloned().unwrap_or_default();
        let Some(a) = x.first() else {
            return Ok(None);
        };
        Ok(Some(match fun {
            MathFunction::Dot => vec![self.dot(a, &second)],
            MathFunction::Cross => self.cross(a, &second)?,
            MathFunction::Length => vec![self.length(a)],
            MathFunction::Distance => {
                let difference =
                    self.pairwise(a, &second, |this, a, b| this.kernel.sub(a, b).into());
                vec![self.length(&difference)]
            }
            MathFunction::Normalize => {
                let square = self.dot(a, a);
                let scale = self.reciprocal_root(square);
                a.iter().map(|&a| self.times(a, scale)).collect()
            }
            MathFunction::FaceForward => {
                let [n, i, r] = x else {
                    return Err(self.error("faceForward takes three arguments"));
                };
                let side = self.dot(i, r);
                let zero = Operand::Constant(side.ty(), 0);
                let is_front = self.compared(Comparison::Lt, side, zero);
                let flipped: Vec<Operand> = n.iter().map(|&n| self.kernel.neg(n).into()).collect();
                self.pairwise(n, &flipped, |this, n, flipped| {
                    this.selected(is_front, n, flipped)
                })
            }
            MathFunction::Reflect => {
                let twice = self.dot(a, &second);
                let twice = Operand::from(self.kernel.add(twice, twice));
                self.pairwise(a, &second, |this, a, n| {
                    let part = this.times(twice, n);
                    this.kernel.sub(a, part).into()
                })
            }
            MathFunction::Refract => self.refract(x)?,
            MathFunction::Transpose => {
                let (columns, rows) = self.shape(types[0])?;
                (0..rows)
                    .flat_map(|r| (0..columns).map(move |c| c * rows + r))
                    .map(|i| a[i])
                    .collect()
            }
            MathFunction::Determinant => {
                let (columns, _) = self.shape(types[0])?;
                vec![self.determinant(a, columns)]
            }
            MathFunction::Outer | MathFunction::Inverse => {
                return Err(self.unsupported(format_args!("{fun:?}")));
            }
            _ => return Ok(None),
        }))
    }

    fn pairwise(
        &mut self,
        a: &[Operand],
        b: &[Operand],
        mut combine: impl FnMut(&mut Self, Operand, Operand) -> Operand,
    ) -> Vec<Operand> {
        a.iter()
            .zip(b)
            .map(|(&a, &b)| combine(self, a, b))
            .collect()
    }

    fn times(&mut self, a: Operand, b: Operand) -> Operand {
        self.kernel.mul(a, b).into()
    }

    pub(super) fn dot(&mut self, a: &[Operand], b: &[Operand]) -> Operand {
        let mut pairs = a.iter().zip(b);
        let Some((&a, &b)) = pairs.next() else {
            return 0u32.into();
        };
        let first = self.times(a, b);
        pairs.fold(first, |sum, (&a, &b)| self.kernel.mad(a, b, sum).into())
    }

    fn cross(&mut self, a: &[Operand], b: &[Operand]) -> Result<Vec<Operand>> {
        if a.len() != 3 || b.len() != 3 {
            return Err(self.error("cross takes two vectors of three"));
        }
        Ok([(1, 2), (2, 0), (0, 1)]
            .map(|(i, j)| self.minor(a[i], b[j], a[j], b[i]))
            .to_vec())
    }

    /// Returns a * b - c * d.
    fn minor(&mut self, a: Operand, b: Operand, c: Operand, d: Operand) -> Operand {
        let second = self.times(c, d);
        let minus = self.kernel.neg(second);
        self.kernel.mad(a, b, minus).into()
    }

    fn length(&mut self, a: &[Operand]) -> Operand {
        if let [a] = *a {
            return self.magnitude(a);
        }
        let square = self.dot(a, a);
        self.root(square)
    }

    fn root(&mut self, a: Operand) -> Operand {
        match a.ty() {
            PtxType::F16 => self.in_single(&[a], |this, x| this.kernel.sqrt(x[0]).into()),
            _ => self.kernel.sqrt(a).into(),
        }
    }

    fn reciprocal_root(&mut self, a: Operand) -> Operand {
        match a.ty() {
            PtxType::F16 => self.in_single(&[a], |this, x| this.kernel.rsqrt(x[0]).into()),
            PtxType::F64 => {
                let root = self.kernel.sqrt(a);
                self.kernel.div(1f64, root).into()
            }
            _ => self.kernel.rsqrt(a).into(),
        }
    }

    /// Lowers `refract`: k = 1 - eta² (1 - (n·i)²); zero if k < 0, else eta i - (eta n·i + sqrt(k)) n.
    fn refract(&mut self, x: &[Vec<Operand>]) -> Result<Vec<Operand>> {
        let [i, n, eta] = x else {
            return Err(self.error("refract takes three arguments"));
        };
        let eta = eta[0];
        let ty = eta.ty();
        let (zero, one) = (Operand::Constant(ty, 0), self.converted(true.into(), ty));
        let cosine = self.dot(n, i);
        let minus_cosine = Operand::from(self.kernel.neg(cosine));
        let sine_square = self.kernel.mad(cosine, minus_cosine, one);
        let eta_square = self.times(eta, eta);
        let minus_eta_square = self.kernel.neg(eta_square);
        let k = Operand::from(self.kernel.mad(minus_eta_square, sine_square, one));
        let root = self.root(k);
        let scale = self.kernel.mad(eta, cosine, root);
        let minus_scale = Operand::from(self.kernel.neg(scale));
        let is_total = self.compared(Comparison::Lt, k, zero);
        Ok(self.pairwise(i, n, |this, i, n| {
            let along = this.times(eta, i);
            let bent = this.kernel.mad(minus_scale, n, along);
            this.selected(is_total, zero, bent.into())
        }))
    }

    /// Returns the numbers of columns and rows of a matrix.
    fn shape(&self, ty: &TypeResolution) -> Result<(usize, usize)> {
        match *self.inner(ty) {
            TypeInner::Matrix { columns, rows, .. } => Ok((columns as usize, rows as usize)),
            _ => Err(self.error("no matrix where one is needed")),
        }
    }

    /// Computes a determinant by Laplace expansion along the first column.
    fn determinant(&mut self, a: &[Operand], n: usize) -> Operand {
        if n == 2 {
            return self.minor(a[0], a[3], a[2], a[1]);
        }
        let mut sum: Option<Operand> = None;
        for row in 0..n {
            let rest =
                (1..n).flat_map(|c| (0..n).filter(move |&r| r != row).map(move |r| c * n + r));
            let rest: Vec<Operand> = rest.map(|i| a[i]).collect();
            let part = self.determinant(&rest, n - 1);
            let entry = if row % 2 == 0 {
                a[row]
            } else {
                self.kernel.neg(a[row]).into()
            };
            sum = Some(match sum {
                Some(sum) => self.kernel.mad(entry, part, sum).into(),
                None => self.times(entry, part),
            });
        }
        sum.unwrap_or(a[0])
    }

    /// Lowers a product with a matrix on either side.
    pub(in crate::lower) fn matrix_product(
        &mut self,
        frame: &mut Frame<'_>,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Result<Value> {
        let (a, b) = (self.leaves_of(frame, left)?, self.leaves_of(frame, right)?);
        let is_scalar = |leaves: &[Operand]| leaves.len() == 1;
        if is_scalar(&a) || is_scalar(&b) {
            let (scalar, entries) = if is_scalar(&a) { (a[0], b) } else { (b[0], a) };
            return Ok(Value::Leaves(
                entries
                    .iter()
                    .map(|&entry| self.times(entry, scalar))
                    .collect(),
            ));
        }
        // A vector on the left is a row, on the right a column.
        let (a_columns, a_rows) = self.shape(frame.ty(left)).unwrap_or((a.len(), 1));
        let (b_columns, b_rows) = self.shape(frame.ty(right)).unwrap_or((1, b.len()));
        if a_columns != b_rows || a.len() != a_columns * a_rows || b.len() != b_columns * b_rows {
            return Err(self.error("a product of matrices that do not fit"));
        }
        let mut product = Vec::with_capacity(a_rows * b_columns);
        for column in b.chunks_exact(b_rows) {
            for row in 0..a_rows {
                let row: Vec<Operand> = a.iter().skip(row).step_by(a_rows).copied().collect();
                product.push(self.dot(&row, column));
            }
        }
        Ok(Value::Leaves(product))
    }
}
