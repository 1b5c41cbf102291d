//! [`Norm`]: kinds of normalisation of rows.

/// Kind of normalisation of a row x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Norm {
    /// RMS norm: x / √(mean of squares + `epsilon`).
    Rms {
        /// Added under the root, so that a row of zeros is not divided by 0.
        epsilon: f32,
    },
    /// Layer norm: (x - mean) / √(variance + `epsilon`).
    Layer {
        /// Added under the root, so that a row of equal elements is not divided by 0.
        epsilon: f32,
    },
}

impl Norm {
    /// Returns the number that is added under the root.
    #[must_use]
    pub const fn epsilon(self) -> f32 {
        match self {
            Self::Rms { epsilon } | Self::Layer { epsilon } => epsilon,
        }
    }
}
