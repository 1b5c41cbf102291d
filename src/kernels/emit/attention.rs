//! [`AttentionKernel`]: attention.

use super::{Kernel, check_sizes};
use crate::kernels::tensor::{AttentionForm, AttentionSize, Heads, attention_launch};
use crate::kernels::{Launch, Limits};
use crate::ops::DType;
use crate::{Error, Result};

/// Attention that never stores the matrix of scores (flash attention). Arguments: queries, keys and values, each
/// `[heads, rows, head_dim]`, and the result, `[rows, heads, head_dim]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttentionKernel {
    n_q: u32,
    n_k: u32,
    heads: u32,
    key_heads: u32,
    head_dim: u32,
    causal: bool,
    window: Option<u32>,
}

impl AttentionKernel {
    /// Creates a kernel for one head with `rows` queries and as many keys and values, of at most 256 elements each.
    #[must_use]
    pub const fn flash(rows: u32, head_dim: u32) -> Self {
        Self {
            n_q: rows,
            n_k: rows,
            heads: 1,
            key_heads: 1,
            head_dim,
            causal: false,
            window: None,
        }
    }

    /// Sets the numbers of heads of queries, and of keys and values.
    #[must_use]
    pub const fn with_heads(self, heads: u32, key_heads: u32) -> Self {
        Self {
            heads,
            key_heads,
            ..self
        }
    }

    /// Sets the number of keys and values.
    #[must_use]
    pub const fn with_keys(self, n_k: u32) -> Self {
        Self { n_k, ..self }
    }

    /// Applies a causal mask: the last query sees all keys, and each query before it one key less.
    #[must_use]
    pub const fn causal(self) -> Self {
        Self {
            causal: true,
            ..self
        }
    }

    /// Applies a causal mask, and lets each query see at most `window` keys: the last one that it sees and those before
    /// it. At least 1.
    #[must_use]
    pub const fn with_window(self, window: u32) -> Self {
        Self {
            causal: true,
            window: Some(window),
            ..self
        }
    }
}

impl Kernel for AttentionKernel {
    fn launch(&self) -> Result<Launch> {
        let Self {
            n_q,
            n_k,
            heads,
            key_heads,
            head_dim,
            causal,
            window,
        } = *self;
        let sizes: [&[u32]; 2] = [&[heads, n_q, head_dim], &[key_heads, n_k, head_dim]];
        check_sizes("shape", &sizes)?;
        let is_wrong = head_dim > 256 || !heads.is_multiple_of(key_heads) || causal && n_k < n_q;
        let is_wrong = is_wrong || window == Some(0);
        if is_wrong {
            return Err(Error::InvalidArgument {
                name: "shape",
                value: format!("{sizes:?}"),
                expected: "heads of at most 256 elements, a multiple of the heads of keys, a key for each query, and a window of at least 1",
            });
        }
        let (dim, n_k) = (u64::from(head_dim), u64::from(n_k));
        let size = AttentionSize {
            batch: 1,
            heads: heads.into(),
            key_heads: key_heads.into(),
            n_q: n_q.into(),
            n_k,
            dim,
            causal,
            window: window.map(u64::from),
            scale: 1.0 / (head_dim as f32).sqrt(),
        }
        .without_idle_window();
        let places = |n_heads: u64, rows: u64| Heads {
            offset: 0,
            batch: 0,
            head: rows * dim,
            row: dim,
            n: n_heads * rows * dim,
        };
        let of_keys = places(size.key_heads, n_k);
        let all = [places(size.heads, size.n_q), of_keys, of_keys];
        let form = AttentionForm::choose(&size, Limits::WEBGPU);
        let split_len = n_k.next_multiple_of(64);
        let types = [DType::F32; 2];
        Ok(attention_launch(&size, form, types, all, (None, split_len)))
    }
}
