//! Types, declarators and template arguments.

use std::rc::Rc;

use super::Parser;
use crate::ast::{Base, Prim, Space, TemplateArg, TypeName};
use crate::error::{Outcome, fault};
use crate::source::Tok;

/// Words that are part of a declaration and have no meaning for a kernel.
const IGNORED: [&str; 16] = [
    "inline",
    "static",
    "register",
    "volatile",
    "__restrict__",
    "__restrict",
    "restrict",
    "__forceinline__",
    "__noinline__",
    "constexpr",
    "__inline__",
    "typename",
    "struct",
    "enum",
    "mutable",
    "friend",
];

/// Names of types that are declared in every source.
const TYPES: [&str; 78] = [
    "float1",
    "float2",
    "float3",
    "float4",
    "int1",
    "int2",
    "int3",
    "int4",
    "uint1",
    "uint2",
    "uint3",
    "uint4",
    "double1",
    "double2",
    "double3",
    "double4",
    "char2",
    "char3",
    "char4",
    "uchar2",
    "uchar3",
    "uchar4",
    "short2",
    "short3",
    "short4",
    "ushort2",
    "ushort3",
    "ushort4",
    "dim3",
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "size_t",
    "ptrdiff_t",
    "uint",
    "uchar",
    "ushort",
    "half",
    "__half",
    "uintptr_t",
    "intptr_t",
    "ssize_t",
    "ulong",
    "long1",
    "long2",
    "long3",
    "long4",
    "ulong1",
    "ulong2",
    "ulong3",
    "ulong4",
    "longlong1",
    "longlong2",
    "longlong3",
    "longlong4",
    "ulonglong1",
    "ulonglong2",
    "ulonglong3",
    "ulonglong4",
    "half2",
    "__half2",
    "char1",
    "uchar1",
    // Refused where a kernel uses them.
    "__nv_bfloat16",
    "nv_bfloat16",
    "__nv_bfloat162",
    "nv_bfloat162",
    "__nv_fp8_e4m3",
    "__nv_fp8_e5m2",
    "__nv_fp8_storage_t",
    "cudaTextureObject_t",
    "cudaSurfaceObject_t",
    "curandState",
];

/// The specifiers before a declarator: type, memory space and qualifiers.
#[derive(Debug)]
pub(super) struct Specifiers {
    pub(super) ty: TypeName,
    pub(super) space: Space,
    pub(super) is_extern: bool,
    pub(super) is_global: bool,
    pub(super) is_device: bool,
}

impl Parser {
    pub(super) fn predeclare(&mut self) {
        for name in TYPES {
            self.types.insert(Rc::from(name));
        }
    }

    /// Returns true if a type starts here.
    pub(super) fn is_type(&self) -> bool {
        self.is_type_at(0)
    }

    pub(super) fn is_type_at(&self, ahead: usize) -> bool {
        let Tok::Name(name) = self.peek_at(ahead) else {
            return false;
        };
        matches!(
            &**name,
            "const"
                | "void"
                | "auto"
                | "bool"
                | "char"
                | "short"
                | "int"
                | "long"
                | "signed"
                | "unsigned"
                | "float"
                | "double"
                | "volatile"
                | "typename"
                | "struct"
                | "enum"
        ) || self.types.contains(name)
    }

    /// Returns true if a declaration starts here.
    pub(super) fn is_declaration(&self) -> bool {
        let Tok::Name(name) = self.peek() else {
            return false;
        };
        if matches!(
            &**name,
            "static"
                | "register"
                | "extern"
                | "constexpr"
                | "__shared__"
                | "__constant__"
                | "__device__"
                | "const"
                | "volatile"
                | "auto"
                | "struct"
                | "enum"
                | "typename"
                | "__align__"
                | "alignas"
                | "inline"
        ) {
            return true;
        }
        if !self.is_type() {
            return false;
        }
        // A conversion such as `int(x)` or `float3{…}` is an expression.
        !(self.is_at(1, "(") || self.is_at(1, "{") || self.is_at(1, "::"))
            || (self.is_at(1, "(") && self.is_at(2, "*"))
    }

    /// Returns the specifiers of a variable of a structure.
    pub(super) fn specifiers_of(&self, at: u32, name: &Rc<str>) -> Specifiers {
        let base = Base::Name(name.clone(), Vec::new());
        Specifiers {
            ty: TypeName {
                at,
                base,
                pointers: 0,
                reference: false,
                is_const: false,
            },
            space: Space::Plain,
            is_extern: false,
            is_global: false,
            is_device: false,
        }
    }

    /// Parses the words before a declarator.
    pub(super) fn specifiers(&mut self) -> Outcome<Specifiers> {
        let at = self.at();
        let mut words: Vec<Rc<str>> = Vec::new();
        let mut base = None;
        let mut found = Specifiers {
            ty: TypeName {
                at,
                base: Base::Void,
                pointers: 0,
                reference: false,
                is_const: false,
            },
            space: Space::Plain,
            is_extern: false,
            is_global: false,
            is_device: false,
        };
        while let Tok::Name(name) = self.peek().clone() {
            match &*name {
                "const" => found.ty.is_const = true,
                "extern" => {
                    found.is_extern = true;
                    if matches!(self.peek_at(1), Tok::Text(_)) {
                        self.next += 1;
                    }
                }
                "__shared__" => found.space = Space::Shared,
                "__constant__" => found.space = Space::Constant,
                "__global__" => found.is_global = true,
                "__device__" => {
                    found.is_device = true;
                    if found.space == Space::Plain {
                        found.space = Space::Device;
                    }
                }
                "__host__" | "__managed__" => {}
                "constexpr" => {
                    found.ty.is_const = true;
                    found.is_device |= base.is_none();
                }
                "__launch_bounds__" | "__align__" | "alignas" | "__attribute__" => {
                    self.next = self.after_bracket(self.next + 1)?;
                    continue;
                }
                "thread_local" => {
                    return fault(
                        self.at(),
                        "thread_local is not supported; use a local variable",
                    );
                }
                word if IGNORED.contains(&word) => {}
                "void" => base = Some(Base::Void),
                "auto" => base = Some(Base::Auto),
                "bool" | "char" | "short" | "int" | "long" | "signed" | "unsigned" | "float"
                | "double"
                    if base.is_none() =>
                {
                    words.push(name);
                }
                _ if base.is_none() && words.is_empty() && self.types.contains(&name) => {
                    self.next += 1;
                    let arguments = if self.is("<") {
                        self.template_arguments()?
                    } else {
                        Vec::new()
                    };
                    base = Some(named(&name, arguments));
                    continue;
                }
                _ => break,
            }
            self.next += 1;
        }
        found.ty.base = match base {
            Some(base) => base,
            None if words.is_empty() => return self.unexpected("a type"),
            None => Base::Prim(primitive(&words)),
        };
        Ok(found)
    }

    /// Parses a type without a name, as in a cast.
    pub(super) fn type_name(&mut self) -> Outcome<TypeName> {
        let specifiers = self.specifiers()?;
        let ty = self.pointers(specifiers.ty)?;
        if self.is("(") && self.is_at(1, "*") {
            return fault(
                self.at(),
                "function pointers are not supported; call the function by name or use a template",
            );
        }
        Ok(ty)
    }

    /// Parses `<…>` after a template's name.
    pub(super) fn template_arguments(&mut self) -> Outcome<Vec<TemplateArg>> {
        self.enter()?;
        self.expect("<")?;
        let mut arguments = Vec::new();
        while !matches!(self.peek(), Tok::Punct(">" | ">>" | ">>>")) {
            arguments.push(if self.is_type() {
                TemplateArg::Type(self.type_name()?)
            } else {
                TemplateArg::Value(self.template_value()?)
            });
            if !self.take(",") {
                break;
            }
        }
        self.close_angle()?;
        self.leave();
        Ok(arguments)
    }
}

/// Returns the base of a built-in alias, else a name.
fn named(name: &Rc<str>, arguments: Vec<TemplateArg>) -> Base {
    let prim = match &**name {
        "int8_t" | "char1" => Prim::Char,
        "uint8_t" | "uchar" | "uchar1" => Prim::UChar,
        "int16_t" => Prim::Short,
        "uint16_t" | "ushort" => Prim::UShort,
        "int32_t" | "ptrdiff_t" | "intptr_t" | "ssize_t" => Prim::Int,
        "uint32_t" | "uint" | "size_t" | "uintptr_t" => Prim::UInt,
        "int64_t" | "long1" | "longlong1" => Prim::Long,
        "uint64_t" | "ulong" | "ulong1" | "ulonglong1" => Prim::ULong,
        "half" | "__half" => Prim::Half,
        _ => return Base::Name(name.clone(), arguments),
    };
    Base::Prim(prim)
}

fn primitive(words: &[Rc<str>]) -> Prim {
    let has = |word: &str| words.iter().any(|other| &**other == word);
    let unsigned = has("unsigned");
    match () {
        () if has("bool") => Prim::Bool,
        () if has("float") => Prim::Float,
        () if has("double") => Prim::Double,
        () if has("long") && unsigned => Prim::ULong,
        () if has("long") => Prim::Long,
        () if has("char") && unsigned => Prim::UChar,
        () if has("char") => Prim::Char,
        () if has("short") && unsigned => Prim::UShort,
        () if has("short") => Prim::Short,
        () if unsigned => Prim::UInt,
        () => Prim::Int,
    }
}
