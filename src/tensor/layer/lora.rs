//! [`QkvLoRA`]: low-rank updates of the matrices of queries, keys and values.

use super::config::LayerConfig;
use super::projection::LowRankPair;
use super::weights::{LowRank, LowRankQkv};
use crate::Result;
use crate::gpu::GpuDevice;

/// Low-rank updates (LoRA) of q, k and v of a layer, or some of them, on the device. They adapt a model without a
/// change of its weights.
#[derive(Debug)]
pub struct QkvLoRA {
    pub(super) q: Option<LowRankPair>,
    pub(super) k: Option<LowRankPair>,
    pub(super) v: Option<LowRankPair>,
    pub(super) rank: usize,
}

impl QkvLoRA {
    /// Uploads the matrices, for layers of this configuration.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch) for matrices whose sizes do not match the configuration;
    /// [`InvalidArgument`](crate::Error::InvalidArgument) for an invalid configuration or rank;
    /// [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn upload_async(
        device: &GpuDevice,
        config: &LayerConfig,
        weights: &LowRankQkv<'_>,
    ) -> Result<Self> {
        weights.check(config)?;
        let pair = async |pair: &Option<LowRank<'_>>, outputs| match pair {
            Some(pair) => {
                let size = [outputs, weights.rank, config.hidden];
                let uploaded = LowRankPair::upload(device, pair, size, weights.scale).await;
                uploaded.map(Some)
            }
            None => Ok(None),
        };
        Ok(Self {
            q: pair(&weights.q, config.q_width()).await?,
            k: pair(&weights.k, config.kv_width()).await?,
            v: pair(&weights.v, config.kv_width()).await?,
            rank: weights.rank,
        })
    }

    /// [`upload_async`](Self::upload_async), blocking. Native only.
    ///
    /// # Errors
    /// As [`upload_async`](Self::upload_async).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn upload(
        device: &GpuDevice,
        config: &LayerConfig,
        weights: &LowRankQkv<'_>,
    ) -> Result<Self> {
        crate::gpu::runtime::block_on(Self::upload_async(device, config, weights))
    }

    /// Returns the rank of the matrices.
    #[must_use]
    pub const fn rank(&self) -> usize {
        self.rank
    }
}
