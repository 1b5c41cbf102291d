//! Kernels: parameters, bindings and passes.

use std::collections::HashMap;
use std::rc::Rc;

use naga::{Block, EntryPoint, Module, ShaderStage};

use super::facts::{Facts, SpecKey};
use super::state::State;
use super::{Lowering, Scratch};
use crate::ast::{Function, FunctionKind, Program, TemplateArg};
use crate::error::{NO_PLACE, Outcome, fault};
use crate::{CudaOptions, CudaParam, KernelSignature};

/// Passes after which facts must have settled: each pass lets a fact travel once around a loop.
const MAX_PASSES: usize = 48;

/// A lowered kernel.
pub(crate) struct Kernel {
    pub(crate) module: Module,
    pub(crate) entry: String,
    pub(crate) params: Vec<CudaParam>,
    /// Binding and size in bytes of the uniform.
    pub(crate) uniform: Option<(u32, u32)>,
    pub(crate) notes: Vec<(u32, String)>,
}

impl<'a> Lowering<'a> {
    fn new(
        source: &'a str,
        program: &'a Program,
        options: &'a CudaOptions<'a>,
        facts: Facts,
    ) -> Self {
        let is_kind = |name: &str| {
            super::scan::is_barrier(name)
                || (!options.subgroups && super::scan::is_warp_function(name))
        };
        Self {
            source,
            program,
            options,
            module: Module::default(),
            facts,
            f: State::default(),
            memories: HashMap::new(),
            lowered: HashMap::new(),
            helpers: HashMap::new(),
            structures: HashMap::new(),
            scratch: Scratch::default(),
            collective: super::scan::functions_that_call(program, &is_kind),
            barriers: super::scan::functions_that_call(program, &|name| {
                name.starts_with("__syncthreads")
            }),
            collective_stmts: HashMap::new(),
            calls: Vec::new(),
            notes: Vec::new(),
            owner: None,
            depth: 0,
            n_folded: 0,
            n_expressions: 0,
        }
    }

    fn begin(&mut self) {
        self.f.scopes.push(HashMap::new());
        self.f.blocks.push(Block::new());
        self.f.ended.push(false);
        self.f.is_kernel = true;
    }

    /// Lowers the kernel once.
    fn pass(&mut self, function: &Rc<Function>, arguments: &[TemplateArg]) -> Outcome<Kernel> {
        let body = match &function.body {
            Some(Ok(body)) => body,
            Some(Err(fault)) => return Err(fault.clone()),
            None => {
                return fault(
                    function.at,
                    format!(
                        "{} is declared and not defined; add its body",
                        function.name
                    ),
                );
            }
        };
        self.begin();
        let template = self.bind_template(&function.template, arguments, function.at)?;
        let key = SpecKey {
            function: function.index,
            template: template.clone(),
            arguments: Vec::new(),
            is_masked: false,
        };
        let spec = self.facts.spec(key);
        self.f.spec = Some(spec);
        self.f.name = Rc::from(format!("{} {} {template:?}", function.name, function.index));
        self.f.is_collective = self.collective.contains(&function.name);
        self.f.assigned_names = self.assigned_names(body);
        self.f.aliased_names = self.aliased_names(body);
        self.define_template(&function.template, &template)?;
        self.calls.push(function.index);
        let (params, uniform, bindings) = self.parameters(function)?;
        self.function_body(body, None, bindings)?;
        self.calls.pop();
        self.f.function.body = self.f.blocks.pop().unwrap_or_default();
        let mut state = std::mem::take(&mut self.f);
        let entry = entry_name(&function.name);
        state.function.name = Some(entry.clone());
        self.module.entry_points.push(EntryPoint {
            name: entry.clone(),
            stage: ShaderStage::Compute,
            early_depth_test: None,
            workgroup_size: self.options.block,
            workgroup_size_overrides: None,
            function: state.function,
            mesh_info: None,
            task_payload: None,
            incoming_ray_payload: None,
        });
        Ok(Kernel {
            module: std::mem::take(&mut self.module),
            entry,
            params,
            uniform,
            notes: std::mem::take(&mut self.notes),
        })
    }
}

/// Returns the name of the entry point that the writers of naga keep.
fn entry_name(name: &str) -> String {
    let mut safe: String = String::new();
    for c in name.chars() {
        if c != '_' || !safe.ends_with('_') {
            safe.push(if c.is_ascii_alphanumeric() { c } else { '_' });
        }
    }
    let trimmed = safe.trim_matches('_');
    let mut safe = if trimmed.is_empty() {
        "kernel".to_owned()
    } else {
        trimmed.to_owned()
    };
    let is_reserved = [
        naga::keywords::wgsl::RESERVED,
        naga::keywords::wgsl::BUILTIN_IDENTIFIERS,
        &["main"],
    ]
    .into_iter()
    .any(|names| names.contains(&safe.as_str()));
    if is_reserved || safe.ends_with(|c: char| c.is_ascii_digit()) {
        safe.push('_');
    }
    safe
}

fn kernels_of(program: &Program) -> Vec<&Rc<Function>> {
    let mut found: Vec<&Rc<Function>> = Vec::new();
    for function in program
        .functions
        .iter()
        .filter(|function| function.kind == FunctionKind::Global)
    {
        match found.iter_mut().find(|known| known.name == function.name) {
            Some(known) if known.body.is_none() => *known = function,
            Some(_) => {}
            None => found.push(function),
        }
    }
    found
}

/// Describes the kernels of a source.
pub(crate) fn signatures(program: &Program) -> Vec<(u32, KernelSignature)> {
    let signature = |function: &&Rc<Function>| {
        let template = function
            .template
            .iter()
            .map(|parameter| parameter.name.to_string())
            .collect();
        let params = function
            .parameters
            .iter()
            .map(|parameter| parameter.name.to_string())
            .collect();
        (
            function.at,
            KernelSignature {
                name: function.name.to_string(),
                line: 0,
                template,
                params,
            },
        )
    };
    kernels_of(program).iter().map(signature).collect()
}

/// Lowers a kernel.
pub(crate) fn lower(
    source: &str,
    program: &Program,
    options: &CudaOptions<'_>,
    name: &str,
    arguments: &[TemplateArg],
) -> Outcome<Kernel> {
    let kernels = kernels_of(program);
    let Some(function) = kernels.iter().find(|function| &*function.name == name) else {
        let names: Vec<&str> = kernels.iter().map(|function| &*function.name).collect();
        return fault(
            NO_PLACE,
            format!(
                "the source has no kernel {name}; it has: {}",
                if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                }
            ),
        );
    };
    let mut facts = Facts::default();
    for _ in 0..MAX_PASSES {
        facts.changed = false;
        let mut lowering = Lowering::new(source, program, options, facts);
        let kernel = lowering.pass(function, arguments)?;
        facts = lowering.facts;
        if !facts.changed {
            return Ok(kernel);
        }
    }
    fault(
        function.at,
        format!(
            "{name} is too intricate: its facts have not settled after {MAX_PASSES} passes; split the kernel"
        ),
    )
}
