//! Lowering of the syntax tree to naga's IR. A kernel is lowered until the facts about it no longer change: see `facts`.

mod atomic;
mod branch;
mod built_in;
mod call;
mod construct;
mod convert;
mod counter;
mod declare;
mod error_function;
mod expr;
mod extreme;
mod facts;
mod flow;
mod fold;
mod function;
mod guards;
mod half;
mod helpers;
mod integer;
mod invoke;
mod jumps;
mod kernel;
mod level;
mod literals;
mod local_memory;
mod long;
mod math;
mod memory;
mod method;
mod names;
mod overload;
mod parameter;
mod parameters;
mod place;
mod pointer;
mod pointer_variable;
mod resolve;
mod roots;
mod scan;
mod shift;
mod state;
mod stmt;
mod sync;
mod template;
mod value;
mod vector;
mod warp;
mod words;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use naga::{GlobalVariable, Handle, Module};

use crate::CudaOptions;
use crate::ast::Program;
use crate::types::Struct;
use facts::{Facts, Root, Spec, TemplateValue};
use function::Lowered;
use roots::Memory;
use state::State;

pub(crate) use kernel::{lower, signatures};

/// Variables of the block that built-in functions need.
#[derive(Debug, Default)]
struct Scratch {
    vote: Option<Handle<GlobalVariable>>,
    count: Option<Handle<GlobalVariable>>,
    words: Option<Handle<GlobalVariable>>,
    ballots: Option<Handle<GlobalVariable>>,
}

struct Lowering<'a> {
    source: &'a str,
    program: &'a Program,
    options: &'a CudaOptions<'a>,
    module: Module,
    facts: Facts,
    f: State,
    memories: HashMap<Root, Memory>,
    lowered: HashMap<Spec, Lowered>,
    helpers: HashMap<String, Handle<naga::Function>>,
    structures: HashMap<(Rc<str>, Vec<TemplateValue>), Rc<Struct>>,
    scratch: Scratch,
    /// Functions with barriers or warp functions.
    collective: HashSet<Rc<str>>,
    /// Functions with barriers.
    barriers: HashSet<Rc<str>>,
    collective_stmts: HashMap<u32, bool>,
    /// Functions being lowered, by number.
    calls: Vec<usize>,
    notes: Vec<(u32, String)>,
    /// The structure whose static member is being evaluated.
    owner: Option<Rc<str>>,
    depth: u32,
    /// Calls evaluated in place, whose number is limited.
    n_folded: u32,
    n_expressions: u32,
}

impl Lowering<'_> {
    /// Adds a note, once.
    fn note(&mut self, at: u32, message: &str) {
        let note = (at, message.to_owned());
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
