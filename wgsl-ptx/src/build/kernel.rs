//! A kernel under construction: parameters, memory, registers and the list of instructions.

use std::fmt::Write;

use super::convergence::Convergence;
use super::types::{Class, Operand, PtxType, Register};
use crate::{Error, Result};

/// A kernel built instruction by instruction: a whole `.entry`.
///
/// Methods that compute append one instruction and return its result register. A call with operands of wrong types appends a
/// placeholder, and [`PtxModule::emit`](super::PtxModule::emit) reports the first such call.
#[derive(Debug, Clone)]
pub struct PtxKernel {
    name: String,
    params: Vec<String>,
    memory: Vec<String>,
    workgroup_size: Option<[u32; 3]>,
    n_registers: [u32; 4],
    /// Number of branches to each label.
    n_branches: Vec<u32>,
    pub(super) lines: Vec<Line>,
    n_shared_bytes: u32,
    /// Declarations outside of the kernel.
    external: Vec<String>,
    pub(super) convergence: Convergence,
    /// It has instructions that only one architecture has.
    pub(super) is_specific: bool,
    failure: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Line {
    Instruction(String),
    Label(Label),
    Branch {
        /// Predicate register, and the value of it on which to branch; `None` branches always.
        condition: Option<(Register, bool)>,
        target: Label,
        /// [`Convergence::is_lost`] before the branch.
        was_lost: bool,
    },
}

/// A branch target; made by [`PtxKernel::label`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(u32);

/// A parameter, or a variable in shared or local memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub(super) name: String,
    pub(super) space: Space,
}

/// A state space of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Device memory.
    Global,
    /// Device memory that is not written while the kernel runs.
    GlobalReadOnly,
    /// Memory of the workgroup (CUDA block).
    Shared,
    /// Memory of one invocation (thread).
    Local,
    /// Parameters of the kernel, in constant memory.
    Param,
}

impl Space {
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Global | Self::GlobalReadOnly => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Param => "param",
        }
    }
}

impl PtxKernel {
    /// Creates an empty kernel. `name` is a PTX identifier: letters, digits, `_` and `$`.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let mut kernel = Self {
            name: name.to_owned(),
            params: Vec::new(),
            memory: Vec::new(),
            workgroup_size: None,
            n_registers: [0; 4],
            n_branches: Vec::new(),
            lines: Vec::new(),
            n_shared_bytes: 0,
            external: Vec::new(),
            convergence: Convergence::default(),
            is_specific: false,
            failure: None,
        };
        kernel.check_name(name);
        kernel
    }

    /// Returns the kernel's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bytes of shared memory declared so far, with padding for alignment.
    #[must_use]
    pub const fn n_shared_bytes(&self) -> u32 {
        self.n_shared_bytes
    }

    /// Declares the workgroup size in x, y, z (`.reqntid`), which lets the assembler plan registers.
    pub fn workgroup_size(&mut self, size: [u32; 3]) -> &mut Self {
        self.workgroup_size = Some(size);
        self
    }

    /// Declares the next parameter, a scalar, and loads it.
    pub fn param(&mut self, ty: PtxType, name: &str) -> Register {
        self.check_name(name);
        self.params.push(format!(".param .{} {name}", ty.suffix()));
        let register = self.register(ty);
        self.push(format!("ld.param.{} {register}, [{name}];", ty.suffix()));
        register
    }

    /// Declares the next parameter: `n_bytes` bytes by value, aligned to 16.
    pub fn param_bytes(&mut self, n_bytes: u32, name: &str) -> Symbol {
        self.check_name(name);
        self.params
            .push(format!(".param .align 16 .b8 {name}[{n_bytes}]"));
        Symbol {
            name: name.to_owned(),
            space: Space::Param,
        }
    }

    /// Declares `n_bytes` of shared memory. The alignment is a power of two.
    pub fn shared(&mut self, name: &str, n_bytes: u32, align: u32) -> Symbol {
        self.n_shared_bytes = self
            .n_shared_bytes
            .next_multiple_of(align.max(1))
            .saturating_add(n_bytes);
        self.variable(Space::Shared, name, n_bytes, align)
    }

    /// Declares `n_bytes` of shared memory whose size the launch states: there may be more of it than of the other kind, but the caller
    /// of the kernel sets the attribute `MAX_DYNAMIC_SHARED_SIZE_BYTES` of the function and passes the number. One variable per
    /// kernel, without others in shared memory. The alignment is a power of two.
    pub fn shared_by_launch(&mut self, name: &str, n_bytes: u32, align: u32) -> Symbol {
        if self.n_shared_bytes > 0 {
            self.fail(format!("{name}: shared memory beside that of a launch"));
        }
        self.n_shared_bytes = n_bytes;
        self.check_name(name);
        // Declared outside of the kernel, where names must differ between kernels.
        let name = format!("{}_{name}", self.name);
        self.external
            .push(format!(".extern .shared .align {align} .b8 {name}[];"));
        Symbol {
            name,
            space: Space::Shared,
        }
    }

    /// Declares `n_bytes` of local memory: private to an invocation and slow; for arrays with dynamic indices.
    pub fn local(&mut self, name: &str, n_bytes: u32, align: u32) -> Symbol {
        self.variable(Space::Local, name, n_bytes, align)
    }

    fn variable(&mut self, space: Space, name: &str, n_bytes: u32, align: u32) -> Symbol {
        self.check_name(name);
        if !align.is_power_of_two() {
            self.fail(format!(
                "{name}: an alignment of {align} is no power of two"
            ));
        }
        self.memory.push(format!(
            ".{} .align {align} .b8 {name}[{n_bytes}];",
            space.suffix()
        ));
        Symbol {
            name: name.to_owned(),
            space,
        }
    }

    /// Returns a new register without a value.
    pub fn register(&mut self, ty: PtxType) -> Register {
        let n = &mut self.n_registers[ty.class() as usize];
        *n += 1;
        Register { ty, index: *n - 1 }
    }

    /// Returns a new label that is not placed yet.
    pub fn label(&mut self) -> Label {
        self.n_branches.push(0);
        Label(self.n_branches.len() as u32 - 1)
    }

    pub(super) fn count_branch(&mut self, label: Label, by: i32) {
        match self.n_branches.get_mut(label.0 as usize) {
            Some(n) => *n = n.saturating_add_signed(by),
            None => self.fail("a label of another kernel".to_owned()),
        }
    }

    fn is_target(&self, label: Label) -> bool {
        self.n_branches
            .get(label.0 as usize)
            .is_some_and(|&n| n > 0)
    }

    /// Places a label here, once, for branches that follow: the start of a loop.
    pub fn place(&mut self, label: Label) {
        // The iteration before may have ended in divergence.
        self.convergence.is_lost = true;
        self.lines.push(Line::Label(label));
    }

    /// Places a label here, once, for branches that precede it; omitted if there are none.
    pub fn land(&mut self, label: Label) {
        // A branch to the next instruction is redundant.
        while let Some(&Line::Branch {
            target, was_lost, ..
        }) = self.lines.last()
            && target == label
        {
            self.lines.pop();
            self.count_branch(label, -1);
            self.convergence.is_lost = was_lost;
        }
        self.predicate_skipped(label);
        if self.is_target(label) {
            self.lines.push(Line::Label(label));
        }
    }

    /// Branches to a label.
    pub fn branch(&mut self, target: Label) {
        self.count_branch(target, 1);
        self.lines.push(Line::Branch {
            condition: None,
            target,
            was_lost: self.convergence.is_lost,
        });
    }

    /// Branches to a label if the condition, which is the same for all threads of the warp, equals `value`.
    pub fn branch_together_if(
        &mut self,
        condition: impl Into<Operand>,
        value: bool,
        target: Label,
    ) {
        let is_lost = self.convergence.is_lost;
        self.branch_if(condition, value, target);
        self.convergence.is_lost = is_lost;
    }

    /// Branches to a label if the condition equals `value`.
    pub fn branch_if(&mut self, condition: impl Into<Operand>, value: bool, target: Label) {
        match condition.into() {
            Operand::Register(register) if register.ty() == PtxType::Pred => {
                self.count_branch(target, 1);
                self.lines.push(Line::Branch {
                    condition: Some((register, value)),
                    target,
                    was_lost: std::mem::replace(&mut self.convergence.is_lost, true),
                });
            }
            Operand::Constant(PtxType::Pred, bits) => {
                if (bits != 0) == value {
                    self.branch(target);
                }
            }
            other => self.fail(format!("a branch on {other}, which is no predicate")),
        }
    }

    /// Waits until the kernel ahead in the stream has ended and its stores are visible, where the launch does not (programmatic
    /// stream serialization). From `sm_90` on.
    pub fn wait_for_grid(&mut self) {
        self.push("griddepcontrol.wait;".to_owned());
    }

    /// Ends the invocation.
    pub fn ret(&mut self) {
        self.push("ret;".to_owned());
    }

    /// Returns the number of lines so far.
    #[must_use]
    pub const fn n_lines(&self) -> usize {
        self.lines.len()
    }

    /// Appends a line of PTX verbatim, for instructions that have no method. It ends with a semicolon.
    pub fn raw(&mut self, line: &str) {
        self.push(line.to_owned());
    }

    pub(super) fn push(&mut self, line: String) {
        self.lines.push(Line::Instruction(line));
    }

    /// Records the first misuse.
    pub(super) fn fail(&mut self, message: String) {
        self.failure.get_or_insert(message);
    }

    fn check_name(&mut self, name: &str) {
        let mut chars = name.chars();
        let first = chars
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '$');
        if !first || !chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$') {
            self.fail(format!("{name:?} is no identifier of PTX"));
        }
    }

    /// Appends the text of the kernel.
    pub(super) fn write(&self, text: &mut String) -> Result<()> {
        if let Some(message) = &self.failure {
            return Err(Error::KernelCompile {
                kernel: self.name.clone(),
                message: message.clone(),
            });
        }
        // Writing to a `String` cannot fail.
        for line in &self.external {
            let _ = write!(text, "\n{line}\n");
        }
        let _ = write!(text, "\n.visible .entry {}(", self.name);
        for (i, param) in self.params.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let _ = write!(text, "{comma}\n    {param}");
        }
        text.push_str(if self.params.is_empty() {
            ")\n"
        } else {
            "\n)\n"
        });
        if let Some([x, y, z]) = self.workgroup_size {
            let _ = writeln!(text, ".reqntid {x}, {y}, {z}");
        }
        text.push_str("{\n");
        for class in Class::ALL {
            let n = self.n_registers[class as usize];
            if n > 0 {
                let _ = writeln!(
                    text,
                    "    .reg {} {}<{n}>;",
                    class.declaration(),
                    class.prefix()
                );
            }
        }
        for line in &self.memory {
            let _ = writeln!(text, "    {line}");
        }
        self.write_whole_warp(text);
        self.write_lines(text);
        text.push_str("}\n");
        Ok(())
    }

    fn write_lines(&self, text: &mut String) {
        for line in &self.lines {
            let _ = match line {
                Line::Instruction(line) => writeln!(text, "    {line}"),
                Line::Label(label) if self.is_target(*label) => {
                    writeln!(text, "$L{}:", label.0)
                }
                Line::Label(_) => Ok(()),
                Line::Branch {
                    condition: None,
                    target,
                    ..
                } => writeln!(text, "    bra $L{};", target.0),
                Line::Branch {
                    condition: Some((register, value)),
                    target,
                    ..
                } => {
                    let not = if *value { "" } else { "!" };
                    writeln!(text, "    @{not}{register} bra $L{};", target.0)
                }
            };
        }
    }
}
