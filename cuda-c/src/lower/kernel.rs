//! Kernels: parameters, bindings and passes.

use std::collections::HashMap;
use std::rc::Rc;

use naga::{
    AddressSpace, Block, EntryPoint, Expression, GlobalVariable, Module, ResourceBinding, ShaderStage, Span, StructMember, Type, TypeInner,
};

use super::facts::{Facts, RootKey, SpecKey};
use super::level::Level;
use super::state::State;
use super::value::{Data, Value};
use super::{Lowering, Scratch};
use crate::ast::{Function, FunctionKind, Program, TemplateArg, Variable};
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};
use crate::{CudaOptions, CudaParam, CudaParamKind, KernelSignature, ScalarKind};

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
    fn new(source: &'a str, program: &'a Program, options: &'a CudaOptions<'a>, facts: Facts) -> Self {
        let is_kind = |name: &str| super::scan::is_barrier(name) || (!options.subgroups && super::scan::is_warp_function(name));
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
            barriers: super::scan::functions_that_call(program, &|name| name.starts_with("__syncthreads")),
            collective_stmts: HashMap::new(),
            calls: Vec::new(),
            notes: Vec::new(),
            depth: 0,
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
            None => return fault(function.at, format!("{} is declared and not defined; add its body", function.name)),
        };
        self.begin();
        let template = self.bind_template(&function.template, arguments, function.at)?;
        let key = SpecKey { function: function.index, template: template.clone(), arguments: Vec::new(), is_masked: false };
        let spec = self.facts.spec(key);
        self.f.spec = Some(spec);
        self.f.name = Rc::from(format!("{} {} {template:?}", function.name, function.index));
        self.f.is_collective = self.collective.contains(&function.name);
        self.f.assigned_names = self.assigned_names(body);
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
        Ok(Kernel { module: std::mem::take(&mut self.module), entry, params, uniform, notes: std::mem::take(&mut self.notes) })
    }

    /// Declares the bindings; returns the parameters for the caller and those for the body.
    #[expect(clippy::type_complexity, reason = "three views of the parameters")]
    fn parameters(&mut self, function: &Rc<Function>) -> Outcome<(Vec<CudaParam>, Option<(u32, u32)>, Vec<(Variable, Ty, Value)>)> {
        let mut params = Vec::new();
        let mut bindings = Vec::new();
        let mut scalars: Vec<(usize, Variable, Ty, u32)> = Vec::new();
        let mut n_words = 0u32;
        let mut binding = 0;
        for (index, parameter) in function.parameters.iter().enumerate() {
            let at = parameter.at;
            let ty = self.resolve(&parameter.ty)?;
            let mut ty = self.array_of(ty, &parameter.lengths, at)?;
            if let Ty::Array(element, _) = &ty {
                ty = Ty::Pointer(element.clone());
            }
            if parameter.ty.reference {
                return fault(at, "parameters of kernels are not references; use a value or a pointer");
            }
            let name = if parameter.name.is_empty() { format!("parameter_{index}") } else { parameter.name.to_string() };
            if let Ty::Pointer(element) = &ty {
                if matches!(element.element(), Ty::Pointer(_)) {
                    return fault(at, "pointers to pointers are not supported; pass one buffer and offsets");
                }
                let root = self.facts.root(RootKey::Parameter(index));
                self.declare_buffer(root, &name, binding);
                let writable = self.facts.of(root).is_written || self.facts.of(root).is_atomic;
                let kind = CudaParamKind::Buffer { binding, writable, element_bytes: element.size() };
                params.push(CudaParam { name, kind });
                let pointer = self.memory_start(root, element);
                bindings.push((parameter.clone(), ty.clone(), Value { ty, data: Data::Pointer(pointer), level: Level::UNIFORM }));
                binding += 1;
                continue;
            }
            let words = words_of(&ty).ok_or_else(|| crate::error::Fault {
                at,
                message: format!("{} is not passed by value: its members must be int, unsigned int or float; pass a buffer", ty.name()),
            })?;
            let offset = 4 * n_words;
            let kind = match ty.prim() {
                Some(Prim::Float) => CudaParamKind::Scalar { offset, kind: ScalarKind::F32 },
                Some(prim) if prim.is_signed() => CudaParamKind::Scalar { offset, kind: ScalarKind::I32 },
                Some(_) => CudaParamKind::Scalar { offset, kind: ScalarKind::U32 },
                None => CudaParamKind::Struct { offset, n_bytes: 4 * words.len() as u32 },
            };
            params.push(CudaParam { name, kind });
            n_words += words.len() as u32;
            scalars.push((bindings.len(), parameter.clone(), ty.clone(), offset / 4));
            bindings.push((parameter.clone(), ty.clone(), Value { ty, data: Data::Null, level: Level::UNIFORM }));
        }
        for (root, name) in self.facts.extra_buffers.clone() {
            self.declare_buffer(root, &name, binding);
            let writable = self.facts.of(root).is_written || self.facts.of(root).is_atomic;
            let kind = CudaParamKind::Buffer { binding, writable, element_bytes: 4 };
            params.push(CudaParam { name: name.to_string(), kind });
            binding += 1;
        }
        let uniform = (n_words > 0).then_some((binding, 4 * n_words));
        if n_words > 0 {
            self.uniform(binding, &scalars, &mut bindings)?;
        }
        Ok((params, uniform, bindings))
    }

    /// Declares the uniform of the scalar parameters and loads them.
    fn uniform(&mut self, binding: u32, scalars: &[(usize, Variable, Ty, u32)], bindings: &mut [(Variable, Ty, Value)]) -> Outcome<()> {
        let mut members = Vec::new();
        for (_, parameter, ty, first) in scalars {
            let words = words_of(ty).unwrap_or_default();
            for (n, prim) in words.iter().enumerate() {
                let ty = match prim {
                    Prim::Bool => self.scalar_ty(Prim::UInt),
                    prim => self.scalar_ty(*prim),
                };
                let name = if words.len() == 1 { parameter.name.to_string() } else { format!("{}_{n}_", parameter.name) };
                members.push(StructMember { name: Some(name), ty, binding: None, offset: 4 * (first + n as u32) });
            }
        }
        let span = 4 * members.len() as u32;
        let inner = TypeInner::Struct { members, span };
        let ty = self.module.types.insert(Type { name: Some("Parameters".to_owned()), inner }, Span::UNDEFINED);
        let variable = self.module.global_variables.append(
            GlobalVariable {
                name: Some("parameters".to_owned()),
                space: AddressSpace::Uniform,
                binding: Some(ResourceBinding { group: 0, binding }),
                ty,
                init: None,
                memory_decorations: naga::MemoryDecorations::empty(),
            },
            Span::UNDEFINED,
        );
        for (index, _, ty, first) in scalars {
            let mut words = Vec::new();
            for (n, prim) in words_of(ty).unwrap_or_default().into_iter().enumerate() {
                let base = self.add(Expression::GlobalVariable(variable));
                let pointer = self.add(Expression::AccessIndex { base, index: first + n as u32 });
                let word = self.load_pointer(pointer);
                words.push(match prim {
                    Prim::Bool => self.convert_prim(word, Prim::UInt, Prim::Bool),
                    Prim::Char | Prim::Short => self.convert_prim(word, Prim::Int, prim),
                    Prim::UChar | Prim::UShort => self.convert_prim(word, Prim::UInt, prim),
                    _ => word,
                });
            }
            let mut leaves = Vec::new();
            let mut rest = words.into_iter();
            for leaf in ty.leaves() {
                let parts: Vec<_> = rest.by_ref().take((leaf.lanes * leaf.count.unwrap_or(1)) as usize).collect();
                leaves.push(match (leaf.count, leaf.lanes) {
                    (None, 1) => parts[0],
                    (None, _) => self.compose(leaf.prim, &parts),
                    (Some(_), lanes) => {
                        let mut elements = Vec::new();
                        for group in parts.chunks(lanes as usize) {
                            elements.push(if lanes == 1 { group[0] } else { self.compose(leaf.prim, group) });
                        }
                        let ty = self.leaf_ty(leaf);
                        self.add(Expression::Compose { ty, components: elements })
                    }
                });
            }
            if let Some((_, _, value)) = bindings.get_mut(*index) {
                value.data = Data::Leaves(leaves);
            }
        }
        Ok(())
    }
}

/// Returns the words of a value parameter; a structure's must be in the order of its layout, without gaps.
fn words_of(ty: &Ty) -> Option<Vec<Prim>> {
    if let Ty::Prim(prim) = ty {
        return Some(vec![*prim]);
    }
    let mut words = Vec::new();
    for leaf in ty.leaves() {
        if leaf.prim.size() != 4 {
            return None;
        }
        let count = (leaf.lanes * leaf.count.unwrap_or(1)) as usize;
        if words.len() + count > 1024 {
            return None;
        }
        words.extend(std::iter::repeat_n(leaf.prim, count));
    }
    let has_nested_arrays = matches!(ty, Ty::Struct(structure) if structure.fields.iter().any(|field| {
        matches!(field.ty.element(), Ty::Struct(_)) && matches!(field.ty, Ty::Array(..))
    }));
    (words.len() as u32 * 4 == ty.size() && !has_nested_arrays).then_some(words)
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
    let mut safe = if trimmed.is_empty() { "kernel".to_owned() } else { trimmed.to_owned() };
    let is_reserved = naga::keywords::wgsl::RESERVED.contains(&safe.as_str()) || matches!(safe.as_str(), "main" | "min" | "max" | "dot");
    if is_reserved || safe.ends_with(|c: char| c.is_ascii_digit()) {
        safe.push('_');
    }
    safe
}

fn kernels_of(program: &Program) -> Vec<&Rc<Function>> {
    let mut found: Vec<&Rc<Function>> = Vec::new();
    for function in program.functions.iter().filter(|function| function.kind == FunctionKind::Global) {
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
        let template = function.template.iter().map(|parameter| parameter.name.to_string()).collect();
        let params = function.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
        (function.at, KernelSignature { name: function.name.to_string(), line: 0, template, params })
    };
    kernels_of(program).iter().map(signature).collect()
}

/// Lowers a kernel.
pub(crate) fn lower(source: &str, program: &Program, options: &CudaOptions<'_>, name: &str, arguments: &[TemplateArg]) -> Outcome<Kernel> {
    let kernels = kernels_of(program);
    let Some(function) = kernels.iter().find(|function| &*function.name == name) else {
        let names: Vec<&str> = kernels.iter().map(|function| &*function.name).collect();
        return fault(0, format!("the source has no kernel {name}; it has: {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") }));
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
    fault(function.at, format!("{name} is too intricate: its facts have not settled after {MAX_PASSES} passes; split the kernel"))
}
