//! [`LayerConfig`]: sizes and variants of a layer's parts.

use std::ops::Range;

use super::rotary::rotary_turns;
pub use crate::ops::Norm;
use crate::ops::{DType, Precision, Shape};
use crate::{Error, Result};

/// Maximum number of elements of a head in the attention kernel.
pub(crate) const MAX_HEAD_DIM: usize = 256;

/// Parameters of attention. The result of a query is NaN if a product with a visible key is NaN or +∞, or if all of
/// them are -∞. Masked keys have no effect.
///
/// ```
/// use pagepress::tensor::layer::Attention;
///
/// let what = Attention { causal: true, window: Some(4096), ..Attention::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Attention {
    /// True for a causal mask: the last query sees all keys, and each query before it one key less.
    pub causal: bool,
    /// Number of keys that a query sees at most: the last one that it sees, and those before it (sliding-window
    /// attention). At least 1, and only with a causal mask. `None` means all keys that the mask leaves.
    pub window: Option<usize>,
    /// Factor of the products of queries and keys. `None` means 1 / √`dim`, where `dim` is the number of elements of a
    /// head.
    pub scale: Option<f32>,
}

/// Lengths of the axes of attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AttentionDims {
    pub(crate) batch: usize,
    pub(crate) heads: usize,
    pub(crate) key_heads: usize,
    pub(crate) n_q: usize,
    pub(crate) n_k: usize,
    pub(crate) dim: usize,
}

/// Checks that a window has a key, and that there is a causal mask with it.
fn check_window(causal: bool, window: Option<usize>) -> Result<()> {
    match window {
        Some(n) if n == 0 || !causal => Err(Error::InvalidArgument {
            name: "window",
            value: match causal {
                true => n.to_string(),
                false => format!("{n} without a causal mask"),
            },
            expected: "at least 1, with a causal mask",
        }),
        _ => Ok(()),
    }
}

impl Attention {
    /// Returns the keys that query `i` of `n_q` sees, of `n_k`, at least `n_q` if there is a causal mask.
    pub(crate) fn seen(self, i: usize, n_q: usize, n_k: usize) -> Range<usize> {
        let end = match self.causal {
            true => i + n_k - n_q + 1,
            false => n_k,
        };
        end - self.window.map_or(end, |n| n.min(end))..end
    }

    /// Returns the factor of the products for heads of `dim` elements.
    #[must_use]
    pub fn scale_of(self, dim: usize) -> f32 {
        self.scale.unwrap_or_else(|| 1.0 / (dim as f32).sqrt())
    }

    /// Checks the shapes of queries, keys and values, and returns their lengths.
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
        check_window(self.causal, self.window)?;
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

/// Variant of the feed-forward part (MLP) of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mlp {
    /// down(swish(gate(z)) up(z))
    SwiGlu,
    /// down(gelu(up(z)))
    Gelu,
    /// down(gelu(up(z))), with the tanh approximation of gelu.
    GeluTanh,
}

/// Sizes and variants of a layer's parts. [`decoder`](Self::decoder) and [`encoder`](Self::encoder) return common ones.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerConfig {
    /// Number of elements of an input or output row.
    pub hidden: usize,
    /// Number of heads of queries.
    pub n_heads: usize,
    /// Number of heads of keys and values, a divisor of `n_heads`.
    pub n_kv_heads: usize,
    /// Number of elements of a head, at most 256. It must be even if there are rotary positions.
    pub head_dim: usize,
    /// Width of the hidden layer of the MLP.
    pub mlp_width: usize,
    /// Kind of norm, for both norms of the layer.
    pub norm: Norm,
    /// Variant of the MLP.
    pub mlp: Mlp,
    /// True if a row attends to itself and the rows before it, including those of earlier calls; false if it attends to
    /// all rows of its call.
    pub causal: bool,
    /// Number of rows that a row of a causal layer attends to at most: itself and those before it, as
    /// [`Attention::window`]; `None` for all of them. The key-value cache keeps all rows.
    pub window: Option<usize>,
    /// Base of the rotary positions, often 10,000; `None` for no positions. Elements i and i + `head_dim` / 2 of a head
    /// are rotated by position · base^(-2 i / `head_dim`).
    pub rotary_base: Option<f32>,
    /// Maximum number of rows of a sequence. A causal layer allocates its key-value cache for this number.
    pub max_positions: usize,
    /// Type of the keys and values that attention reads, which are those of the key-value cache in a causal layer. Queries
    /// are rounded to it, too. `n_kv_heads` · `head_dim` must be even for a type of 16 bits.
    pub kv_type: DType,
    /// Precision of the factors of products with matrices of f32 and packed ones. [`Precision::Tf32`] uses matrix units for many rows, as of a
    /// prompt, where the device has them for it.
    pub precision: Precision,
}

impl LayerConfig {
    /// Returns a causal layer with RMS norm, rotary positions, SwiGLU, and keys and values of f32, for sequences of up to
    /// 2048 rows.
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
            window: None,
            rotary_base: Some(10_000.0),
            max_positions: 2048,
            kv_type: DType::F32,
            precision: Precision::F32,
        }
    }

    /// Returns a layer with bidirectional attention, layer norm and gelu, without positions, for sequences of up to
    /// 2048 rows.
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

    /// Returns the number of outputs of q.
    pub(crate) const fn q_width(&self) -> usize {
        self.n_heads * self.head_dim
    }

    pub(crate) const fn kv_width(&self) -> usize {
        self.n_kv_heads * self.head_dim
    }

    pub(crate) const fn attention(&self) -> Attention {
        Attention {
            causal: self.causal,
            window: self.window,
            scale: None,
        }
    }

    /// Checks that the sizes are consistent.
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
        // With this limit, products of two sizes cannot overflow.
        if let Some(&(name, value)) = sizes.iter().find(|(_, n)| !(1..=1 << 20).contains(n)) {
            return wrong(name, value, "from 1 to 2^20");
        }
        if self.head_dim > MAX_HEAD_DIM {
            return wrong("head_dim", self.head_dim, "at most 256");
        }
        if self.rotary_base.is_some() && self.head_dim % 2 == 1 {
            return wrong("head_dim", self.head_dim, "even, for rotary positions");
        }
        check_window(self.causal, self.window)?;
        if self.kv_type.is_half() && self.kv_width() % 2 == 1 {
            let expected = "even rows of keys and values, for a type of 16 bits";
            return wrong("head_dim", self.head_dim, expected);
        }
        if !self.n_heads.is_multiple_of(self.n_kv_heads) {
            return wrong(
                "n_kv_heads",
                self.n_kv_heads,
                "a divisor of the number of heads",
            );
        }
        Ok(())
    }

    /// Returns cosine and sine for each position from 0 to `n` (exclusive) and each pair of elements of a head; nothing
    /// without rotary positions.
    pub(crate) fn turns(&self, n: usize) -> Result<Vec<f32>> {
        let Some(base) = self.rotary_base else {
            return Ok(Vec::new());
        };
        rotary_turns(base, self.head_dim, n)
    }
}
