//! Compiles WGSL to PTX: the crate [`wgsl_ptx`], whose page has the details.
//!
//! Its [`Error`] converts to [`pagepress::Error`](crate::Error) by `?`, with the same text and code.

pub use wgsl_ptx::{
    Address, AtomicOperation, Bounds, Comparison, CompiledPtx, Error, GroupProduct, Label,
    MatrixProduct, Operand, Ordering, PairOperation, PtxKernel, PtxModule, PtxOptions, PtxParam,
    PtxParamKind, PtxType, Register, Result, Rounding, SharedMatrix, Shuffle, Space, Special,
    Symbol, WarpReduction, compile_wgsl,
};
