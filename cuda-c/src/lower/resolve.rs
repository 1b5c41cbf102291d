//! Types by their names.

use super::Lowering;
use crate::ast::{Base, Expr, TemplateArg, TypeName};
use crate::error::{Outcome, fault};
use crate::types::{self, FLOAT, INT, Prim, Ty};
use std::rc::Rc;

/// Returns the remedy for a type of CUDA that has no counterpart.
fn refused(name: &str) -> Option<&'static str> {
    match name {
        "cudaTextureObject_t" | "cudaSurfaceObject_t" => Some("read a buffer"),
        "curandState" => Some("write a generator, such as xorshift"),
        _ if name.contains("bfloat16") || name.starts_with("__nv_fp8") => Some("use float"),
        _ => None,
    }
}

/// Returns true if the members of a union are the same bits of one number or vector.
fn is_one_leaf(fields: &[(Rc<str>, Ty)]) -> bool {
    let lanes = |ty: &Ty| match ty {
        Ty::Prim(prim) if prim.size() >= 4 => Some((prim.size(), 1)),
        Ty::Vector(prim, lanes) if prim.size() == 4 => Some((4, *lanes)),
        _ => None,
    };
    match fields {
        [] | [_] => true,
        [(_, first), rest @ ..] => {
            let wanted = lanes(first);
            wanted.is_some() && rest.iter().all(|(_, ty)| lanes(ty) == wanted)
        }
    }
}

impl Lowering<'_> {
    /// Resolves a type.
    pub(super) fn resolve(&mut self, name: &TypeName) -> Outcome<Ty> {
        self.enter(name.at)?;
        let mut ty = match &name.base {
            Base::Void => Ty::Void,
            Base::Auto => return fault(name.at, "auto needs an initialiser; write the type"),
            Base::Prim(prim) => self.primitive(*prim, name.at)?,
            Base::Name(base, arguments) => self.named_type(base, arguments, name.at)?,
        };
        for _ in 0..name.pointers {
            ty = Ty::Pointer(Rc::new(ty));
        }
        self.leave();
        Ok(ty)
    }

    pub(super) fn primitive(&self, prim: Prim, at: u32) -> Outcome<Ty> {
        match prim {
            Prim::Double if self.options.narrow_f64 => Ok(FLOAT),
            Prim::Double => fault(
                at,
                "double is not supported by WGSL; use float, or narrow it with narrow_f64 (--narrow-f64)",
            ),
            Prim::Long | Prim::ULong if !self.options.int64 => fault(
                at,
                "64-bit integers need a device that has them, and WebGPU has none; use int, unsigned int or size_t (32 bits here), or the option int64 where the device has them",
            ),
            Prim::Half if !self.options.float16 => fault(
                at,
                "half needs a device with 16-bit floats; use float, or the option float16 where the device has them",
            ),
            prim => Ok(Ty::Prim(prim)),
        }
    }

    /// Checks that the elements of a vector of narrow or wide numbers are allowed.
    pub(super) fn vector_of(&self, vector: &types::Struct, at: u32) -> Outcome<()> {
        let mut elements = vector.fields.iter().filter_map(|field| field.ty.prim());
        elements.try_for_each(|prim| self.primitive(prim, at).map(drop))
    }

    pub(super) fn named_type(
        &mut self,
        name: &Rc<str>,
        arguments: &[TemplateArg],
        at: u32,
    ) -> Outcome<Ty> {
        if let Some(ty) = self.f.types.get(name) {
            return Ok(ty.clone());
        }
        let program = self.program;
        if let Some(structure) = program
            .structures
            .iter()
            .find(|structure| structure.name == *name)
        {
            return self.structure(structure, arguments, at);
        }
        if let Some((_, alias)) = program
            .aliases
            .iter()
            .rev()
            .find(|(other, _)| other == name)
        {
            let ty = self.resolve(&alias.ty)?;
            return self.array_of(ty, &alias.lengths, at);
        }
        if program.enumerations.contains(name) {
            return Ok(INT);
        }
        if let Some(remedy) = refused(name) {
            return fault(at, format!("{name} is not supported; {remedy}"));
        }
        match types::vector(name) {
            Some(Ty::Vector(Prim::Double, lanes)) => {
                self.primitive(Prim::Double, at)?;
                Ok(Ty::Vector(Prim::Float, lanes))
            }
            Some(Ty::Vector(Prim::Half, lanes)) => {
                self.primitive(Prim::Half, at)?;
                Ok(Ty::Vector(Prim::Half, lanes))
            }
            Some(Ty::Struct(vector)) => {
                self.vector_of(&vector, at)?;
                Ok(Ty::Struct(vector))
            }
            Some(ty) => Ok(ty),
            None => fault(
                at,
                format!("{name} is not a type that kernels may use; declare it in this source"),
            ),
        }
    }

    pub(super) fn structure(
        &mut self,
        structure: &crate::ast::Structure,
        arguments: &[TemplateArg],
        at: u32,
    ) -> Outcome<Ty> {
        let fields = structure.fields.clone()?;
        let bound = self.bind_template(&structure.template, arguments, at)?;
        let key = (structure.name.clone(), bound.clone());
        if let Some(known) = self.structures.get(&key) {
            return Ok(Ty::Struct(known.clone()));
        }
        let saved = self.f.types.clone();
        self.f.scopes.push(std::collections::HashMap::new());
        self.define_template(&structure.template, &bound)?;
        let mut laid = Vec::new();
        let mut failed = None;
        for field in &fields {
            let ty = self
                .resolve(&field.ty)
                .and_then(|ty| self.array_of(ty, &field.lengths, field.at));
            match ty {
                Ok(Ty::Pointer(_)) => {
                    failed = Some(crate::error::Fault {
                        at: field.at,
                        message: "pointers in structures are not supported; pass them as parameters of the kernel".to_owned(),
                    });
                }
                Ok(ty) if ty.n_elements() == 0 => {
                    failed = Some(crate::error::Fault {
                        at: field.at,
                        message: format!("{} has no length; give one", field.name),
                    });
                }
                Ok(ty) => laid.push((field.name.clone(), ty)),
                Err(fault) => failed = Some(fault),
            }
        }
        self.f.scopes.pop();
        self.f.types = saved;
        if let Some(fault) = failed {
            return Err(fault);
        }
        if structure.is_union && !is_one_leaf(&laid) {
            return fault(
                at,
                "a union is supported if its members are numbers of 32 bits, or vectors of as many; use a structure",
            );
        }
        let align = structure.align.unwrap_or(1);
        let instance = match &bound[..] {
            [] => Rc::from(""),
            bound => Rc::from(format!("{bound:?}")),
        };
        match types::structure(
            structure.name.clone(),
            laid,
            instance,
            structure.is_union,
            align,
        ) {
            Some(structure) => {
                self.structures.insert(key, structure.clone());
                Ok(Ty::Struct(structure))
            }
            None => fault(
                at,
                format!(
                    "{} is larger than structures may be; use arrays",
                    structure.name
                ),
            ),
        }
    }

    /// Returns the array type of a declarator; an absent length is 0.
    pub(super) fn array_of(&mut self, ty: Ty, lengths: &[Option<Expr>], at: u32) -> Outcome<Ty> {
        if ty == Ty::Void {
            return fault(at, "void has no values; use another type, or a pointer");
        }
        let mut ty = ty;
        for length in lengths.iter().rev() {
            let count = match length {
                None => 0,
                Some(length) => {
                    let value = self.expr(length)?;
                    match self.constant(&value) {
                        Some(count) if (1..=1 << 24).contains(&count) => count as u32,
                        Some(count) => {
                            return fault(
                                length.at,
                                format!("{count} is not an array length; use 1 to 16777216"),
                            );
                        }
                        None => {
                            return fault(
                                length.at,
                                "the array length is not a constant; use constants, template parameters or blockDim",
                            );
                        }
                    }
                }
            };
            ty = Ty::Array(Rc::new(ty), count);
            if u64::from(ty.element().size()) * u64::from(ty.n_elements()) > types::MAX_BYTES {
                return fault(at, "the array is larger than 64 MiB; use a buffer");
            }
        }
        Ok(ty)
    }
}
