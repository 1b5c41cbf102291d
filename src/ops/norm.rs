//! [`Norm`]: the normalisation of rows.

/// The normalisation of each row x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Norm {
    /// RMS norm: x / √(mean of squares + `epsilon`).
    Rms {
        /// Added below the root, so that a row of zeros is not divided by 0.
        epsilon: f32,
    },
    /// Layer norm: (x - mean) / √(variance + `epsilon`).
    Layer {
        /// Added below the root, so that a row of equal elements is not divided by 0.
        epsilon: f32,
    },
}

impl Norm {
    /// Returns the number that is added below the root.
    #[must_use]
    pub const fn epsilon(self) -> f32 {
        match self {
            Self::Rms { epsilon } | Self::Layer { epsilon } => epsilon,
        }
    }
}
