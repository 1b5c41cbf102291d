//! Resolved types and their layout in memory, which is that of CUDA.

use std::rc::Rc;

pub(crate) use crate::ast::Prim;

/// A resolved type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) enum Ty {
    #[default]
    Void,
    Prim(Prim),
    /// 2 to 4 elements of `Int`, `UInt` or `Float`, or 2 of `Half`.
    Vector(Prim, u32),
    Struct(Rc<Struct>),
    /// Elements and their number; 0 if it is unknown.
    Array(Rc<Ty>, u32),
    Pointer(Rc<Ty>),
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Struct {
    pub(crate) name: Rc<str>,
    pub(crate) fields: Vec<Field>,
    pub(crate) size: u32,
    pub(crate) align: u32,
    /// Number of leaves.
    pub(crate) n_leaves: usize,
    /// The template arguments: structures with other ones are other types, even with the same fields.
    pub(crate) instance: Rc<str>,
    /// All fields are one leaf.
    pub(crate) is_union: bool,
}

impl Struct {
    /// The fields that make up the contents: the first of a union.
    pub(crate) fn parts(&self) -> &[Field] {
        match &self.fields[..] {
            [first, ..] if self.is_union => std::slice::from_ref(first),
            all => all,
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Field {
    pub(crate) name: Rc<str>,
    pub(crate) ty: Ty,
    pub(crate) offset: u32,
    /// Index of its first leaf.
    pub(crate) leaf: usize,
}

/// A scalar or vector within a type, or an array of them: what one variable of WGSL holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Leaf {
    pub(crate) prim: Prim,
    pub(crate) lanes: u32,
    /// Number of elements if the leaf is in an array.
    pub(crate) count: Option<u32>,
}

/// Maximum leaves of a type.
pub(crate) const MAX_LEAVES: usize = 256;
/// Maximum size of a type in bytes.
pub(crate) const MAX_BYTES: u64 = 1 << 26;

pub(crate) const INT: Ty = Ty::Prim(Prim::Int);
pub(crate) const UINT: Ty = Ty::Prim(Prim::UInt);
pub(crate) const FLOAT: Ty = Ty::Prim(Prim::Float);
pub(crate) const BOOL: Ty = Ty::Prim(Prim::Bool);

impl Prim {
    pub(crate) fn size(self) -> u32 {
        match self {
            Self::Bool | Self::Char | Self::UChar => 1,
            Self::Short | Self::UShort | Self::Half => 2,
            Self::Long | Self::ULong => 8,
            _ => 4,
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        !matches!(self, Self::Float | Self::Half | Self::Double)
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Self::Char | Self::Short | Self::Int | Self::Long)
    }

    /// The name in C.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Char => "char",
            Self::UChar => "unsigned char",
            Self::Short => "short",
            Self::UShort => "unsigned short",
            Self::Int => "int",
            Self::UInt => "unsigned int",
            Self::Float => "float",
            Self::Double => "double",
            Self::Half => "half",
            Self::Long => "long",
            Self::ULong => "unsigned long",
        }
    }
}

impl Ty {
    pub(crate) fn size(&self) -> u32 {
        match self {
            Self::Void => 1,
            Self::Prim(prim) => prim.size(),
            Self::Vector(prim, lanes) => prim.size() * lanes,
            Self::Struct(structure) => structure.size,
            Self::Array(element, count) => element.size().saturating_mul(*count),
            Self::Pointer(_) => 8,
        }
    }

    pub(crate) fn align(&self) -> u32 {
        match self {
            Self::Void => 1,
            Self::Prim(prim) => prim.size(),
            Self::Vector(prim, 3) => prim.size(),
            Self::Vector(prim, lanes) => prim.size() * lanes,
            Self::Struct(structure) => structure.align,
            Self::Array(element, _) => element.align(),
            Self::Pointer(_) => 8,
        }
    }

    pub(crate) fn prim(&self) -> Option<Prim> {
        match self {
            Self::Prim(prim) => Some(*prim),
            _ => None,
        }
    }

    /// The type within all arrays.
    pub(crate) fn element(&self) -> &Self {
        match self {
            Self::Array(element, _) => element.element(),
            other => other,
        }
    }

    /// Number of elements of the type within all arrays; 1 without arrays.
    pub(crate) fn n_elements(&self) -> u32 {
        match self {
            Self::Array(element, count) => element.n_elements().saturating_mul(*count),
            _ => 1,
        }
    }

    pub(crate) fn n_leaves(&self) -> usize {
        match self.element() {
            Self::Struct(structure) => structure.n_leaves,
            _ => 1,
        }
    }

    /// Appends the leaves; `count` is the number of elements of the arrays around.
    fn collect(&self, count: Option<u32>, leaves: &mut Vec<Leaf>) {
        match self {
            Self::Void | Self::Pointer(_) => leaves.push(Leaf {
                prim: Prim::UInt,
                lanes: 1,
                count,
            }),
            Self::Prim(prim) => leaves.push(Leaf {
                prim: *prim,
                lanes: 1,
                count,
            }),
            Self::Vector(prim, lanes) => leaves.push(Leaf {
                prim: *prim,
                lanes: *lanes,
                count,
            }),
            Self::Struct(structure) => {
                for field in structure.parts() {
                    field.ty.collect(count, leaves);
                }
            }
            Self::Array(element, n) => {
                element.collect(Some(count.unwrap_or(1).saturating_mul(*n)), leaves);
            }
        }
    }

    pub(crate) fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.collect(None, &mut leaves);
        leaves
    }

    /// The type as written in C.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Void => "void".to_owned(),
            Self::Prim(prim) => prim.name().to_owned(),
            Self::Vector(prim, lanes) => {
                let base = match prim {
                    Prim::Int => "int",
                    Prim::UInt => "uint",
                    Prim::Half => "half",
                    _ => "float",
                };
                format!("{base}{lanes}")
            }
            Self::Struct(structure) => structure.name.to_string(),
            Self::Array(element, count) => format!("{}[{count}]", element.name()),
            Self::Pointer(pointee) => format!("{}*", pointee.name()),
        }
    }
}

/// Lays out a structure; `None` if it is too large.
pub(crate) fn structure(
    name: Rc<str>,
    fields: Vec<(Rc<str>, Ty)>,
    instance: Rc<str>,
    is_union: bool,
    least_align: u32,
) -> Option<Rc<Struct>> {
    // WGSL has no empty structures.
    let mut fields = fields;
    if fields.is_empty() {
        fields.push((Rc::from(""), Ty::Prim(Prim::UChar)));
    }
    let mut size = 0u64;
    let mut align = least_align.max(1);
    let mut leaf = 0;
    let mut laid = Vec::new();
    for (name, ty) in fields {
        let (field_size, field_align) = (ty.size(), ty.align());
        align = align.max(field_align);
        let offset = if is_union {
            0
        } else {
            size.next_multiple_of(u64::from(field_align))
        };
        size = size.max(offset + u64::from(field_size));
        let n_leaves = ty.n_leaves();
        laid.push(Field {
            name,
            ty,
            offset: offset as u32,
            leaf: if is_union { 0 } else { leaf },
        });
        leaf = if is_union {
            leaf.max(n_leaves)
        } else {
            leaf + n_leaves
        };
        if size > MAX_BYTES || leaf > MAX_LEAVES {
            return None;
        }
    }
    let size = size.next_multiple_of(u64::from(align)) as u32;
    Some(Rc::new(Struct {
        name,
        fields: laid,
        size: size.max(1),
        align,
        n_leaves: leaf,
        instance,
        is_union,
    }))
}

/// Returns the built-in vector type of a name such as `float4` or `uchar4`.
pub(crate) fn vector(name: &str) -> Option<Ty> {
    let split = name.len().checked_sub(1)?;
    let lanes = name.get(split..)?.parse::<u32>().ok()?;
    if name == "dim3" {
        return Some(Ty::Vector(Prim::UInt, 3));
    }
    if matches!(name, "half2" | "__half2") {
        return Some(Ty::Vector(Prim::Half, 2));
    }
    let prim = match name.get(..split)? {
        "float" => Prim::Float,
        "int" => Prim::Int,
        "uint" => Prim::UInt,
        "double" => Prim::Double,
        "char" => Prim::Char,
        "uchar" => Prim::UChar,
        "short" => Prim::Short,
        "ushort" => Prim::UShort,
        "long" | "longlong" => Prim::Long,
        "ulong" | "ulonglong" => Prim::ULong,
        _ => return None,
    };
    if !(1..=4).contains(&lanes) {
        return None;
    }
    if lanes > 1 && prim.size() == 4 {
        return Some(Ty::Vector(prim, lanes));
    }
    let fields = ["x", "y", "z", "w"][..lanes as usize]
        .iter()
        .map(|field| (Rc::from(*field), Ty::Prim(prim)))
        .collect();
    let align = if lanes == 3 {
        prim.size()
    } else {
        (prim.size() * lanes).min(16)
    };
    structure(Rc::from(name), fields, Rc::from(""), false, align).map(Ty::Struct)
}
