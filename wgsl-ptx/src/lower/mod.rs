//! Lowers the IR that [`front`](crate::front) gets from naga to PTX.
//!
//! - `layout` flattens types to scalars ("leaves"), `value` holds flattened values, `place` what pointers point to.
//! - `bindings` makes the parameters, `variables` decides which variables live in registers, `entry` starts the kernel.
//! - `statement`, `call` and `unroll` walk the code, with a `frame` for each function; calls are inlined, short loops
//!   unrolled. `expression`, `access`, `memory`, `operator`, `division`, `convert`, `math`, `atomic`, `barrier`, `subgroup`,
//!   `cooperative` and `intrinsic` lower what they are named after.

mod access;
mod atomic;
mod barrier;
mod bindings;
mod budget;
mod call;
mod convert;
mod cooperative;
mod division;
mod entry;
mod expression;
mod fold;
mod frame;
mod intrinsic;
mod layout;
mod math;
mod memory;
mod operator;
mod place;
mod shared;
mod source;
mod staged;
mod statement;
mod subgroup;
mod together;
mod unroll;
mod value;
mod variables;
mod warpgroup;

use naga::Module;
use naga::valid::ModuleInfo;

use crate::build::{PtxKernel, Register};
use crate::front::{self, SourceError};
use crate::{CompiledPtx, Error, PtxOptions, Result};
use bindings::Globals;
use place::Variable;
use source::Source;

/// Checks, parses and lowers the entry point of a source that the options name.
pub(super) fn compile(wgsl: &str, options: &PtxOptions<'_>) -> Result<CompiledPtx> {
    let failed = |error: SourceError| Error::KernelCompile {
        kernel: options.entry.to_owned(),
        message: error.into(),
    };
    let stack = front::check(wgsl).map_err(failed)?;
    let compile = || {
        let source = Source::read(wgsl, options)?;
        let mut lowering = Lowering::new(wgsl, &source, options);
        lowering.gather_facts();
        lowering.run(&source)
    };
    stack.run(compile).map_err(failed)?
}

/// The state of one compilation.
struct Lowering<'a> {
    wgsl: &'a str,
    options: &'a PtxOptions<'a>,
    module: &'a Module,
    info: &'a ModuleInfo,
    kernel: PtxKernel,
    /// Constant tables in the order of their first use, by which they are named.
    tables: Vec<Vec<u8>>,
    /// Variables in registers.
    variables: Vec<Variable>,
    n_locals: usize,
    /// The computations of some registers.
    origins: std::collections::HashMap<Register, fold::Origin>,
    globals: Globals,
    in_memory: variables::InMemory,
    /// Warpgroups multiply factors in workgroup memory.
    has_group_products: bool,
    /// By index of function.
    facts: Vec<call::Facts>,
    /// By index of type.
    types: Vec<layout::TypeFacts>,
    /// Loop counters by function, computed on first use.
    counters: std::collections::HashMap<variables::FunctionId, unroll::Counters>,
    budget: budget::Budget,
    workgroup_size: [u32; 3],
    /// Number of enclosing statements through which the subgroup may have diverged.
    divergence: u32,
    /// True if some invocations may have returned from the current function already.
    may_have_returned: bool,
    /// True if the innermost loop has no barrier, so that it may spin on another invocation.
    may_spin: bool,
    /// Current location in the source, for errors.
    span: naga::Span,
}

impl<'a> Lowering<'a> {
    fn new(wgsl: &'a str, source: &'a Source, options: &'a PtxOptions<'a>) -> Self {
        let mut lowering = Self {
            wgsl,
            options,
            module: &source.module,
            info: &source.info,
            kernel: PtxKernel::new(&identifier(options.entry)),
            tables: Vec::new(),
            variables: Vec::new(),
            n_locals: 0,
            origins: std::collections::HashMap::new(),
            globals: Globals::default(),
            in_memory: variables::InMemory::find(&source.module, &source.info),
            has_group_products: false,
            facts: Vec::new(),
            types: Vec::new(),
            counters: std::collections::HashMap::new(),
            budget: budget::Budget::default(),
            workgroup_size: source.entry_point().workgroup_size,
            divergence: 0,
            may_have_returned: false,
            may_spin: false,
            span: naga::Span::UNDEFINED,
        };
        lowering.measure_types();
        lowering.has_group_products = lowering.multiplies_in_groups();
        lowering
    }

    /// Returns an error at the current location in the source.
    fn error(&self, message: impl std::fmt::Display) -> Error {
        source::error_at(self.wgsl, self.options.entry, self.span, message)
    }

    /// Returns the error for a construct that kernels cannot have.
    fn unsupported(&self, what: impl std::fmt::Display) -> Error {
        self.error(format_args!("{what} is not supported in PTX kernels"))
    }

    /// Returns the number of invocations per workgroup. [`run`](Self::run) has checked that it is at most 1024.
    fn n_invocations(&self) -> u32 {
        self.workgroup_size
            .iter()
            .fold(1, |n, &size| n.saturating_mul(size))
    }
}

/// Converts a WGSL name, which may contain letters of any script, to a PTX identifier.
fn identifier(name: &str) -> String {
    let mut identifier = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            identifier.push(c);
        } else {
            identifier += &format!("${:x}", u32::from(c));
        }
    }
    // The only reserved identifier.
    if identifier == "WARP_SZ" {
        identifier.push('$');
    }
    identifier
}
