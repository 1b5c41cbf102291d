//! Sizes and kinds of a layer's parts.

use crate::memory::with_room;
pub use crate::ops::Norm;
use crate::ops::Shape;
use crate::ops::lengths::product;
use crate::{Error, Result};

/// Longest head, in elements, that the kernel takes.
pub(crate) const MAX_HEAD_DIM: usize = 256;

/// How queries look at keys. A query whose products hold NaN or +∞, or -∞ alone, gets NaN; keys that it does not see do
/// not matter to it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Attention {
    /// The last query sees all keys, each query before it one less.
    pub causal: bool,
    /// Factor of the products; `None` for 1 / √elements of a head.
    pub scale: Option<f32>,
}

/// Lengths of attention's axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AttentionDims {
    pub(crate) batch: usize,
    pub(crate) heads: usize,
    pub(crate) key_heads: usize,
    pub(crate) n_q: usize,
    pub(crate) n_k: usize,
    pub(crate) dim: usize,
}

impl Attention {
    /// Returns the factor of the products for heads of `dim` elements.
    #[must_use]
    pub fn scale_of(self, dim: usize) -> f32 {
        self.scale.unwrap_or_else(|| 1.0 / (dim as f32).sqrt())
    }

    /// The lengths, if shapes of queries, keys and values fit.
    pub(crate) fn size(self, q: &Shape, k: &Shape, v: &Shape) -> Result<AttentionDims> {
        let split = |shape: &Shape| match *shape.dims() {
            [heads, rows, dim] => Some([1, heads, rows, dim]),
            [batch, heads, rows, dim] => Some([batch, heads, rows, dim]),
            _ => None,
        };
        let mismatch = |expected| q.mismatch(k, "attention", expected);
        let (Some([batch, heads, n_q, dim]), Some([k_batch, key_heads, n_k, k_dim])) =
            (split(q), split(k))
        else {
            return Err(mismatch("axes are [batch,] heads, rows, elements"));
        };
        if v != k {
            return Err(k.mismatch(v, "attention", "there is a value for each key"));
        }
        if q.rank() != k.rank() || batch != k_batch || dim != k_dim {
            return Err(mismatch(
                "queries and keys have the same batches, and as many elements",
            ));
        }
        if !heads.is_multiple_of(key_heads.max(1)) || (key_heads == 0 && heads > 0) {
            return Err(mismatch(
                "heads of queries are a multiple of the heads of keys",
            ));
        }
        if n_k == 0 && n_q > 0 || self.causal && n_k < n_q {
            return Err(mismatch("each query sees at least one key"));
        }
        if dim > MAX_HEAD_DIM {
            return Err(Error::InvalidArgument {
                name: "queries",
                value: q.to_string(),
                expected: "heads of at most 256 elements",
            });
        }
        Ok(AttentionDims {
            batch,
            heads,
            key_heads,
            n_q,
            n_k,
            dim,
        })
    }
}

/// The second half of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mlp {
    /// down(swish(gate(z)) up(z))
    SwiGlu,
    /// down(gelu(up(z)))
    Gelu,
    /// The same with the approximation of gelu by tanh.
    GeluTanh,
}

/// Sizes and kinds of a layer's parts. [`decoder`](Self::decoder) and [`encoder`](Self::encoder) make usual ones.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerConfig {
    /// Elements of a row that comes in and goes out.
    pub hidden: usize,
    /// Heads of queries.
    pub n_heads: usize,
    /// Heads of keys and values; `n_heads` is a multiple of it.
    pub n_kv_heads: usize,
    /// Elements of a head; even if there are rotary positions, and at most 256.
    pub head_dim: usize,
    /// Elements between the two halves of the second part.
    pub mlp_width: usize,
    /// Normalisation of rows.
    pub norm: Norm,
    /// The second part.
    pub mlp: Mlp,
    /// A row sees itself and the rows before it, those of earlier calls too; else it sees all rows of its call.
    pub causal: bool,
    /// The base of rotary positions, often 10,000; `None` for no positions. Element i of a head and element
    /// i + `head_dim` / 2 are turned by position · base^(-2 i / `head_dim`).
    pub rotary_base: Option<f32>,
    /// Most rows of a sequence: memory for their keys and values is kept.
    pub max_positions: usize,
}

impl LayerConfig {
    /// A causal layer that normalises by the mean of squares, with rotary positions and SwiGLU.
    #[must_use]
    pub const fn decoder(hidden: usize, n_heads: usize, mlp_width: usize) -> Self {
        Self {
            hidden,
            n_heads,
            n_kv_heads: n_heads,
            head_dim: match hidden.checked_div(n_heads) {
                Some(dim) => dim,
                None => 0,
            },
            mlp_width,
            norm: Norm::Rms { epsilon: 1e-5 },
            mlp: Mlp::SwiGlu,
            causal: true,
            rotary_base: Some(10_000.0),
            max_positions: 2048,
        }
    }

    /// A layer in which all rows see each other, without positions, with gelu.
    #[must_use]
    pub const fn encoder(hidden: usize, n_heads: usize, mlp_width: usize) -> Self {
        Self {
            norm: Norm::Layer { epsilon: 1e-5 },
            mlp: Mlp::Gelu,
            causal: false,
            rotary_base: None,
            ..Self::decoder(hidden, n_heads, mlp_width)
        }
    }

    /// Outputs of q, and of k and v.
    pub(crate) const fn q_width(&self) -> usize {
        self.n_heads * self.head_dim
    }

    pub(crate) const fn kv_width(&self) -> usize {
        self.n_kv_heads * self.head_dim
    }

    pub(crate) const fn attention(&self) -> Attention {
        Attention {
            causal: self.causal,
            scale: None,
        }
    }

    /// Returns true if the sizes are consistent.
    pub(crate) fn check(&self) -> Result<()> {
        let wrong = |name, value: usize, expected| {
            Err(Error::InvalidArgument {
                name,
                value: value.to_string(),
                expected,
            })
        };
        let sizes = [
            ("hidden", self.hidden),
            ("n_heads", self.n_heads),
            ("n_kv_heads", self.n_kv_heads),
            ("head_dim", self.head_dim),
            ("mlp_width", self.mlp_width),
            ("max_positions", self.max_positions),
        ];
        // Products of two of them fit anywhere.
        if let Some(&(name, value)) = sizes.iter().find(|(_, n)| !(1..=1 << 20).contains(n)) {
            return wrong(name, value, "from 1 to 2^20");
        }
        if self.head_dim > MAX_HEAD_DIM {
            return wrong("head_dim", self.head_dim, "at most 256");
        }
        if self.rotary_base.is_some() && self.head_dim % 2 == 1 {
            return wrong("head_dim", self.head_dim, "even, for rotary positions");
        }
        if !self.n_heads.is_multiple_of(self.n_kv_heads) {
            return wrong("n_kv_heads", self.n_kv_heads, "a divisor of n_heads");
        }
        Ok(())
    }

    /// Cosine and sine of each position from 0 to `n`, and of each pair of elements of a head.
    pub(crate) fn turns(&self, n: usize) -> Result<Vec<f32>> {
        let Some(base) = self.rotary_base else {
            return Ok(Vec::new());
        };
        let half = self.head_dim / 2;
        let n_numbers = product(&[2, n, half]);
        let mut turns = with_room(usize::try_from(n_numbers).unwrap_or(usize::MAX))?;
        for position in 0..n {
            for i in 0..half {
                let power = -2.0 * i as f64 / self.head_dim as f64;
                let angle = position as f64 * f64::from(base).powf(power);
                turns.extend([angle.cos() as f32, angle.sin() as f32]);
            }
        }
        Ok(turns)
    }
}
