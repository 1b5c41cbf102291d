//! A layer of a transformer: its configuration and weights, and [`WgslForwardPass`], which runs it on a device.
//!
//! For input rows x, a layer computes
//! ```text
//! a = x + o(attention(rotary(q(n(x))), rotary(k(n(x))), v(n(x))))
//! y = a + mlp(m(a))
//! ```
//! n and m are norms. q, k, v and o are matrix products, each plus a bias if it has one. rotary rotates the heads of
//! queries and keys by their positions, if the layer has rotary positions. mlp(z) is down(swish(gate(z)) up(z)) or
//! down(gelu(up(z))).
//!
//! Matrices are of f32, of 16 bits, or packed ([`Weights`]); keys and values are of f32 or of 16 bits
//! ([`LayerConfig::kv_type`]). Sums are computed in f32.

#[cfg(gpu_engine)]
mod cache;
mod config;
#[cfg(gpu_engine)]
mod forward;
#[cfg(gpu_engine)]
mod lora;
#[cfg(gpu_engine)]
mod matrix;
#[cfg(gpu_engine)]
mod parts;
#[cfg(gpu_engine)]
mod projection;
#[cfg(web_tensor)]
mod resident;
mod rotary;
mod weights;

pub(crate) use config::MAX_HEAD_DIM;
pub use config::{Attention, LayerConfig, Mlp, Norm};
#[cfg(gpu_engine)]
pub use forward::WgslForwardPass;
#[cfg(gpu_engine)]
pub use lora::QkvLoRA;
#[cfg(web_tensor)]
pub(crate) use resident::ResidentWeights;
pub use rotary::rotary_turns;
#[cfg(web_tensor)]
pub(crate) use weights::Form;
pub use weights::{LayerWeights, Linear, LowRank, LowRankQkv, Parameters, Weights};
