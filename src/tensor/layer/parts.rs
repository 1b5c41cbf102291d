//! [`Parts`]: the norms and projections of a layer on the device.

use super::config::LayerConfig;
use super::projection::{Projection, upload};
use super::weights::{LayerWeights, Linear, Parameters};
use crate::Result;
use crate::gpu::{Buffer, GpuDevice, Sized64};

/// Norms and projections of a layer.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) attention_norm: Columns,
    pub(super) q: Projection,
    pub(super) k: Projection,
    pub(super) v: Projection,
    pub(super) o: Projection,
    pub(super) mlp_norm: Columns,
    pub(super) gate: Option<Projection>,
    pub(super) up: Projection,
    pub(super) down: Projection,
}

impl Parts {
    /// Uploads weights whose sizes were checked.
    pub(super) async fn upload(
        device: &GpuDevice,
        config: &LayerConfig,
        weights: &LayerWeights<'_>,
    ) -> Result<Self> {
        let (hidden, width) = (config.hidden, config.mlp_width);
        let (q, kv) = (config.q_width(), config.kv_width());
        let matrix = async |linear: &Linear<'_>, size| {
            Projection::upload(device, linear, size, config.precision).await
        };
        Ok(Self {
            attention_norm: Columns::upload(device, &weights.attention_norm).await?,
            q: matrix(&weights.q, [q, hidden]).await?,
            k: matrix(&weights.k, [kv, hidden]).await?,
            v: matrix(&weights.v, [kv, hidden]).await?,
            o: matrix(&weights.o, [hidden, q]).await?,
            mlp_norm: Columns::upload(device, &weights.mlp_norm).await?,
            gate: match &weights.gate {
                Some(gate) => Some(matrix(gate, [width, hidden]).await?),
                None => None,
            },
            up: matrix(&weights.up, [width, hidden]).await?,
            down: matrix(&weights.down, [hidden, width]).await?,
        })
    }

    pub(super) fn n_bytes(&self) -> u64 {
        let all = [&self.q, &self.k, &self.v, &self.o, &self.up, &self.down];
        let matrices = all.into_iter().chain(&self.gate).map(Projection::n_bytes);
        let columns = self.attention_norm.buffers().into_iter();
        let columns = columns.chain(self.mlp_norm.buffers()).flatten();
        matrices.sum::<u64>() + columns.map(Sized64::n_bytes).sum::<u64>()
    }
}

/// Weight and bias of a norm.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) weight: Buffer,
    pub(super) bias: Option<Buffer>,
}

impl Columns {
    async fn upload(device: &GpuDevice, parameters: &Parameters<'_>) -> Result<Self> {
        Ok(Self {
            weight: upload(device, parameters.weights).await?,
            bias: match parameters.bias {
                Some(bias) => Some(upload(device, bias).await?),
                None => None,
            },
        })
    }

    pub(super) fn buffers(&self) -> [Option<&Buffer>; 2] {
        [Some(&self.weight), self.bias.as_ref()]
    }
}
