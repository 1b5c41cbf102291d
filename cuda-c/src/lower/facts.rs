//! Facts about a kernel that hold for all of it, such as the element type of a buffer. A kernel is lowered again until no fact
//! changes; facts only grow, so that ends.

use std::collections::HashMap;
use std::rc::Rc;

use super::level::Level;
use crate::types::{Prim, Ty};

/// Memory that pointers point into: an index into [`Facts::roots`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Root(pub(super) usize);

/// A function with its template arguments and the memory that its arguments point into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Spec(pub(super) usize);

/// Identity of a root.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum RootKey {
    /// A pointer parameter of the kernel.
    Parameter(usize),
    /// A `__shared__` variable: its function and template arguments, its place and name.
    Shared(Rc<str>, u32, u32),
    /// The memory of `extern __shared__`.
    Dynamic,
    /// A `__device__` or `__constant__` variable.
    Global(Rc<str>),
    /// A local variable.
    Local(Spec, u32, u32),
}

/// Element type of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Element {
    pub(super) prim: Prim,
    pub(super) lanes: u32,
}

#[derive(Debug, Clone, Default)]
pub(super) struct RootFacts {
    /// The type of all accesses so far.
    pub(super) element: Option<Element>,
    /// Accesses of several types or of parts of words: the memory is words.
    pub(super) is_words: bool,
    pub(super) is_atomic: bool,
    /// Signed `atomicMin` and `atomicMax`: the words are `atomic<i32>`.
    pub(super) is_signed: bool,
    pub(super) is_written: bool,
    pub(super) is_read: bool,
}

/// The memory that a pointer variable points into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PointerFacts {
    pub(super) root: Root,
    /// Bytes that an index counts.
    pub(super) unit: u32,
}

/// Identity of a variable: its function, its place, and its name with a count of equal ones.
pub(super) type VarKey = (Spec, u32, u32);

/// Built-in values that a function needs as arguments.
pub(super) const THREAD: u8 = 1;
pub(super) const BLOCK: u8 = 2;
pub(super) const GRID: u8 = 4;
pub(super) const LINEAR: u8 = 8;
pub(super) const SUBGROUP: u8 = 16;

/// Identity of a [`Spec`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SpecKey {
    pub(super) function: usize,
    pub(super) template: Vec<TemplateValue>,
    pub(super) arguments: Vec<ArgumentKey>,
    /// True if some threads of the block may be inactive in the call.
    pub(super) is_masked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum TemplateValue {
    Type(Ty),
    Int(i64, Ty),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ArgumentKey {
    /// A value; the kind of its level counts where the function has barriers.
    Value(u8),
    /// `nullptr`.
    Null,
    /// A pointer or reference into memory, with the bytes that its index counts.
    Memory(Root, u32, Ty),
    /// A pointer or reference to a local variable: its first leaf, element of a vector, and whether it has an index.
    Local(Root, usize, Option<u32>, bool, Ty),
}

#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) roots: Vec<(RootKey, RootFacts)>,
    root_ids: HashMap<RootKey, Root>,
    pub(super) specs: Vec<SpecKey>,
    spec_ids: HashMap<SpecKey, Spec>,
    pub(super) levels: HashMap<VarKey, Level>,
    pub(super) loops: HashMap<(Spec, u32), Level>,
    pub(super) pointers: HashMap<VarKey, PointerFacts>,
    pub(super) builtins: HashMap<Spec, u8>,
    pub(super) results: HashMap<Spec, Level>,
    /// Guards that may be closed when an iteration of a loop begins.
    pub(super) open: std::collections::HashSet<(Spec, u32, usize)>,
    /// `__device__` and `__constant__` variables that the caller provides, in the order of their use.
    pub(super) extra_buffers: Vec<(Root, Rc<str>)>,
    /// Bytes of `__shared__` variables, of a whole group for the first of it.
    shared_bytes: HashMap<Root, u32>,
    /// `__shared__` variables that one pointer may point into are one memory: its first variable and the offset in bytes.
    groups: HashMap<Root, (Root, u32)>,
    names: HashMap<Rc<str>, u32>,
    pub(super) changed: bool,
}

impl Facts {
    pub(super) fn root(&mut self, key: RootKey) -> Root {
        if let Some(root) = self.root_ids.get(&key) {
            return *root;
        }
        let root = Root(self.roots.len());
        self.roots.push((key.clone(), RootFacts::default()));
        self.root_ids.insert(key, root);
        root
    }

    pub(super) fn spec(&mut self, key: SpecKey) -> Spec {
        if let Some(spec) = self.spec_ids.get(&key) {
            return *spec;
        }
        let spec = Spec(self.specs.len());
        self.specs.push(key.clone());
        self.spec_ids.insert(key, spec);
        spec
    }

    /// Returns the number of a name.
    pub(super) fn name(&mut self, name: &Rc<str>) -> u32 {
        let next = self.names.len() as u32;
        *self.names.entry(name.clone()).or_insert(next)
    }

    /// Returns the memory that a `__shared__` variable is in, its offset there, and the size of that memory.
    pub(super) fn group(&mut self, root: Root, n_bytes: u32) -> (Root, u32, u32) {
        self.shared_bytes.entry(root).or_insert(n_bytes);
        let (group, offset) = self.group_of(root);
        let n_bytes = self.shared_bytes.get(&group).copied().unwrap_or(n_bytes);
        (group, offset, n_bytes)
    }

    pub(super) fn group_of(&self, root: Root) -> (Root, u32) {
        self.groups.get(&root).copied().unwrap_or((root, 0))
    }

    /// Makes one memory of those of two `__shared__` variables; returns false for other memory.
    pub(super) fn merge(&mut self, a: Root, b: Root) -> bool {
        let ((a, _), (b, _)) = (self.group_of(a), self.group_of(b));
        let (Some(first), Some(second)) = (
            self.shared_bytes.get(&a).copied(),
            self.shared_bytes.get(&b).copied(),
        ) else {
            return false;
        };
        if a == b {
            return true;
        }
        let offset = first.next_multiple_of(16);
        for (group, at) in self.groups.values_mut().filter(|(group, _)| *group == b) {
            *group = a;
            *at += offset;
        }
        self.groups.insert(b, (a, offset));
        self.shared_bytes.insert(a, offset + second);
        self.changed = true;
        true
    }

    pub(super) fn note_open(&mut self, key: (Spec, u32, usize)) {
        self.changed |= self.open.insert(key);
    }

    pub(super) fn note_extra(&mut self, root: Root, name: &Rc<str>) {
        if !self.extra_buffers.iter().any(|(other, _)| *other == root) {
            self.extra_buffers.push((root, name.clone()));
            self.changed = true;
        }
    }

    pub(super) fn of(&self, root: Root) -> &RootFacts {
        &self.roots[root.0].1
    }

    /// Notes an access of memory as elements of a type; `None` is as parts of words.
    pub(super) fn note_access(&mut self, root: Root, element: Option<Element>) {
        let facts = &mut self.roots[root.0].1;
        let fits = match (element, facts.element) {
            (None, _) => false,
            (Some(new), Some(old)) => new == old,
            (Some(_), None) => true,
        };
        if !fits && !facts.is_words {
            facts.is_words = true;
            self.changed = true;
        }
        if facts.element.is_none() && element.is_some() {
            facts.element = element;
            self.changed = true;
        }
    }

    pub(super) fn note_read(&mut self, root: Root) {
        let facts = &mut self.roots[root.0].1;
        self.changed |= !facts.is_read;
        facts.is_read = true;
    }

    /// Returns true if threads may exchange values through a buffer.
    pub(super) fn exchanges_by_buffers(&self) -> bool {
        self.roots.iter().any(|(key, facts)| {
            matches!(key, RootKey::Parameter(_) | RootKey::Global(_))
                && facts.is_written
                && facts.is_read
        })
    }

    pub(super) fn note_written(&mut self, root: Root) {
        let facts = &mut self.roots[root.0].1;
        self.changed |= !facts.is_written;
        facts.is_written = true;
    }

    pub(super) fn note_atomic(&mut self, root: Root, is_signed: bool) {
        let facts = &mut self.roots[root.0].1;
        let known = facts.is_atomic && facts.is_words && (facts.is_signed || !is_signed);
        self.changed |= !known;
        facts.is_atomic = true;
        facts.is_read = true;
        facts.is_words = true;
        facts.is_signed |= is_signed;
    }

    pub(super) fn raise_variable(&mut self, key: VarKey, level: Level) {
        let known = self.levels.entry(key).or_insert(Level::UNIFORM);
        if level.kind > known.kind {
            *known = level;
            self.changed = true;
        }
    }

    pub(super) fn raise_loop(&mut self, key: (Spec, u32), level: Level) {
        let known = self.loops.entry(key).or_insert(Level::UNIFORM);
        if level.kind > known.kind {
            *known = level;
            self.changed = true;
        }
    }

    pub(super) fn raise_result(&mut self, spec: Spec, level: Level) {
        let known = self.results.entry(spec).or_insert(Level::UNIFORM);
        if level.kind > known.kind {
            *known = level;
            self.changed = true;
        }
    }

    pub(super) fn note_builtin(&mut self, spec: Spec, bits: u8) {
        let known = self.builtins.entry(spec).or_insert(0);
        if *known | bits != *known {
            *known |= bits;
            self.changed = true;
        }
    }
}
