//! PTX modules: the text that a driver loads.

use std::fmt::Write;

use super::kernel::PtxKernel;
use crate::{Error, Result};

/// PTX language versions and the architectures that they introduced, oldest first. A module names the oldest version that
/// supports its architecture, so that older drivers accept it.
const TARGETS: [(u32, &str); 12] = [
    (70, "7.0"),
    (75, "7.0"),
    (80, "7.0"),
    (86, "7.1"),
    (87, "7.4"),
    (89, "7.8"),
    (90, "7.8"),
    (100, "8.6"),
    (101, "8.6"),
    (103, "8.8"),
    (120, "8.7"),
    (121, "8.8"),
];

/// The architecture with instructions that no other one has, and its version with them.
const SPECIFIC: (u32, &str) = (90, "8.0");

/// Kernels and constant tables, emitted as one text. Drivers accept it for its target architecture and every later one; with products
/// of warpgroups, for compute capability 9.0 alone.
#[derive(Debug, Clone)]
pub struct PtxModule {
    target: (u32, &'static str),
    tables: Vec<String>,
    kernels: Vec<PtxKernel>,
}

/// Compute capabilities, times ten, that kernels can be compiled for.
pub(crate) const SM_RANGE: std::ops::RangeInclusive<u32> =
    TARGETS[0].0..=TARGETS[TARGETS.len() - 1].0;

impl PtxModule {
    /// Creates an empty module for a compute capability times ten (75 for 7.5): the newest known one that is not above `sm`,
    /// and at least 70.
    #[must_use]
    pub fn new(sm: u32) -> Self {
        let target = TARGETS.iter().rfind(|(known, _)| *known <= sm);
        Self {
            target: *target.unwrap_or(&TARGETS[0]),
            tables: Vec::new(),
            kernels: Vec::new(),
        }
    }

    /// Returns the target architecture, as a compute capability times ten.
    #[must_use]
    pub const fn sm(&self) -> u32 {
        self.target.0
    }

    /// Adds a constant table in global memory, aligned to 16 bytes; kernels name it with [`PtxKernel::address_of`].
    pub fn table(&mut self, name: &str, bytes: &[u8]) -> &mut Self {
        let values: Vec<String> = bytes.iter().map(u8::to_string).collect();
        self.tables.push(format!(
            ".global .align 16 .b8 {name}[{}] = {{{}}};",
            bytes.len(),
            values.join(", ")
        ));
        self
    }

    /// Adds a kernel.
    pub fn kernel(&mut self, kernel: PtxKernel) -> &mut Self {
        self.kernels.push(kernel);
        self
    }

    /// Returns the text of the module.
    ///
    /// # Errors
    /// [`KernelCompile`](crate::Error::KernelCompile) with the first misuse of a kernel's methods.
    pub fn emit(&self) -> Result<String> {
        let mut body = String::new();
        for table in &self.tables {
            // Writing to a `String` cannot fail.
            let _ = write!(body, "\n{table}\n");
        }
        for kernel in &self.kernels {
            kernel.write(&mut body)?;
        }
        let ((sm, version), suffix) = self.head()?;
        Ok(format!(
            ".version {version}\n.target sm_{sm}{suffix}\n.address_size 64\n{body}"
        ))
    }

    /// Returns architecture and version, and the suffix of an architecture whose instructions later ones lack.
    fn head(&self) -> Result<((u32, &'static str), &'static str)> {
        let Some(kernel) = self.kernels.iter().find(|kernel| kernel.is_specific) else {
            return Ok((self.target, ""));
        };
        if self.sm() == SPECIFIC.0 {
            return Ok((SPECIFIC, "a"));
        }
        Err(Error::KernelCompile {
            kernel: kernel.name().to_owned(),
            message: format!(
                "products of warpgroups for sm_{}: only sm_90 has them",
                self.sm()
            ),
        })
    }
}
