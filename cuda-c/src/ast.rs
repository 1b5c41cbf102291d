//! The syntax tree. Types are names until lowering resolves them, since templates give them meaning.

use std::rc::Rc;

use crate::error::Fault;

/// A scalar type that a kernel may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Prim {
    Bool,
    Char,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Float,
    Double,
    Half,
    /// A signed integer of 64 bits: `long`, which is as long as `long long`.
    Long,
    ULong,
}

#[derive(Debug, Clone)]
pub(crate) enum Base {
    Void,
    Auto,
    Prim(Prim),
    /// A vector, structure, enumeration, alias or template parameter.
    Name(Rc<str>, Vec<TemplateArg>),
}

/// A type as written: a base and its pointers.
#[derive(Debug, Clone)]
pub(crate) struct TypeName {
    pub(crate) at: u32,
    pub(crate) base: Base,
    pub(crate) pointers: u32,
    pub(crate) reference: bool,
    pub(crate) is_const: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum TemplateArg {
    Type(TypeName),
    Value(Expr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    LogicalAnd,
    LogicalOr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnOp {
    Neg,
    Plus,
    Not,
    BitNot,
    Deref,
    AddressOf,
}

#[derive(Debug, Clone)]
pub(crate) struct Expr {
    pub(crate) at: u32,
    pub(crate) kind: ExprKind,
}

#[derive(Debug, Clone)]
pub(crate) enum ExprKind {
    Int {
        value: u64,
        unsigned: bool,
        long: bool,
        decimal: bool,
    },
    Float(f64),
    Bool(bool),
    Char(i32),
    Text(Rc<[u8]>),
    Null,
    Name(Rc<str>, Vec<TemplateArg>),
    Unary(UnOp, Box<Expr>),
    /// `++` and `--`: the amount is 1 or -1.
    Step {
        amount: i32,
        prefix: bool,
        operand: Box<Expr>,
    },
    Binary(BinOp, Box<Expr>, Box<Expr>),
    Assign(Option<BinOp>, Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Member {
        object: Box<Expr>,
        name: Rc<str>,
        arrow: bool,
    },
    Cast {
        ty: TypeName,
        operand: Box<Expr>,
        reinterpret: bool,
    },
    Construct(TypeName, Vec<Expr>),
    List(Vec<Expr>),
    SizeofType(TypeName),
    AlignofType(TypeName),
    SizeofExpr(Box<Expr>),
}

/// A declared name with its type.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub(crate) at: u32,
    pub(crate) name: Rc<str>,
    pub(crate) ty: TypeName,
    /// Array lengths; the first may be absent.
    pub(crate) lengths: Vec<Option<Expr>>,
    pub(crate) init: Option<Expr>,
    pub(crate) space: Space,
    pub(crate) is_extern: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// A local variable or a constant.
    Plain,
    Shared,
    Constant,
    Device,
}

#[derive(Debug)]
pub(crate) struct Stmt {
    pub(crate) at: u32,
    pub(crate) id: u32,
    pub(crate) kind: StmtKind,
}

#[derive(Debug)]
pub(crate) enum StmtKind {
    Empty,
    Expr(Expr),
    Declare(Vec<Variable>),
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    For {
        init: Option<Box<Stmt>>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    Switch(Expr, Vec<Case>),
    Break,
    Continue,
    Return(Option<Expr>),
}

/// Statements after one or more labels of a switch; they fall through to the next.
#[derive(Debug)]
pub(crate) struct Case {
    /// `None` is `default`.
    pub(crate) labels: Vec<Option<Expr>>,
    pub(crate) body: Vec<Stmt>,
}

#[derive(Debug, Clone)]
pub(crate) struct TemplateParam {
    pub(crate) name: Rc<str>,
    /// The type of a value parameter.
    pub(crate) value: Option<TypeName>,
    pub(crate) default: Option<TemplateArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FunctionKind {
    Global,
    Device,
    /// Host code, which is skipped.
    Host,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) at: u32,
    pub(crate) index: usize,
    pub(crate) name: Rc<str>,
    pub(crate) kind: FunctionKind,
    pub(crate) template: Vec<TemplateParam>,
    /// The template arguments that an explicit specialisation is for.
    pub(crate) specialises: Option<Vec<TemplateArg>>,
    pub(crate) result: TypeName,
    pub(crate) parameters: Vec<Variable>,
    /// `None` for a declaration; an error counts only if the function is used.
    pub(crate) body: Option<Result<Stmt, Fault>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Structure {
    pub(crate) name: Rc<str>,
    pub(crate) template: Vec<TemplateParam>,
    /// An error counts only if the structure is used.
    pub(crate) fields: Result<Vec<Variable>, Fault>,
    pub(crate) is_union: bool,
    pub(crate) align: Option<u32>,
}

/// An alias of a type, with array lengths.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    pub(crate) ty: TypeName,
    pub(crate) lengths: Vec<Option<Expr>>,
}

/// A source, parsed.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) functions: Vec<Rc<Function>>,
    pub(crate) structures: Vec<Structure>,
    pub(crate) aliases: Vec<(Rc<str>, Alias)>,
    /// Names of enumerations, which are `int`.
    pub(crate) enumerations: Vec<Rc<str>>,
    /// Enumeration constants: an explicit value, or the constant before it plus one.
    pub(crate) constants: Vec<(Rc<str>, Option<Expr>, Option<usize>)>,
    pub(crate) globals: Vec<Variable>,
    pub(crate) notes: Vec<(u32, String)>,
    /// Number of statements.
    pub(crate) n_statements: u32,
}
