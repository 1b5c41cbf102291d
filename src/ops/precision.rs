//! [`Precision`]: how the factors of a matrix product are rounded.

/// Precision of the factors of a matrix product in `f32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Precision {
    /// Factors are not rounded.
    #[default]
    F32,
    /// Factors are rounded to TF32: to nearest, to 10 bits after the binary point instead of 23, with the exponents of `f32`. Products are
    /// summed in `f32`. NaN and infinities stay what they are; a number beyond the largest one of TF32 becomes infinite.
    ///
    /// This is so where the device has matrix units for it (CUDA, compute capability 8.0 and later) and rows of both factors, or of
    /// contiguous copies of them, start at multiples of 16 bytes. Elsewhere the product is that of [`F32`](Self::F32).
    Tf32,
}
